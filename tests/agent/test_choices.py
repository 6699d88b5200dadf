"""What is chosen for one run, and what functions of the context write or choose (A42)."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from tests.agent.stage import Call, Notes, add, agent_of, fail

from toolroll import (
    Agent,
    DependencyKey,
    Depends,
    MemoryJournal,
    ScriptedModel,
    Tool,
    ToolContext,
    step_count_is,
    tool,
    tool_called,
)
from toolroll.agent.approvals import AskLater
from toolroll.agent.context_function import RunContext
from toolroll.agent.options import per_step
from toolroll.errors import DependencyError, UsageError
from toolroll.kernel.approval.request import Approve
from toolroll.models.model import ModelRequest


def get_shop() -> str:
    return "real shop"


SHOP = DependencyKey[str]("choices.shop", get_shop)


def seen() -> str:
    return "no dependency"


@tool
def where(shop: Annotated[str, Depends(get_shop)]) -> str:
    """Return where we are."""
    return shop


@tool
def where_by_key(shop: Annotated[str, Depends(SHOP)]) -> str:
    """Return where we are."""
    return shop


@tool
async def who(ctx: ToolContext) -> str:
    """Return who asks, and where."""
    shop: str = await ctx.resolve(SHOP)
    return f"{ctx.deps['user']} in {shop}"


async def test_A42_deps_and_overrides_of_one_run_are_added_to_those_of_the_agent() -> None:
    agent = agent_of(Call("who"), "ok", Call("who"), "ok", tools=[who], deps={"user": "Ada", "other": 1})
    first = await agent.run("go", deps={"user": "Eve"}, overrides={SHOP: lambda: "here"})
    assert first.messages[2].results[0].content == "Eve in here"  # type: ignore[union-attr]
    second = await agent.run("go")
    assert second.messages[2].results[0].content == "Ada in real shop"  # type: ignore[union-attr]


@pytest.mark.parametrize("key", [SHOP, "choices.shop", get_shop], ids=["key", "id", "provider"])
@pytest.mark.parametrize("made", [where, where_by_key], ids=["provider", "key"])
async def test_A42_an_override_is_found_by_provider_id_or_key(key: Any, made: Tool) -> None:
    agent = agent_of(Call(made.name), "ok", tools=[made], overrides={key: lambda: "fake"})
    result = await agent.run("go")
    expected = "real shop" if made is where and key is not get_shop else "fake"  # a key replaces what asks for the key
    assert result.messages[2].results[0].content == expected  # type: ignore[union-attr]


async def test_A42_an_override_that_matches_nothing_is_an_error_before_anything_runs() -> None:
    agent = agent_of("ok", tools=[where])
    with pytest.raises(
        DependencyError, match=re.escape("The override of get_shob matches no dependency. Did you mean get_shop?")
    ):
        agent.start("go", overrides={"get_shob": lambda: "x"})
    with pytest.raises(DependencyError, match=r"^The override of seen matches no dependency\."):
        agent.start("go", overrides={seen: lambda: "x"})
    with pytest.raises(DependencyError, match=r"must be a function that makes the value"):
        agent.start("go", overrides={get_shop: "x"})  # type: ignore[dict-item]


async def test_A42_an_override_may_be_for_a_sub_agent() -> None:
    inner = agent_of(Call("where"), "there", tools=[where]).as_tool(name="ask", description="Ask.")
    agent = agent_of(Call("ask", {"task": "where?"}), "ok", tools=[inner], overrides={get_shop: lambda: "fake"})
    assert (await agent.run("go")).text == "ok"


async def test_A42_model_limits_approver_and_labels_are_those_of_the_run() -> None:
    notes = Notes()
    agent = agent_of("never", tools=[add, notes.write])
    write = Call("write", {"text": "a"})
    result = await agent.run(
        "go",
        model=ScriptedModel([write, "done so far"]),
        stop_when=step_count_is(2),
        approver=notes,
        labels="private",
    )
    assert (result.stop_detail, result.text, notes.written) == ("step_count_is(2)", "done so far", ["a"])
    live = agent.start("go", labels=["private", "untrusted"])
    assert live.run is not None
    assert live.run.labels == {"private", "untrusted"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"deps": [1]}, "deps is a mapping, not [1]."),
        ({"model": 3}, 'model is the name of one, such as "sonnet", or an object that answers requests, not 3.'),
        ({"approver": 3}, "An approver is an object with decide(requests), not 3."),
        ({"labels": "secret"}, "labels is 'private', 'untrusted' or both, not 'secret'."),
        ({"stop_when": tool_called("x")}, "tool_called waits for 'x', and the agent's tools are: add, fail."),
        ({"temperature": 1}, "A run has no option 'temperature'. It takes: deps, overrides, model, "),
    ],
)
async def test_A42_a_mistake_in_what_is_chosen_is_told_at_once(options: Any, said: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        agent_of("hi").start("go", **options)


async def test_A42_the_system_text_may_be_a_function_of_the_context() -> None:
    def system(ctx: RunContext, shop: Annotated[str, Depends(get_shop)]) -> str:
        return f"You serve {ctx.deps['user']} in the {shop} after {len(ctx.steps)} steps."

    async def later(ctx: ToolContext) -> str:
        return system(ctx, "late shop")  # type: ignore[arg-type]

    async def seen(made: Any) -> list[str]:
        asked: list[str] = []

        def answer(request: ModelRequest) -> Any:
            asked.append(request.system)
            return Call("add", {"a": 1, "b": 2}) if len(asked) == 1 else "ok"

        await Agent(model=ScriptedModel(answer), tools=[add], system=made).run("go", deps={"user": "Ada"})
        return asked

    assert await seen(system) == ["You serve Ada in the real shop after 0 steps."] * 2
    assert await seen(per_step(later)) == [
        "You serve Ada in the late shop after 0 steps.",
        "You serve Ada in the late shop after 1 steps.",
    ]
    assert await seen(lambda ctx: f"Hi, {ctx.deps['user']}!") == ["Hi, Ada!"] * 2


async def test_A42_a_resumed_run_keeps_the_system_text_that_is_on_record() -> None:
    notes, journal, asked = Notes(), MemoryJournal(), []
    texts = iter(["first", "second"])

    def answer(request: ModelRequest) -> Any:
        asked.append(request.system)
        return Call("write", {"text": "a"}, id="c1") if len(asked) == 1 else "ok"

    agent = Agent(
        model=ScriptedModel(answer),
        tools=[notes.write],
        system=lambda: next(texts),
        journal=journal,
        approver=AskLater(),
    )
    waiting = await agent.run("go")
    result = await agent.resume(waiting.run_id, decisions={"c1": Approve()})
    assert (result.text, asked, notes.written) == ("ok", ["first", "first"], ["a"])


async def test_A42_tools_are_chosen_for_each_step() -> None:
    def choose(ctx: RunContext, tools: Sequence[Tool]) -> list[Tool]:
        return [one for one in tools if one.name == "add"] if not ctx.steps else [*tools, where]

    offered: list[list[str]] = []

    def answer(request: ModelRequest) -> Any:
        offered.append([one.name for one in request.tools])
        return [Call("add", {"a": 1, "b": 2}), Call("where"), "ok"][len(offered) - 1]

    result = await Agent(model=ScriptedModel(answer), tools=[add, fail], step_tools=choose).run("go")
    assert offered == [["add"], ["add", "fail", "where"], ["add", "fail", "where"]]
    assert [call.ok for step in result.steps for call in step.calls] == [True, True]
    hidden = Agent(model=ScriptedModel([Call("fail"), "ok"]), tools=[add, fail], step_tools=choose)
    assert (await hidden.run("go")).steps[0].calls[0].error_type == "unknown_tool"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"system": lambda: 3}, "system returns a text, not 3."),
        ({"step_tools": lambda: 3}, "step_tools returns a list of tools, not 3."),
        ({"step_tools": lambda: [3]}, "step_tools returns a list of tools, not [3]."),
    ],
)
async def test_A42_what_a_function_returns_is_checked(options: Any, said: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        await agent_of("hi", **options).run("go")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"system": per_step(3)}, "system is a function of (ctx), not 3."),  # type: ignore[arg-type]
        ({"system": lambda a, b: ""}, "system is a function of (ctx); nobody can provide its parameter 'b'."),
        ({"step_tools": lambda a, /: []}, "step_tools: 'a' is given by name: leave out the '/' after it."),
        ({"step_tools": 3}, "step_tools is a function of (ctx, tools), not 3."),
    ],
)
def test_A42_functions_are_read_when_the_agent_is_made(options: Any, said: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        agent_of("hi", **options)


async def test_A42_a_resumed_run_needs_again_what_was_chosen_for_it() -> None:
    notes, journal = Notes(), MemoryJournal()

    def make(*script: Any) -> Agent[None]:
        return Agent(model=ScriptedModel(script), tools=[notes.write, who], journal=journal, approver=AskLater())

    options: Any = {
        "deps": {"user": "Ada"},
        "overrides": {SHOP: lambda: "here"},
        "stop_when": step_count_is(5),
        "model": ScriptedModel([Call("write", {"text": "a"}, id="c1")]),
    }
    run_id = (await make().run("go", **options)).run_id
    yes = {"c1": Approve()}
    said = (
        "This run was started with options of its own: deps (user); overrides (choices.shop); model (scripted); "
        "stop_when (step_count_is(5)). Give them again: deps=..., overrides=..., model=..., stop_when=...."
    )
    with pytest.raises(UsageError, match=re.escape(said)):
        await make().resume(run_id, decisions=yes)
    options["model"] = ScriptedModel(["ok"])
    assert (await make().resume(run_id, decisions=yes, **options)).text == "ok"
    assert notes.written == ["a"]
