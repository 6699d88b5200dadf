"""Calls that were about to run when their run was cut off: the run log does not say whether they did.

What only reads is run again. A tool that keeps records of its own, such as the history of a project, says what became
of the call. Else a change can be seen: its hash is the one before, or the one after. About everything else, and where
the records contradict each other, a person is asked. Nothing is silently repeated.
"""

from dataclasses import replace
from typing import Final

from toolroll.agent.approvals import effect_of, preview_call, question_text
from toolroll.agent.events import CallFinished, CallStarted
from toolroll.agent.loop.state import Answer, RunState
from toolroll.journal.records import ApprovalQuestion, CallEnded, CallIntended
from toolroll.kernel.approval.ask_person import Unanswered
from toolroll.kernel.approval.request import ApprovalRequest, Reject, rejection_text
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.error_result import handle_error, shape_failure
from toolroll.kernel.call.events import ApprovalDecided
from toolroll.kernel.call.result import CallOutcome, ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool

UNKNOWN: Final = "The run was cut off while this call ran; whether it took effect is not known."
UNRECORDED: Final = "The run log does not say that this call began, but the records of the tool have it."
WEAKER: Final = (
    "This call needed an approval when it was made. Its tool has changed since, and says that it only reads."
)
ALREADY_DONE: Final = "[done: this change was made before the run was cut off; the tool's own report of it was lost]"


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
    outcome = await find_outcome(tool, call, state.run) or await _look_for_change(
        tool, intended.call, intended, state.run
    )
    if await _end_by_outcome(state, call, outcome):
        return
    if outcome.state == "unknown":
        await _ask_about(state, tool, call, f"{UNKNOWN} {outcome.text}".strip())
        return
    state.intended[call.id] = intended
    if used is not None:
        state.answers[call.id] = used


async def check_unrecorded(state: RunState, call: ToolCall) -> None:
    """Ask about a call that the run log has not begun, if the tool has a record of it: one of the two lost something.

    That happens if the machine lost power before the run log was on disk.
    """
    tool = state.setup.tools.get(call.name)
    if tool is None or effect_of(tool) == "reads":
        return
    outcome = await find_outcome(tool, call, state.run)
    if outcome is not None and outcome.state != "not_done":
        await _ask_about(state, tool, call, f"{UNRECORDED} {outcome.text}".strip())


async def ask_if_weaker(state: RunState, call: ToolCall) -> None:
    """Ask about a call that needed leave when it was made, and whose tool says by now that it only reads.

    A person was promised to be asked; a tool that calls itself harmless meanwhile does not take that back.
    """
    tool = state.setup.tools.get(call.name)
    is_settled = call.id in state.known or call.id in state.waiting
    if tool is not None and not is_settled and effect_of(tool) == "reads":
        await _ask_about(state, tool, call, WEAKER)


async def end_by_records(state: RunState, call: ToolCall) -> bool:
    """End a call that is not to be run any more with what the tool's records say of it; False if they say nothing."""
    tool = state.setup.tools.get(call.name)
    outcome = None if tool is None else await find_outcome(tool, call, state.run)
    return outcome is not None and await _end_by_outcome(state, call, outcome)


async def find_outcome(tool: Tool, call: ToolCall, run: Run) -> CallOutcome | None:
    """Return what the tool's own records say of a call; None if it keeps none."""
    ctx = run.context(call.id)
    try:
        return await tool.find_outcome(ctx)
    except BaseException as error:  # noqa: BLE001 - as for a preview: whatever a tool raises is an answer
        return CallOutcome(state="unknown", text=handle_error(error, tool, ctx, preview=True).text)


async def _end_by_outcome(state: RunState, call: ToolCall, outcome: CallOutcome) -> bool:
    match outcome.state:
        case "done":
            await end_call(state, call, ToolResult.of_text(outcome.text or ALREADY_DONE))
        case "partly_done":
            await end_unrun(state, call, outcome.text or UNKNOWN, code="partly_done")
        case _:
            return False
    return True


async def end_unrun(state: RunState, call: ToolCall, text: str, *, code: str) -> None:
    """Answer a call that is not going to be run, in words that say so."""
    tool, failed = state.setup.tools.get(call.name), ToolResult.failure(text, code=code)
    await end_call(state, call, failed if tool is None else shape_failure(failed, tool))


async def end_call(state: RunState, call: ToolCall, result: ToolResult) -> None:
    """Record the result of a call, so that it is known when its turn goes on."""
    message = result.to_message(call_id=call.id, name=call.name)
    ended = state.known[call.id] = CallEnded(result=message, code=result.code, duration_ms=0.0)
    await state.record(ended)
    state.emit(CallStarted(call=call))
    state.emit(CallFinished(call=call, result=result, duration_ms=0.0))


async def _look_for_change(tool: Tool, call: ToolCall, intended: CallIntended, run: Run) -> CallOutcome:
    """Whether the change is there, by the hash of what it is based on now."""
    if intended.target is None:
        return CallOutcome(state="unknown")
    now = await preview_call(tool, call, run)
    if isinstance(now, ToolResult):
        # An edit that was made does not find any more what it replaces. With another text it has nothing to find.
        now = await preview_call(tool, call, run, edited="")
    base = now.preview.base if isinstance(now, ApprovalRequest) else None
    if base is None:
        return CallOutcome(state="unknown")
    is_done, is_as_before = base == intended.target, base == intended.base
    return CallOutcome(state="done" if is_done else "not_done" if is_as_before else "unknown")


async def _ask_about(state: RunState, tool: Tool, call: ToolCall, why: str) -> None:
    """Ask for the person's own word about this call: no rule and no general yes may repeat it."""
    shown = await preview_call(tool, call, state.run)
    if isinstance(shown, ToolResult):
        await end_unrun(state, call, f"{why} It was not run again: {shown.text}", code="unknown_outcome")
        return
    question = replace(shown, why=f"{why} Run it again? {shown.why}", is_repeat=True)
    [decision] = await state.run.ask([question])
    if call.id in state.waiting:
        return
    match decision:
        case Unanswered():  # the approver broke: the question stays
            asked = ApprovalQuestion(
                call_id=call.id,
                tool=tool.name,
                digest=question.digest,
                preview=question_text(question),
                why=question.why,
                arguments=question.arguments,
            )
            state.waiting[call.id] = (asked,)
        case Reject():
            state.run.report(ApprovalDecided(request=question, decision=decision))
            await end_unrun(state, call, f"{why} It was not run again: {rejection_text(decision)}", code="rejected")
        case _:
            state.run.report(ApprovalDecided(request=question, decision=decision))
            # The executor asks once more for what it is about to run: the same answer, bound to that.
            state.answers[call.id] = Answer(digest=shown.digest, decision=decision, is_recorded=True)
