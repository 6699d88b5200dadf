"""What becomes of a result as it ends: kept whole, and cut for the context where it is too long for it."""

from dataclasses import replace
from typing import Final, Protocol

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.data.messages import OutputRef, Part, ToolCall, ToolMessage
from toolroll.outputs.cut import cut_for_context, cut_from_whole, cut_parts
from toolroll.outputs.names import EXEMPT

IN_A_THREAD_CHARACTERS: Final = 262_144
"""From here on writing takes longer than handing it to a thread: about a millisecond."""
_MAX_REF_CHARACTERS: Final = 64


class Keeper(Protocol):
    """Where outputs are kept."""

    def keep(self, call_id: str, tool: str, content: str | tuple[Part, ...], /) -> OutputRef | None:
        """Keep an output whole; None when that failed."""
        ...


async def kept(keeper: Keeper, message: ToolMessage, limit_bytes: int, whole: str | None = None) -> ToolMessage:
    """The result as the context gets it; what takes long to write is written beside the loop.

    One that is the beginning of a `whole` is kept as that, as there is nothing else that has the rest.
    """
    content = message.content if whole is None else whole
    length = len(content) if isinstance(content, str) else IN_A_THREAD_CHARACTERS
    if length < IN_A_THREAD_CHARACTERS:
        return kept_result(keeper, message, limit_bytes, whole)
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    return await asyncio.to_thread(kept_result, keeper, message, limit_bytes, whole)


def kept_result(keeper: Keeper, message: ToolMessage, limit_bytes: int, whole: str | None = None) -> ToolMessage:
    """The result as the context gets it, with the reference to all of it. What was read back is passed on as it is."""
    if message.name in EXEMPT:
        return message
    content = message.content
    ref = keeper.keep(message.call_id, message.name, content if whole is None else whole)
    cut: str | tuple[Part, ...]
    if isinstance(content, str) and whole is not None:
        cut = cut_from_whole(content, whole, ref, limit_bytes)
    elif isinstance(content, str):
        cut = cut_for_context(content, ref, limit_bytes)
    else:
        cut = cut_parts(content, ref, limit_bytes)
    return replace(message, content=cut, output_ref=ref)


def reference_of(keeper: Keeper, call: ToolCall, result: ToolMessage) -> str | None:
    """The reference that may stand in the place of a result; None where nothing leads back to it.

    What was read back leads to where it was read. What has no reference, such as a result from an earlier run, is kept
    now.
    """
    if result.output_ref is not None:
        return result.output_ref.id
    if result.name in EXEMPT:
        return None if result.is_error else _read_from(call)
    ref = keeper.keep(result.call_id, result.name, result.content)
    return None if ref is None else ref.id


def _read_from(call: ToolCall) -> str | None:
    try:
        ref_id = parse_object(call.arguments).get("ref_id")
    except JsonRefused:
        return None
    return ref_id if isinstance(ref_id, str) and 0 < len(ref_id) <= _MAX_REF_CHARACTERS else None
