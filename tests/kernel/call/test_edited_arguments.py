"""Conditions for asking a person, and calls whose arguments a person changes before saying yes (A45)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll import Approve, Policy, Preview, Reject, Rule, Run, ToolContext, define_tool, tool
from toolroll.errors import DefinitionError, PermitRefused
from toolroll.kernel.approval.permit import _MINT, Permit, make_seal
from toolroll.kernel.approval.request import ApprovalRequest, Decision, Effect, is_decision
from toolroll.kernel.call.context import Ledger
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import ask_only_if, renamed, with_approval, with_timeout


@dataclass
class Person:
    """Says the same to everything, and remembers what it was asked."""

    decision: Decision = field(default_factory=Approve)
    asked: list[ApprovalRequest] = field(default_factory=list)

    def decide(self, requests: Sequence[ApprovalRequest]) -> list[Decision]:
        self.asked += requests
        return [self.decision] * len(requests)


class Intents(Ledger):
    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    async def intent(self, call: ToolCall, /) -> None:
        self.calls.append(call)


def is_large(arguments: Mapping[str, Any], _ctx: ToolContext) -> bool:
    return bool(arguments["amount"] > 100)


PAID: list[int] = []


@tool(effect="external", needs_approval=ask_only_if(is_large))
async def pay(amount: int = 1, to: str = "Ada") -> str:
    """Pay somebody."""
    PAID.append(amount)
    return f"paid {amount} to {to}"


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    PAID.clear()


@given(amount=st.integers(0, 300))
async def test_A45_a_condition_says_which_calls_are_asked_about(amount: int) -> None:
    person = Person(Reject("too much"))
    result = await pay.execute_raw(f'{{"amount": {amount}}}', Run(approver=person).context())
    assert (result.code, len(person.asked)) == (("rejected", 1) if amount > 100 else (None, 0))


async def test_A45_a_condition_sees_the_defaults_and_the_context() -> None:
    assert (await pay.execute_raw("{}")).text == "paid 1 to Ada"
    checked = with_approval(pay, when=lambda _arguments, ctx: bool(ctx.deps["careful"]))
    result = await checked.execute_raw("{}", Run(deps={"careful": True}).context())
    assert result.code == "needs_approval"
    assert (await checked.execute_raw("{}", Run(deps={"careful": False}).context())).text == "paid 1 to Ada"
    inner = await checked.execute_raw('{"amount": 500}', Run(deps={"careful": False}).context())
    assert inner.code == "needs_approval"  # what the tool itself asks about is asked about


async def test_A45_rules_count_beside_a_condition() -> None:
    deny = Policy((Rule(action="deny", tool="pay"),))
    assert (await pay.execute_raw("{}", Run(policy=deny).context())).code == "denied"
    ask = Policy((Rule(action="ask", tool="pay"),))
    assert (await pay.execute_raw("{}", Run(policy=ask).context())).code == "needs_approval"
    allow = Policy((Rule(action="allow", tool="pay"),))
    assert (await pay.execute_raw('{"amount": 500}', Run(policy=allow).context())).code == "needs_approval"


async def test_A45_a_condition_that_breaks_lets_nothing_through() -> None:
    wrongs: list[Any] = [lambda arguments, _ctx: arguments["nothing"], lambda _arguments, _ctx: "yes"]
    for wrong in wrongs:
        result = await with_approval(pay, when=wrong).execute_raw("{}")
        assert (result.code, PAID) == ("tool_error", [])


async def test_A45_wrappers_keep_a_condition_and_a_tool_that_reads_can_have_one() -> None:
    wrapped = renamed(with_timeout(pay, 5), "send")
    assert (wrapped.has_condition, pay.has_condition) == (True, True)
    assert (await wrapped.execute_raw('{"amount": 500}')).code == "needs_approval"
    assert (await with_approval(renamed(pay, "send")).execute_raw("{}")).code == "needs_approval"

    @tool(needs_approval=lambda arguments, _ctx: arguments["name"] == "secret")
    async def read(name: str) -> str:
        """Read something."""
        return name

    assert (await read.execute_raw('{"name": "secret"}')).code == "needs_approval"
    assert (await read.execute_raw('{"name": "open"}')).text == "open"
    assert Tool.fields(read, {"name": "open"}) == {"name": "open"}
    assert read.core.needs_approval({}, ToolContext()) is None


async def test_A45_a_call_that_needs_no_approval_still_gets_its_preview() -> None:
    def preview(arguments: dict[str, str], _ctx: ToolContext, _edited: str | None) -> Preview:
        return Preview.of_text(arguments["text"], editable=arguments["text"])

    @tool(effect="writes", preview=preview, needs_approval=ask_only_if(lambda _arguments, _ctx: False))
    async def write(text: str, ctx: ToolContext) -> str:
        """Write."""
        assert ctx.preview is not None
        return f"{ctx.preview.editable} ({text})"

    assert (await write.execute_raw('{"text": "tea"}')).text == "tea (tea)"


async def test_A45_define_tool_takes_a_condition() -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
    made = define_tool(
        name="pay",
        description="Pay.",
        input=schema,
        execute=lambda given, _ctx: given["amount"],
        effect="external",
        needs_approval=ask_only_if(is_large),
    )
    assert (await made.execute_raw('{"amount": 500}')).code == "needs_approval"
    assert (await made.execute_raw('{"amount": 5}')).text == "5"


@pytest.mark.parametrize("wrong", [3, Person])
def test_A45_a_condition_is_a_function(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match=r"needs_approval is a function of \(arguments, ctx\), not async, not "):
        with_approval(pay, when=wrong)


def test_A45_a_condition_is_not_async() -> None:
    async def later(_arguments: Mapping[str, Any], _ctx: ToolContext) -> bool:
        return False

    for when in (later, ask_only_if(later)):  # type: ignore[arg-type]  # what is tested
        with pytest.raises(DefinitionError, match="not async"):
            with_approval(pay, when=when)  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize("effect", ["writes", "external"])
async def test_XA32_a_condition_that_says_no_takes_no_question_away(effect: Effect) -> None:
    @tool(effect=effect, needs_approval=is_large)
    async def send(amount: int = 1) -> str:
        """Send something."""
        return f"sent {amount}"

    both = with_approval(send, when=lambda _arguments, _ctx: False)
    for one in (send, both, renamed(send, "mail")):
        assert (await one.execute_raw("{}")).code == "needs_approval"
        allow = Policy((Rule(action="allow", tool="*"),))
        assert (await one.execute_raw("{}", Run(policy=allow).context())).text == "sent 1"
        assert (await one.execute_raw('{"amount": 500}', Run(policy=allow).context())).code == "needs_approval"


@pytest.mark.parametrize("is_outer", [True, False])
async def test_XA32_only_the_author_s_word_lets_a_call_run_unasked(*, is_outer: bool) -> None:
    def never(_arguments: Mapping[str, Any], _ctx: ToolContext) -> bool:
        return False

    @tool(effect="writes")
    async def write() -> str:
        """Write."""
        return "written"

    lowered = ask_only_if(never)
    made = with_approval(with_approval(write, when=never if is_outer else lowered), when=lowered if is_outer else never)
    assert (await made.execute_raw("{}")).text == "written"
    assert (await with_approval(made).execute_raw("{}")).code == "needs_approval"
    for action, code in (("ask", "needs_approval"), ("deny", "denied")):
        policy = Policy((Rule(action=action, tool="write"),))  # type: ignore[arg-type]  # a word of the list above
        assert (await made.execute_raw("{}", Run(policy=policy).context())).code == code


async def test_A45_a_permit_of_a_rule_is_not_enough_where_the_condition_asks() -> None:
    ctx = ToolContext()
    arguments = {"amount": 500}
    permit = Permit(_MINT, pay.core, arguments, ctx, "policy", make_seal(arguments))
    with pytest.raises(PermitRefused, match="needs a person's approval"):
        await pay.invoke(permit, ctx)
    assert PAID == []


async def test_A45_a_person_can_change_the_arguments() -> None:
    person, ledger = Person(Approve(arguments={"amount": 150, "to": "Bob"})), Intents()
    events: list[Any] = []
    run = Run(approver=person, ledger=ledger, on_event=events.append)
    result = await pay.execute_raw('{"amount": 500}', run.context("c1"))
    assert (result.text, PAID) == ("paid 150 to Bob", [150])
    assert [one.arguments for one in ledger.calls] == ['{"amount":150,"to":"Bob"}']
    assert person.asked[0].arguments == {"amount": 500}
    assert events[-1].request.arguments == {"amount": 150, "to": "Bob"}
    assert "150" in events[-1].request.preview.text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"amount": "much"}, "invalid_edit"), ({"amount": 1, "extra": 1}, "invalid_edit"), ({"amount": 7}, None)],
)
async def test_A45_changed_arguments_are_checked(arguments: dict[str, object], code: str | None) -> None:
    person = Person(Approve(arguments=arguments))
    result = await pay.execute_raw('{"amount": 500}', Run(approver=person).context())
    assert (result.code, PAID) == (code, [] if code else [7])


async def test_A45_changed_arguments_are_judged_previewed_and_located_again() -> None:
    written: list[str] = []

    def preview(arguments: dict[str, str], _ctx: ToolContext, _edited: str | None) -> Preview:
        if arguments["path"] == "broken":
            raise ValueError("no preview")
        return Preview.of_text(f"write {arguments['path']}")

    def locate(paths: tuple[str, ...], _ctx: ToolContext) -> list[str]:
        if "lost" in paths:
            raise ValueError("lost")
        return ["secret.txt" if path == "link" else path for path in paths]

    @tool(effect="writes", paths=["path"], preview=preview, locate=locate)
    async def write(path: str, ctx: ToolContext) -> str:
        """Write a file."""
        assert ctx.preview is not None
        written.append(f"{ctx.preview.text} at {ctx.targets[0].resolved}")
        return "written"

    policy = Policy((Rule(action="deny", path="secret.txt"),))

    async def change_to(path: str) -> str | None:
        run = Run(approver=Person(Approve(arguments={"path": path})), policy=policy)
        return (await write.execute_raw('{"path": "a.txt"}', run.context())).code

    found = [await change_to(path) for path in ("secret.txt", "link", "lost", "broken", "b.txt")]
    assert found == ["denied", "denied", "tool_error", "tool_error", None]
    assert written == ["write b.txt at b.txt"]


async def test_A45_what_changed_meanwhile_is_not_run_with_changed_arguments() -> None:
    shown: list[int] = []

    def preview(_arguments: dict[str, str], _ctx: ToolContext, _edited: str | None) -> Preview:
        shown.append(1)
        return Preview.of_text(f"look {len(shown)}")

    @tool(effect="writes", preview=preview)
    async def write(text: str) -> str:
        """Write."""
        raise AssertionError(text)

    person = Person(Approve(arguments={"text": "b"}))
    assert (await write.execute_raw('{"text": "a"}', Run(approver=person).context())).code == "stale_approval"


def test_A45_a_decision_has_a_text_or_arguments() -> None:
    right = [Approve(), Approve("x"), Approve(arguments={}), Reject(), Reject("x")]
    wrong = [Approve("x", {}), Approve(arguments=3), Approve(3), Reject(3), "yes"]  # type: ignore[arg-type]
    assert [is_decision(one) for one in [*right, *wrong]] == [True] * 5 + [False] * 5
