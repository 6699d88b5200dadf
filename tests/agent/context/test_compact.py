"""Compaction: what stays, what it costs, that it can fail without harm, and that a resumed run knows of it."""

from pathlib import Path
from typing import Any

import pytest
from tests.agent.context.counted import SUMMARY, Counted, response, results_in, text_of
from tests.agent.legality import problems
from tests.agent.tape import Tape

from toolroll import Agent, MemoryJournal, Policy, Rule, RunResult, step_count_is, tokens_over, tool
from toolroll.agent.context.compact import COMPACTION
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.context.summary import OPENING
from toolroll.agent.events import ContextCompacted, Event, Retrying, TextArrived, Warned
from toolroll.agent.history.replay import replay
from toolroll.errors import Overloaded, RequestRefused
from toolroll.journal.records import CallEnded, MessageAdded, MessagesCompacted, ModelTurn, UsageAdded
from toolroll.kernel.approval.consent import Consent
from toolroll.kernel.data.messages import AssistantMessage, Message
from toolroll.models.model import ModelRequest
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import Call
from toolroll.packs.standard import write_todos

WINDOW = 4_000
RULES = ContextRules(window_tokens=WINDOW)
STEPS = 12


@tool
async def read(path: str) -> str:
    """Read a file."""
    return f"{path}: " + "word " * 700


def script(number: int, _request: ModelRequest) -> str | Call:
    return Call("read", {"path": f"src/file_{number}.py"}) if number <= STEPS else "All read."


def agent_with(counted: Counted, **options: Any) -> Agent[Any]:
    usual = {"tools": [read], "stop_when": step_count_is(STEPS + 5), "context": RULES}
    return Agent(model=counted.model, **{**usual, **options})


async def played(counted: Counted, **options: Any) -> tuple[RunResult[Any], list[Event]]:
    run = agent_with(counted, **options).stream("Read everything. Use metric units.")
    events = [event async for event in run]
    assert run.result is not None
    return run.result, events


def summary_in(messages: tuple[Message, ...] | list[Message]) -> str:
    [found] = [text for text in map(text_of, messages) if text.startswith(OPENING)]
    return found


async def test_A21_the_conversation_gives_way_at_80_percent_of_the_window() -> None:
    counted = Counted(script)
    result, events = await played(counted)
    done = [event for event in events if isinstance(event, ContextCompacted)]
    assert result.text == "All read."
    assert len(done) == len(counted.asked_for_summary) >= 3
    assert all(event.tokens_before >= 0.8 * WINDOW > event.tokens_after for event in done)
    assert max(counted.sizes) <= WINDOW
    assert all(not problems(messages, is_request=True) for messages in counted.model.requests)


async def test_A21_prompt_last_turn_paths_and_decisions_stay() -> None:
    counted = Counted(script)
    result, _ = await played(counted)
    after = counted.model.requests[-1]
    assert text_of(after[0]) == "Read everything. Use metric units."
    told = summary_in(after)
    assert "- Use metric units." in told
    assert "Some records were read." in told
    assert all(f"- src/file_{number}.py\n" in told for number in range(1, 9))
    assert isinstance(after[2], AssistantMessage)
    assert results_in(after)[-1].content == f"src/file_{STEPS}.py: " + "word " * 700
    assert result.messages[: len(after)] == after


async def test_A21_decisions_that_the_model_forgets_are_there_all_the_same() -> None:
    later = "## Decisions\n- Ship on Friday.\n## Summary\nMore."
    counted = Counted(script, summaries=[SUMMARY, later, "No sections any more."])
    await played(counted)
    told = summary_in(counted.model.requests[-1])
    assert told.index("- Use metric units.") < told.index("- Ship on Friday.") < told.index("No sections any more.")


async def test_A21_todos_stay_as_they_are_now(tmp_path: Path) -> None:
    def turns(number: int, request: ModelRequest) -> str | Call:
        if number in (1, 6):
            status = "pending" if number == 1 else "completed"
            return Call("write_todos", {"todos": [{"content": "Read the first half", "status": status}]})
        return script(number, request)

    counted = Counted(turns)
    await played(counted, tools=[read, write_todos], outputs=tmp_path)
    told = [summary_in(messages) for messages in counted.model.requests if any(map(_is_summary, messages))]
    assert '"status":"pending"' in told[0]
    assert '"status":"completed"' in told[-1]


def _is_summary(message: Message) -> bool:
    return text_of(message).startswith(OPENING)


async def test_A21_it_is_asked_for_without_tools_and_its_words_are_no_answer() -> None:
    counted = Counted(script)
    _, events = await played(counted)
    assert {request.tool_choice for request in counted.asked_for_summary} == {"none"}
    assert all("metric" not in event.text for event in events if isinstance(event, TextArrived))


async def test_A21_its_tokens_are_counted_in_the_step_it_made_room_for() -> None:
    counted = Counted(script)
    result, _ = await played(counted)
    assert result.usage.input_tokens == sum(counted.sizes)
    assert result.usage.requests == len(counted.sizes)
    assert [sub.name for sub in result.sub_runs] == [COMPACTION] * len(counted.asked_for_summary)
    limited, _ = await played(Counted(script), stop_when=tokens_over(20_000))
    assert limited.stop_reason == "condition"
    assert limited.usage.total <= 20_000


