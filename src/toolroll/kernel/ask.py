"""Asking a person: one question for all the calls of a step, and nothing but a clear yes counts as one."""

import inspect
from collections.abc import Sequence

from toolroll.kernel.approval import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.cancelled import is_being_cancelled
from toolroll.kernel.context import Run
from toolroll.kernel.events import ApprovalDecided, ApprovalRequested
from toolroll.kernel.trace import log_failure


async def ask(run: Run, requests: Sequence[ApprovalRequest]) -> Sequence[Decision | None]:
    """A decision for each request; None where nobody could be asked."""
    if run.approver is None:
        return [None] * len(requests)
    for request in requests:
        tell(run, ApprovalRequested(request=request))
    try:
        answer = run.approver.decide(tuple(requests))
        decisions = await answer if inspect.isawaitable(answer) else answer
        return _checked(decisions, len(requests))
    except BaseException as error:  # an approver that breaks, exits or is cut off has not said yes
        if is_being_cancelled(error):
            raise
        log_failure(run.logger, error, "the approver failed; nothing is approved")
        return [None] * len(requests)


def tell(run: Run, event: ApprovalRequested | ApprovalDecided) -> None:
    """Report an event; a listener that breaks changes nothing about what is decided."""
    run.tell(event)


def _checked(decisions: object, count: int) -> tuple[Decision, ...]:
    if not isinstance(decisions, Sequence) or len(decisions) != count:
        raise TypeError(f"an approver must return {count} decisions, one for each request")
    found = tuple(decisions)
    if not all(map(is_decision, found)):
        raise TypeError(f"a decision is Approve or Reject, not {found!r}")
    return found


def is_decision(decision: object) -> bool:
    """Whether it is one of the answers there are, with text or nothing in it."""
    match decision:
        case Approve(edited=text) | Reject(reason=text):
            return text is None or isinstance(text, str)
    return False
