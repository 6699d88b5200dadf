"""Mistakes in what an agent is given are told when it is made, in words that say what to write (A1)."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ConfigDict
from tests.agent.stage import Call, add, agent_of

from toolroll import Agent, RunResult, ScriptedModel, WebSearch, generate_text
from toolroll.agent.options import AgentOptions
from toolroll.agent.result import StopReason
from toolroll.errors import UsageError
from toolroll.journal.journal import MemoryJournal


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


MODEL = ScriptedModel(["hi"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, 'An agent needs a model: Agent(model="sonnet", ...), or any Model.'),
        ({"model": 3}, 'model is the name of one, such as "sonnet", or an object that answers requests, not 3.'),
        ({"model": ScriptedModel}, 'model is the name of one, such as "sonnet", or an object that answers requests'),
        ({"tool": [add]}, "An agent has no option 'tool'. Did you mean tools=? It takes: model, tools, system, "),
        ({"xyzzy": 1}, "An agent has no option 'xyzzy'. It takes: model, tools, "),
        ({"tools": add}, "tools takes a list of them: tools=[...], also for one."),
        ({"tools": WebSearch()}, "tools takes a list of them: tools=[...], also for one."),
        ({"tools": 3}, "tools takes a list of tools, not 3."),
        ({"tools": "add"}, "tools takes a list of tools, not 'add'."),
        ({"tools": [print]}, "An agent's tools are made with @tool or define_tool."),
        ({"stop_when": 3}, "stop_when is a condition, such as step_count_is(10), or a list of them, not 3."),
        ({"stop_when": [3]}, "A stop condition is a plain function of the steps so far, which is not so in (3,)."),
        ({"system": 3}, "system is a text, or a function of the context that returns one, not 3."),
        ({"system": None}, "system is a text, or a function of the context that returns one, not None."),
        ({"policy": 3}, "policy is a Policy, not 3."),
        ({"context": 3}, "context is ContextRules, not 3."),
        ({"retry": 3}, "retry is a RetryRule, not 3."),
        ({"deps": [1]}, "deps is a mapping of values by name, not [1]."),
        ({"overrides": 3}, "overrides is a mapping of providers to those that stand in for them, not 3."),
        ({"record": 3}, "record is a mapping, not 3."),
        ({"instructions": "x"}, "An agent has no option 'instructions'. Did you mean system=?"),
        ({"model_settings": {}}, "An agent has no option 'model_settings'. Did you mean settings=?"),
        ({"settings": 3}, "settings is ModelSettings or a dictionary, not 3."),
        ({"outputs": 3}, "outputs is a folder, or None for none, not 3."),
        ({"require_done": "no"}, "require_done is True or False, not 'no'."),
        ({"on_turn": 3}, "on_turn is a function, not 3."),
        ({"clock": 3}, "clock is a function, not 3."),
        ({"journal": "runs"}, "journal is an object that keeps runs, such as SqliteJournal(folder), not 'runs'."),
        ({"journal": MemoryJournal}, "journal is an object that keeps runs, such as SqliteJournal(folder), not "),
        ({"approver": 3}, "An approver is an object with decide(requests), not 3."),
        ({"max_output_tokens": -1}, "max_output_tokens is a whole number above 0, not -1."),
        ({"max_output_tokens": 0}, "max_output_tokens is a whole number above 0, not 0."),
        ({"max_output_tokens": True}, "max_output_tokens is a whole number above 0, not True."),
        ({"max_output_tokens": 1.5}, "max_output_tokens is a whole number above 0, not 1.5."),
        ({"output": 3}, "output is a type, such as a pydantic model, not 3 ("),
        ({"output": Open}, 'output: it takes fields it does not name (extra="allow"). Declare them, or use dict[str, '),
    ],
)  # fmt: skip
async def test_A1_a_mistake_in_the_options_is_told_when_the_agent_is_made(options: Any, said: str) -> None:
    options = options if "model" in options or not options else {"model": MODEL, **options}
    with pytest.raises(UsageError, match=f"^{re.escape(said)}") as caught:
        Agent(**options)
    assert "errors.pydantic.dev" not in str(caught.value)
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        await generate_text("go", **options)


def test_A1_what_may_be_left_out_may_be_none() -> None:
    nothing: Any = dict.fromkeys(
        ["approver", "policy", "deps", "overrides", "journal", "settings", "on_turn", "clock", "make_id", "stop_when"]
    )
    assert agent_of("hi", **nothing).run_sync("go").text == "hi"


@pytest.mark.parametrize("prompt", [5, b"go", ["go"], object(), {"role": "user"}], ids=lambda one: type(one).__name__)
def test_A1_what_is_no_prompt_is_refused_before_anything_runs(prompt: Any) -> None:
    agent = agent_of("hi")
    with pytest.raises(UsageError, match=r"^A prompt is a text, a list of parts, or a UserMessage, not "):
        agent.run_sync(prompt)
    with pytest.raises(UsageError, match=r"^A prompt is "):
        agent.stream(prompt)


def test_A1_what_is_no_message_is_refused_before_anything_runs() -> None:
    messages: Any = [{"role": "user", "content": "hi"}]
    with pytest.raises(UsageError, match=r"^messages takes those of an earlier run \(result\.messages\), not \{'role'"):
        agent_of("hi").run_sync("go", messages=messages)


@pytest.mark.parametrize("script", ["hello", Call("add"), 3], ids=["text", "call", "number"])
def test_A1_a_script_is_a_list_of_turns(script: Any) -> None:
    """A text alone would be played letter by letter."""
    with pytest.raises(UsageError) as caught:
        ScriptedModel(script)
    assert str(caught.value) == f"A script is a list of turns, also of one: ScriptedModel([{script!r}])."


def test_A1_a_model_without_its_name_says_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"Agent\(model='sonnet', \.\.\.\)"):
        Agent("sonnet")  # type: ignore[call-overload]  # what a user may write


async def test_A1_outputs_off_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = Agent(model=ScriptedModel(["hello"]), outputs="off")
    await agent.run("go")
    assert (agent.setup.outputs, list(tmp_path.iterdir())) == ("off", [])


@pytest.mark.parametrize(
    "names",
    [
        [*AgentOptions.__annotations__, "output"],
        [*(one.name for one in fields(RunResult)), "can_continue", "usage", "cost", "sub_runs", "pauses"],
        get_args(StopReason),
    ],
    ids=["options", "results", "stop reasons"],
)
def test_the_page_about_agents_names_all_of_them(names: list[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [name for name in names if not any(f"`{name}`" in row for row in rows)] == []
