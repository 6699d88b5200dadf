"""Find out from the history what became of a call that was to change files when its run was cut off.

The history has every change on record, with its run and its call, before the first file is touched. So it is the proof:
a call without a change there has not begun, and one with a change is done, was taken back, or is there in part.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import CallOutcome
from toolroll.packs.code.failures import tool_errors
from toolroll.packs.code.keys import HISTORY
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.changes.records import Entry, Record

CUT_OFF: Final = "The run was cut off while this change was made."


async def find_outcome(ctx: ToolContext) -> CallOutcome | None:
    """Return what became of this call; what was left half done is put right first. None for a run of an old version."""
    with tool_errors():
        history = await ctx.resolve(HISTORY)
        record = await asyncio.to_thread(history.of_call, ctx.run_id, ctx.call_id)
        if record is not None:
            return describe_outcome(record)
        is_old = await asyncio.to_thread(history.has_changes_without_call, ctx.run_id)
    return None if is_old else CallOutcome(state="not_done")


def describe_outcome(record: Record) -> CallOutcome:
    """Return the outcome of the call that made this change, in words for the model."""
    match record.state:
        case "applied":
            return CallOutcome(state="done", text=_describe_applied(record))
        case "partial":
            return CallOutcome(state="partly_done", text=_describe_partial(record))
        case "intended":
            text = f"Change {record.id} of {_names(record.entries)} is not finished, and cannot be put right now."
            return CallOutcome(state="unknown", text=text)
        case _:
            return CallOutcome(state="not_done")


def _describe_applied(record: Record) -> str:
    undone = [entry for entry in record.entries if entry.undone_by is not None]
    text = f"[done: {_names(record.entries)} was written before the run was cut off; change id {record.id}]"
    if undone:
        text += f"\n[since then a person has undone it in {_names(undone)}: do not make it again unless they ask]"
    return text


def _describe_partial(record: Record) -> str:
    back = [entry for entry in record.entries if entry.undone_by == record.id]
    left = [entry for entry in record.entries if entry.undone_by != record.id]
    taken = f" Taken back, as before the change: {_names(back)}." if back else ""
    return (
        f"{CUT_OFF} It was not finished.{taken} Left as they are, because somebody else has changed them since: "
        f"{_names(left)}. Read these files before you change them."
    )


def _names(entries: Iterable[Entry]) -> str:
    return ", ".join(quote_path(entry.path) for entry in entries)
