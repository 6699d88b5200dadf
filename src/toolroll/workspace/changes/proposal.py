"""Describe a change so that a person can look at it before it happens: what is shown is what is written (C30).

A proposal never changes. It holds the exact bytes before and after, and everything else is computed from them: the
diff, the notes, the hashes. The diff's lines are exact, so that single hunks can be taken; whoever shows them spells
out what cannot be seen (`safe.text.visible`, as for every preview), and the notes name it in words besides (C33).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Final

from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Preview, content_hash
from toolroll.kernel.diff.hunks import EDITED, Diff, Hunk, apply_diff, apply_hunks, parse_diff, parse_diffs
from toolroll.kernel.diff.unified import opcodes, unified_diff
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.workspace.edit.encoding import EncodedText, decode_exactly
from toolroll.workspace.edit.notes import content_notes
from toolroll.workspace.edit.whole_file import encode_person_text

ABSENT: Final = "absent"
"""What stands for the hash of a file that does not exist."""
KEPT_CHANGES: Final = 4
"""Changes whose diff and notes are kept: each is asked for when it is proposed, after the yes, and when it is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines that change, numbered from 0: those from `start` to before `end` become `new_start` to `new_end`."""

    start: int
    end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file: its content before (None: there is none) and after (None: it is removed), and a mode to give it."""

    path: RelativePath
    before: bytes | None
    after: bytes | None
    mode: int | None = None

    @property
    def base(self) -> str | None:
        """Return the hash of what the change is based on; None for a new file."""
        return None if self.before is None else content_hash(self.before)

    @property
    def target(self) -> str | None:
        """Return the hash of what will be there; None for a file that is removed."""
        return None if self.after is None else content_hash(self.after)

    @property
    def does_nothing(self) -> bool:
        """Return whether all would be as before."""
        return self.before == self.after and self.mode is None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the lines that change."""
        old, new = (text.split("\n") for text in self.texts)
        changed = [one for one in opcodes(old, new) if one[0] != "equal"]
        return tuple(Span(start=i1, end=i2, new_start=j1, new_end=j2) for _, i1, i2, j1, j2 in changed)

    @property
    def texts(self) -> tuple[str, str]:
        """Return the text before and after; with the byte-order mark only where that is among what changes."""
        return _decode_both(self.before, self.after)

    @property
    def diff(self) -> list[str]:
        """Return the change as lines of a unified diff; only its heading where no line changes."""
        return list(_make_diff(self.before, self.after, str(self.path)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the diff alone does not show."""
        kind = ("This is a new file.",) if self.before is None else ()
        gone = ("The file is removed.",) if self.after is None else ()
        mode = (f"Its mode becomes {self.mode:03o}.",) if self.mode is not None else ()
        return (*kind, *gone, *mode, *_make_notes(self.before, self.after))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One or more changes that are shown together and happen together, or not at all (C32).

    `remarks` are notes of the tool that made it; `edited` is the text that a person wrote in place of the proposed one;
    `merged` are files that had changed since who proposes it read them: what changed there is kept. `fitted` is, by
    file, how a text was taken that is not there exactly as it was given. `hints` are about the files around it, and
    `doubts` what speaks against it, as far as a program can tell.
    """

    changes: tuple[Change, ...]
    description: str = ""
    remarks: tuple[str, ...] = ()
    edited: str | None = None
    merged: tuple[str, ...] = ()
    fitted: tuple[tuple[str, str], ...] = ()
    hints: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        paths = self.paths
        if not paths:
            raise UsageError("A proposal needs at least one change.")
        if len(set(paths)) < len(paths):
            raise UsageError("A proposal can change a file only once: put the changes of one file together.")

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the files, in the order in which they are shown."""
        return tuple(str(change.path) for change in self.changes)

    @property
    def base(self) -> str:
        """Return the hash of all that the proposal is based on: for one file, that of its content."""
        return _hash_all(self.paths, [change.base for change in self.changes])

    @property
    def target(self) -> str:
        """Return the hash of all that will be there, in the form of `base`."""
        return _hash_all(self.paths, [change.target for change in self.changes])

    @property
    def parts(self) -> tuple["Proposal", ...]:
        """Return the same file by file, each a proposal of its own."""
        return tuple(replace(self, changes=(change,)) for change in self.changes)

    def only(self, paths: Iterable[str]) -> "Proposal":
        """Return the same for some of the files."""
        wanted = set(paths)
        return replace(self, changes=tuple(change for change in self.changes if str(change.path) in wanted))

    @property
    def editable(self) -> str | None:
        """Return the exact proposed text, where there is one: of a single file that stays or comes."""
        if self.edited is not None:
            return self.edited
        after = _decode(self.changes[0].after)
        return None if len(self.changes) > 1 or after is None else after.text

    def with_edited(self, text: str) -> "Proposal":
        """Return the proposal with a person's text; written in the file's encoding, with its mark and line ends."""
        [change, *others] = self.changes
        if others or change.after is None:
            raise UsageError("Only the text of a single file can be edited. Take this as it is, or leave it.")
        after = encode_person_text(change.before, change.after, text, path=str(change.path))
        return replace(self, changes=(replace(change, after=after),), edited=text)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the diff alone does not show; with several files, each note says of which one."""
        if len(self.changes) == 1:
            return (*self.remarks, *self.changes[0].notes)
        return (*self.remarks, *(f"{change.path}: {note}" for change in self.changes for note in change.notes))

    @property
    def match_notes(self) -> tuple[str, ...]:
        """Return what the proposer must know of how its text was matched, in the files that are still here."""
        notes = dict.fromkeys(f"{quote_path(path)}: {how}" for path, how in self.fitted if path in self.paths)
        return tuple(notes)

    @property
    def diff(self) -> str:
        """Return all of the change as one text."""
        return "".join(chain.from_iterable(change.diff for change in self.changes))

    def preview(self) -> Preview:
        """Return what a person is shown, with the proposal itself as payload."""
        diffs = [change.diff for change in self.changes]
        signs = Counter(line[0] for lines in diffs for line in lines[2:])
        return Preview(
            kind="diff",
            text="".join(chain.from_iterable(diffs)),
            added=signs["+"],
            removed=signs["-"],
            base=self.base,
            target=self.target,
            editable=self.editable,
            notes=self.notes,
            hints=self.hints,
            doubts=self.doubts,
            payload=self,
        )


def _decode_both(before: bytes | None, after: bytes | None) -> tuple[str, str]:
    old, new = _decode(before), _decode(after)
    if old is None or new is None or (old.encoding, old.mark) == (new.encoding, new.mark):
        return old.text if old else "", new.text if new else ""
    return _with_mark(old), _with_mark(new)


@lru_cache(maxsize=KEPT_CHANGES)
def _make_diff(before: bytes | None, after: bytes | None, path: str) -> tuple[str, ...]:
    old, new = _decode_both(before, after)
    return tuple(unified_diff(old, new, path=path)) or (f"--- a/{path}\n", f"+++ b/{path}\n")


@lru_cache(maxsize=KEPT_CHANGES)
def _make_notes(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    return tuple(content_notes(_decode(before), _decode(after)))


def _hash_all(paths: Sequence[str], hashes: Sequence[str | None]) -> str:
    if len(hashes) == 1:
        return hashes[0] or ABSENT
    named = [f"{one or ABSENT} {path}" for path, one in zip(paths, hashes, strict=True)]
    return content_hash("\n".join(named))


def _decode(data: bytes | None) -> EncodedText | None:
    return None if data is None else decode_exactly(data)


def _with_mark(carrier: EncodedText) -> str:
    return "\ufeff" + carrier.text if carrier.mark else carrier.text


def select_changes(proposal: Proposal, patch: str) -> Proposal:
    """Return the proposal with only what is in the patch; UsageError where that does not fit (C32).

    The patch is the proposal's own diff with hunks left out. Each of its hunks must be one that was shown, to the last
    byte. Only where its heading says that a person has edited the file, it is a diff of theirs from what is there now.
    """
    diffs = parse_diffs(patch)
    changes = {str(change.path): change for change in proposal.changes}
    if diffs is None or len({diff.name for diff in diffs}) < len(diffs) or not changes.keys() >= _names(diffs):
        raise _not_proposed()
    wanted = {diff.name: diff for diff in diffs}
    taken = tuple(_select_hunks(change, wanted[path]) for path, change in changes.items() if path in wanted)
    return replace(proposal, changes=taken, edited=patch)


def _names(diffs: tuple[Diff, ...]) -> set[str]:
    return {diff.name for diff in diffs}


def _select_hunks(change: Change, wanted: Diff) -> Change:
    proposed = parse_diff("".join(change.diff))
    if wanted.headings[0] == f"{EDITED}{wanted.name}":
        return _edit_change(change, wanted)
    if proposed is None or not set(wanted.hunks) <= set(proposed.hunks):
        raise _not_proposed()
    kept: set[Hunk] = set(wanted.hunks)
    if len(kept) == len(proposed.hunks):
        return change
    if change.before is None or change.after is None:
        raise UsageError(f"'{change.path}' is made or removed as a whole: take all of it, or leave it.")
    text = apply_hunks(change.texts[1], proposed, [hunk in kept for hunk in proposed.hunks])
    before, after = decode_exactly(change.before), decode_exactly(change.after)
    if text is None or (before.encoding, before.mark) != (after.encoding, after.mark):
        raise UsageError(f"The encoding of '{change.path}' changes as a whole: take all of it, or leave it.")
    return replace(change, after=after.encode(text))


def _edit_change(change: Change, wanted: Diff) -> Change:
    """Return the change with a person's text, which their diff gives of what is there now."""
    text = apply_diff(change.texts[0], wanted)
    if text is None or change.after is None:
        raise _not_proposed()
    return replace(change, after=encode_person_text(change.before, change.after, text, path=str(change.path)))


def _not_proposed() -> UsageError:
    return UsageError("What was taken is not part of what was proposed. Take changes of it, or leave it.")
