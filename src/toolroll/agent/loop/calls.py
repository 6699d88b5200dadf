"""The calls of one turn: guarded, run through the executor, kept as each one ends."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from time import perf_counter

from toolroll.agent.approvals import content_change, effect_of, preview_call
from toolroll.agent.context.outputs import store_result
from toolroll.agent.events import CallFinished, CallStarted, Warned
from toolroll.agent.hooks import HookedCall, Hooks, Refusal, refusal_response
from toolroll.agent.loop.answer import judge_done
from toolroll.agent.loop.call_log import ARGUMENTS_SHOWN_CHARACTERS, make_log, write_line
from toolroll.agent.loop.state import Change, RunState
from toolroll.agent.result import Ending, ToolCallLog
from toolroll.errors import HookFailed
from toolroll.journal.records import ApprovalQuestion, CallEnded, CallIntended
from toolroll.kernel.approval.request import Effect
from toolroll.kernel.call.context import Ledger
from toolroll.kernel.call.error_result import shape_failure
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.labels import NO_LABELS, collect_labels
from toolroll.kernel.data.messages import TextPart, ToolCall, ToolMessage
from toolroll.kernel.define.tool import Tool
from toolroll.safe.secrets.redact import redact_line


async def run_calls(state: RunState, calls: Sequence[ToolCall]) -> tuple[tuple[ToolCallLog, ...], Ending | None]:
    """Run the calls; their figures, and why the run ends with them, if it does."""
    batch = _Batch(state)
    refusal = state.guard.begin(calls)
    left = [call for call in calls if not batch.recall(call) and call.id not in state.waiting]
    if refusal is None:
        await _run_hooked(state, left, batch)
    else:
        for call in left:
            tool = state.setup.tools.get(call.name)
            refused = refusal[call.id]
            await batch.end(call, refused if tool is None else shape_failure(refused, tool))
    state.started.clear()
    if state.waiting:
        return tuple(batch.logs.values()), _pending(state.waiting)
    verdict = state.guard.end(batch.results)
    logs = tuple(batch.logs[call.id] for call in calls)
    final = next((batch.results[call.id] for call in calls if batch.results[call.id].is_final), None)
    if final is not None:
        return logs, await judge_done(state, final.text)
    return logs, None if verdict is None else Ending(reason=verdict, detail=batch.last_fault)


async def _run_hooked(state: RunState, calls: Sequence[ToolCall], batch: "_Batch") -> None:
    """Run the calls with the hooks around them: these come before checks and approval, and cannot replace them."""
    hooks = state.setup.hooks
    if hooks is None or not hooks.tool:
        await execute_step(state.setup.tools, calls, state.run, on_result=batch.end)
        return
    hooked: dict[str, HookedCall] = {}
    for call in calls:
        one = await _begin_hooked(state, hooks, call, batch)
        if one.result is None:
            hooked[call.id] = one
        else:
            _add_labels(state, call, one.result)
            await batch.end(call, await _end_hooked(state, hooks, one, one.result, batch))

    async def end(call: ToolCall, result: ToolResult) -> None:
        if call.id not in state.waiting:
            one = hooked[call.id]
            await batch.end(one.call, await _end_hooked(state, hooks, one, result, batch))

    await execute_step(state.setup.tools, [one.call for one in hooked.values()], state.run, on_result=end)


async def _begin_hooked(state: RunState, hooks: Hooks, call: ToolCall, batch: "_Batch") -> HookedCall:
    try:
        return await hooks.begin_call(state.context(), call)
    except Refusal as refusal:
        one = HookedCall(call)
        one.result = _refuse(state, refusal)
        return one
    except HookFailed as error:
        await batch.end(call, ToolResult.failure(f"Not run. {error.message}", code=error.code))
        raise


async def _end_hooked(
    state: RunState, hooks: Hooks, hooked: HookedCall, result: ToolResult, batch: "_Batch"
) -> ToolResult:
    try:
        return await hooks.end_call(state.context(), hooked, result)
    except Refusal as refusal:
        return _refuse(state, refusal)
    except HookFailed as error:  # what a hook should have looked at does not pass without it
        withheld = f"The call has ended, and its result is withheld. {error.message}"
        await batch.end(hooked.call, ToolResult.failure(withheld, code=error.code))
        raise


def _refuse(state: RunState, refusal: Refusal) -> ToolResult:
    """Let the run end with the words of a hook, in the place of the model's next turn."""
    state.refusal = refusal_response(refusal.text, state.setup.model.origin, "at a tool call, by a hook")
    return ToolResult.failure(refusal.text, code="refused")


def _add_labels(state: RunState, call: ToolCall, result: ToolResult) -> None:
    """Label the run with what the tool brings, also where a hook answers in its place, as from a cache."""
    tool = state.setup.tools.get(call.name)
    labels = NO_LABELS if tool is None else collect_labels(tool)
    state.run.add_labels(labels)
    if state.run.outflow is not None and "private" in labels:
        state.run.outflow.private.add(result.text)


