"""The agent from outside: one loop behind `run`, `run_sync`, `stream` and `generate_text` (A1, A2, A5, A7)."""

import asyncio
import logging
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Call, Notes, add, agent_of, events_of, fail, play
from tests.kernel.stand_ins import Anything
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

import toolroll
from toolroll import Agent, ImagePart, ScriptedModel, TextPart, WebSearch, generate_text, step_count_is, tool
from toolroll.agent.events import RunFinished, Warned
from toolroll.agent.result import RunResult
from toolroll.agent.run import GO_ON
from toolroll.errors import AuthenticationFailed, ModelError, RequestRefused, UsageError
from toolroll.journal.journal import MemoryJournal
from toolroll.kernel.approval.request import Approve, Approver
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.messages import AssistantMessage, Part, ToolResults, UserMessage
from toolroll.models.model import Wire

SUM: list[Any] = [["I add", Call("add", {"a": 1, "b": 2})], "three"]


async def test_A1_run_answers_a_prompt() -> None:
    result = await play(*SUM)
    assert (result.text, result.stop_reason, len(result.steps)) == ("three", "answer", 2)
    assert [type(message) for message in result.messages] == [
        UserMessage,
        AssistantMessage,
        ToolResults,
        AssistantMessage,
    ]
    assert problems(result.messages) == []


def test_A1_run_sync_is_the_same_for_code_without_an_event_loop() -> None:
    result = agent_of(*SUM).run_sync("go")
    assert (result.text, len(result.steps)) == ("three", 2)


async def test_A1_run_sync_inside_an_event_loop_says_what_to_use() -> None:
    with pytest.raises(UsageError, match=r"await agent\.run"):
        agent_of("hi").run_sync("go")


def test_A1_an_error_out_of_run_sync_is_the_only_one_in_its_traceback() -> None:
    with pytest.raises(ModelError) as caught:
        agent_of(RequestRefused("not like this")).run_sync("go")
    assert caught.value.__context__ is None


@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
def test_A1_one_agent_runs_twice_without_an_event_loop(wire: Wire) -> None:
    """Connections of a loop that has ended are not used by the next one."""
    with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), "3", "4"]) as server:
        agent = Agent(model=server.model(wire), tools=[add])
        assert agent.run_sync("1 + 2?").text == "3"
        assert agent.run_sync("1 + 3?").text == "4"


async def test_A1_stream_and_run_come_to_the_same() -> None:
    run = agent_of(*SUM).stream("go")
    *_, last = [event async for event in run]
    assert isinstance(last, RunFinished)
    assert run.result is last.result
    whole = await play(*SUM)
    assert (last.result.text, last.result.messages) == (whole.text, whole.messages)
    assert run.run_id == last.result.run_id


async def test_A1_generate_text_is_the_same_in_one_call() -> None:
    result = await generate_text("go", model=ScriptedModel(SUM), tools=[add])
    assert (result.text, len(result.steps)) == ("three", 2)


async def test_A1_a_prompt_is_text_or_parts() -> None:
    parts: list[Part] = [TextPart(text="what is this?"), ImagePart(data=b"\x89PNG", media_type="image/png")]
    result = await agent_of("a picture").run(parts)
    assert result.messages[0] == UserMessage(content=tuple(parts))


async def test_A1_messages_continue_an_earlier_conversation() -> None:
    first = await play(*SUM)
    second = await agent_of("three, as I said").run("again?", messages=first.messages)
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[len(first.messages)] == UserMessage.of("again?")
    assert second.text == "three, as I said"
    assert len(second.steps) == 1


async def test_A1_A3_a_run_goes_on_without_a_new_prompt() -> None:
    """After an answer the model is told to go on; after results of tools it goes on by itself."""
    first = await play(*SUM)
    second = await agent_of("more").run(messages=first.messages)
    assert second.messages[len(first.messages)] == UserMessage.of(GO_ON)
    stopped = await play(*SUM, stop_when=step_count_is(1), close_with_answer=False)
    assert isinstance(stopped.messages[-1], ToolResults)
    agent = agent_of("three")
    third = await agent.run(messages=stopped.messages)
    assert third.messages[:-1] == stopped.messages
    assert third.text == "three"


