"""Approval of some calls by their arguments: small refunds go through, a person is asked about a large one."""

from collections.abc import Mapping, Sequence

from choose_model import choose_model

from toolroll import Agent, ApprovalRequest, Approve, Reject, ScriptedModel, tool
from toolroll.models import Call

UNASKED_EUROS = 20
PAID: dict[str, int] = {}


@tool(effect="external")
def refund(order: str, euros: int) -> str:
    """Pay money back for an order."""
    PAID[order] = euros
    return "paid"


class AskAboutLarge:
    """Allows small refunds, and asks at the terminal about more."""

    def decide(self, requests: Sequence[ApprovalRequest]) -> list[Approve | Reject]:
        """Decide about the calls of a step, in their order."""
        return [self.decide_one(one.arguments) for one in requests]

    def decide_one(self, arguments: object) -> Approve | Reject:
        """Decide about one call."""
        if isinstance(arguments, Mapping) and arguments["euros"] <= UNASKED_EUROS:
            return Approve()
        return Approve() if input(f"Refund {arguments}? [y/n] ") == "y" else Reject("Too much. Offer a voucher.")


calls = [Call("refund", {"order": "A1", "euros": 12}), Call("refund", {"order": "A2", "euros": 400})]
model = choose_model(ScriptedModel([calls, "A1 is settled. For A2 there is a voucher."]))

if __name__ == "__main__":
    result = Agent(model=model, tools=[refund], approver=AskAboutLarge()).run_sync("Refund A1 (12) and A2 (400 euros).")
    print(PAID, result.text)
