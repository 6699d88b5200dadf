"""Asking a person: one question for all the calls of a step, and nothing but a clear yes counts as one."""

import inspect
from collections.abc import Sequence

from toolroll.kernel.approval import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.context import Run
from toolroll.kernel.events import ApprovalRequested


async def ask(run: Run, requests: Sequence[ApprovalRequest]) -> Sequence[Decision | None]:
    """A decision for each request; None where nobody could be asked."""
    for request in requests:
        run.emit(ApprovalRequested(request=request))
    if run.approver is None:
        return [None] * len(requests)
    try:
        answer = run.approver.decide(tuple(requests))
        decisions = await answer if inspect.isawaitable(answer) else answer
        return _checked(decisions, len(requests))
    except Exception:  # an approver that breaks has not said yes
        run.logger.exception("the approver failed; nothing is approved")
        return [None] * len(requests)


def _checked(decisions: object, count: int) -> Sequence[Decision]:
    if not isinstance(decisions, Sequence) or len(decisions) != count:
        raise TypeError(f"an approver must return {count} decisions, one for each request")
    for decision in decisions:
        if not isinstance(decision, (Approve, Reject)):
            raise TypeError(f"a decision is Approve or Reject, not {decision!r}")
    return decisions
