"""Hooks around a run, a model call and a tool call (A43)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.stage import Call, Notes, add, fail

from toolroll import (
    Agent,
    Approve,
    MemoryJournal,
    Reject,
    RunResult,
    ScriptedModel,
    Tool,
    ToolCall,
    ToolFailure,
    ToolResult,
    replay,
    tool,
)
from toolroll.agent.approvals import AskLater
from toolroll.agent.context_function import RunContext
from toolroll.agent.events import TextArrived
from toolroll.agent.hooks import Hook, Refusal
from toolroll.errors import HookFailed, ModelError, ProviderFailed, UsageError
from toolroll.kernel.approval.consent import Consent
from toolroll.kernel.approval.request import ApprovalRequest, Decision
from toolroll.kernel.data.messages import CallBlock, UserMessage
from toolroll.models.model import ModelRequest, ModelResponse

SUM = Call("add", {"a": 1, "b": 2}, id="c1")


class Log(Hook):
    """Notes where it is called."""

    def __init__(self, name: str, said: list[str]) -> None:
        self._name = name
        self._said = said

    @property
    def name(self) -> str:
        return self._name

    def _note(self, point: str) -> None:
        self._said.append(f"{self._name}.{point}")

    def before_run(self, ctx: RunContext, prompt: UserMessage | None) -> None:
        self._note("before_run")

    async def after_run(self, ctx: RunContext, result: RunResult[object]) -> None:
        self._note("after_run")

    def on_run_error(self, ctx: RunContext, error: Exception, result: RunResult[object]) -> None:
        self._note("on_run_error")

    async def before_model(self, ctx: RunContext, request: ModelRequest) -> None:
        self._note("before_model")

    def after_model(self, ctx: RunContext, request: ModelRequest, response: ModelResponse) -> None:
        self._note("after_model")

    def on_model_error(self, ctx: RunContext, request: ModelRequest, error: ModelError) -> None:
        self._note("on_model_error")

    def before_tool(self, ctx: RunContext, call: ToolCall) -> None:
        self._note("before_tool")

    def after_tool(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> None:
        self._note("after_tool")

    def on_tool_error(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> None:
        self._note("on_tool_error")


def agent(*script: Any, hooks: Sequence[Hook], tools: Sequence[Tool] = (add,), **options: Any) -> Agent[None]:
    return Agent(model=ScriptedModel(script), tools=tools, hooks=hooks, **options)


async def test_A43_the_first_hook_is_the_outermost() -> None:
    said: list[str] = []
    hooks = [Log("a", said), Log("b", said)]
    result = await agent(SUM, "3", hooks=hooks).run("go")
    assert result.text == "3"
    turn = ["a.before_model", "b.before_model", "b.after_model", "a.after_model"]
    call = ["a.before_tool", "b.before_tool", "b.after_tool", "a.after_tool"]
    run = ["a.before_run", "b.before_run"]
    assert said == [*run, *turn, *call, *turn, "b.after_run", "a.after_run"]


async def test_A43_errors_have_points_of_their_own() -> None:
    said: list[str] = []

    def break_down(request: ModelRequest) -> Any:
        if len(request.messages) == 1:
            return Call("fail", {}, id="c1")
        raise ProviderFailed("The model is broken.")

    model = ScriptedModel(break_down)
    with pytest.raises(ProviderFailed):
        await Agent(model=model, tools=[fail], hooks=[Log("a", said)]).run("go")
    points = [one.removeprefix("a.") for one in said]
    calls = ["before_model", "after_model", "before_tool", "on_tool_error", "before_model", "on_model_error"]
    assert points == ["before_run", *calls, "on_run_error"]


class Edit(Hook):
    """Changes everything there is."""

    def before_run(self, ctx: RunContext, prompt: UserMessage | None) -> str | None:
        return None if prompt is None else "changed prompt"

    def before_model(self, ctx: RunContext, request: ModelRequest) -> ModelRequest:
        return replace(request, system=f"{request.system} And be brief.")

    def before_tool(self, ctx: RunContext, call: ToolCall) -> ToolCall:
        return replace(call, arguments='{"a": 10, "b": 20}')

    def after_tool(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> str:
        return f"about {result.text}"

    def after_model(self, ctx: RunContext, request: ModelRequest, response: ModelResponse) -> str | None:
        return None if response.message.calls else f"{response.message.text}!"

    def after_run(self, ctx: RunContext, result: RunResult[object]) -> RunResult[object]:
        return replace(result, text=f"<{result.text}>")


async def test_A43_hooks_change_what_is_asked_called_and_answered() -> None:
    requests: list[ModelRequest] = []

    def play(request: ModelRequest) -> Any:
        requests.append(request)
        return SUM if len(requests) == 1 else "done"

    journal = MemoryJournal()
    made = Agent(model=ScriptedModel(play), tools=[add], system="Add.", hooks=[Edit()], journal=journal)
    result = await made.run("go")
    assert result.text == "<done!>"
    assert {one.system for one in requests} == {"Add. And be brief."}
    assert requests[0].messages[0] == UserMessage.of("changed prompt")
    assert result.new_messages[0] == UserMessage.of("changed prompt")
    assert [one.content for one in result.new_messages[2].results] == ["about 30"]  # type: ignore[union-attr]
    assert (await made.resume(result.run_id)).text == "<done!>"
    assert (await replay(made, result.run_id)).is_same


class Cache(Hook):
    """Answers in the place of the model or of a tool."""

    def __init__(self, answer: str | None = None, result: ToolResult | str | None = None) -> None:
        self.answer = answer
        self.result = result

    def before_model(self, ctx: RunContext, request: ModelRequest) -> str | None:
        return self.answer

    def before_tool(self, ctx: RunContext, call: ToolCall) -> ToolResult | str | None:
        return self.result


async def test_A43_an_answer_of_a_hook_is_shown_recorded_and_costs_nothing() -> None:
    said: list[str] = []
    journal = MemoryJournal()
    made = agent(hooks=[Log("a", said), Cache("from the cache"), Log("b", said)], journal=journal)
    live = made.stream("go")
    texts = [event.text async for event in live if isinstance(event, TextArrived)]
    assert texts == ["from the cache"]
    assert live.result is not None
    assert (live.result.text, live.result.usage.requests) == ("from the cache", 0)
    assert [one for one in said if "model" in one] == ["a.before_model", "a.after_model"]
    assert (await replay(made, live.run_id)).is_same


async def test_A43_a_result_of_a_hook_brings_the_labels_of_its_tool() -> None:
    @tool(brings="private")
    async def diary() -> str:
        """Read the diary."""
        raise AssertionError

    hooks = [Cache(result="Dear diary")]
    consent = Consent(purpose="a test", calls=1)
    live = agent(Call("diary", {}), "ok", hooks=hooks, tools=[diary], consent=consent).start("go")
    await live.wait()
    assert live.run is not None
    assert "private" in live.run.labels


class Rescue(Hook):
    """Gives failed things a result."""

    def on_model_error(self, ctx: RunContext, request: ModelRequest, error: ModelError) -> str | None:
        return "the model is away" if ctx.deps.get("model") else None

    def on_run_error(self, ctx: RunContext, error: Exception, result: RunResult[object]) -> RunResult[object]:
        return replace(result, text="it failed")

    def on_tool_error(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> str:
        return "fine"


def no_model(_request: ModelRequest) -> Any:
    raise ProviderFailed("The model is broken.")


async def test_A43_a_hook_can_give_what_failed_a_result() -> None:
    made = Agent(model=ScriptedModel(no_model), hooks=[Rescue()])
    first = await made.run("go", deps={"model": True})
    assert (first.text, first.stop_reason) == ("the model is away", "answer")
    second = await made.run("go")
    assert (second.text, second.stop_reason) == ("it failed", "failed")
    third = await agent(Call("fail", {}), "ok", hooks=[Rescue()], tools=[fail]).run("go")
    [results] = [one for one in third.messages if hasattr(one, "results")]
    assert [(one.content, one.is_error) for one in results.results] == [("fine", False)]


class Guard(Hook):
    """Refuses at one point."""

    def __init__(self, point: str) -> None:
        self._point = point

    def _check(self, point: str) -> None:
        if point == self._point:
            raise Refusal("I only add.")

    def before_run(self, ctx: RunContext, prompt: UserMessage | None) -> None:
        self._check("before_run")

    def after_run(self, ctx: RunContext, result: RunResult[object]) -> None:
        self._check("after_run")

    def before_model(self, ctx: RunContext, request: ModelRequest) -> None:
        self._check("before_model")

    def after_model(self, ctx: RunContext, request: ModelRequest, response: ModelResponse) -> None:
        self._check("after_model")

    def before_tool(self, ctx: RunContext, call: ToolCall) -> None:
        self._check("before_tool")

    def after_tool(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> None:
        self._check("after_tool")


@pytest.mark.parametrize("output", [None, int])
@pytest.mark.parametrize(
    "point", ["before_run", "before_model", "after_model", "before_tool", "after_tool", "after_run"]
)
async def test_A43_a_hook_can_end_the_run_with_its_words(point: str, output: Any) -> None:
    journal = MemoryJournal()
    model = ScriptedModel([SUM, "3"])
    made = Agent(model=model, tools=[add], hooks=[Guard(point)], journal=journal, output=output)
    result = await made.run("go")
    assert (result.text, result.stop_reason, result.output) == ("I only add.", "refusal", None)
    assert (await replay(made, result.run_id)).is_same


async def test_A43_a_hook_can_refuse_one_call() -> None:
    class NoSums(Hook):
        def before_tool(self, ctx: RunContext, call: ToolCall) -> None:
            raise ToolFailure("Sums are off today.", code="closed")

    result = await agent(SUM, "ok", hooks=[NoSums()], collect_tool_stats=True).run("go")
    assert result.tool_calls is not None
    assert [one.error_type for one in result.tool_calls] == ["closed"]


class Broken(Guard):
    """Raises at one point."""

    def _check(self, point: str) -> None:
        if point == self._point:
            raise ValueError("oops")


@pytest.mark.parametrize(
    "point", ["before_run", "before_model", "after_model", "before_tool", "after_tool", "after_run"]
)
async def test_A43_an_error_in_a_hook_names_it_and_ends_the_run(point: str) -> None:
    journal = MemoryJournal()
    made = agent(SUM, "3", hooks=[Broken(point)], journal=journal)
    live = made.start("go")
    with pytest.raises(HookFailed, match=rf"^The hook Broken failed in {point}: oops\.$") as caught:
        await live.wait()
    assert (caught.value.hook, caught.value.point, caught.value.code) == ("Broken", point, "hook_failed")
    assert isinstance(caught.value.__cause__, ValueError)
    assert live.result is not None
    assert live.result.stop_reason == "failed"
    # what the hook should have seen did not pass without it
    results = [one for message in live.messages for one in getattr(message, "results", ())]
    assert all(one.is_error for one in results) or point == "after_run"


class Wrong(Hook):
    def __init__(self, value: Any, point: str) -> None:
        setattr(self, point, lambda *_: value)
        self.value = value

    def before_run(self, ctx: RunContext, prompt: UserMessage | None) -> Any:
        return None

    def after_run(self, ctx: RunContext, result: RunResult[object]) -> Any:
        return None

    def before_model(self, ctx: RunContext, request: ModelRequest) -> Any:
        return None

    def after_model(self, ctx: RunContext, request: ModelRequest, response: ModelResponse) -> Any:
        return None

    def before_tool(self, ctx: RunContext, call: ToolCall) -> Any:
        return None

    def after_tool(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> Any:
        return None


@pytest.mark.parametrize(
    ("point", "value", "said"),
    [
        ("before_run", 1, "it returned int, not UserMessage"),
        ("after_run", 1, "it returned int, not RunResult"),
        ("before_model", 1, "it returned int, not ModelRequest"),
        ("after_model", 1, "it returned int, not ModelResponse"),
        ("before_tool", 1, "it returned int, not ToolCall"),
        ("before_tool", ToolCall(id="c1", name="other", arguments="{}"), "a hook changes arguments only"),
        ("after_tool", 1, "it returned int, not ToolResult"),
    ],
)
async def test_A43_what_a_hook_may_not_return_is_named(point: str, value: Any, said: str) -> None:
    with pytest.raises(HookFailed, match=said):
        await agent(SUM, "3", hooks=[Wrong(value, point)]).run("go")


class Says:
    """An approver with a fixed answer."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self.asked: list[object] = []

    def decide(self, requests: Sequence[ApprovalRequest]) -> list[Decision]:
        self.asked += [one.arguments for one in requests]
        return [self.decision] * len(requests)


