"""Ask a person about all the calls of a step at once; nothing but a clear yes counts as one."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.request import ApprovalRequest, Approver, Decision, is_decision
from toolroll.kernel.failures import is_being_cancelled, log_failure

if TYPE_CHECKING:
    import logging


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No decision was made, and why: it counts as a no."""

    because: str


NOBODY: Final = Unanswered("nobody could be asked")


class WrongAnswer(TypeError):
    """An approver returned something other than decisions. Its text names types alone: the rest may be a secret."""


async def ask_person(
    approver: Approver | None, requests: Sequence[ApprovalRequest], logger: "logging.Logger"
) -> Sequence[Decision | Unanswered]:
    """Return a decision for each request, or why there is none."""
    if approver is None:
        return [NOBODY] * len(requests)
    try:
        answer = approver.decide(tuple(requests))
        decisions = await answer if inspect.isawaitable(answer) else answer
        return check_decisions(decisions, len(requests))
    except DecisionRefused as error:  # an approver's own word for that nobody is there
        log_failure(logger, error, "the approver failed; nothing is approved")
        return [NOBODY] * len(requests)
    except BaseException as error:  # an approver that breaks, exits or is cut off has not said yes
        if is_being_cancelled(error):
            raise
        log_failure(logger, error, "the approver failed; nothing is approved")
        text = f"TypeError: {error}" if isinstance(error, WrongAnswer) else type(error).__name__
        return [Unanswered(f"the approver failed: {text}")] * len(requests)


def check_decisions(decisions: object, count: int) -> tuple[Decision, ...]:
    """Return the decisions of an approver; raise `WrongAnswer` unless there is one for each request."""
    wanted = f"decide must return {count} decision{'s' * (count != 1)}, one for each request"
    if not isinstance(decisions, Sequence) or isinstance(decisions, str | bytes):
        raise WrongAnswer(f"{wanted}, not {_type_name(decisions)}")
    found = tuple(decisions)
    if len(found) != count:
        raise WrongAnswer(f"{wanted}, not {len(found)}")
    for one in found:
        if not is_decision(one):
            raise WrongAnswer(
                f"a decision is Approve(...) or Reject(...), with text or nothing in it, not {_type_name(one)}"
            )
    return found


def _type_name(value: object) -> str:
    """Return the name of its type; a class instead of an object of it is a common slip."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
