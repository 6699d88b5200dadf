"""Approval of some calls by their arguments: small refunds go through, a person is asked about a large one."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from choose_model import choose_model

from toolroll import Agent, ApprovalRequest, Approve, Reject, ScriptedModel, ToolContext, tool
from toolroll.kernel.define.wrappers import ask_only_if
from toolroll.models import Call

UNASKED_EUROS = 20
PAID: dict[str, int] = {}


def is_large(arguments: Mapping[str, Any], _ctx: ToolContext) -> bool:
    """Say whether a person is asked about a refund."""
    return bool(arguments["euros"] > UNASKED_EUROS)


@tool(effect="external", needs_approval=ask_only_if(is_large))
def refund(order: str, euros: int) -> str:
    """Pay money back for an order."""
    PAID[order] = euros
    return "paid"


class AskAtTerminal:
    """Asks at the terminal: y, n, or another amount."""

    def decide(self, requests: Sequence[ApprovalRequest]) -> list[Approve | Reject]:
        """Decide about the calls of a step, in their order."""
        return [self.decide_one(cast("dict[str, Any]", one.arguments)) for one in requests]

    def decide_one(self, arguments: dict[str, Any]) -> Approve | Reject:
        """Decide about one call."""
        answer = input(f"Refund {arguments}? [y/n/amount] ")
        if answer.isdigit():
            return Approve(arguments={**arguments, "euros": int(answer)})
        return Approve() if answer == "y" else Reject("Too much. Offer a voucher.")


calls = [Call("refund", {"order": "A1", "euros": 12}), Call("refund", {"order": "A2", "euros": 400})]
model = choose_model(ScriptedModel([calls, "A1 is settled, and A2 is decided."]))

if __name__ == "__main__":
    result = Agent(model=model, tools=[refund], approver=AskAtTerminal()).run_sync("Refund A1 (12) and A2 (400 euros).")
    print(PAID, result.text)
