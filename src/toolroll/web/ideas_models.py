"""What the ideas of the page and the server say to each other. Part of the one OpenAPI document."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class IdeaLine(_Body):
    """An idea that has a document."""

    path: str
    title: str
    date: str | None
    mode: str | None
    model: str | None
    explorations: int
    cost: float | None


class IdeaList(_Body):
    """All ideas that have a document, and where they are kept."""

    place: str
    is_repo: bool
    ideas: tuple[IdeaLine, ...]


class IdeaVersion(_Body):
    """A part of a document: as it was first written, or one update with its date."""

    date: str
    text: str


class SourceModel(_Body):
    """A page that the document refers to."""

    number: int
    title: str
    url: str
    found: str


class VersionRun(_Body):
    """One exploration, as the log beside the document has it."""

    idea: str
    mode: str
    model: str
    completed: str
    is_update: bool
    steps: int
    cost: float | None
    runs: tuple[str, ...]


class IdeaDocument(_Body):
    """A document with its versions and sources."""

    path: str
    where: str
    versions: tuple[IdeaVersion, ...]
    sources: tuple[SourceModel, ...]
    runs: tuple[VersionRun, ...]


class Activity(_Body):
    """Something that an exploration did; `at` is its place in the record."""

    kind: Literal["query", "page", "call", "failed"]
    text: str
    detail: str = ""
    url: str = ""
    at: int


class ActivityList(_Body):
    """What an exploration did so far, and how many characters it has written."""

    activities: tuple[Activity, ...]
    written: int
