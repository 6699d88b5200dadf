"""Agents as tools of others (A9): what they use is counted, what they may do is the caller's to say."""

import asyncio
import gc
import warnings
from collections.abc import Sequence
from typing import Any, cast

import pytest
from pydantic import BaseModel
from tests.agent.legality import problems
from tests.agent.stage import Call, Notes, add, agent_of, events_of
from tests.support.clock import time_passes
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

from toolroll import (
    Agent,
    Approve,
    DependencyKey,
    Policy,
    Rule,
    ToolContext,
    cost_over,
    deadline,
    step_count_is,
    tokens_over,
)
from toolroll import tool as make_tool
from toolroll.agent.subagent import MAX_DEPTH
from toolroll.errors import Overloaded
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import RunBegan
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import ApprovalRequested, Progress
from toolroll.kernel.data.messages import Origin, ToolResults
from toolroll.kernel.data.usage import Usage
from toolroll.models.chat.model import ChatModel
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import ScriptedModel
from toolroll.models.transport import HttpTransport

ASK = Call("helper", {"task": "1 + 2?"})


def cent_a_token(_origin: Origin, usage: Usage) -> float:
    return usage.total / 100


def helper(*script: Any, name: str = "helper", **options: Any) -> Any:
    return agent_of(*script, **options).as_tool(name=name, description="Does sums.")


def content_of(result: Any) -> str:
    results = result.messages[2]
    assert isinstance(results, ToolResults)
    return str(results.results[0].content)


async def test_A9_an_agent_is_a_tool_that_takes_a_task_and_gives_its_answer() -> None:
    made = helper(Call("add", {"a": 1, "b": 2}), "three")
    assert (made.name, made.description, made.effect) == ("helper", "Does sums.", "reads")
    assert list(made.parameters["properties"]) == ["task"]
    result = await agent_of(ASK, "it is three", tools=[made]).run("go")
    assert (result.text, content_of(result)) == ("it is three", "three")
    assert problems(result.messages) == []


async def test_A9_its_usage_and_cost_are_counted_into_the_step_that_called_it_and_named() -> None:
    made = helper(Call("add", {"a": 1, "b": 2}), "three", price=cent_a_token)
    calls = [ASK, Call("add", {"a": 1, "b": 1})]
    result = await agent_of(calls, "three", tools=[made, add], price=cent_a_token).run("go")
    first, second = result.steps
    assert (first.usage.total, first.usage.requests, second.usage.total) == (45, 3, 15)
    assert first.cost == pytest.approx(0.45)
    assert result.usage.total == 60
    assert result.cost == pytest.approx(0.6)
    [sub] = result.sub_runs
    assert (sub.name, sub.call_id, sub.usage.total) == ("helper", "call_1", 30)
    assert sub.cost == pytest.approx(0.3)
    assert sub.run_id != result.run_id
    assert first.sub_runs == (sub,)


async def test_A9_what_a_sub_agent_used_before_it_failed_counts_too() -> None:
    made = helper(Call("add", {"a": 1, "b": 2}), Overloaded("busy"), retry=RetryRule(retries=0))
    result = await agent_of(ASK, "it failed", tools=[made]).run("go")
    assert content_of(result) == "helper could not finish. busy"
    assert result.steps[0].calls[0].error_type == "overloaded"
    assert (result.usage.total, result.sub_runs[0].usage.total) == (45, 15)


async def test_A9_usage_comes_up_through_several_levels() -> None:
    inner = helper("deep", name="inner")
    middle = helper(Call("inner", {"task": "deeper"}), "middle", tools=[inner], name="middle")
    result = await agent_of(Call("middle", {"task": "deep"}), "top", tools=[middle]).run("go")
    assert (result.usage.total, result.usage.requests) == (75, 5)
    [sub] = result.sub_runs
    assert (sub.name, sub.usage.total) == ("middle", 45)


async def test_A9_the_result_is_that_of_the_agent_in_its_form() -> None:
    class Sum(BaseModel):
        total: int

    typed = helper('{"total": 3}', output=Sum)
    result = await agent_of(ASK, "3", tools=[typed]).run("go")
    assert content_of(result) == '{"total":3}'
    early = helper(["so far", Call("add", {"a": 1, "b": 2})], stop_when=step_count_is(1), close_with_answer=False)
    result = await agent_of(ASK, "3", tools=[early]).run("go")
    assert content_of(result) == "so far\n[stopped early: condition: step_count_is(1)]"


async def test_A9_a_sub_agent_that_was_refused_says_so_without_detail() -> None:
    from toolroll.kernel.data.messages import AssistantMessage
    from toolroll.models.model import ModelResponse

    refused = ModelResponse(message=AssistantMessage(blocks=()), stop="refusal", usage=Usage(requests=1))
    result = await agent_of(ASK, "ok", tools=[helper(refused)]).run("go")
    assert content_of(result).endswith("\n[stopped early: refusal]")