class Pushy(Hook):
    """Tries to get a call through: other arguments, a success in the place of a rejection."""

    def before_tool(self, ctx: RunContext, call: ToolCall) -> ToolCall:
        return replace(call, arguments='{"text": "pushed"}')

    def on_tool_error(self, ctx: RunContext, call: ToolCall, result: ToolResult) -> ToolResult:
        return ToolResult.of_text("It was written.")


class Inventive(Hook):
    """Makes up a call that the model did not make."""

    def after_model(self, ctx: RunContext, request: ModelRequest, response: ModelResponse) -> ModelResponse | None:
        if ctx.steps:
            return None
        call = CallBlock(call=ToolCall(id="made", name="write", arguments='{"text": "made up"}'))
        return replace(response, message=replace(response.message, blocks=(*response.message.blocks, call)))


_HOOKS = st.lists(st.sampled_from(["pushy", "inventive", "cache", "log", "rescue"]), max_size=5)


def hook_of(kind: str) -> Hook:
    match kind:
        case "pushy":
            return Pushy()
        case "inventive":
            return Inventive()
        case "cache":
            return Cache(result=ToolResult.of_text("It was written."))
        case "rescue":
            return Rescue()
        case _:
            return Log("log", [])


@settings(deadline=None, max_examples=60)
@given(kinds=_HOOKS, of_run=_HOOKS, answer=st.sampled_from(["no", "nobody", "later"]))
async def test_A43_hooks_in_any_order_run_no_call_that_was_not_allowed(
    kinds: list[str], of_run: list[str], answer: str
) -> None:
    notes = Notes()
    approver = {"no": Says(Reject("no")), "nobody": None, "later": AskLater()}[answer]
    made = Agent(
        model=ScriptedModel([Call("write", {"text": "mine"}, id="c1"), "ok"]),
        tools=[notes.write],
        hooks=map(hook_of, kinds),
        approver=approver,
        journal=MemoryJournal(),
        collect_tool_stats=True,
    )
    result = await made.run("go", hooks=map(hook_of, of_run))
    assert notes.written == []
    if "cache" not in kinds + of_run and answer != "later":
        assert result.tool_calls is not None
        code = "rejected" if answer == "no" else "needs_approval"
        assert {(one.ok, one.error_type) for one in result.tool_calls} == {(False, code)}


