"""Apply what was approved, and report what was written and how it differs from what the model proposed."""

import asyncio
from collections import Counter
from collections.abc import Iterator

from toolroll.errors import ToolrollError
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.diff.unified import unified_diff
from toolroll.packs.code.failures import tool_errors, tool_failure
from toolroll.packs.code.seen_files import SeenFiles
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.changes.apply import AppliedChange, apply
from toolroll.workspace.changes.content_cache import ContentCache
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.edit.encoding import decode_exactly
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.text import split_lines
from toolroll.workspace.workspace import Workspace


async def apply_proposal(
    workspace: Workspace, history: History, index: Index, contents: ContentCache, ctx: ToolContext
) -> str:
    """Write the proposal that was approved, and return what the model reads about it."""
    preview = ctx.preview
    if preview is None or not isinstance(preview.payload, Proposal):
        raise tool_failure("Nobody has approved this. Nothing was written.", code="needs_approval")
    proposal = preview.payload
    with tool_errors():
        applied = await asyncio.to_thread(apply, workspace, proposal, history, run_id=ctx.run_id)
    await asyncio.to_thread(_refresh_index, index, proposal, ctx)
    await asyncio.to_thread(_note_seen, SeenFiles(ctx.run), contents, proposal)
    notes = (*proposal.match_notes, *applied.notes, *_merge_notes(proposal))
    return "\n".join([_summary(proposal, applied), *notes, *_difference(proposal)])


def _refresh_index(index: Index, proposal: Proposal, ctx: ToolContext) -> None:
    """Refresh an index that is complete; one that is not will get there by itself."""
    try:
        if index.is_ready:
            index.refresh([change.path for change in proposal.changes])
    except ToolrollError as error:  # the change is made: an index that fails is no reason to say otherwise
        ctx.logger.warning("the index could not be brought up to date: %s", error.message)


def _summary(proposal: Proposal, applied: AppliedChange) -> str:
    files = ", ".join(f"{quote_path(str(change.path))} ({_counts(change)})" for change in proposal.changes)
    return f"Written: {files}. Undo it with change id {applied.id}."


def _counts(change: Change) -> str:
    signs = Counter(line[0] for line in change.diff[2:])
    return f"{'new, ' if change.before is None else ''}+{signs['+']} -{signs['-']}"


def _merge_notes(proposal: Proposal) -> Iterator[str]:
    for path in proposal.merged:
        yield f"What had changed in {quote_path(path)} since you read it is kept. Read it before you replace it whole."


def _difference(proposal: Proposal) -> list[str]:
    """Return, as a diff from the old content, what the person wrote or took instead of what the model proposed."""
    if proposal.edited is None:
        return []
    told_so = "The person did not take all of it as proposed. This is what was changed:"
    return [told_so, *(_change_text(change) for change in proposal.changes)]


def _change_text(change: Change) -> str:
    before, after = change.texts
    return "".join(unified_diff(before, after, path=str(change.path))).rstrip("\n")


def _note_seen(seen: SeenFiles, contents: ContentCache, proposal: Proposal) -> None:
    """Note that the model knows what it wrote itself; of a file that it had seen in part, it still knows a part."""
    for change in proposal.changes:
        path, data = str(change.path), change.after or b""
        total = len(split_lines(decode_exactly(data).text))
        known = seen.get(path)
        contents.keep(data)
        if change.before is None or (known is not None and known.is_whole and path not in proposal.merged):
            seen.add_whole(path, content_hash(data), total)
        else:
            seen.add(path, content_hash(data), total, [])
