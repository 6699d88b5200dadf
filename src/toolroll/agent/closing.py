"""How a run ends with an answer: a last turn without tools, a nudge for an empty one, results for calls never run."""

from collections.abc import Sequence
from typing import Final

from toolroll.agent.result import StopReason
from toolroll.agent.state import RunState
from toolroll.journal.records import Ended
from toolroll.kernel.conversation import AssistantMessage, ToolResults
from toolroll.kernel.messages import ToolCall, ToolMessage

EMPTY_ANSWER: Final = "(The model gave no answer.)"
NUDGE_EMPTY: Final = "Your last turn was empty. Please give your answer."
NUDGE_CALL: Final = "Your last turn announced a tool call but held none. Make the call, or give your answer."
NUDGE_DONE: Final = "Finish by calling `done` with your final message."
MAX_NUDGES: Final = 2

_LIMITS: Final = frozenset({"condition", "repeated_failure", "repeated_calls", "invalid_calls"})
_NOT_RUN: Final = {
    "cut_off": "[not run: the turn was cut off before it was complete]",
    "refusal": "[not run: the model refused to go on]",
    "condition": "[not run: a limit was reached while the call was being written]",
    "failed": "[not run: the run failed]",
}


def needs_closing(state: RunState, reason: StopReason) -> bool:
    """Whether the work is there but nobody has said what it comes to."""
    if not state.setup.close_with_answer or reason not in _LIMITS:
        return False
    messages = state.history.legal()
    return bool(messages) and not (isinstance(messages[-1], AssistantMessage) and messages[-1].text.strip())


async def not_run(state: RunState, calls: Sequence[ToolCall], reason: StopReason) -> None:
    """Answer calls that are not going to be run, in words that say so."""
    if not calls:
        return
    text = _NOT_RUN.get(reason, _NOT_RUN["failed"])
    results = tuple(ToolMessage(call_id=call.id, name=call.name, content=text, is_error=True) for call in calls)
    for result in results:
        await state.record(Ended(result=result, code="not_run", duration_ms=0.0))
    state.history.append(ToolResults(results=results))
