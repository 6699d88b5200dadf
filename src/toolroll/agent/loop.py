"""The loop: ask the model, run its calls, until there is an answer or a reason to stop. No limit raises."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from toolroll.agent.answer import judge_answer
from toolroll.agent.calls import run_calls
from toolroll.agent.closing import EMPTY_ANSWER, needs_closing, not_run
from toolroll.agent.events import RunFinished, StepFinished, StepStarted
from toolroll.agent.result import RunResult, Step, StopReason, ToolCallLog
from toolroll.agent.state import RunState
from toolroll.agent.stop import first_met
from toolroll.agent.turn import last_text, take_turn
from toolroll.journal.records import Answered, Finished, Said
from toolroll.kernel.conversation import UserMessage
from toolroll.kernel.messages import ToolCall
from toolroll.models.model import ModelResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why a run ends, and, where a tool said so, with which words."""

    reason: StopReason
    detail: str = ""
    text: str = ""


async def drive(state: RunState) -> RunResult:
    """Step after step, to the end of the run."""
    ending = None
    while ending is None:
        ending = _limit(state) or await _step(state)
    closing = needs_closing(state, ending.reason)
    if closing:
        await _close(state)
    return await _finish(state, ending, closing=closing)


async def _step(state: RunState) -> Ending | None:
    """One model call and all the tool calls it leads to."""
    started = perf_counter()
    state.emit(StepStarted(number=len(state.steps) + 1))
    response = await _ask(state, started)
    calls = _calls(state, response)
    ending = _broken(response) or (None if calls else await _answered(state, response))
    logs: tuple[ToolCallLog, ...] = ()
    if ending is not None:
        await not_run(state, calls, ending.reason)
    elif calls:
        logs, final = await run_calls(state, calls)
        verdict = state.guard.verdict
        if final is not None:
            ending = Ending(reason="done", text=final.text)
        elif verdict is not None:
            ending = Ending(reason=verdict)
    _end_step(state, response, logs, started)
    return ending


def _limit(state: RunState) -> Ending | None:
    """What forbids another step."""
    if state.stop_requested:
        return Ending(reason="interrupted")
    met = first_met(state.setup.stop_when, state.steps)
    return None if met is None else Ending(reason="condition", detail=met)


async def _ask(state: RunState, started: float, *, tools: bool = True) -> ModelResponse:
    response = await take_turn(state.asking(started), state.request(tools=tools))
    state.history.append(response.message)
    record = Answered(
        message=response.message,
        stop=response.stop,
        stop_detail=response.stop_detail,
        usage=response.usage,
        cost=state.cost_of(response.usage),
        duration_s=perf_counter() - started,
        closing=not tools,
    )
    await state.record(record)
    return response


def _calls(state: RunState, response: ModelResponse) -> Sequence[ToolCall]:
    """The turn's calls under unique ids, with the arguments as the model wrote them."""
    known = zip(response.message.calls, state.history.open_ids, strict=True)
    return [call if call.id == call_id else replace(call, id=call_id) for call, call_id in known]


def _broken(response: ModelResponse) -> Ending | None:
    """Turns whose calls must not be run: cut, refused, or ended for a reason nobody knows."""
    match response.stop:
        case "max_tokens" if response.stop_detail == "limit":
            return Ending(reason="condition", detail="a limit was reached while the model was writing")
        case "max_tokens" | "context_full":
            return Ending(reason="cut_off", detail=response.stop_detail)
        case "refusal":
            return Ending(reason="refusal", detail=response.stop_detail)
        case "unknown" if response.message.calls:
            return Ending(reason="cut_off", detail=response.stop_detail)
        case _:
            return None


async def _answered(state: RunState, response: ModelResponse) -> Ending | None:
    """A turn without calls is the answer, unless it is empty or not what was asked for: then the model is told."""
    nudge = judge_answer(state, response)
    if nudge is None:
        return Ending(reason="answer")
    message = UserMessage.of(nudge)
    state.history.append(message)
    await state.record(Said(message=message))
    return None


async def _close(state: RunState) -> None:
    """One last call without tools: what there is becomes an answer."""
    started = perf_counter()
    response = await _ask(state, started, tools=False)
    await not_run(state, _calls(state, response), "condition")
    _end_step(state, response, (), started)


def _end_step(state: RunState, response: ModelResponse, logs: tuple[ToolCallLog, ...], started: float) -> None:
    step = Step(
        number=len(state.steps) + 1,
        text=response.message.text,
        usage=response.usage,
        cost=state.cost_of(response.usage),
        duration_s=perf_counter() - started,
        calls=logs,
    )
    state.steps.append(step)
    state.emit(StepFinished(step=step))


async def _finish(state: RunState, ending: Ending, *, closing: bool) -> RunResult:
    messages = tuple(state.history.legal())
    text = ending.text or last_text(messages) or EMPTY_ANSWER
    await state.record(Finished(stop_reason=ending.reason, stop_detail=ending.detail, text=text))
    logs = tuple(log for step in state.steps for log in step.calls)
    result = RunResult(
        run_id=state.run.run_id,
        text=text,
        messages=messages,
        steps=tuple(state.steps),
        stop_reason=ending.reason,
        stop_detail=ending.detail,
        closing=closing,
        output=state.output,
        tool_calls=logs if state.setup.collect_tool_stats else None,
    )
    state.emit(RunFinished(result=result))
    return result