async def test_A1_a_run_needs_something_to_begin_with() -> None:
    with pytest.raises(UsageError, match="needs a prompt"):
        await agent_of("hi").run()
    with pytest.raises(UsageError, match="needs a prompt"):
        agent_of("hi").stream()


async def test_A2_reads_run_side_by_side_and_results_keep_the_models_order() -> None:
    meeting = asyncio.Barrier(3)
    ended: list[int] = []

    @tool
    async def meet(number: int) -> int:
        """Wait for the two others: one after another would wait for ever."""
        async with asyncio.timeout(10):
            await meeting.wait()
        for _ in range(30 - 10 * number):
            await asyncio.sleep(0)
        ended.append(number)
        return number

    result = await play([Call("meet", {"number": n}) for n in range(3)], "met", tools=[meet])
    results = result.messages[2]
    assert isinstance(results, ToolResults)
    assert [one.content for one in results.results] == ["0", "1", "2"]
    assert ended == [2, 1, 0]
    assert [log.arguments for log in result.steps[0].calls] == [f'{{"number":{n}}}' for n in range(3)]


async def test_A2_writes_run_one_after_another_in_order() -> None:
    log: list[str] = []

    @tool(effect="writes")
    async def write(name: str) -> str:
        """Write slowly."""
        log.append(f"{name} begins")
        for _ in range(5):
            await asyncio.sleep(0)
        log.append(f"{name} ends")
        return name

    calls = [Call("write", {"name": name}) for name in "abc"]
    await play(calls, "done", tools=[write], approver=Notes())
    assert log == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]


async def test_A5_the_result_has_text_messages_steps_usage_cost_and_the_reason() -> None:
    result = await play(*SUM, price=lambda _origin, usage: usage.total / 1000)
    first, second = result.steps
    assert (first.number, first.text, second.number, second.text) == (1, "I add", 2, "three")
    assert [log.name for log in first.calls] == ["add"]
    assert first.duration_s > 0
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.requests) == (20, 10, 2)
    assert result.cost == pytest.approx(0.03)
    assert (result.stop_reason, result.stop_detail, result.closing, result.can_continue) == ("answer", "", False, False)
    assert (result.output, result.output_fault, result.sub_runs) == (None, None, ())


async def test_A5_an_unknown_price_is_no_price() -> None:
    assert (await play("hi")).cost is None


async def test_A5_statistics_of_calls_come_on_request() -> None:
    calls = [Call("add", {"a": 1, "b": 2}), Call("fail", {"why": "é" * 300}), Call("nothing")]
    assert (await play(calls, "done")).tool_calls is None
    result = await play(calls, "done", collect_tool_stats=True)
    assert result.tool_calls is not None
    good, bad, unknown = result.tool_calls
    assert (good.name, good.arguments, good.ok, good.bytes, good.error_type) == ("add", '{"a":1,"b":2}', True, 1, None)
    assert (bad.ok, bad.error_type, len(bad.arguments)) == (False, "tool_error", 120)
    assert bad.bytes == len(("Error executing tool: " + "é" * 300).encode())
    assert (unknown.ok, unknown.error_type, unknown.duration_ms) == (False, "unknown_tool", 0.0)
    assert good.duration_ms > 0


async def test_A5_the_size_of_parts_is_that_of_their_content() -> None:
    @tool
    async def look() -> list[TextPart | ImagePart]:
        """Look."""
        return [TextPart(text="ї"), ImagePart(data=b"12345", media_type="image/png")]

    result = await play(Call("look"), "seen", tools=[look], collect_tool_stats=True)
    assert result.tool_calls is not None
    assert result.tool_calls[0].bytes == 7


