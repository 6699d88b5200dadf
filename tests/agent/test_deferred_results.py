"""Results that come from outside, and questions that wait inside the run of another agent (A45, A49)."""

import re
from typing import Any

import pytest

from toolroll import Agent, Approve, MemoryJournal, Reject, ScriptedModel, Tool, ToolContext, define_tool, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.context_function import RunContext
from toolroll.agent.events import RunFinished
from toolroll.agent.history.repair import PENDING
from toolroll.agent.hooks import Hook
from toolroll.errors import ArgumentsRefused, DecisionRefused, DefinitionError, ToolFailure, UsageError
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall, ToolResults
from toolroll.kernel.define.deferred import as_deferred
from toolroll.kernel.define.wrappers import with_approval
from toolroll.models import Call

SENT: list[str] = []
BAD_TYPE = (
    "The result of sign does not fit its type: Input should be a valid boolean, unable to interpret input. "
    "The call 'a' still waits."
)
SCHEMA = {"type": "object", "properties": {"paper": {"type": "string"}}, "required": ["paper"]}


@tool(deferred=True)
def sign(paper: str) -> bool:
    """Let the customer sign a paper."""
    raise AssertionError(paper)


@tool(deferred=True, effect="external")
def order(what: str) -> str:
    """Order something at the supplier."""
    raise AssertionError(what)


@tool(effect="external")
def send(text: str) -> str:
    """Send a text."""
    SENT.append(text)
    return "Sent."


def make(journal: MemoryJournal, *script: Any, tools: list[Tool] | None = None, **options: Any) -> Agent[None]:
    return Agent(model=ScriptedModel(script), tools=tools or [sign], journal=journal, **options)


async def wait_for_two(journal: MemoryJournal) -> str:
    calls = [Call("sign", {"paper": name}, id=name) for name in ("a", "b")]
    waiting = await make(journal, calls).run("go")
    assert waiting.stop_reason == "approval_pending"
    assert [(one.call_id, one.tool, one.arguments, one.waits_for) for one in waiting.pending] == [
        (name, "sign", {"paper": name}, "result") for name in ("a", "b")
    ]
    assert waiting.text == "(Waiting for a result: sign (a), sign (b).)"
    last = waiting.messages[-1]
    assert isinstance(last, ToolResults)
    assert [one.content for one in last.results] == [PENDING["result"]] * 2
    return waiting.run_id


def results_of(model: Any) -> list[tuple[str, bool]]:
    last = model.requests[-1][-1]
    return [(one.content, one.is_error) for one in last.results]


async def test_A45_a_result_comes_from_outside_some_now_and_some_later() -> None:
    journal = MemoryJournal()
    run_id = await wait_for_two(journal)
    first = await make(journal).resume(run_id, results={"b": True})
    assert [one.call_id for one in first.pending] == ["a"]
    agent = make(journal, "Thank you.")
    second = await agent.resume(run_id, results={"a": "false"})
    assert (second.text, second.pending) == ("Thank you.", ())
    assert results_of(agent.setup.model) == [("false", False), ("true", False)]


async def test_A45_a_delivered_result_is_streamed_and_untrusted() -> None:
    journal = MemoryJournal()
    run_id = await wait_for_two(journal)
    live = make(journal, "ok").stream(resume=run_id, results={"a": True, "b": ToolFailure("They refused.")})
    events = [event async for event in live]
    assert isinstance(events[-1], RunFinished)
    assert [event.event for event in events].count("tool_result") == 2
    assert live.run is not None
    assert live.run.labels == {"untrusted"}
    assert sign.labels == {"untrusted"}
    assert results_of(live_model(live)) == [("true", False), ("They refused.", True)]


def live_model(live: Any) -> Any:
    return live._request.setup.model


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"c": True}, "Nothing waits for a result of 'c'. Calls that do: a, b."),
        ({"a": True, "c": True}, "Nothing waits for a result of 'c'. Calls that do: a, b."),
        (
            {"b": True, "a": "perhaps"},
            BAD_TYPE,
        ),
    ],
)
async def test_A45_a_wrong_result_is_refused_before_anything_happens(results: dict[str, object], said: str) -> None:
    journal = MemoryJournal()
    run_id = await wait_for_two(journal)
    before = len(await journal.read(run_id))
    with pytest.raises(DecisionRefused, match=f"^{re.escape(said)}$"):
        await make(journal).resume(run_id, results=results)
    assert len(await journal.read(run_id)) == before


