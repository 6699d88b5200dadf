"""What a person took of a proposal for several files, found again in the proposal itself (C32).

The answer is the proposal's own diff with hunks left out. Each hunk in it must be one of those that were shown, to the
last byte: a diff is a way to choose here, not a way to write.
"""

from dataclasses import replace

from toolroll.errors import UsageError
from toolroll.kernel.hunks import Diff, Hunk, parse_diff, parse_diffs, selected
from toolroll.workspace.edits.carrier import carry
from toolroll.workspace.proposal import Change, Proposal


def taking(proposal: Proposal, patch: str) -> Proposal:
    """The proposal with only what is in the patch; UsageError where that was not proposed."""
    diffs = parse_diffs(patch)
    changes = {str(change.path): change for change in proposal.changes}
    if diffs is None or len({diff.name for diff in diffs}) < len(diffs) or not changes.keys() >= _names(diffs):
        raise _refused()
    wanted = {diff.name: diff for diff in diffs}
    taken = tuple(_part(change, wanted[path]) for path, change in changes.items() if path in wanted)
    return replace(proposal, changes=taken, edited=patch)


def _names(diffs: tuple[Diff, ...]) -> set[str]:
    return {diff.name for diff in diffs}


def _part(change: Change, wanted: Diff) -> Change:
    proposed = parse_diff("".join(change.diff))
    if proposed is None or not set(wanted.hunks) <= set(proposed.hunks):
        raise _refused()
    kept: set[Hunk] = set(wanted.hunks)
    if len(kept) == len(proposed.hunks):
        return change
    if change.before is None or change.after is None:
        raise UsageError(f"'{change.path}' is made or removed as a whole: take all of it, or leave it.")
    text = selected(change.texts[1], proposed, [hunk in kept for hunk in proposed.hunks])
    before, after = carry(change.before), carry(change.after)
    if text is None or (before.encoding, before.mark) != (after.encoding, after.mark):
        raise UsageError(f"The encoding of '{change.path}' changes as a whole: take all of it, or leave it.")
    return replace(change, after=after.encode(text))


def _refused() -> UsageError:
    return UsageError("What was taken is not part of what was proposed. Take changes of it, or leave it.")