async def test_A21_a_run_that_is_limited_goes_by_what_is_sent_now() -> None:
    """Were the size before the compaction taken for the next one, the limit would seem to be reached."""
    whole, _ = await played(Counted(script))
    again, _ = await played(Counted(script), stop_when=tokens_over(whole.usage.total + 2 * WINDOW))
    assert again.text == "All read."


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        (RequestRefused("No."), "No"),
        (response("", 100), "the model wrote no summary (end)"),
        (response("Half a", 100, stop="max_tokens"), "the model wrote no summary (max_tokens)"),
        ("long " * 20_000, "the summary is longer than what it replaces"),
    ],
    ids=["error", "empty", "cut", "too-long"],
)
async def test_A21_a_failure_changes_nothing(summary: Any, told: str) -> None:
    counted = Counted(script, summaries=[summary])
    tape = Tape()
    result, events = await played(counted, journal=tape, make_id=lambda: "run")
    warned = [event.text for event in events if isinstance(event, Warned)]
    assert warned[0] == f"The conversation could not be compacted, and stays as it is: {told}."
    assert result.text == "All read."
    assert len(results_in(result.messages)) == STEPS
    assert "compacted" not in tape.kinds("run")


async def test_A21_a_failure_is_not_tried_again_at_once() -> None:
    """And what was paid for it is counted."""
    counted = Counted(script, summaries=[response("", 500)])
    result, _ = await played(counted)
    grown = 12 * 880 - 0.8 * WINDOW
    assert 2 <= len(counted.asked_for_summary) <= grown / (0.05 * WINDOW)
    paid = sum(500 for _ in counted.asked_for_summary)
    own = [size for size, messages in zip(counted.sizes, counted.model.requests, strict=True) if not _asks(messages)]
    assert result.usage.input_tokens == paid + sum(own)


def _asks(messages: tuple[Message, ...]) -> bool:
    return text_of(messages[-1]).startswith("The context window is nearly full")


async def test_A21_its_retries_are_told() -> None:
    counted = Counted(script, summaries=[Overloaded("Busy."), SUMMARY])
    rule = RetryRule(retries=1, first_wait_s=0.0, max_wait_s=0.0)
    _, events = await played(counted, retry=rule)
    assert [event.reason for event in events if isinstance(event, Retrying)] == ["Busy."]


async def test_A21_what_would_gain_nothing_is_not_tried() -> None:
    """The last turn alone fills the window: there is nothing to summarize."""

    @tool
    async def flood() -> str:
        """Too much."""
        return "word " * 3_000

    counted = Counted(lambda number, _: Call("flood") if number == 1 else "Done.")
    result, events = await played(counted, tools=[flood])
    assert (result.text, counted.asked_for_summary) == ("Done.", [])
    assert not [event for event in events if isinstance(event, (Warned, ContextCompacted))]


async def test_A21_it_can_be_turned_off() -> None:
    counted = Counted(script)
    result, _ = await played(counted, context=ContextRules(window_tokens=WINDOW, compact_at=None))
    assert (result.text, counted.asked_for_summary) == ("All read.", [])
    assert len(results_in(counted.model.requests[-1])) == STEPS


async def test_A21_a_stop_is_heard_while_it_is_written() -> None:
    state: dict[str, Any] = {}

    class Stopping(Counted):
        def size_of(self, request: ModelRequest) -> int:
            if _asks(tuple(request.messages)):
                state["run"].stop()
            return super().size_of(request)

    counted = Stopping(script, summaries=[Overloaded("Busy."), SUMMARY])
    run = state["run"] = agent_with(counted, retry=RetryRule(retries=1, first_wait_s=0.0)).stream("go")
    events = [event async for event in run]
    assert run.result is not None
    assert run.result.stop_reason == "interrupted"
    assert not problems(run.result.messages)
    [warned] = [event.text for event in events if isinstance(event, Warned)]
    assert warned.endswith("stays as it is: stopped on request.")


async def test_A21_the_users_words_stay_and_the_agents_own_do_not() -> None:
    """With a large earlier message, which does not fit beside the others and is left to the summary."""

    def turns(number: int, request: ModelRequest) -> str | Call:
        return "" if number == 2 else script(number, request)

    counted = Counted(turns)
    agent = agent_with(counted)
    earlier = await Agent(model=Counted(lambda *_: "Yes.").model).run("Remember: " + "much " * 500)
    await agent.run("Read everything.", messages=earlier.messages)
    texts = [text_of(message) for message in counted.model.requests[-1]]
    assert texts[0] == "Read everything."
    assert not any(text.startswith(("Your last turn was empty", "Remember: ")) for text in texts)


async def test_A21_another_run_can_go_on_from_what_is_left() -> None:
    first, _ = await played(Counted(script))
    counted = Counted(lambda *_: "Still here.")
    second = await agent_with(counted).run("And now?", messages=first.messages)
    assert second.text == "Still here."
    assert not problems(counted.model.requests[0], is_request=True)
    assert counted.sizes[0] <= WINDOW
    assert "Use metric units." in summary_in(counted.model.requests[0])


