"""What a person is asked about a finished post, and answers, on record with the run that wrote it.

The run is over by then: its questions are those of the program, and nothing of it waits for their answers.
"""

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from toolroll.agent.approvals import question_text
from toolroll.errors import ToolrollError
from toolroll.journal.journal import Journal
from toolroll.journal.records import StateSet
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision
from toolroll.kernel.call.context import utc_now
from toolroll.packs.writing.profiles.schema import timestamp
from toolroll.packs.writing.session.agent import WritingContext

APPROVAL: Final = "approval"
"""With the tool's name behind it, the name under which a run keeps the last question about that tool."""

Who: TypeAlias = Literal["the person", "the person, beforehand"]

_LOG: Final = logging.getLogger("toolroll.writing")


def record_approvals(
    place: WritingContext, run_id: str, *, who: Who, clock: Callable[[], datetime] = utc_now
) -> WritingContext:
    """The same place, whose questions and answers are written down with that run."""
    if place.approver is None or place.journal is None:
        return place
    return replace(place, approver=_RecordingApprover(place.approver, place.journal, run_id, who=who, clock=clock))


class _RecordingApprover:
    """Asks as the approver inside does. The question is on record before it is seen, the answer before it counts."""

    def __init__(
        self, approver: Approver, journal: Journal, run_id: str, *, who: Who, clock: Callable[[], datetime]
    ) -> None:
        self._approver = approver
        self._journal = journal
        self._run_id = run_id
        self._who = who
        self._clock = clock

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        for one in requests:
            await self._write(one, {"answer": None})
        answer = self._approver.decide(requests)
        decisions = await answer if inspect.isawaitable(answer) else answer
        for one, decision in zip(requests, decisions, strict=False):  # how many there must be is the executor's word
            await self._write(one, _fields(decision))
        return decisions

    async def _write(self, request: ApprovalRequest, answer: dict[str, object]) -> None:
        """What fails here is logged: a post is not lost because a log is full."""
        asked = {
            "who": self._who,
            "at": timestamp(self._clock()),
            "asked": question_text(request),
            "why": request.why,
            "call_id": request.call_id,
            "digest": request.digest,
        }
        try:
            await self._journal.append(
                self._run_id, StateSet(name=f"{APPROVAL}:{request.tool}", value={**answer, **asked})
            )
            await self._journal.release(self._run_id)
        except (ToolrollError, OSError) as error:
            _LOG.warning("the record of run %s does not tell what was asked: %s", self._run_id, error)


def _fields(decision: Decision) -> dict[str, object]:
    if isinstance(decision, Approve):
        return {"answer": "approve"} if decision.edited is None else {"answer": "approve", "edited": decision.edited}
    return {"answer": "reject"} if decision.reason is None else {"answer": "reject", "reason": decision.reason}