async def test_A9_approvals_are_the_callers_unless_it_has_its_own() -> None:
    notes, own = Notes(), Notes()
    write = Call("write", {"text": "x"})
    asks = Call("scribe", {"task": "write x"})
    inherits = helper(write, "written", tools=[notes.write], name="scribe")
    await agent_of(asks, "done", tools=[inherits], approver=notes).run("go")
    assert (notes.written, len(notes.asked)) == (["x"], 1)
    has_own = helper(write, "written", tools=[notes.write], name="scribe", approver=own)
    await agent_of(asks, "done", tools=[has_own], approver=notes).run("go")
    assert (len(notes.asked), len(own.asked)) == (1, 1)
    nobody = helper(write, "not written", tools=[notes.write], name="scribe")
    await agent_of(asks, "done", tools=[nobody]).run("go")
    assert len(notes.written) == 2


async def test_A9_rules_are_the_callers_and_what_it_denies_stays_denied() -> None:
    notes = Notes()
    write, asks = Call("write", {"text": "x"}), Call("scribe", {"task": "write x"})
    allow, deny = Policy((Rule(action="allow", tool="write"),)), Policy((Rule(action="deny", tool="write"),))
    inherits = helper(write, "ok", tools=[notes.write], name="scribe")
    await agent_of(asks, "done", tools=[inherits], policy=allow).run("go")
    assert notes.written == ["x"]
    for policy in (None, allow):
        options = {"policy": policy} if policy else {}
        denied = helper(write, "ok", tools=[notes.write], name="scribe", approver=notes, **options)
        await agent_of(asks, "done", tools=[denied], policy=deny).run("go")
    assert (notes.written, notes.asked) == (["x"], [])
    own = helper(write, "ok", tools=[notes.write], name="scribe", policy=allow)
    await agent_of(asks, "done", tools=[own]).run("go")
    assert notes.written == ["x", "x"]


async def test_A9_dependencies_are_the_callers_unless_it_has_its_own() -> None:
    key: DependencyKey[str] = DependencyKey("where", lambda: "default")
    seen: list[Any] = []

    @make_tool
    async def look(ctx: ToolContext) -> str:
        """Look where it is."""
        seen.append((dict(ctx.deps), await ctx.resolve(key)))
        return "seen"

    async def play(**options: Any) -> None:
        inner = helper(Call("look"), "ok", tools=[look], **options)
        await agent_of(ASK, "ok", tools=[inner], deps={"db": 1}, overrides={"where": lambda: "above"}).run("go")

    await play()
    await play(deps={"db": 2}, overrides={"where": lambda: "own"})
    assert seen == [({"db": 1}, "above"), ({"db": 2}, "own")]


async def test_A9_its_run_is_recorded_as_a_part_of_the_callers() -> None:
    journal = MemoryJournal()
    result = await agent_of(ASK, "ok", tools=[helper("three")], journal=journal).run("go")
    runs = {row.run_id: row.parent for row in await journal.runs()}
    [sub] = result.sub_runs
    assert runs == {result.run_id: None, sub.run_id: result.run_id}
    (_, began), *_ = await journal.read(sub.run_id)
    assert isinstance(began, RunBegan)


async def test_A9_a_tool_that_starts_an_agent_itself_makes_its_run_a_part_of_the_callers() -> None:
    journal = MemoryJournal()

    @make_tool
    async def ask_helper(ctx: ToolContext) -> str:
        """Ask another agent."""
        return (await agent_of("three").start("1 + 2?", caller=ctx.run).wait()).text

    result = await agent_of(Call("ask_helper"), "it is three", tools=[ask_helper], journal=journal).run("go")
    [part] = [row.run_id for row in await journal.runs() if row.run_id != result.run_id]
    [began] = [record for _, record in await journal.read(part) if isinstance(record, RunBegan)]
    assert (content_of(result), began.parent) == ("three", result.run_id)


async def test_A9_events_of_a_sub_agent_show_what_a_person_needs_to_know() -> None:
    notes = Notes()
    inner = helper(*[Call("add", {"a": 1, "b": 2})] * 3, Call("write", {"text": "x"}), "ok", tools=[notes.write, add])
    events = await events_of(agent_of(ASK, "ok", tools=[inner], approver=notes))
    progress = [event.message for event in events if isinstance(event, Progress)]
    assert progress[0] == "helper calls add"
    assert "helper: add: This call has now been made 3 times with the same result." in progress
    assert progress[-1] == "helper calls write"
    assert [event.request.tool for event in events if isinstance(event, ApprovalRequested)] == ["write"]
    assert [event.event for event in events].count("run_started") == 1


async def test_A9_two_sub_agents_never_ask_a_person_at_the_same_time() -> None:
    notes = Notes()
    asking = most = 0

    class OnePerson:
        async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Approve]:
            nonlocal asking, most
            asking += 1
            most = max(most, asking)
            for _ in range(5):
                await asyncio.sleep(0)
            asking -= 1
            return [Approve() for _ in requests]

    names = ["one", "two", "three"]
    tools = [helper(Call("write", {"text": name}), "ok", tools=[notes.write], name=name) for name in names]
    calls = [Call(name, {"task": "write"}) for name in names]
    await agent_of(calls, "done", tools=tools, approver=OnePerson()).run("go")
    assert sorted(notes.written) == sorted(names)
    assert most == 1


