"""How a run ends: with a last answer where a limit stopped it, a result, a last record and a last event."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from toolroll.agent.events import RunFinished, Warned
from toolroll.agent.loop.answer import ask_to_repair, check_output
from toolroll.agent.loop.ask_model import Turn, ask_model
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Ending, RunResult, StopReason
from toolroll.errors import HookFailed, ModelError, ToolrollError
from toolroll.journal.records import CallEnded, RunEnded, StopDecided
from toolroll.kernel.data.messages import AssistantMessage, ToolCall, ToolMessage
from toolroll.kernel.failures import log_failure

NO_ANSWER: Final = "(The model gave no answer.)"
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


async def close_with_answer(state: RunState, ending: Ending) -> bool:
    """Ask for the answer where the work is there but nobody has said what it comes to; whether that was done.

    A model that fails now costs the last words, never the run.
    """
    if not needs_closing(state, ending) or not has_step_left(state) or state.budget.forbids_closing():
        return False
    why = StopDecided(stop_reason=ending.reason, stop_detail=ending.detail)
    await state.instruct(CLOSE.format(why=ending.detail or ending.reason), why, about=CLOSING)
    return await ask_last_answer(state)


def needs_closing(state: RunState, ending: Ending) -> bool:
    """Return whether the last step ended without an answer."""
    if not state.setup.close_with_answer or ending.reason not in _WORTH_CLOSING or not state.steps:
        return False
    last = state.steps[-1]
    return bool(last.calls) or not last.text.strip()


def has_step_left(state: RunState) -> bool:
    """Return whether the limit of steps allows another request; in a run of an earlier version, the last was extra."""
    limit = state.setup.step_limit
    return limit is None or not state.closes_inside or len(state.budget.counted) < limit


async def ask_last_answer(state: RunState) -> bool:
    """Ask for the last answer, which the model has been told to give."""
    try:
        while not await _take_last_turn(state):
            pass
    except ModelError as error:
        state.emit(
            Warned(kind="no_last_answer", text=f"The model could not be asked for a last answer. {error.message}")
        )
        return False
    return True


async def _take_last_turn(state: RunState) -> bool:
    state.begin_step()
    return await accept_last_turn(state, await ask_model(state, closing=True))


async def accept_last_turn(state: RunState, turn: Turn) -> bool:
    """Return whether the run can end with this last turn."""
    await answer_unrun(state, turn.calls, "condition")
    state.end_step(turn.text, closing=True, is_cut=turn.is_cut)
    if turn.ending is not None or await check_output(state, turn.text):
        return True
    return not has_step_left(state) or state.budget.forbids_closing() or not await ask_to_repair(state, "output")


async def answer_unrun(state: RunState, calls: Sequence[ToolCall], reason: StopReason) -> None:
    """Answer calls that are not going to be run, in words that say so."""
    for call in calls:
        if call.id in state.known:
            state.add_result(state.known.pop(call.id).result)
            continue
        result = ToolMessage(call_id=call.id, name=call.name, content=_NOT_RUN[reason], is_error=True)
        state.add_result(result)
        await state.record(CallEnded(result=result, code="not_run", duration_ms=0.0))


async def finish_run(state: RunState, ending: Ending, *, closing: bool = False) -> RunResult[object]:
    """End the run: record its result, report it, and return it."""
    result = build_result(state, ending, closing=closing)
    if state.setup.hooks is not None:
        result = await state.setup.hooks.end_run(state.context(), result)
    state.result = result
    await state.record(_end_record(result))
    state.emit(RunFinished(result=result))
    return result


async def fail_run(state: RunState, error: BaseException) -> RunResult[object] | None:
    """End a run that an error or a cancellation has cut short; return a result that a hook gives it, else None.

    A model's error gets the result so far.
    """
    failed = isinstance(error, Exception)
    detail = str(error) or type(error).__name__
    ending = Ending(reason="failed" if failed else "interrupted", detail=detail, text="".join(state.written).strip())
    _count_answered(state)
    result = build_result(state, ending, closing=False)
    given = await _ask_hooks(state, error, result) if isinstance(error, Exception) else None
    result = state.result = given or result
    try:
        await state.record(_end_record(result))
    except (ToolrollError, OSError) as unrecorded:  # what made the run fail is what has to be known
        log_failure(state.run.logger, unrecorded, "the end of run %s could not be recorded", state.run.run_id)
    if isinstance(error, ModelError):
        error.result = result
    state.emit(RunFinished(result=result))
    return given


async def _ask_hooks(state: RunState, error: Exception, result: RunResult[object]) -> RunResult[object] | None:
    if state.setup.hooks is None:
        return None
    try:
        return await state.setup.hooks.fail_run(state.context(), error, result)
    except HookFailed as broken:  # what made the run fail is what has to be known
        log_failure(state.run.logger, broken, "a hook failed on the error of run %s", state.run.run_id)
        return None


def _end_record(result: RunResult[object]) -> RunEnded:
    return RunEnded(
        stop_reason=result.stop_reason,
        stop_detail=result.stop_detail,
        text=result.text,
        has_answer=result.has_answer,
    )


def _count_answered(state: RunState) -> None:
    """A turn that was answered is on record and paid for: it counts, although its calls were cut short."""
    if state.budget.is_answered:
        said = (one.text for one in reversed(state.conversation.snapshot()) if isinstance(one, AssistantMessage))
        state.budget.end_step(next(said, ""), (), closing=False)


def build_result(state: RunState, ending: Ending, *, closing: bool) -> RunResult[object]:
    """Return what the run comes to, as it stands."""
    steps = tuple(state.steps)
    text = ending.text or next((step.text for step in reversed(steps) if step.text.strip()), "")
    return RunResult(
        run_id=state.run.run_id,
        text=text or NO_ANSWER,
        has_answer=bool(text),
        messages=state.messages(),
        new_messages=state.new_messages(),
        steps=steps,
        stop_reason=ending.reason,
        stop_detail=ending.detail,
        closing=closing,
        output=state.output,
        output_fault=_output_fault(state, ending),
        pending=tuple(chain.from_iterable(state.waiting.values())),
        tool_calls=tuple(log for step in steps for log in step.calls) if state.setup.collect_tool_stats else None,
    )


def _output_fault(state: RunState, ending: Ending) -> str | None:
    if state.setup.output is None or state.has_output:
        return None
    return state.output_fault or f"the run ended before there was an answer ({ending.reason})"
