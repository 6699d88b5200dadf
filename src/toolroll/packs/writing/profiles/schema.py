"""The style profile: what it is made of (W1), and what is wrong with one that is not (W2).

Every fault is told, each with its place, in words for the person who writes posts and not for who writes programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from toolroll.errors import PathRefused
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.safe.paths.names import quote_path

Platform: TypeAlias = Literal["linkedin", "instagram", "x"]
ProfileType: TypeAlias = Literal["personal", "reference"]
Language: TypeAlias = Literal["uk", "en", "uk+en"]


def timestamp(moment: datetime) -> str:
    """A moment as profiles and posts keep it: in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Kept: the same moments and names stand in every file, and a list of a thousand profiles checks four thousand of them.
@lru_cache(maxsize=4096)
def _check_moment(text: str) -> str:
    try:
        offset = datetime.fromisoformat(text).utcoffset() if "T" in text else None
    except ValueError:
        offset = None
    if offset != timedelta(0):
        raise PydanticCustomError("moment", "must be a moment in UTC, such as 2026-02-09T10:00:00Z")
    return text


@lru_cache(maxsize=4096)
def _check_day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        return _check_moment(text)
    return text


def _check_slug(text: str) -> str:
    try:
        return check_profile_name(text)
    except PathRefused:
        raise PydanticCustomError(
            "slug", "must be small Latin letters and digits, with single dashes between them"
        ) from None


Moment: TypeAlias = Annotated[str, AfterValidator(_check_moment)]
Day: TypeAlias = Annotated[str, AfterValidator(_check_day)]
Count: TypeAlias = Annotated[int, Field(gt=0)]
# A blank among the words to avoid would be found in every draft.
Phrase: TypeAlias = Annotated[str, StringConstraints(pattern=r"\S")]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Voice(_Fields):
    """How somebody writes, wherever they do."""

    tone: str
    formality: str
    personality: str
    sentence_style: str
    paragraph_style: str
    hooks: Annotated[list[Phrase], Field(min_length=1)]
    closings: list[Phrase]
    signature_phrases: list[Phrase]
    avoid: Annotated[list[Phrase], Field(min_length=1)]
    emoji_usage: str


class PlatformStyle(_Fields):
    """What is different on one platform."""

    max_length: Count
    structure: str
    formatting: str
    tone_override: str | None
    hashtags: str | None = None
    notes: str | None = None


class Example(_Fields):
    """A post that shows the style."""

    id: str
    platform: Platform
    text: str
    why_good: str
    added_at: Day


class ChangelogEntry(_Fields):
    """One version of a profile: when it came, and what is different in it."""

    version: Count
    date: Day
    action: Literal["created", "updated"]
    description: str
    fields_changed: list[str] | None = None


class StyleProfile(_Fields):
    """A style profile, checked: all rules of W1 hold."""

    profile_name: Annotated[str, AfterValidator(_check_slug)]
    profile_type: ProfileType
    source: str
    version: Count
    created_at: Moment
    updated_at: Moment
    language: Language
    voice: Voice
    platforms: Annotated[dict[Platform, PlatformStyle], Field(min_length=1)]
    examples: Annotated[list[Example], Field(min_length=1)]
    changelog: list[ChangelogEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFault:
    """A rule that a profile breaks: the path of the field, and what would be right."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path or 'the profile'}: {self.problem}"


def check_profile(fields: object, *, lenient: bool = False) -> "StyleProfile | tuple[ProfileFault, ...]":
    """The profile that these fields are, or every rule that they break; `lenient` overlooks fields nobody knows."""
    try:
        return StyleProfile.model_validate(fields, extra="ignore" if lenient else "forbid")
    except ValidationError as error:
        return tuple(map(to_fault, error.errors(include_url=False)))


_PROBLEMS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "is no field of a profile: take it out, or correct its name",
    "string_type": "must be text",
    "string_pattern_mismatch": "must not be blank",
    "int_type": "must be a whole number",
    "greater_than": "must be a number over 0",
    "greater_than_equal": "must be a number of 0 or more",
    "list_type": "must be a list",
    "too_short": "must have at least one entry",
    "dict_type": "must be a group of named fields",
    "model_type": "must be a group of named fields",
}
_KEY: Final = "[key]"


def to_fault(detail: ErrorDetails) -> ProfileFault:
    """What pydantic found, in a writer's words."""
    place = detail["loc"]
    problem = _PROBLEMS.get(detail["type"], detail["msg"])
    if detail["type"] == "literal_error":
        problem = f"must be {detail['ctx']['expected']}"
    if place and place[-1] == _KEY:
        place, problem = place[:-1], f"is no platform that is known here; a platform {problem}"
    return ProfileFault(path=_field_path(place), problem=problem)


def _field_path(place: tuple[int | str, ...]) -> str:
    """`examples.2.text` for the text of the second example: people count from 1."""
    return ".".join(str(step + 1) if isinstance(step, int) else quote_path(step) for step in place)
