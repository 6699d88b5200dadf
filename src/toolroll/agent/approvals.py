"""Asking a person on record: the question before it is seen, the answer before it counts, and each answer once."""

import inspect
from collections.abc import Sequence
from typing import Final

from toolroll.agent.events import Warned
from toolroll.agent.preview import change_of, shown_of
from toolroll.agent.state import RunState
from toolroll.errors import DecisionRefused
from toolroll.journal.records import Asked, Decided
from toolroll.kernel.approval.ask_person import check_decisions
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision, Reject

NOT_YET: Final = Reject("no answer yet")
"""What the executor is given where a person is asked later; it ends nothing, for the call stays open."""


class AskLater:
    """An approver for where nobody is there: the run stops with what it has to ask, and waits on record.

    `resume(run_id, decisions={call_id: Approve()})` goes on from there, also in another process. Without a journal
    nothing can wait, and what would be asked about is not run.
    """

    def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """Nobody can be asked now."""
        raise DecisionRefused(f"Nobody is there to be asked about {len(requests)} calls.")


class RecordedApprover:
    """The approver of one run. What was answered already is not asked again; what changed since then is."""

    def __init__(self, approver: Approver, state: RunState, *, later: bool) -> None:
        self._approver = approver
        self._state = state
        self._later = later

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """One decision for each request, in their order."""
        found: dict[str, Decision] = {}
        for one in requests:
            known = await self._known(one)
            if known is not None:
                found[one.call_id] = known
        left = [one for one in requests if one.call_id not in found]
        if left:
            found |= zip((one.call_id for one in left), await self._ask(left), strict=True)
        for one in requests:
            decision = found[one.call_id]
            edited = decision.edited if isinstance(decision, Approve) else None
            self._state.approved[one.call_id] = change_of(one.preview, edited)
        return [found[one.call_id] for one in requests]

    async def _known(self, request: ApprovalRequest) -> Decision | None:
        """The answer that was given to exactly this; it counts once."""
        answer = self._state.answers.pop(request.call_id, None)
        if answer is None:
            return None
        if answer.digest != request.digest:
            self._state.emit(Warned(text=_asked_anew(request, self._state.asked.get(request.call_id))))
            return None
        if not answer.is_recorded:
            await self._state.record(_decided(request, answer.decision))
        return answer.decision

    async def _ask(self, requests: Sequence[ApprovalRequest]) -> Sequence[Decision]:
        for one in requests:
            asked = Asked(call_id=one.call_id, tool=one.tool, digest=one.digest, preview=shown_of(one), why=one.why)
            known = self._state.asked.get(one.call_id)
            if known is None or known.digest != one.digest:
                await self._state.record(asked)
                self._state.asked[one.call_id] = asked
            if self._later:
                self._state.waiting[one.call_id] = asked
        if self._later:
            return [NOT_YET] * len(requests)
        answer = self._approver.decide(tuple(requests))
        decisions = check_decisions(await answer if inspect.isawaitable(answer) else answer, len(requests))
        for one, decision in zip(requests, decisions, strict=True):
            await self._state.record(_decided(one, decision))
        return decisions


def _asked_anew(request: ApprovalRequest, before: Asked | None) -> str:
    """Why an answer does not count any more. Notes are part of what a person saw: others make another question."""
    shown = shown_of(request)
    if before is None:
        what = "what it is about has"
    elif before.preview == shown:
        what = "the tool or the file, though not what is shown, has"
    elif before.preview.endswith(request.preview.text):
        what = (
            f"the notes on it ({'; '.join(request.preview.notes) or 'none now'}), and nothing else that is shown, have"
        )
    else:
        what = "what it would change has"
    return f"{request.tool} ({request.call_id}) is asked anew: {what} changed since it was answered."


def _decided(request: ApprovalRequest, decision: Decision) -> Decided:
    if isinstance(decision, Approve):
        return Decided(call_id=request.call_id, digest=request.digest, decision="approve", edited=decision.edited)
    return Decided(call_id=request.call_id, digest=request.digest, decision="reject", reason=decision.reason)