@pytest.mark.parametrize("condition", [tokens_over(200), cost_over(2.0)])
async def test_A9_XL13_a_sub_agent_cannot_spend_more_than_its_caller_has(condition: Any) -> None:
    steps = [Call("add", {"a": number, "b": 1}) for number in range(100)]
    endless = ScriptedModel(lambda request: steps.pop() if request.tool_choice == "auto" else "enough")
    inner = Agent(model=endless, tools=[add], stop_when=(), price=cent_a_token).as_tool(name="helper", description="x")
    result = await agent_of(ASK, "ok", tools=[inner], stop_when=condition, price=cent_a_token).run("go")
    assert result.usage.total <= 230
    assert "the next call would go over it" in content_of(result)
    assert len(steps) > 80


@pytest.mark.usefixtures("one_clock")
async def test_A9_XL13_nor_take_longer() -> None:
    @make_tool
    async def wait() -> str:
        """Wait a little."""
        time_passes(60)
        return "waited"

    inner = helper(*[Call("wait")] * 3, "enough", tools=[wait], stop_when=deadline(3_600))
    result = await agent_of(ASK, "ok", tools=[inner], stop_when=deadline(100)).run("go")
    assert "deadline(100)" in content_of(result)
    assert result.stop_reason == "condition"


async def test_A9_an_agent_that_calls_itself_ends() -> None:
    """Agents are made before they are tools, so a circle is a chain: one that is longer than anybody follows."""
    model = ScriptedModel(lambda request: Call("self", {"task": "again"}) if len(request.messages) == 1 else "back")
    deep = Agent(model=model, tools=[add]).as_tool(name="self", description="x")
    for _ in range(MAX_DEPTH + 2):
        deep = Agent(model=model, tools=[deep]).as_tool(name="self", description="x")
    result = await Agent(model=model, tools=[deep]).run("go")
    assert result.text == "back"
    assert result.usage.requests == 2 * (MAX_DEPTH + 1)


async def test_A9_outside_of_an_agents_run_it_is_a_tool_like_any_other() -> None:
    notes = Notes()
    made = helper(Call("write", {"text": "x"}), "written", tools=[notes.write])
    result = await made.execute_raw('{"task": "write x"}', Run(approver=notes).context())
    assert (result.text, notes.written) == ("written", ["x"])


async def test_A9_cancelling_the_caller_cancels_the_sub_agent() -> None:
    cancelled: list[str] = []

    @make_tool
    async def wait() -> str:
        """Never end."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append("wait")
        return "never"

    run = agent_of(ASK, tools=[helper(Call("wait"), tools=[wait])]).stream("go")
    async with run:
        async for event in run:
            if isinstance(event, Progress):
                await asyncio.sleep(0)
                break
    assert cancelled == ["wait"]
    assert problems(run.messages) == []


def test_A1_A9_without_an_event_loop_the_connections_of_sub_agents_are_closed_too() -> None:
    with ModelServer(["three"]) as below, ModelServer([Turn(Use("helper", {"task": "1+2"})), "ok"]) as above:
        inner = Agent(model=below.model("anthropic")).as_tool(name="helper", description="x")
        assert Agent(model=above.model("anthropic"), tools=[inner]).run_sync("go").text == "ok"


async def test_connections_are_closed_with_the_agent() -> None:
    with ModelServer(["one", "two"]) as server:
        async with Agent(model=server.model("chat")) as agent:
            assert (await agent.run("go")).text == "one"
        async with agent:
            assert (await agent.run("go")).text == "two"
    await agent_of("x").aclose()


def _run_and_forget(server: ModelServer) -> None:
    agent = Agent(model=ChatModel("some-model", transport=HttpTransport(server.base_url("chat"))))
    asyncio.run(agent.run("go"))
    asyncio.run(_run_three_times(agent))


async def _run_three_times(agent: Agent[Any]) -> None:
    for _ in range(3):
        await agent.run("go")
    transport = cast("Any", agent.setup.model)._transport
    assert transport._connections is not None
    send = (await transport._connections._line()).send  # there is no public way to see its connections
    assert len(send.__self__._pool.connections) == 1


def test_A1_a_loop_that_ends_leaves_no_open_connection() -> None:
    """Until then, runs share their connections."""
    with ModelServer(["hi"] * 4) as server, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ResourceWarning)
        _run_and_forget(server)
        gc.collect()
    assert [str(one.message) for one in seen] == []


def test_A9_names_are_checked_when_the_tool_is_made() -> None:
    from toolroll.errors import DefinitionError

    with pytest.raises(DefinitionError, match="cannot be named"):
        agent_of("x").as_tool(name="no good", description="x")
