"""Remember what the model has seen of which file, and at which content (C16, C19).

Kept with the run as plain data, so that a run that is resumed elsewhere still knows. A line counts as seen when it was
shown whole; a file as seen whole when every line of it was, at one and the same hash.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from pydantic import BaseModel, Field

from toolroll.kernel.call.context import Run

STATE: Final = "code.seen"

Span: TypeAlias = tuple[int, int]
"""Lines from the first to before the second, counted from 0."""


class SeenFile(BaseModel):
    """What was shown of one file: the hash of its content, how many lines it has, and which of them were shown."""

    hash: str
    total: int
    spans: list[Span] = Field(default_factory=list)
    told: str | None = None
    """The hash of a newer content, of which the model was told how it differs."""
    told_after: int | None = None
    """How many calls were made by then: in none of them could the model know, as all of a turn are made first."""

    def was_told(self, hash_: str, call: int) -> bool:
        """Return whether the model knew of a newer content when it made that call, the so-manieth of the run."""
        return self.told == hash_ and self.told_after is not None and call > self.told_after

    @property
    def is_whole(self) -> bool:
        """Return whether all of it was shown."""
        return self.total == 0 or self.spans == [(0, self.total)]


class SeenFiles:
    """The files that the model of a run has seen."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def get(self, path: str) -> SeenFile | None:
        """Return what was seen of a file; None if nothing was."""
        kept = self._run.state.get(_name(path))
        return None if kept is None else SeenFile.model_validate(kept)

    def add(self, path: str, hash_: str, total: int, spans: Sequence[Span]) -> None:
        """Note lines that were shown; what was seen of another content of the file no longer counts."""
        before = self.get(path)
        known = before.spans if before is not None and before.hash == hash_ else []
        self._keep(path, SeenFile(hash=hash_, total=total, spans=merge_spans([*known, *spans])))

    def add_whole(self, path: str, hash_: str, total: int) -> None:
        """Note that the model knows all of a file: it has just written it."""
        self._keep(path, SeenFile(hash=hash_, total=total, spans=merge_spans([(0, total)])))

    def tell(self, path: str, hash_: str) -> None:
        """Note that the model was told what has changed in a file since; what it saw is still what it knows."""
        if (known := self.get(path)) is not None:
            self._keep(path, known.model_copy(update={"told": hash_, "told_after": self._run.calls}))

    def _keep(self, path: str, file: SeenFile) -> None:
        if self.get(path) != file:
            self._run.set_state(_name(path), file.model_dump(mode="json", exclude_none=True))


def _name(path: str) -> str:
    # One value a file: all in one would be written down again, whole, with every file that is read.
    return f"{STATE}:{path}"


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Return the same lines in as few spans as possible."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif start < end:
            found.append((start, end))
    return found
