"""Settings of an agent and of one run: merged, checked, recorded, and used again by resume, fork and replay."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.agent.context.counted import Counted
from tests.agent.stage import Call, add, agent_of

from toolroll import Agent, MemoryJournal, ScriptedModel, replay, tool, tool_called
from toolroll.agent.context.rules import ContextRules
from toolroll.errors import UsageError
from toolroll.journal.records import RunBegan
from toolroll.models import ModelSettings
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Line
from toolroll.models.transport import HttpTransport


class Listening:
    """A script that remembers what it was asked."""

    def __init__(self, *script: Line) -> None:
        self.asked: list[ModelRequest] = []
        self._script = iter(script)

    def __call__(self, request: ModelRequest) -> Line:
        self.asked.append(request)
        return next(self._script)

    @property
    def settings(self) -> list[ModelSettings | None]:
        return [request.settings for request in self.asked]

    @property
    def choices(self) -> list[str]:
        return [request.tool_choice for request in self.asked]


def agent_with(script: Listening, **options: Any) -> Agent[Any]:
    return Agent(model=ScriptedModel(script), **{"tools": [add], **options})


async def recorded(journal: MemoryJournal, run_id: str) -> Mapping[str, object] | None:
    _, first = (await journal.read(run_id)).records[0]
    assert isinstance(first, RunBegan)
    return first.model_settings


async def test_A40_settings_reach_the_model_and_those_of_a_run_come_first() -> None:
    script = Listening("one", "two", "three")
    agent = agent_with(script, settings={"temperature": 0.2, "seed": 1})
    await agent.run("go")
    await agent.run("go", settings=ModelSettings(temperature=0.9))
    async for _ in agent.stream("go", settings={"seed": None}):
        pass
    expected = [{"temperature": 0.2, "seed": 1}, {"temperature": 0.9, "seed": 1}, {"temperature": 0.2}]
    assert expected == [settings and settings.to_record() for settings in script.settings]


def test_A40_an_agent_without_settings_asks_without_any() -> None:
    script = Listening("one")
    agent_with(script).run_sync("go")
    assert script.settings == [None]


def claude(name: str = "claude-sonnet-5-5") -> AnthropicModel:
    return AnthropicModel(name, transport=HttpTransport("http://127.0.0.1:1"))


def test_A40_what_the_model_does_not_take_is_refused_when_the_agent_is_made_or_run() -> None:
    with pytest.raises(UsageError, match="does not take temperature"):
        Agent(model=claude(), settings={"temperature": 0.2})
    with pytest.raises(UsageError, match="does not take seed"):
        Agent(model=claude()).start("go", settings={"seed": 1})
    with pytest.raises(UsageError, match="no model setting 'kind'"):
        Agent(model=ScriptedModel([]), settings={"kind": "x"})  # type: ignore[call-overload]  # as it was once


def test_A40_a_forced_tool_must_be_one_of_the_agent() -> None:
    with pytest.raises(UsageError, match=r"tool_choice names 'find', and the agent's tools are: add"):
        agent_with(Listening(), settings={"tool_choice": "find"})
    with pytest.raises(UsageError, match="has no tools"):
        agent_with(Listening(), tools=[], settings={"tool_choice": "required"})


def test_A40_the_output_limit_is_said_once() -> None:
    script = Listening("one", "two")
    agent = agent_with(script, settings={"max_output_tokens": 50})
    agent.run_sync("go")
    agent.run_sync("go", settings={"max_output_tokens": 60})
    assert [request.max_output_tokens for request in script.asked] == [50, 60]
    with pytest.raises(UsageError, match="given twice"):
        agent_with(script, settings={"max_output_tokens": 50}, max_output_tokens=60)


@pytest.mark.parametrize(
    ("given", "choices"),
    [
        ({"tool_choice": "required"}, ["required", "auto", "auto"]),
        ({"tool_choice": "add"}, ["add", "auto", "auto"]),
        ({"tool_choice": "other"}, ["other", "other", "other"]),
        ({"tool_choice": "add", "keep_tool_choice": True}, ["add", "add", "add"]),
        ({"tool_choice": "none"}, ["none", "none", "none"]),
        ({"seed": 1}, ["auto", "auto", "auto"]),
    ],
)
def test_A40_a_call_is_forced_until_it_was_made(given: Any, choices: Sequence[str]) -> None:
    @tool
    def other() -> str:
        """Do something else."""
        return "done"

    script = Listening(Call("add", {"a": 1, "b": 2}), Call("add", {"a": 2, "b": 2}), "3")
    agent_with(script, tools=[add, other], settings=given).run_sync("go")
    assert choices == script.choices


def test_A40_a_last_answer_is_asked_without_tools_whatever_is_forced() -> None:
    script = Listening(Call("add", {"a": 1, "b": 2}), "3")
    settings = ModelSettings(tool_choice="required", keep_tool_choice=True)
    agent_with(script, settings=settings, stop_when=tool_called("add")).run_sync("go")
    assert script.choices[-1] == "none"


async def test_A40_resume_and_fork_use_the_recorded_settings() -> None:
    journal = MemoryJournal()
    first = Listening(Call("add", {"a": 1, "b": 2}), "3")
    agent = agent_with(first, journal=journal, settings={"temperature": 0.2})
    run = agent.start("go", run_id="r", settings={"seed": 7})
    await run.wait()
    assert await recorded(journal, "r") == {"temperature": 0.2, "seed": 7}

    later = Listening("more", "other", "again", "third")
    changed = agent_with(later, journal=journal, settings={"temperature": 0.9})
    await changed.resume("r", prompt="and?")
    await changed.start("and?", resume="r", settings={"seed": 8}).wait()
    await changed.start(fork="r", at_step=1, run_id="f", settings={"temperature": None}).wait()
    expected = [{"temperature": 0.2, "seed": 7}, {"temperature": 0.2, "seed": 8}, {"seed": 7}]
    assert expected == [settings and settings.to_record() for settings in later.settings]
    assert await recorded(journal, "f") == {"seed": 7}
    report = await replay(changed, "f")
    assert report.is_same, report.differences


async def test_A40_a_record_of_an_earlier_version_resumes_with_the_settings_of_the_agent() -> None:
    journal = MemoryJournal()
    await journal.append("old", RunBegan(model="m", system="", tools={}))
    await journal.release("old")
    script = Listening("fine")
    await agent_with(script, journal=journal, settings={"seed": 3}).start("go", resume="old").wait()
    assert [ModelSettings(seed=3)] == script.settings


async def test_A40_a_run_without_settings_resumes_without_any() -> None:
    journal = MemoryJournal()
    await agent_of("one", journal=journal).start("go", run_id="r").wait()
    script = Listening("two")
    await agent_with(script, journal=journal, settings={"seed": 3}).start("on", resume="r").wait()
    assert script.settings == [None]


async def test_A40_a_summary_is_not_cut_by_the_stop_sequences() -> None:
    ends: list[object] = []

    def say_more(number: int, request: ModelRequest) -> str | Call:
        ends.append(request.settings and request.settings.stop_sequences)
        return Call("say", {"number": number}) if number <= 6 else "done"

    @tool
    def say(number: int) -> str:
        """Say a lot."""
        return f"{number}: " + "word " * 700

    counted = Counted(say_more, summaries=["## Summary\nto the END, and all said"])
    rules, settings = ContextRules(window_tokens=4_000), ModelSettings(stop_sequences=("END",))
    result = await Agent(model=counted.model, tools=[say], context=rules, settings=settings).run("go")
    assert (result.text, ends) == ("done", [("END",)] * 7)
    assert [request.settings and request.settings.stop_sequences for request in counted.asked_for_summary] != []
    assert {request.settings and request.settings.stop_sequences for request in counted.asked_for_summary} == {()}
