"""How a run that was stopped still ends with an answer: a last turn without tools, and results for calls never run."""

from collections.abc import Mapping, Sequence
from typing import Final

from toolroll.agent.answer import may_repair, read_output
from toolroll.agent.ask import Turn, ask
from toolroll.agent.events import Warned
from toolroll.agent.result import Ending, StopReason
from toolroll.agent.state import RunState
from toolroll.errors import ModelError
from toolroll.journal.records import Ended, Stopped
from toolroll.kernel.data.messages import ToolCall, ToolMessage

CLOSE: Final = (
    "This run ends here ({why}); tools can no longer be used. Answer now with what you have, and say what is missing."
)

CLOSING: Final = "closing"
"""What that word is about, on record."""

_WORTH_CLOSING: Final = frozenset({"condition", "repeated_failure", "repeated_calls", "invalid_calls", "cut_off"})
_NOT_RUN: Final[Mapping[StopReason, str]] = {
    "cut_off": "[not run: the turn was cut off before it was complete]",
    "refusal": "[not run: the model refused to go on]",
    "interrupted": "[not run: the run was stopped]",
    "condition": "[not run: a limit of the run was reached]",
}


async def close(state: RunState, ending: Ending) -> bool:
    """Ask for the answer where the work is there but nobody has said what it comes to; whether that was done.

    A model that fails now costs the last words, never the run.
    """
    if not needs_closing(state, ending):
        return False
    why = Stopped(stop_reason=ending.reason, stop_detail=ending.detail)
    await state.tell(CLOSE.format(why=ending.detail or ending.reason), why, about=CLOSING)
    return await ask_to_close(state)


async def ask_to_close(state: RunState) -> bool:
    """Ask for the last answer, which the model has been told to give."""
    try:
        while not await _closed(state):
            pass
    except ModelError as error:
        state.emit(Warned(text=f"The model could not be asked for a last answer. {error.message}"))
        return False
    return True


def needs_closing(state: RunState, ending: Ending) -> bool:
    """Whether the last step ended without an answer."""
    if not state.setup.close_with_answer or ending.reason not in _WORTH_CLOSING or not state.steps:
        return False
    last = state.steps[-1]
    return bool(last.calls) or not last.text.strip()


async def _closed(state: RunState) -> bool:
    state.begin_step()
    return await closed_with(state, await ask(state, closing=True))


async def closed_with(state: RunState, turn: Turn) -> bool:
    """Whether the run can end with this last turn."""
    await not_run(state, turn.calls, "condition")
    state.end_step(turn.text, closing=True)
    return turn.ending is not None or read_output(state, turn.text) or not await may_repair(state, "output")


async def not_run(state: RunState, calls: Sequence[ToolCall], reason: StopReason) -> None:
    """Answer calls that are not going to be run, in words that say so."""
    for call in calls:
        if call.id in state.known:
            state.hear_result(state.known.pop(call.id).result)
            continue
        result = ToolMessage(call_id=call.id, name=call.name, content=_NOT_RUN[reason], is_error=True)
        state.hear_result(result)
        await state.record(Ended(result=result, code="not_run", duration_ms=0.0))
