"""Asking a person: the question is recorded before it is shown, the answer before it counts, and each counts once."""

import asyncio
import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from toolroll.agent.events import Warned
from toolroll.agent.loop.state import Change, RunState
from toolroll.errors import DecisionRefused
from toolroll.journal.journal import as_sealing
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion
from toolroll.kernel.approval.ask_person import check_decisions
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import (
    ApprovalRequest,
    Approve,
    Approver,
    Decision,
    Effect,
    Preview,
    Reject,
    content_hash,
)
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.execute import Asking, Locating, admit, judge_located, show
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import canonical_json, dump_json
from toolroll.kernel.define.deferred import WAITING
from toolroll.kernel.define.tool import Tool

SAME_AGAIN: Final = (
    "(This is the same proposal as before. The person was not asked again: do something else, or ask them.)"
)
NOT_YET: Final = Reject("no answer yet")
"""What the executor is given where a person is asked later; it ends nothing, for the call stays open."""


class AskLater:
    """An approver for where nobody is there: the run stops with what it has to ask, and waits on record.

    `resume(run_id, decisions={call_id: Approve()})` goes on from there, also in another process. Without a journal
    nothing can wait: an agent with this approver needs one.
    """

    needs_journal: ClassVar[bool] = True

    def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """Refuse: nobody can be asked now."""
        raise DecisionRefused(f"Nobody is there to be asked about {len(requests)} calls.")


class OneAtATime:
    """An approver that is asked one question after another, also by sub-agents that run side by side."""

    def __init__(self, approver: Approver) -> None:
        self.approver = approver
        self._lock: asyncio.Lock | None = None

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """Return one decision for each request, in their order."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            answer = self.approver.decide(requests)
            return await answer if inspect.isawaitable(answer) else answer


class RejectedOnce:
    """An approver that is not asked again about what a person has rejected in this run: the answer is the same."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._rejected: dict[str, Reject] = {}

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """Return one decision for each request, in their order."""
        keys = [_proposal_key(one) for one in requests]
        known = {key: self._again(key) for key in keys if key in self._rejected}
        left = [one for one, key in zip(requests, keys, strict=True) if key not in known]
        answer = self._approver.decide(tuple(left)) if left else ()
        given = await answer if inspect.isawaitable(answer) else answer
        decisions = iter(check_decisions(given, len(left)))
        return [known[key] if key in known else self._keep(key, next(decisions)) for key in keys]

    def _again(self, key: str) -> Reject:
        return Reject(f"{(self._rejected[key].reason or '').strip()} {SAME_AGAIN}".strip())

    def _keep(self, key: str, decision: Decision) -> Decision:
        if isinstance(decision, Reject) and decision is not NOT_YET:
            self._rejected[key] = decision
        return decision


class RecordedApprover:
    """The approver of one run. What was answered already is not asked again; what changed since then is."""

    def __init__(self, approver: Approver, state: RunState, *, later: bool) -> None:
        self._approver = approver
        self._state = state
        self._later = later

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """Return one decision for each request, in their order."""
        found: dict[str, Decision] = {}
        for one in requests:
            known = await self._find_answer(one)
            if known is not None:
                found[one.call_id] = known
        left = [one for one in requests if one.call_id not in found]
        if left:
            found |= zip((one.call_id for one in left), await self._ask(left), strict=True)
        for one in requests:
            decision = found[one.call_id]
            if not isinstance(decision, Approve):
                self._state.approved[one.call_id] = content_change(one.preview)
            elif decision.arguments is None:  # else another change than the one that was shown
                self._state.approved[one.call_id] = content_change(one.preview, decision.edited)
        return [found[one.call_id] for one in requests]

    async def _find_answer(self, request: ApprovalRequest) -> Decision | None:
        """The answer that was given to exactly this; it counts once."""
        answer = self._state.answers.pop(request.call_id, None)
        if answer is None:
            return None
        if answer.digest != request.digest:
            text = _why_asked_again(request, self._state.asked.get(request.call_id))
            self._state.emit(Warned(kind="asked_again", text=text))
            return None
        if not answer.is_recorded:
            await self._state.record(_answer_record(request, answer.decision))
        return answer.decision

    async def _ask(self, requests: Sequence[ApprovalRequest]) -> Sequence[Decision]:
        await _seal(self._state, {one.call_id for one in requests})
        for one in requests:
            asked = ApprovalQuestion(
                call_id=one.call_id,
                tool=one.tool,
                digest=one.digest,
                preview=question_text(one),
                why=one.why,
                change=content_hash(one.preview.text),
                arguments=one.arguments,
            )
            known = self._state.asked.get(one.call_id)
            if known is None or known.digest != one.digest:
                await self._state.record(asked)
                self._state.asked[one.call_id] = asked
            if self._later:
                self._state.waiting[one.call_id] = (asked,)
        if self._later:
            return [NOT_YET] * len(requests)
        answer = self._approver.decide(tuple(requests))
        decisions = check_decisions(await answer if inspect.isawaitable(answer) else answer, len(requests))
        for one, decision in zip(requests, decisions, strict=True):
            await self._state.record(_answer_record(one, decision))
        return decisions


