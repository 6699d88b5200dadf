"""What of a change can be taken in parts, and what is left of it then (C30, C32).

What a person leaves is computed from the proposed text itself. For several files that text is the whole diff, and what
is taken of it is the same diff with fewer hunks in it: the tool must find each of them again in its own proposal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from toolroll.kernel.approval.request import Preview
from toolroll.kernel.diff.hunks import Diff, apply_hunks, parse_diffs, restore_original


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkChoice:
    """What can be taken in parts: the proposed text, and its changes."""

    proposed: str
    diffs: tuple[Diff, ...]
    is_patch: bool

    @property
    def single(self) -> Diff | None:
        """Return the diff, where the proposed text is that of one file."""
        return None if self.is_patch else self.diffs[0]

    def taking(self, taken: Sequence[Sequence[bool]]) -> str | None:
        """Return the text that is left when only these hunks of each file are taken."""
        if not self.is_patch:
            return apply_hunks(self.proposed, self.diffs[0], taken[0])
        return "".join(_part(diff, hunks) for diff, hunks in zip(self.diffs, taken, strict=True))


def find_choice(preview: Preview) -> HunkChoice | None:
    """Return what of a preview can be taken in parts: a diff that fits the proposed text exactly, or is that text."""
    diffs = parse_diffs(preview.text) if preview.kind == "diff" and preview.editable is not None else None
    if diffs is None or preview.editable is None:
        return None
    if preview.editable == preview.text:
        return HunkChoice(proposed=preview.editable, diffs=diffs, is_patch=True)
    if len(diffs) > 1 or restore_original(preview.editable, diffs[0]) is None:
        return None
    return HunkChoice(proposed=preview.editable, diffs=diffs, is_patch=False)


def _part(diff: Diff, taken: Sequence[bool]) -> str:
    """What is left of one file's diff; nothing, where nothing of it is taken."""
    if not any(taken):
        return ""
    hunks = tuple(hunk for hunk, take in zip(diff.hunks, taken, strict=False) if take)
    return Diff(name=diff.name, hunks=hunks, headings=diff.headings).text