class _Batch:
    """What has become of the calls of one turn so far."""

    def __init__(self, state: RunState) -> None:
        self.results: dict[str, ToolResult] = {}
        self.logs: dict[str, ToolCallLog] = {}
        self._state = state

    @property
    def last_fault(self) -> str:
        """Which call the run is stopped for, and what came of it."""
        logs = list(self.logs.values())
        name, result = logs[-1].name, list(self.results.values())[-1]
        return f"{name}: {redact_line(result.text, ARGUMENTS_SHOWN_CHARACTERS)}"

    def recall(self, call: ToolCall) -> bool:
        """Whether the call has its result on record: then it is not run again."""
        ended = self._state.known.pop(call.id, None)
        if ended is None:
            return False
        self.results[call.id] = result = recorded_result(ended)
        self.logs[call.id] = make_log(call, result, ended.duration_ms)
        self._state.guard.add_result(call, result)
        self._state.add_result(ended.result)
        return True

    async def end(self, call: ToolCall, result: ToolResult) -> None:
        """A call has ended: kept at once, so that a crash of its siblings costs nothing of it."""
        state = self._state
        if call.id in state.waiting:
            return
        duration_ms = self._duration_ms(call)
        if state.spans is not None:
            state.spans.end(call, result)
        message = result.to_message(call_id=call.id, name=call.name)
        if state.outputs is not None:
            message = await store_result(state.outputs, message, state.window.limits.output_bytes, result.whole)
        warning = state.guard.add_result(call, result)
        if warning is not None:
            state.emit(Warned(kind="repeated_call", text=f"{call.name}: {warning}"))
        note = "]\n[".join(one for one in (state.edits.pop(call.id, None), warning) if one) or None
        if note is not None:
            message = _with_note(message, note)
        self.results[call.id] = result
        self.logs[call.id] = log = make_log(call, result, duration_ms)
        state.add_result(message)
        write_line(state.run.logger, log, call.arguments)
        if state.setup.journal is not None:
            await state.record(_record(message, result, duration_ms, note))
        state.emit(CallFinished(call=call, result=result, duration_ms=duration_ms))

    def _duration_ms(self, call: ToolCall) -> float:
        started = self._state.started.get(call.id)
        if started is not None:
            return (perf_counter() - started) * 1000
        self._state.emit(CallStarted(call=call))  # it never ran, and who watches still sees a beginning and an end
        return 0.0


def recorded_result(ended: CallEnded) -> ToolResult:
    """Return what a call came to, without what the guard added to it."""
    content, note = ended.result.content, ended.note
    if isinstance(content, str):
        text = content if note is None else content.removesuffix(f"\n[{note}]")
        result = ToolResult.of_text(text)
    else:
        result = ToolResult.of_parts(content if note is None else content[:-1])
    return replace(result, is_error=ended.result.is_error, code=ended.code, is_final=ended.is_final)


def _pending(waiting: Mapping[str, Sequence[ApprovalQuestion]]) -> Ending:
    questions = list(chain.from_iterable(waiting.values()))
    named = ", ".join(f"{asked.tool} ({asked.call_id})" for asked in questions)
    what = "a result" if all(asked.waits_for == "result" for asked in questions) else "an approval"
    return Ending(reason="approval_pending", detail=named, text=f"(Waiting for {what}: {named}.)")


def _record(message: ToolMessage, result: ToolResult, duration_ms: float, note: str | None) -> CallEnded:
    return CallEnded(result=message, code=result.code, duration_ms=duration_ms, is_final=result.is_final, note=note)


def _with_note(message: ToolMessage, note: str) -> ToolMessage:
    if isinstance(message.content, str):
        return replace(message, content=f"{message.content}\n[{note}]")
    return replace(message, content=(*message.content, TextPart(text=f"[{note}]")))


class CallLedger(Ledger):
    """The kernel's ledger of one run. A call that reads may simply be run again, so only changes are recorded.

    It records intents alone: a result is recorded with the message that the model reads.
    """

    def __init__(self, state: RunState) -> None:
        self._state = state

    async def intent(self, call: ToolCall, /) -> None:
        """Record that the call runs now, after everybody who had to be asked."""
        state = self._state
        if state.setup.journal is not None:
            tool = state.setup.tools.get(call.name)
            assert tool is not None
            effect = effect_of(tool)
            if effect != "reads":
                base, target = await self._change(tool, call, effect)
                intended = CallIntended(call=call, effect=effect, base=base, target=target)
                if state.intended.pop(call.id, None) != intended:
                    await state.record(intended)
        state.started[call.id] = perf_counter()
        if state.spans is not None:
            state.spans.begin(call)
        state.emit(CallStarted(call=call))

    async def _change(self, tool: Tool, call: ToolCall, effect: Effect) -> Change:
        """The hashes before and after; where nobody was shown a preview, one is made for them."""
        known = self._state.approved.pop(call.id, None)
        if known is not None or effect != "writes":
            return known or (None, None)
        shown = await preview_call(tool, call, self._state.run)
        return (None, None) if isinstance(shown, ToolResult) else content_change(shown.preview)