def _proposal_key(request: ApprovalRequest) -> str:
    """Return what tells a proposal from another one: the call as it is meant, and all that it would do."""
    preview = request.preview
    return content_hash(canonical_json([request.tool, request.arguments, preview.base, preview.text, preview.target]))


async def _seal(state: RunState, waiting: Collection[str]) -> None:
    """Keep what the record of a call leaves out: without it, nobody could run the call after a later answer."""
    journal = as_sealing(state.setup.journal)
    if journal is not None:
        calls = (call for call in state.conversation.open_calls if call.id in waiting)
        await journal.seal(state.run.run_id, *calls)


async def receive_result(state: RunState, call_id: str, arguments: Mapping[str, object], why: str) -> object:
    """Return the result that was delivered for a call; where there is none, record that the call waits for one."""
    if call_id in state.delivered:
        return state.delivered.pop(call_id)
    await _seal(state, [call_id])
    name = next(call.name for call in state.conversation.open_calls if call.id == call_id)
    text = f"{name} {dump_json(arguments)}"
    asked = ApprovalQuestion(
        call_id=call_id, tool=name, digest="", preview=text, why=why, arguments=arguments, waits_for="result"
    )
    known = state.asked.get(call_id)
    if known is None or known.waits_for != "result":
        await state.record(asked)
        state.asked[call_id] = asked
    state.waiting[call_id] = (asked,)
    return WAITING


def _why_asked_again(request: ApprovalRequest, before: ApprovalQuestion | None) -> str:
    """Why an answer does not count any more. Notes are part of what a person saw: others make another question."""
    shown = question_text(request)
    if before is None:
        what = "what it is about has"
    elif before.preview == shown:
        what = "the tool or the file, though not what is shown, has"
    elif before.change == content_hash(request.preview.text):
        what = (
            f"the notes on it ({'; '.join(request.preview.notes) or 'none now'}), and nothing else that is shown, have"
        )
    else:
        what = "what it would change has"
    return f"{request.tool} ({request.call_id}) is asked anew: {what} changed since it was answered."


def _answer_record(request: ApprovalRequest, decision: Decision) -> ApprovalAnswer:
    if isinstance(decision, Approve):
        return ApprovalAnswer(
            call_id=request.call_id,
            digest=request.digest,
            decision="approve",
            edited=decision.edited,
            arguments=None if decision.arguments is None else dict(decision.arguments),
        )
    return ApprovalAnswer(call_id=request.call_id, digest=request.digest, decision="reject", reason=decision.reason)


def recorded_decision(record: ApprovalAnswer) -> Decision:
    """Return the decision that is on record."""
    if record.decision == "approve":
        return Approve(edited=record.edited, arguments=record.arguments)
    return Reject(reason=record.reason)


def effect_of(tool: Tool) -> Effect:
    """Return what running the tool does: a wrapper can only make it stricter."""
    return tool.core.effect if tool.effect == "reads" else tool.effect


async def preview_call(
    tool: Tool, call: ToolCall, run: Run, *, edited: str | None = None
) -> ApprovalRequest | ToolResult:
    """Return what a person would be shown of the call at this moment, or why there is nothing to show."""
    ctx = run.context(call.id)
    admitted = admit(tool, call.arguments, ctx)
    if isinstance(admitted, Locating):
        admitted = await judge_located(admitted, ctx)
    if isinstance(admitted, ToolResult):
        return admitted
    if isinstance(admitted, Permit):
        admitted.expire()
        admitted = Asking(
            tool=tool,
            core=tool.core,
            arguments=admitted.arguments,
            effect=effect_of(tool),
            seal="",
            targets=admitted.targets,
        )
    return await show(admitted, ctx, edited)


def content_change(preview: Preview, edited: str | None = None) -> Change:
    """Return the hashes of what is changed, before and after: whether a call has run can be seen by them."""
    if edited is None and preview.target is not None:
        return preview.base, preview.target
    text = preview.editable if edited is None else edited
    return preview.base, None if text is None else content_hash(text)


def question_text(request: ApprovalRequest) -> str:
    """Return what a person is shown, as text that can be kept: links, the notes and hints, then what would happen."""
    return "\n".join([*map(str, request.links), *request.preview.remarks, request.preview.text])
