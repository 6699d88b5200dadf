"""Approvals that are answered from elsewhere: another task, a browser, another process through a record.

The desk keeps the requests on its own side. An answer names a request and the digest of what was seen; it counts once,
before the deadline, and only if both fit. A history that claims an approval proves nothing here.
"""

import asyncio
import hmac
from collections.abc import Sequence
from typing import TypeAlias

from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.request import ApprovalRequest, Decision, Reject, is_decision
from toolroll.safe.limits import APPROVAL_TIMEOUT_S

Waiting: TypeAlias = "tuple[ApprovalRequest, asyncio.Future[Decision]]"


class ApprovalDesk:
    """An approver whose answers arrive by `answer(...)`. What is not answered in time is rejected.

    It belongs to one event loop: another thread answers with `loop.call_soon_threadsafe`.
    """

    def __init__(self, *, timeout_s: float = APPROVAL_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._open: list[Waiting] = []

    @property
    def pending(self) -> tuple[ApprovalRequest, ...]:
        """Return the requests that wait for an answer."""
        return tuple(request for request, future in self._open if not future.done())

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Wait until each request is answered or its time is up."""
        loop = asyncio.get_running_loop()
        asked: list[Waiting] = [(request, loop.create_future()) for request in requests]
        if not asked:
            return []
        self._open.extend(asked)
        try:
            await asyncio.wait([future for _, future in asked], timeout=self._timeout_s)
            return [future.result() if future.done() else self._too_late() for _, future in asked]
        finally:
            self._open = [waiting for waiting in self._open if waiting not in asked]

    def answer(self, *, run_id: str, call_id: str, digest: str, decision: Decision) -> None:
        """Give the answer to one pending request; `DecisionRefused` if it is unknown, late, second, or not this one."""
        if not is_decision(decision):
            raise DecisionRefused(f"An answer is Approve or Reject, not {decision!r}.")
        if not isinstance(digest, str):
            raise DecisionRefused(f"An answer names the digest of what was seen, which is text, not {digest!r}.")
        named = [
            (request, future)
            for request, future in self._open
            if (request.run_id, request.call_id) == (run_id, call_id) and not future.done()
        ]
        if not named:
            raise DecisionRefused("Nothing waits for this answer: it was given already, is too late, or never asked.")
        matching = [future for request, future in named if _same(request.digest, digest)]
        if not matching:
            raise DecisionRefused("This answer is for something else than what is being asked. Look at it again.")
        matching[0].set_result(decision)

    def _too_late(self) -> Reject:
        return Reject(f"no answer within {self._timeout_s:g} seconds")


def _same(digest: str, given: str) -> bool:
    return hmac.compare_digest(digest.encode(), given.encode("utf-8", "surrogatepass"))