async def test_A5_the_duration_of_a_call_is_its_own() -> None:
    """Not the time until its turn came: the second write waits for the first, and no longer takes part in its time."""
    gate = asyncio.Event()

    @tool(effect="writes")
    async def slow() -> str:
        """Wait."""
        asyncio.get_running_loop().call_later(0.2, gate.set)
        await gate.wait()
        return "slow"

    @tool(effect="writes")
    async def quick() -> str:
        """Do nothing."""
        return "quick"

    options: dict[str, Any] = {"tools": [slow, quick], "approver": Notes(), "collect_tool_stats": True}
    result = await play([Call("slow"), Call("quick")], "done", **options)
    assert result.tool_calls is not None
    assert result.tool_calls[0].duration_ms >= 200
    assert result.tool_calls[1].duration_ms < 200


async def test_A5_a_line_is_logged_for_each_call_without_secrets_or_line_breaks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    key = "sk-ant-api03-" + "A1b2C3d4" * 6
    with caplog.at_level(logging.INFO, logger="toolroll.tools"):
        await play([Call("add", {"a": 1, "b": 2}), Call(f"bad\nname {key}", f'{{"key": "{key}"}}')], "done")
    good, bad = [record.getMessage() for record in caplog.records if record.getMessage().startswith("tool_call")]
    assert good.startswith("tool_call name=add ok=True duration_ms=")
    assert good.endswith('bytes=1 error_type=None arguments={"a":1,"b":2}')
    assert "error_type=unknown_tool" in bad
    assert key not in bad
    assert "\n" not in bad


async def test_A5_no_line_is_made_up_that_nobody_reads(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="toolroll.tools"):
        await play(*SUM)
    assert caplog.records == []


async def test_A7_the_events_of_a_run_in_their_order() -> None:
    @tool
    async def work(ctx: ToolContext) -> str:
        """Say how far it is."""
        ctx.progress("half", 0.5)
        return "ok"

    events = await events_of(agent_of(["so: ", Call("work", {})], "well done", tools=[work]))
    assert [event.event for event in events] == [
        "run_started",
        "step_started",
        "text_delta",
        "arguments_delta",
        "arguments_delta",
        "tool_call_started",
        "progress",
        "tool_result",
        "step_finished",
        "step_started",
        "text_delta",
        "text_delta",
        "step_finished",
        "run_finished",
    ]


async def test_A7_a_call_that_never_runs_has_a_beginning_and_an_end_too() -> None:
    events = await events_of(agent_of([Call("nothing"), Call("add", "{")], "done"))
    kinds = [event.event for event in events if event.event.startswith("tool_")]
    assert kinds == ["tool_call_started", "tool_result"] * 2


async def test_A7_approvals_are_told_before_the_call_starts() -> None:
    notes = Notes()
    events = await events_of(agent_of(Call("write", {"text": "x"}), "done", tools=[notes.write], approver=notes))
    kinds = [event.event for event in events]
    asked, decided = kinds.index("approval_requested"), kinds.index("approval_decided")
    assert asked < decided < kinds.index("tool_call_started") < kinds.index("tool_result")


async def test_A7_a_conversation_that_had_to_be_mended_is_a_warning() -> None:
    run = agent_of("hello again").stream("go", messages=[AssistantMessage(blocks=())])
    events = [event async for event in run]
    warned = [event.text for event in events if isinstance(event, Warned)]
    assert warned == ["The conversation was mended: an empty turn was left out."]


async def test_A20_the_system_text_is_no_message() -> None:
    async with ModelServer(["hi"]) as server:
        await Agent(model=server.model("anthropic"), system="Be brief.").run("hello")
        [request] = server.requests
    assert request.body["system"][0]["text"] == "Be brief."
    assert [message["role"] for message in request.body["messages"]] == ["user"]


def test_A33_web_search_stands_among_the_tools() -> None:
    with ModelServer(["found"]) as server:
        Agent(model=server.model("anthropic"), tools=[add, WebSearch(max_uses=2)]).run_sync("search")
        [request] = server.requests
    assert [one["name"] for one in request.body["tools"]] == ["add", "web_search"]
    assert request.body["tools"][1]["max_uses"] == 2


