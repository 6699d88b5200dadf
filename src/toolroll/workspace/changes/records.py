"""Types of the history: a change, its files with their contents before and after, and what became of it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["change", "undo", "redo"]
State: TypeAlias = Literal["intended", "applied", "failed", "partial"]
"""Intended: begun, and not known to have ended. Failed: nothing of it is there. Partial: some of it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a change. The contents are hashes, None where there is no file.

    `after_mode` is the mode that was given, None where it stayed as it was. `undone_by` is the change that took it
    back.
    """

    path: str
    before: str | None
    after: str | None
    before_mode: int | None = None
    after_mode: int | None = None
    made_folders: int = 0
    hard_linked: bool = False
    undone_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One change as it is on record."""

    id: str
    at: float
    run_id: str
    description: str
    kind: Kind
    state: State
    entries: tuple[Entry, ...]

    @property
    def is_undone(self) -> bool:
        """Return whether all of it has been taken back."""
        return all(entry.undone_by is not None for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A change that is about to happen: its entries with all the contents they speak of.

    `undoes` says, for an undo or a redo, which changes each path takes back.
    """

    id: str
    run_id: str
    description: str
    kind: Kind
    entries: tuple[Entry, ...]
    contents: tuple[bytes, ...]
    undoes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much is kept: what is older goes, and of the rest the oldest, until it fits."""

    max_bytes: int = 256 << 20  # compressed: years of edits by hand, weeks of a busy agent
    max_age_s: float = 90 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedChanges:
    """What was let go: these changes can no longer be undone. `is_over` says that the newest alone is too much."""

    ids: tuple[str, ...] = ()
    freed_bytes: int = 0
    is_over: bool = False
