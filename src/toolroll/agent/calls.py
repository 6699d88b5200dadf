"""The calls of one turn: guarded, run through the executor, recorded as each one ends."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Final

from toolroll.agent.events import CallFinished, CallStarted, Warned
from toolroll.agent.result import ToolCallLog
from toolroll.agent.state import RunState
from toolroll.journal.records import Ended
from toolroll.kernel.conversation import ToolResults
from toolroll.kernel.messages import TextPart, ToolCall, ToolMessage
from toolroll.kernel.result import ToolResult
from toolroll.kernel.step import execute_step

ARGUMENTS_SHOWN_CHARACTERS: Final = 120


async def run_calls(state: RunState, calls: Sequence[ToolCall]) -> tuple[tuple[ToolCallLog, ...], ToolResult | None]:
    """Run the calls; their figures, and the result that ends the run, if one does."""
    batch = _Batch(state)
    allowed = [call for call in calls if not await batch.refused(call)]
    await execute_step(state.setup.tools, allowed, state.run, on_result=batch.end)
    state.history.append(ToolResults(results=tuple(batch.messages[call.id] for call in calls)))
    logs = tuple(batch.logs[call.id] for call in calls)
    return logs, next((batch.results[call.id] for call in calls if batch.results[call.id].is_final), None)


class _Batch:
    """What has become of the calls of one turn so far."""

    def __init__(self, state: RunState) -> None:
        self.results: dict[str, ToolResult] = {}
        self.messages: dict[str, ToolMessage] = {}
        self.logs: dict[str, ToolCallLog] = {}
        self._state = state
        self._started = perf_counter()

    async def refused(self, call: ToolCall) -> bool:
        """Whether the guard answers instead of the tool."""
        self._state.emit(CallStarted(call=call))
        refusal = self._state.guard.refusal(call)
        if refusal is not None:
            await self.end(call, refusal)
        return refusal is not None

    async def end(self, call: ToolCall, result: ToolResult) -> None:
        """A call has ended: kept at once, so that a crash of its siblings costs nothing of it."""
        state, duration_ms = self._state, (perf_counter() - self._started) * 1000
        message = result.to_message(call_id=call.id, name=call.name)
        warning = state.guard.note(call, result)
        if warning is not None:
            state.emit(Warned(text=f"{call.name}: {warning}"))
            message = _with_note(message, warning)
        self.results[call.id] = result
        self.messages[call.id] = message
        self.logs[call.id] = log = _log(call, result, duration_ms)
        state.run.logger.info("tool_call %s", log)
        await state.record(Ended(result=message, code=result.code, duration_ms=duration_ms, is_final=result.is_final))
        state.emit(CallFinished(call=call, result=result, duration_ms=duration_ms))


def _with_note(message: ToolMessage, note: str) -> ToolMessage:
    if isinstance(message.content, str):
        return replace(message, content=f"{message.content}\n[{note}]")
    return replace(message, content=(*message.content, TextPart(text=f"[{note}]")))


def _log(call: ToolCall, result: ToolResult, duration_ms: float) -> ToolCallLog:
    return ToolCallLog(
        name=call.name,
        arguments=call.arguments[:ARGUMENTS_SHOWN_CHARACTERS],
        duration_ms=duration_ms,
        ok=not result.is_error,
        bytes=len(result.text),
        error_type=result.code if result.is_error else None,
    )