async def test_A45_a_second_result_and_a_decision_in_its_place_are_refused() -> None:
    journal = MemoryJournal()
    run_id = await wait_for_two(journal)
    with pytest.raises(DecisionRefused, match=r"^'a' waits for its result, not an approval\. Give it in results=\.$"):
        await make(journal).resume(run_id, decisions={"a": Approve()})
    await make(journal).resume(run_id, results={"a": True})
    with pytest.raises(DecisionRefused, match=r"^Nothing waits for a result of 'a'\. Calls that do: b\.$"):
        await make(journal).resume(run_id, results={"a": False})
    await make(journal, "ok").resume(run_id, results={"b": True})
    with pytest.raises(DecisionRefused, match=r"Calls that do: none\.$"):
        await make(journal).resume(run_id, results={"b": True})


async def test_A45_what_cannot_be_is_refused_when_it_is_written() -> None:
    with pytest.raises(UsageError, match="answered from outside"):
        Agent(model=ScriptedModel([]), tools=[sign])
    with pytest.raises(UsageError, match="they need resume"):
        make(MemoryJournal()).start("go", results={"a": 1})
    with pytest.raises(UsageError, match="not both: 'a'"):
        make(MemoryJournal()).start(resume="r", results={"a": 1}, decisions={"a": Approve()})
    with pytest.raises(DefinitionError, match="never runs here"):

        @tool(deferred=True)
        def with_context(ctx: ToolContext) -> str:
            """Do."""
            return str(ctx)

    with pytest.raises(DefinitionError, match="in its place"):
        define_tool(name="x", description="x", input=SCHEMA, execute=lambda given, ctx: "", result=bool)
    shaped = define_tool(name="x", description="x", input=SCHEMA, deferred=True, result=list[int])
    core = as_deferred(with_approval(shaped))
    assert core is not None
    with pytest.raises(ArgumentsRefused, match=r"^The result of x does not fit its type: 1: Input should be a valid"):
        core.check_result([1, "two"])
    with pytest.raises(DefinitionError, match="its result cannot be checked"):
        define_tool(name="x", description="x", input=SCHEMA, deferred=True, result=Run)


async def test_A45_a_tool_of_a_raw_schema_needs_no_function() -> None:
    journal = MemoryJournal()
    anything = define_tool(name="scan", description="Scan a paper.", input=SCHEMA, deferred=True)
    waiting = await make(journal, Call("scan", {"paper": "p"}, id="s"), tools=[anything]).run("go")
    agent = make(journal, "Scanned.", tools=[anything])
    result = await agent.resume(waiting.run_id, results={"s": {"pages": 3}})
    assert (result.text, results_of(agent.setup.model)) == ("Scanned.", [('{"pages":3}', False)])
    alone = await anything.execute_raw('{"paper": "p"}')
    assert (alone.code, alone.is_error) == ("no_result", True)
    with pytest.raises(UsageError, match="answered from outside"):
        anything(paper="p")


async def test_A45_a_call_is_approved_first_and_its_result_comes_later() -> None:
    journal = MemoryJournal()
    later: dict[str, Any] = {"tools": [order], "approver": AskLater()}
    asked = await make(journal, Call("order", {"what": "tea"}, id="o"), **later).run("go")
    assert [one.waits_for for one in asked.pending] == ["approval"]
    yes = {"o": Approve(arguments={"what": "green tea"})}
    sent = await make(journal, **later).resume(asked.run_id, decisions=yes)
    assert [(one.waits_for, one.arguments) for one in sent.pending] == [("result", {"what": "green tea"})]
    still = await make(journal, **later).resume(asked.run_id)
    assert [one.waits_for for one in still.pending] == ["result"]
    agent = make(journal, "It comes on Monday.", **later)
    done = await agent.resume(asked.run_id, results={"o": ToolResult.of_text("Monday.")})
    assert done.text == "It comes on Monday."
    assert "Monday." in results_of(agent.setup.model)[0][0]


