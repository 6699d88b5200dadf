"""How a run ends, well or badly: a result with all there is, a last record, a last event."""

from typing import Final

from toolroll.agent.events import RunFinished
from toolroll.agent.result import Ending, RunResult
from toolroll.agent.state import RunState
from toolroll.errors import ModelError, ToolrollError
from toolroll.journal.records import Finished
from toolroll.kernel.data.messages import AssistantMessage
from toolroll.kernel.failures import log_failure

NO_ANSWER: Final = "(The model gave no answer.)"


async def finish(state: RunState, ending: Ending, *, closing: bool = False) -> RunResult[object]:
    """The result of the run, recorded and told."""
    result = state.result = summed_up(state, ending, closing=closing)
    await state.record(Finished(stop_reason=ending.reason, stop_detail=ending.detail, text=result.text))
    state.emit(RunFinished(result=result))
    return result


async def break_down(state: RunState, error: BaseException) -> None:
    """The end of a run that an error or a cancellation has cut short; what it had goes along with a model's error."""
    failed = isinstance(error, Exception)
    detail = str(error) or type(error).__name__
    ending = Ending(reason="failed" if failed else "interrupted", detail=detail, text="".join(state.written).strip())
    _count_answered(state)
    result = state.result = summed_up(state, ending, closing=False)
    try:
        await state.record(Finished(stop_reason=ending.reason, stop_detail=detail, text=result.text))
    except (ToolrollError, OSError) as unrecorded:  # what made the run fail is what has to be known
        log_failure(state.run.logger, unrecorded, "the end of run %s could not be recorded", state.run.run_id)
    if isinstance(error, ModelError):
        error.result = result
    state.emit(RunFinished(result=result))


def _count_answered(state: RunState) -> None:
    """A turn that was answered is on record and paid for: it counts, although its calls were cut short."""
    if state.budget.is_answered:
        said = (one.text for one in reversed(state.history.snapshot()) if isinstance(one, AssistantMessage))
        state.budget.end_step(next(said, ""), (), closing=False)


def summed_up(state: RunState, ending: Ending, *, closing: bool) -> RunResult[object]:
    """What the run comes to, as it stands."""
    steps = tuple(state.steps)
    said = (step.text for step in reversed(steps) if step.text.strip())
    return RunResult(
        run_id=state.run.run_id,
        text=ending.text or next(said, NO_ANSWER),
        messages=state.messages(),
        steps=steps,
        stop_reason=ending.reason,
        stop_detail=ending.detail,
        closing=closing,
        output=state.output,
        output_fault=_output_fault(state, ending),
        pending=tuple(state.waiting.values()),
        tool_calls=tuple(log for step in steps for log in step.calls) if state.setup.collect_tool_stats else None,
    )


def _output_fault(state: RunState, ending: Ending) -> str | None:
    if state.setup.output is None or state.has_output:
        return None
    return state.output_fault or f"the run ended before there was an answer ({ending.reason})"
