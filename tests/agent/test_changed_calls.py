"""Calls that a condition asks about, and calls that a person changed before approving them (A45)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from toolroll import Agent, Approve, MemoryJournal, Preview, ScriptedModel, Tool, ToolContext, replay, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.history.repair import PENDING
from toolroll.errors import DecisionRefused, UsageError
from toolroll.journal.records import ApprovalAnswer, CallIntended
from toolroll.kernel.approval.request import ApprovalRequest, Decision
from toolroll.kernel.data.messages import ToolResults
from toolroll.kernel.define.wrappers import ask_only_if
from toolroll.models.scripted import Call

PAY = Call("pay", {"amount": 500}, id="c1")


class Bank:
    """Pays, and remembers what it paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []

        @tool(effect="external")
        async def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return "paid"

        self.pay: Tool = pay


def is_large(arguments: Mapping[str, Any], ctx: ToolContext) -> bool:
    return bool(arguments["amount"] > ctx.deps.get("limit", 100))


class Says:
    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    def decide(self, requests: Sequence[ApprovalRequest]) -> list[Decision]:
        return [self.decision] * len(requests)


def results_of(messages: Sequence[object]) -> list[object]:
    return [one.content for message in messages if isinstance(message, ToolResults) for one in message.results]


async def test_A45_an_agent_has_conditions_by_the_names_of_tools() -> None:
    bank = Bank()
    small = Call("pay", {"amount": 5}, id="c2")
    made = Agent(
        model=ScriptedModel([[PAY, small], "ok"] * 2), tools=[bank.pay], needs_approval={"pay": ask_only_if(is_large)}
    )
    first = await made.run("go")
    assert bank.paid == [5]
    assert results_of(first.messages)[1] == "paid"
    await made.run("go", deps={"limit": 1000})
    assert bank.paid == [5, 500, 5]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"send": is_large}, r"^needs_approval names 'send', and the agent's tools are: pay\.$"),
        (is_large, r"^needs_approval is a mapping of tool names to functions, not <function is_large"),
    ],
)
def test_A45_a_condition_for_no_tool_is_refused(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Agent(model=ScriptedModel([]), tools=[Bank().pay], needs_approval=given)


@pytest.mark.parametrize("journal", [None, MemoryJournal()])
async def test_A45_the_model_is_told_which_arguments_a_person_changed(journal: MemoryJournal | None) -> None:
    bank, approver = Bank(), Says(Approve(arguments={"amount": 50}))
    made = Agent(model=ScriptedModel([PAY, "ok"]), tools=[bank.pay], approver=approver, journal=journal)
    result = await made.run("go")
    told = 'paid\n[The user changed the arguments of this call before approving it, to: {"amount":50}]'
    assert (bank.paid, results_of(result.messages)) == ([50], [told])
    if journal is not None:
        records = [record for _, record in await journal.read(result.run_id)]
        assert [one.arguments for one in records if isinstance(one, ApprovalAnswer)] == [{"amount": 50}]
        assert [one.call.arguments for one in records if isinstance(one, CallIntended)] == ['{"amount":50}']
        report = await replay(made, result.run_id, effects=("reads", "external"))
        assert (report.is_same, bank.paid) == (True, [50, 50])


async def test_A45_the_model_is_told_which_text_a_person_edited() -> None:
    def preview(arguments: dict[str, str], _ctx: ToolContext, edited: str | None) -> Preview:
        return Preview.of_change("", arguments["text"] if edited is None else edited, path="a")

    @tool(effect="writes", preview=preview)
    async def write(text: str, ctx: ToolContext) -> str:
        """Write."""
        assert ctx.preview is not None
        return f"wrote {len(text)}"

    model = ScriptedModel([Call("write", {"text": "milk"}), "ok"])
    result = await Agent(model=model, tools=[write], approver=Says(Approve("oat milk"))).run("go")
    told = "wrote 4\n[The user edited the proposed text before approving it. This was used instead:\noat milk]"
    assert results_of(result.messages) == [told]


async def test_A45_arguments_are_changed_in_another_process_and_wrong_ones_leave_the_question() -> None:
    bank, journal = Bank(), MemoryJournal()

    def make(*script: Any) -> Agent[None]:
        return Agent(model=ScriptedModel(script), tools=[bank.pay], journal=journal, approver=AskLater())

    waiting = await make(PAY).run("go")
    with pytest.raises(DecisionRefused, match=r"^The arguments for 'c1' do not fit\. "):
        await make().resume(waiting.run_id, decisions={"c1": Approve(arguments={"amount": "all"})})
    assert [one.call_id for one in (await make().resume(waiting.run_id)).pending] == ["c1"]
    result = await make("ok").resume(waiting.run_id, decisions={"c1": Approve(arguments={"amount": 50})})
    assert (bank.paid, result.text) == ([50], "ok")


async def test_A45_a_pending_call_is_described_as_pending_with_its_arguments() -> None:
    bank = Bank()
    journal = MemoryJournal()
    made = Agent(model=ScriptedModel([PAY]), tools=[bank.pay], journal=journal, approver=AskLater())
    waiting = await made.run("go")
    assert [(one.tool, one.arguments) for one in waiting.pending] == [("pay", {"amount": 500})]
    assert results_of(waiting.messages) == [PENDING["approval"]]
    assert results_of(waiting.new_messages) == [PENDING["approval"]]
    reported = await made.resume(waiting.run_id)
    assert ([one.arguments for one in reported.pending], results_of(reported.messages)) == (
        [{"amount": 500}],
        [PENDING["approval"]],
    )