def test_A30_a_model_may_be_given_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AuthenticationFailed, match="ANTHROPIC_API_KEY"):
        Agent(model="sonnet")
    with ModelServer(["hi"]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert Agent(model="sonnet").run_sync("hello").text == "hi"


def _plain(a: int) -> int:
    return a


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"tools": [_plain]}, "Decorate plain functions"),
        ({"tools": [WebSearch(), WebSearch()]}, "one WebSearch"),
        ({"tools": [add], "require_done": True}, "named `done`"),
        ({"tools": [add], "stop_when": toolroll.tool_called("addd")}, "'addd', and the agent's tools are: add"),
        ({"stop_when": toolroll.tool_called("x")}, "tools are: none"),
    ],
)
def test_what_cannot_work_is_refused_when_the_agent_is_made(options: Any, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        Agent(model=ScriptedModel([]), **options)


def test_K4_two_tools_of_one_name_are_refused_when_the_agent_is_made() -> None:
    with pytest.raises(toolroll.ToolrollError, match="Two tools are named 'add'"):
        Agent(model=ScriptedModel([]), tools=[add, fail, add])


async def test_a_result_is_typed_by_the_output_that_was_asked_for() -> None:
    result: RunResult[int] = await Agent(model=ScriptedModel(["5"]), output=int).run("a number?")
    assert result.output == 5


def test_S40_the_public_names_are_few_sorted_and_documented() -> None:
    names = [name for name in toolroll.__all__ if name != "__version__"]
    assert names == sorted(names)
    assert len(names) <= 40
    assert [name for name in names if not getattr(toolroll, name).__doc__] == []
    assert {"Agent", "RunResult", "ScriptedModel", "WebSearch", "generate_text", "step_count_is"} <= set(names)


def test_A35_scripted_recorded_and_replayed_models_and_journals_are_public() -> None:
    names = {"MemoryJournal", "RecordingModel", "ReplayModel", "ScriptedModel", "SqliteJournal", "replay"}
    assert names <= set(toolroll.__all__)


async def test_A35_what_was_recorded_is_played_again_through_public_names_alone() -> None:
    from toolroll import MemoryJournal, RecordingModel, ReplayModel, replay
    from toolroll.models import Recording

    recorder = RecordingModel(ScriptedModel([Call("add", {"a": 1, "b": 2}), "3"]))
    first = await Agent(model=recorder, tools=[add]).run("1 + 2?")
    model = ReplayModel(Recording.from_lines(recorder.recording.to_lines()))
    journal = MemoryJournal()
    again = await Agent(model=model, tools=[add], journal=journal).run("1 + 2?")
    assert (again.text, again.messages, model.unused) == (first.text, first.messages, 0)
    report = await replay(Agent(model=ScriptedModel([]), tools=[add], journal=journal), again.run_id)
    assert (report.is_same, report.calls_run) == (True, 1)


def test_A35_the_models_without_a_provider_are_found_in_their_room() -> None:
    from toolroll import models

    assert sorted(models.__all__) == models.__all__
    assert [name for name in models.__all__ if not getattr(models, name).__doc__] == []
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        models.Nonsense  # noqa: B018


@pytest.mark.parametrize("approver", [3, Approver], ids=["int", "class"])
def test_K41_an_agent_refuses_an_approver_that_cannot_be_asked(approver: Any) -> None:
    with pytest.raises(UsageError, match=r"^An approver is an object with decide\(requests\), not "):
        Agent(model=ScriptedModel(["hi"]), approver=approver)


@pytest.mark.parametrize("has_journal", [False, True])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (True, "TypeError: decide must return 1 decision, one for each request, not bool"),
        ([Approve], "TypeError: a decision is Approve(...) or Reject(...), with text or nothing in it, not the class"),
        (ZeroDivisionError("sk-secret"), "ZeroDivisionError. Nothing was done."),
    ],
    ids=["bool", "class", "raises"],
)
async def test_K41_the_model_reads_that_the_approver_failed(answer: object, said: str, has_journal: bool) -> None:
    notes = Notes()
    options: Any = {"approver": Anything(answer)} | ({"journal": MemoryJournal()} if has_journal else {})
    result = await play(Call("write", {"text": "x"}), "sorry", tools=[notes.write], **options)
    [results] = [one for one in result.messages if isinstance(one, ToolResults)]
    assert f"needs a person's approval, and the approver failed: {said}" in str(results)