async def test_A43_a_person_is_asked_about_what_a_hook_made_of_a_call() -> None:
    notes, approver = Notes(), Says(Approve())
    made = agent(Call("write", {"text": "mine"}), "ok", hooks=[Pushy()], tools=[notes.write], approver=approver)
    await made.run("go")
    assert (notes.written, approver.asked) == (["pushed"], [{"text": "pushed"}])


async def test_A43_turns_on_record_are_not_shown_to_hooks_again() -> None:
    notes, journal, said = Notes(), MemoryJournal(), []  # type: ignore[var-annotated]  # of Log

    def make(*script: Any) -> Agent[None]:
        return agent(*script, hooks=[Log("a", said)], tools=[notes.write], journal=journal, approver=AskLater())

    waiting = await make(Call("write", {"text": "x"}, id="c1")).run("go")
    assert waiting.stop_reason == "approval_pending"
    assert said == ["a.before_run", "a.before_model", "a.after_model", "a.before_tool", "a.after_run"]
    said.clear()
    resumed = make("ok")
    result = await resumed.resume(waiting.run_id, decisions={"c1": Approve()})
    assert (result.text, notes.written) == ("ok", ["x"])
    turn = ["a.before_model", "a.after_model"]
    assert said == ["a.before_run", "a.before_tool", "a.after_tool", *turn, "a.after_run"]
    said.clear()
    assert (await replay(resumed, result.run_id)).is_same
    assert [one for one in said if "model" in one] == []


async def test_A43_hooks_of_one_run_come_after_those_of_the_agent_and_again_when_it_is_resumed() -> None:
    said: list[str] = []
    journal = MemoryJournal()
    made = agent("ok", hooks=[Log("agent", said)], journal=journal)
    result = await made.run("go", hooks=[Log("run", said)])
    assert said[:2] == ["agent.before_run", "run.before_run"]
    with pytest.raises(UsageError, match=r"options of its own: hooks \(run\)\. Give them again: hooks=\.\.\.\."):
        await made.resume(result.run_id)
    assert (await made.resume(result.run_id, hooks=[Log("run", said)])).text == "ok"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Hook(), r"^hooks takes a list of hooks: hooks=\[\.\.\.\], not <"),
        (3, r"^hooks takes a list of hooks: hooks=\[\.\.\.\], not 3\.$"),
        ([Hook], r"inherit from Hook, not <class .*Hook'>\. Make one of the class\.$"),
        ([print], r"not <built-in function print>\. Inherit from toolroll\.agent\.hooks\.Hook\.$"),
    ],
)
def test_A43_what_is_no_hook_is_refused_when_the_agent_is_made(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Agent(model=ScriptedModel([]), hooks=given)
