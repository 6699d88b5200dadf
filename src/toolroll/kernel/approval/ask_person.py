"""Asking a person: one question for all the calls of a step, and nothing but a clear yes counts as one."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested
from toolroll.kernel.failures import is_being_cancelled, log_failure


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No decision was made, and why: it counts as a no."""

    because: str


NOBODY: Final = Unanswered("nobody could be asked")


class WrongAnswer(TypeError):
    """An approver gave back something else than decisions. Its text names types alone: the rest may be a secret."""


async def ask(run: Run, requests: Sequence[ApprovalRequest]) -> Sequence[Decision | Unanswered]:
    """A decision for each request, or why there is none."""
    if run.approver is None:
        return [NOBODY] * len(requests)
    for request in requests:
        tell(run, ApprovalRequested(request=request))
    try:
        answer = run.approver.decide(tuple(requests))
        decisions = await answer if inspect.isawaitable(answer) else answer
        return check_decisions(decisions, len(requests))
    except BaseException as error:  # an approver that breaks, exits or is cut off has not said yes
        if is_being_cancelled(error):
            raise
        log_failure(run.logger, error, "the approver failed; nothing is approved")
        return [_unanswered(error)] * len(requests)


def _unanswered(error: BaseException) -> Unanswered:
    if isinstance(error, DecisionRefused):  # an approver's own word for that nobody is there
        return NOBODY
    said = f"TypeError: {error}" if isinstance(error, WrongAnswer) else type(error).__name__
    return Unanswered(f"the approver failed: {said}")


def tell(run: Run, event: ApprovalRequested | ApprovalDecided) -> None:
    """Report an event; a listener that breaks changes nothing about what is decided."""
    run.tell(event)


def check_decisions(decisions: object, count: int) -> tuple[Decision, ...]:
    """The decisions of an approver, if they are that, and one for each request."""
    wanted = f"decide must return {count} decision{'s' * (count != 1)}, one for each request"
    if not isinstance(decisions, Sequence) or isinstance(decisions, str | bytes):
        raise WrongAnswer(f"{wanted}, not {_kind(decisions)}")
    found = tuple(decisions)
    if len(found) != count:
        raise WrongAnswer(f"{wanted}, not {len(found)}")
    for one in found:
        if not is_decision(one):
            raise WrongAnswer(
                f"a decision is Approve(...) or Reject(...), with text or nothing in it, not {_kind(one)}"
            )
    return found


def _kind(value: object) -> str:
    """What it is, in a type's name: the class itself is a common slip for an object of it."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def is_decision(decision: object) -> bool:
    """Whether it is one of the answers there are, with text or nothing in it."""
    match decision:
        case Approve(edited=text) | Reject(reason=text):
            return text is None or isinstance(text, str)
    return False
