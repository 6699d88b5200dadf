"""What a run writes down around its calls: that one is about to run, what a person was asked, what they said."""

import inspect
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from toolroll.agent.events import CallStarted
from toolroll.agent.state import Change, RunState
from toolroll.journal.records import Asked, Decided, Intended
from toolroll.kernel.approval import ApprovalRequest, Approve, Approver, Decision, Preview, content_hash
from toolroll.kernel.messages import ToolCall
from toolroll.kernel.result import ToolResult

if TYPE_CHECKING:
    import asyncio


class CallLedger:
    """The kernel's ledger of one run. A call that reads may simply be run again, so only changes are recorded."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    async def intent(self, call: ToolCall, /) -> None:
        """The call runs now, after everybody who had to be asked."""
        state = self._state
        if state.setup.journal is not None:
            tool = state.setup.tools.get(call.name)
            assert tool is not None
            effect = tool.core.effect if tool.effect == "reads" else tool.effect
            if effect != "reads":
                base, target = state.approved.pop(call.id, (None, None))
                await state.record(Intended(call=call, effect=effect, base=base, target=target))
        state.started[call.id] = perf_counter()
        state.emit(CallStarted(call=call))

    async def outcome(self, call: ToolCall, result: ToolResult, /) -> None:
        """Nothing: who hears of the result keeps it, with what the model reads of it."""


class OneAtATime:
    """An approver that is asked one question after another, also by sub-agents that run side by side."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._lock: asyncio.Lock | None = None

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """One decision for each request, in their order."""
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            answer = self._approver.decide(requests)
            return await answer if inspect.isawaitable(answer) else answer


class RecordedApprover:
    """The approver of one run: what is asked is on record before the person sees it, the answer before it counts."""

    def __init__(self, approver: Approver, state: RunState) -> None:
        self._approver = approver
        self._state = state

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """One decision for each request, in their order."""
        for one in requests:
            asked = Asked(call_id=one.call_id, tool=one.tool, digest=one.digest, preview=one.preview.text, why=one.why)
            await self._state.record(asked)
        answer = self._approver.decide(requests)
        decisions = await answer if inspect.isawaitable(answer) else answer
        for one, decision in zip(requests, decisions, strict=True):
            self._state.approved[one.call_id] = _change(one.preview, decision)
            await self._state.record(_decided(one, decision))
        return decisions


def _decided(request: ApprovalRequest, decision: Decision) -> Decided:
    if isinstance(decision, Approve):
        return Decided(call_id=request.call_id, digest=request.digest, decision="approve", edited=decision.edited)
    return Decided(call_id=request.call_id, digest=request.digest, decision="reject", reason=decision.reason)


def _change(preview: Preview, decision: Decision) -> Change:
    """The hashes of what is changed, before and after: whether a call has run can be seen by them."""
    text = preview.editable
    if isinstance(decision, Approve) and decision.edited is not None:
        text = decision.edited
    return preview.base, None if text is None else content_hash(text)