async def test_A21_the_original_history_stays_on_record() -> None:
    tape = Tape()
    await played(Counted(script), journal=tape, make_id=lambda: "run")
    records = tape.records("run")
    ended = [record.result for record in records if isinstance(record, CallEnded)]
    assert [str(one.content).partition(":")[0] for one in ended] == [f"src/file_{n}.py" for n in range(1, STEPS + 1)]
    assert sum(isinstance(record, ModelTurn) for record in records) == STEPS + 1
    assert any(isinstance(record, MessagesCompacted) for record in records)


async def test_A21_D2_a_run_that_was_cut_off_anywhere_goes_on_with_the_same_requests() -> None:
    tape = Tape()
    counted = Counted(script)
    whole, _ = await played(counted, journal=tape, make_id=lambda: "run")
    for count in range(1, len(tape.writes)):
        cut = await tape.cut(count)
        rest = Counted(script)
        rest.number = cut.paid("run")
        result = await agent_with(rest, journal=cut).resume("run")
        assert result.text == whole.text
        assert result.messages == whole.messages
        assert result.usage == whole.usage
        if rest.model.requests:
            assert list(rest.model.requests) == counted.model.requests[-len(rest.model.requests) :]


async def test_A21_D2_what_a_useless_summary_cost_is_counted_after_a_crash_too() -> None:
    tape = Tape()
    broken = Counted(script, summaries=[response("", 500)])
    whole, _ = await played(broken, journal=tape, make_id=lambda: "run")
    assert any(isinstance(record, UsageAdded) for record in tape.records("run"))
    told = await agent_with(Counted(script), journal=await tape.cut(len(tape.writes))).resume("run")
    assert told.usage == whole.usage


async def test_A21_D3_a_compacted_run_is_the_same_when_it_is_played_again() -> None:
    tape = Tape()
    await played(Counted(script), journal=tape, make_id=lambda: "run")
    report = await replay(agent_with(Counted(script), journal=tape), "run")
    assert report.is_same
    assert report.result is not None
    assert summary_in(report.result.messages)


async def test_A21_D3_a_replay_that_went_another_way_is_not_compacted_beyond_its_end() -> None:
    tape = Tape()
    await played(Counted(script), journal=tape, make_id=lambda: "run")
    other = Tape()
    for record in tape.records("run"):
        far = MessagesCompacted(through=10_000, summary="x") if isinstance(record, MessagesCompacted) else record
        await other.append("run", far)
    report = await replay(agent_with(Counted(script), journal=other), "run")
    assert report.is_same
    assert report.result is not None
    assert len(results_in(report.result.messages)) == STEPS


async def test_A21_a_prompt_that_comes_later_is_the_users_too() -> None:
    tape = Tape()
    first = Counted(lambda number, request: "Stop here." if number == 4 else script(number, request))
    await played(first, journal=tape, make_id=lambda: "run")
    second = Counted(script)
    await agent_with(second, journal=tape).resume("run", prompt="Now the rest.")
    texts = [text_of(message) for message in second.model.requests[-1]]
    assert texts[:2] == ["Read everything. Use metric units.", "Now the rest."]
    assert [one.message for one in tape.records("run") if isinstance(one, MessageAdded)][1] == second.model.requests[
        -1
    ][1]


TOLD = "## Summary\nHer shop moves east before the summer, as the papers say."


@pytest.mark.parametrize("is_resumed", [False, True])
@pytest.mark.parametrize("has_consent", [False, True])
async def test_XL62_labels_and_private_words_outlast_a_compaction(has_consent: bool, is_resumed: bool) -> None:
    """XL62: what was read is gone from the conversation, and its summary says it in other words."""
    sent, journal = list[str](), MemoryJournal()

    @tool(brings=("private", "untrusted"))
    async def read_private(path: str) -> str:
        """Read a private file."""
        return f"{path}: " + "word " * 700

    @tool(effect="external")
    async def send(text: str) -> str:
        """Send a text out."""
        sent.append(text)
        return "sent"

    def turns(number: int, _request: ModelRequest) -> str | Call:
        if number <= STEPS:
            return Call("read_private", {"path": f"file_{number}"})
        return Call("send", {"text": "shop moves east before the summer"}) if number <= STEPS + 2 else "so"

    options: dict[str, Any] = {
        "tools": [read_private, send],
        "policy": Policy((Rule(action="allow"),)),
        "consent": Consent(purpose="this post", calls=9) if has_consent else None,
        "journal": journal,
        "stop_when": step_count_is(STEPS if is_resumed else STEPS + 5),
    }
    counted = Counted(turns, summaries=[TOLD])
    result = await agent_with(counted, **options).run("Read everything.")
    if is_resumed:
        rest = agent_with(counted, **{**options, "stop_when": step_count_is(STEPS + 5)})
        result = await rest.resume(result.run_id, prompt="Go on.")
    assert counted.asked_for_summary
    assert sent == []
    assert result.stop_reason == "approval_pending" or "needs_approval" in str(result.steps)
