"""Calls that were about to run when their run was cut off: nobody knows whether they did.

What only reads is run again. A change to a file can be seen: its hash is the one before, or the one after. About
everything else a person is asked, and told so. Nothing is silently repeated.
"""

from dataclasses import replace
from typing import Final, Literal, TypeAlias

from toolroll.agent.approvals import preview_call, question_text
from toolroll.agent.events import CallFinished, CallStarted
from toolroll.agent.loop.state import Answer, RunState
from toolroll.journal.records import ApprovalQuestion, CallEnded, CallIntended
from toolroll.kernel.approval.ask_person import Unanswered
from toolroll.kernel.approval.request import ApprovalRequest, Reject, rejection_text
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import ApprovalDecided
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool

UNKNOWN: Final = "The run was cut off while this call ran; whether it took effect is not known."
ALREADY_DONE: Final = "[done: this change was made before the run was cut off; the tool's own report of it was lost]"

Trace: TypeAlias = Literal["done", "not_done", "unknown"]


async def settle_unknown(state: RunState, call: ToolCall, intended: CallIntended, used: Answer | None) -> None:
    """Find out, or ask; after that the call has its result, may run, or waits for an answer.

    `used` is the answer by which it set out: it still counts if nothing came of it.
    """
    if intended.effect == "reads":
        return
    tool = state.setup.tools.get(call.name)
    if tool is None:
        await end_unrun(state, call, f"{UNKNOWN} There is no tool {call.name!r} any more.", code="unknown_outcome")
        return
    match await _look_for_change(tool, call, intended, state.run):
        case "done":
            await end_call(state, call, ToolResult.of_text(ALREADY_DONE))
        case "unknown":
            await _ask_about(state, tool, call)
        case _:
            state.intended[call.id] = intended
            if used is not None:
                state.answers[call.id] = used


async def end_unrun(state: RunState, call: ToolCall, text: str, *, code: str) -> None:
    """Answer a call that is not going to be run, in words that say so."""
    await end_call(state, call, ToolResult.failure(text, code=code))


async def end_call(state: RunState, call: ToolCall, result: ToolResult) -> None:
    """The call has this result: on record, and known when its turn goes on."""
    message = result.to_message(call_id=call.id, name=call.name)
    ended = state.known[call.id] = CallEnded(result=message, code=result.code, duration_ms=0.0)
    await state.record(ended)
    state.emit(CallStarted(call=call))
    state.emit(CallFinished(call=call, result=result, duration_ms=0.0))


async def _look_for_change(tool: Tool, call: ToolCall, intended: CallIntended, run: Run) -> Trace:
    """Whether the change is there, by the hash of what it is based on now."""
    if intended.target is None:
        return "unknown"
    now = await preview_call(tool, call, run)
    if isinstance(now, ToolResult):
        # An edit that was made does not find any more what it replaces. With another text it has nothing to find.
        now = await preview_call(tool, call, run, edited="")
    base = now.preview.base if isinstance(now, ApprovalRequest) else None
    if base is None:
        return "unknown"
    return "done" if base == intended.target else "not_done" if base == intended.base else "unknown"


async def _ask_about(state: RunState, tool: Tool, call: ToolCall) -> None:
    shown = await preview_call(tool, call, state.run)
    if isinstance(shown, ToolResult):
        await end_unrun(state, call, f"{UNKNOWN} It was not run again: {shown.text}", code="unknown_outcome")
        return
    question = replace(shown, why=f"{UNKNOWN} Run it again? {shown.why}")
    [decision] = await state.run.ask([question])
    if call.id in state.waiting:
        return
    match decision:
        case Unanswered():  # the approver broke: the question stays
            state.waiting[call.id] = ApprovalQuestion(
                call_id=call.id,
                tool=tool.name,
                digest=question.digest,
                preview=question_text(question),
                why=question.why,
            )
        case Reject():
            state.run.report(ApprovalDecided(request=question, decision=decision))
            await end_unrun(state, call, f"{UNKNOWN} It was not run again: {rejection_text(decision)}", code="rejected")
        case _:
            state.run.report(ApprovalDecided(request=question, decision=decision))
            # The executor asks once more for what it is about to run: the same answer, bound to that.
            state.answers[call.id] = Answer(digest=shown.digest, decision=decision, is_recorded=True)
