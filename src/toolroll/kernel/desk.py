"""Approvals that are answered from elsewhere: another task, a browser, another process through a record.

The desk keeps the requests on its own side. An answer names a request and the digest of what was seen; it counts once,
before the deadline, and only if both fit. A history that claims an approval proves nothing here.
"""

import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolroll.errors import DecisionRefused
from toolroll.kernel.approval import ApprovalRequest, Decision, Reject
from toolroll.safe.limits import APPROVAL_TIMEOUT_S

if TYPE_CHECKING:
    import asyncio


class ApprovalDesk:
    """An approver whose answers arrive by `answer(...)`. What is not answered in time is rejected."""

    def __init__(self, *, timeout_s: float = APPROVAL_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._open: dict[tuple[str, str], tuple[ApprovalRequest, asyncio.Future[Decision]]] = {}

    @property
    def pending(self) -> tuple[ApprovalRequest, ...]:
        """The requests that wait for an answer."""
        return tuple(request for request, _ in self._open.values())

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Wait until each request is answered or its time is up."""
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Decision]] = [loop.create_future() for _ in requests]
        keys = [(request.run_id, request.call_id) for request in requests]
        for key, request, future in zip(keys, requests, futures, strict=True):
            self._open[key] = (request, future)
        try:
            await asyncio.wait(futures, timeout=self._timeout_s)
            return [future.result() if future.done() else self._too_late() for future in futures]
        finally:
            for key in keys:
                self._open.pop(key, None)

    def answer(self, *, run_id: str, call_id: str, digest: str, decision: Decision) -> None:
        """Give the answer to one pending request; `DecisionRefused` if it is unknown, late, second, or not this one."""
        found = self._open.get((run_id, call_id))
        if found is None or found[1].done():
            raise DecisionRefused(
                "Nothing waits for this answer: it was given already, it is too late, or never asked."
            )
        request, future = found
        if not hmac.compare_digest(request.digest.encode(), digest.encode()):
            raise DecisionRefused("This answer is for something else than what is being asked. Look at it again.")
        future.set_result(decision)

    def _too_late(self) -> Reject:
        return Reject(f"no answer within {self._timeout_s:g} seconds")