async def test_A45_hooks_see_what_is_delivered() -> None:
    class Censor(Hook):
        def after_tool(self, ctx: RunContext, call: ToolCall, result: ToolResult, /) -> ToolResult:
            return ToolResult.of_text("[censored]")

    journal = MemoryJournal()
    run_id = await wait_for_two(journal)
    agent = make(journal, "ok", hooks=[Censor()])
    await agent.resume(run_id, results={"a": True, "b": True})
    assert results_of(agent.setup.model) == [("[censored]", False)] * 2


async def test_A45_a_prompt_goes_on_without_the_result() -> None:
    journal = MemoryJournal()
    run_id = await wait_for_two(journal)
    agent = make(journal, "Then not.")
    result = await agent.resume(run_id, prompt="Forget it.")
    assert result.text == "Then not."
    assert "nobody has delivered" in str(agent.setup.model.requests[-1][-2])  # type: ignore[attr-defined]


def handing_over(journal: MemoryJournal, first: list[Any], second: list[Any], *, as_tool: bool) -> Agent[None]:
    inner = Agent(model=ScriptedModel(second), tools=[send, labelled_sign], journal=journal)
    give = inner.as_tool if as_tool else inner.as_handoff
    return make(journal, *first, tools=[give(name="desk", description="The desk.")], approver=AskLater())


labelled_sign = define_tool(name="sign", description="Let them sign.", input=SCHEMA, deferred=True, result=bool)


@pytest.mark.parametrize("as_tool", [True, False])
async def test_A49_a_question_waits_in_the_run_of_another_agent(as_tool: bool) -> None:
    SENT.clear()
    journal = MemoryJournal()
    given = {"task": "Send hello."} if as_tool else {}
    two = [Call("send", {"text": "hello"}, id="s"), Call("sign", {"paper": "p"}, id="p")]
    waiting = await handing_over(journal, [Call("desk", given, id="d")], [two], as_tool=as_tool).run("Say hello.")
    assert (waiting.stop_reason, SENT) == ("approval_pending", [])
    assert [(one.call_id, one.tool, one.waits_for) for one in waiting.pending] == [
        ("d/s", "send", "approval"),
        ("d/p", "sign", "result"),
    ]
    with pytest.raises(DecisionRefused, match=r"Calls that do: d/s, d/p\.$"):
        await handing_over(journal, [], [], as_tool=as_tool).resume(waiting.run_id, decisions={"s": Approve()})
    wrong = {"d/s": Approve(arguments={"words": "hello"})}
    with pytest.raises(DecisionRefused, match="The arguments for 'd/s' do not fit"):
        await handing_over(journal, [], [], as_tool=as_tool).resume(waiting.run_id, decisions=wrong)
    with pytest.raises(DecisionRefused, match="The call 'd/p' still waits"):
        await handing_over(journal, [], [], as_tool=as_tool).resume(waiting.run_id, results={"d/p": "x"})
    assert SENT == []
    half = await handing_over(journal, [], [], as_tool=as_tool).resume(waiting.run_id, decisions={"d/s": Approve()})
    assert ([one.call_id for one in half.pending], SENT) == (["d/p"], ["hello"])
    end = handing_over(journal, ["It is done."], ["All is done."], as_tool=as_tool)
    result = await end.resume(waiting.run_id, results={"d/p": True})
    assert result.text == ("It is done." if as_tool else "All is done.")
    assert SENT == ["hello"]
    assert [one.usage.requests for one in result.sub_runs] == [2]


async def test_A49_a_question_two_agents_down_is_rejected() -> None:
    SENT.clear()
    journal = MemoryJournal()

    def nest(first: list[Any], second: list[Any], third: list[Any]) -> Agent[None]:
        last = Agent(model=ScriptedModel(third), tools=[send], journal=journal)
        tool_of_last = last.as_tool(name="last", description="Last.")
        middle = Agent(model=ScriptedModel(second), tools=[tool_of_last], journal=journal)
        return make(
            journal, *first, tools=[middle.as_handoff(name="middle", description="Middle.")], approver=AskLater()
        )

    calls: list[list[Any]] = [
        [Call("middle", {}, id="m")],
        [Call("last", {"task": "x"}, id="l")],
        [Call("send", {"text": "x"}, id="s")],
    ]
    waiting = await nest(*calls).run("go")
    assert [one.call_id for one in waiting.pending] == ["m/l/s"]
    end = await nest([], ["No."], ["Not sent."]).resume(waiting.run_id, decisions={"m/l/s": Reject("no")})
    assert (end.text, SENT) == ("No.", [])
