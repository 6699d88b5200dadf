"""What functions of the program write or choose before a step: the system text, and the tools that are offered."""

from collections.abc import Iterable
from dataclasses import replace

from toolroll.agent.loop.budget import CHARACTERS_PER_TOKEN
from toolroll.agent.loop.state import RunState
from toolroll.errors import UsageError
from toolroll.kernel.define.tool import Tool, Toolset


async def prepare_run(state: RunState, recorded: str | None = None) -> None:
    """Write the system text of the run, if a function does; a resumed run keeps the one that is on record."""
    writer = state.setup.write_system
    if writer is None or writer.is_per_step:
        return
    _set_system(state, await _write_system(state) if recorded is None else recorded)


async def prepare_step(state: RunState) -> None:
    """Write and choose what the functions of the agent decide anew before each step."""
    setup = state.setup
    if setup.write_system is not None and setup.write_system.is_per_step:
        _set_system(state, await _write_system(state))
    if setup.step_tools is not None:
        await _choose_tools(state)


async def _write_system(state: RunState) -> str:
    assert state.setup.write_system is not None
    text = await state.setup.write_system.function.call(state.context())
    if not isinstance(text, str):
        raise UsageError(f"system returns a text, not {text!r}.")
    return text


def _set_system(state: RunState, text: str) -> None:
    state.window.head_tokens += (len(text) - len(state.setup.system)) // CHARACTERS_PER_TOKEN
    state.setup = replace(state.setup, system=text)


async def _choose_tools(state: RunState) -> None:
    """Offer what `step_tools` returns, and the tools that read whole outputs, which the conversation refers to."""
    setup = state.setup
    assert setup.step_tools is not None
    found = await setup.step_tools.call(state.context(), tools=state.agent_tools)
    given = list(found) if isinstance(found, Iterable) else [found]
    chosen = [one for one in given if isinstance(one, Tool)]
    if len(chosen) != len(given):
        raise UsageError(f"step_tools returns a list of tools, not {found!r}.")
    tools = Toolset([*chosen, *state.output_tools])
    if list(tools) == list(setup.tools):  # the same object, so that its encoded form is used again
        return
    state.setup = replace(setup, tools=tools, definitions=tools.definitions)
