"""The outputs of a run: where they are stored, what of them enters the context, and the tools that read them back."""

import asyncio
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from toolroll.agent.context.rules import context_limits
from toolroll.agent.context.window import Window
from toolroll.agent.loop.budget import CHARACTERS_PER_TOKEN
from toolroll.agent.options import Setup
from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.messages import Message, OutputRef, Part, ToolCall, ToolMessage, ToolResults
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool, ToolDefinition, Toolset
from toolroll.outputs.cut import EXEMPT, cut_for_context, cut_from_whole, cut_parts
from toolroll.outputs.store import OutputStore
from toolroll.outputs.tools import output_tools

IN_A_THREAD_CHARACTERS: Final = 262_144
"""From here on writing takes longer than handing it to a thread: about a millisecond."""

_MAX_REF_CHARACTERS: Final = 64
FOLDER: Final = "outputs"
"""Beside the journal."""


def open_outputs(setup: Setup, run_id: str, callers: OutputStore | None) -> OutputStore | None:
    """Return where the run keeps its outputs: with those of the run that called it, in its folder, or nowhere."""
    if setup.outputs == "off":
        return None
    if callers is not None:
        return callers.child(run_id)
    folder = setup.outputs or _beside(setup)
    if folder is None:
        return None
    archive = None if setup.outputs else getattr(setup.journal, "archive", None)
    return OutputStore(folder, run_id=run_id, secrets=getattr(setup.journal, "secrets", ()), archive=archive)


def _beside(setup: Setup) -> Path | None:
    folder = getattr(setup.journal, "folder", None)
    return folder / FOLDER if isinstance(folder, Path) else None


def add_output_tools(setup: Setup, outputs: OutputStore | None) -> Setup:
    """Return the setup with the two tools that read outputs back, unless it has tools of these names."""
    if outputs is None or any(setup.tools.get(name) for name in EXEMPT):
        return setup
    tools = Toolset([*setup.tools, *_output_tools()])
    return replace(setup, tools=tools, definitions=tools.definitions)


class Keeper(Protocol):
    """Where outputs are kept."""

    def keep(self, call_id: str, tool: str, content: str | tuple[Part, ...], /) -> OutputRef | None:
        """Keep an output whole; None when that failed."""
        ...


async def store_result(keeper: Keeper, message: ToolMessage, limit_bytes: int, whole: str | None = None) -> ToolMessage:
    """Store a result, and return what the context gets of it; what takes long to write is written beside the loop.

    One that is the beginning of a `whole` is kept as that, as there is nothing else that has the rest.
    """
    content = message.content if whole is None else whole
    length = len(content) if isinstance(content, str) else IN_A_THREAD_CHARACTERS
    is_slow = getattr(keeper, "archive", None) is not None  # a database may have to be waited for
    if length < IN_A_THREAD_CHARACTERS and not is_slow:
        return store_and_cut(keeper, message, limit_bytes, whole)
    return await asyncio.to_thread(store_and_cut, keeper, message, limit_bytes, whole)


def store_and_cut(keeper: Keeper, message: ToolMessage, limit_bytes: int, whole: str | None = None) -> ToolMessage:
    """Store a result, and return what the context gets of it, with the reference. What was read back stays as it is."""
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


def reference_for(keeper: Keeper, call: ToolCall, result: ToolMessage) -> str | None:
    """Return the reference that may stand in the place of a result; None where nothing leads back to it.

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


@lru_cache(maxsize=1)
def _output_tools() -> tuple[Tool, ...]:
    # Once for all runs: making them takes as long as ten steps.
    return output_tools(_store_of)


class _KeepsOutputs(Protocol):
    @property
    def outputs(self) -> OutputStore: ...


def _store_of(ctx: ToolContext) -> OutputStore:
    """That of the run which the call belongs to: an agent's, for nobody else was given these tools."""
    going: _KeepsOutputs = ctx.run.going  # type: ignore[attr-defined]  # of `AgentRun`, which imports this module
    return going.outputs


def new_window(setup: Setup, *, keeps_outputs: bool) -> Window:
    """Return the window of a run that has not begun. Outputs that are kept nowhere are never taken out of it."""
    limits = context_limits(setup.context, setup.model)
    if not keeps_outputs:
        limits = replace(limits, outputs_tokens=0)
    characters = len(setup.system) + sum(map(_characters, setup.definitions))
    return Window(limits=limits, head_tokens=characters // CHARACTERS_PER_TOKEN)


def drop_references(message: Message) -> Message:
    """Return a message of an earlier conversation: what its references lead to belongs to another run."""
    if not isinstance(message, ToolResults) or all(one.output_ref is None for one in message.results):
        return message
    return ToolResults(results=tuple(replace(one, output_ref=None) for one in message.results))


def _characters(tool: ToolDefinition) -> int:
    return len(tool.name) + len(tool.description) + len(dump_json(tool.parameters))
