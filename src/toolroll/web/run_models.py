"""What the page is told of runs: lists, figures, timelines, replays. Part of the one OpenAPI document."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from toolroll.web.page_models import MAX_MESSAGE_CHARACTERS, FileDiff


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class RunLine(_Body):
    """A run in a list."""

    id: str
    title: str
    app: str
    folder: str
    model: str
    state: str
    steps: int
    began: float
    updated: float
    input_tokens: int
    output_tokens: int
    cost: float | None
    forked_from: str | None


class RunPage(_Body):
    """Runs, the newest first; `total` is how many are on record."""

    runs: tuple[RunLine, ...]
    total: int


class WaitingLine(_Body):
    """A chat or a job that waits for a person's answer."""

    kind: Literal["chat", "job"]
    id: str
    title: str
    app: str
    folder: str
    updated: float


class FinishedLine(_Body):
    """An exploration that is done."""

    id: str
    title: str
    updated: float


class HomeModel(_Body):
    """What the first screen shows."""

    folder: str
    model: str | None
    models: tuple[str, ...]
    """Names to choose from: those that were used last, and the usual ones."""
    folders: tuple[str, ...]
    """Folders that were worked in last."""
    version: str
    waiting: tuple[WaitingLine, ...]
    finished: tuple[FinishedLine, ...]
    runs: tuple[RunLine, ...]


class DayModel(_Body):
    """One day: steps, tokens and dollars."""

    day: str
    steps: int
    tokens: int
    cost: float


class ToolModel(_Body):
    """The calls of one tool."""

    name: str
    calls: int
    failures: int
    approvals: int
    rejections: int
    median_ms: float | None
    slow_ms: float | None
    """What 95 of 100 calls did not exceed."""


class ModelModel(_Body):
    """The steps of one model."""

    name: str
    steps: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float
    unpriced: int


class FigureModel(_Body):
    """Figures over all runs of so many days."""

    runs: int
    days: tuple[DayModel, ...]
    tools: tuple[ToolModel, ...]
    models: tuple[ModelModel, ...]


class SpanModel(_Body):
    """A step or a call on the line of time; `start_s` counts from the first record. None where it is not known."""

    kind: Literal["step", "call"]
    step: int
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    start_s: float | None
    duration_ms: float | None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    is_error: bool = False
    is_inherited: bool = False


class TimelineModel(_Body):
    """A run on the line of time."""

    began: float | None
    seconds: float
    spans: tuple[SpanModel, ...]
    forked_from: str | None
    forked_at: int | None


class ForkRequest(_Body):
    """Where a new chat begins: after how many steps of this one, and with which message, if any."""

    at_step: int = Field(ge=0, le=100_000)
    text: str | None = Field(default=None, min_length=1, max_length=MAX_MESSAGE_CHARACTERS, pattern=r"\S")


class ReplayModel(_Body):
    """What came of playing a run again: the same, or these differences."""

    is_same: bool
    steps: int
    calls_run: int
    calls_from_record: int
    notes: tuple[str, ...]
    differences: tuple[str, ...]


class ChangeDiff(_Body):
    """What a change did to its files; `files` is empty where their contents are no longer kept."""

    files: tuple[FileDiff, ...]
