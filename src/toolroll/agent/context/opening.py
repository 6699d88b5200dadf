"""What a run begins with: where its outputs go, the tools that read them back, and an empty window."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from toolroll.agent.budget import CHARACTERS_PER_TOKEN
from toolroll.agent.context.rules import context_limits
from toolroll.agent.context.window import Window
from toolroll.agent.setup import Setup
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.messages import Message, ToolResults
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool, ToolDefinition
from toolroll.kernel.define.toolset import Toolset
from toolroll.outputs.names import EXEMPT
from toolroll.outputs.store import OutputStore

FOLDER: Final = "outputs"
"""Beside the journal."""


def open_outputs(setup: Setup, run_id: str, callers: OutputStore | None) -> OutputStore | None:
    """Where the run keeps its outputs: with those of the run that called it, in its folder, or nowhere."""
    if setup.outputs == "off":
        return None
    if callers is not None:
        return callers.child(run_id)
    folder = setup.outputs or _beside(setup)
    if folder is None:
        return None
    return OutputStore(folder, run_id=run_id, secrets=getattr(setup.journal, "secrets", ()))


def with_output_tools(setup: Setup, outputs: OutputStore | None) -> Setup:
    """The setup with the two tools that read outputs back, unless it has tools of these names."""
    if outputs is None or any(setup.tools.get(name) for name in EXEMPT):
        return setup
    tools = Toolset([*setup.tools, *_output_tools()])
    return replace(setup, tools=tools, definitions=tools.definitions)


@lru_cache(maxsize=1)
def _output_tools() -> tuple[Tool, ...]:
    # Once for all runs: making them takes as long as ten steps.
    from toolroll.outputs.tools import output_tools  # noqa: PLC0415 - only who keeps outputs needs them

    return output_tools(_store_of)


class _KeepsOutputs(Protocol):
    @property
    def outputs(self) -> OutputStore: ...


def _store_of(ctx: ToolContext) -> OutputStore:
    """That of the run which the call belongs to: an agent's, for nobody else was given these tools."""
    going: _KeepsOutputs = ctx.run.going  # type: ignore[attr-defined]  # of `AgentRun`, which imports this module
    return going.outputs


def window_for(setup: Setup, *, keeps_outputs: bool) -> Window:
    """The window of a run that has not begun. Outputs that are kept nowhere are never taken out of it."""
    limits = context_limits(setup.context, setup.model)
    if not keeps_outputs:
        limits = replace(limits, outputs_tokens=0)
    characters = len(setup.system) + sum(map(_characters, setup.definitions))
    return Window(limits=limits, head_tokens=characters // CHARACTERS_PER_TOKEN)


def without_references(message: Message) -> Message:
    """A message of an earlier conversation: what its references lead to belongs to another run."""
    if not isinstance(message, ToolResults) or all(one.output_ref is None for one in message.results):
        return message
    return ToolResults(results=tuple(replace(one, output_ref=None) for one in message.results))


def _beside(setup: Setup) -> Path | None:
    folder = getattr(setup.journal, "folder", None)
    return folder / FOLDER if isinstance(folder, Path) else None


def _characters(tool: ToolDefinition) -> int:
    return len(tool.name) + len(tool.description) + len(dump_json(tool.parameters))
