"""`Agent.start`: the one way to start a run, new, resumed or forked, with a listener or iterated."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.agent.stage import Call, Notes, agent_of

from toolroll import Agent, MemoryJournal
from toolroll.agent.approvals import AskLater
from toolroll.agent.events import Event
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.records import RunBegan
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.messages import AssistantMessage, Message, UserMessage
from toolroll.kernel.define.decorator import tool

ADD = Call("add", {"a": 1, "b": 2})


def kinds_of(events: list[Event]) -> list[str]:
    return [event.event for event in events]


async def settings_of(journal: MemoryJournal, run_id: str) -> dict[str, object]:
    first = next(record for _, record in await journal.read(run_id))
    assert isinstance(first, RunBegan)
    return dict(first.settings)


async def test_a_listener_hears_every_event_as_it_happens() -> None:
    heard: list[Event] = []
    run = agent_of(ADD, "three").start("go", listener=heard.append)
    assert heard == []
    result = await run.wait()
    assert (result.text, run.result, run.run_id) == ("three", result, result.run_id)
    kinds = kinds_of(heard)
    assert (kinds[0], kinds[-1]) == ("run_started", "run_finished")
    assert "text_delta" not in kinds


async def test_a_streamed_run_gives_its_text_in_pieces() -> None:
    heard: list[Event] = []
    await agent_of("one two three").start("go", listener=heard.append, stream=True).wait()
    assert "text_delta" in kinds_of(heard)


async def test_without_a_listener_the_run_is_iterated() -> None:
    run = agent_of(ADD, "three").start("go")
    kinds = kinds_of([event async for event in run])
    assert (kinds[0], kinds[-1], "text_delta" in kinds) == ("run_started", "run_finished", False)
    assert (await run.wait()).text == "three"


async def test_a_run_with_a_listener_cannot_be_iterated() -> None:
    run = agent_of("hi").start("go", listener=lambda _event: None)
    with pytest.raises(UsageError, match="go to its listener"):
        [event async for event in run]


async def test_several_may_wait_for_one_run() -> None:
    run = agent_of(ADD, "three").start("go")
    first, second = await asyncio.gather(run.wait(), run.wait())
    assert first is second


async def test_cancelling_who_waits_cancels_the_run_and_keeps_what_there_is() -> None:
    begun = asyncio.Event()

    @tool
    async def rest() -> str:
        """Wait for ever."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    run = agent_of(Call("rest"), tools=[rest]).start("go")
    task = asyncio.create_task(run.wait())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.result is not None
    assert run.result.stop_reason == "interrupted"


async def test_ctrl_c_at_a_question_is_raised_where_the_run_is_waited_for_and_the_loop_goes_on() -> None:
    class Leaves:
        def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
            raise KeyboardInterrupt

    run = agent_of(Call("write", {"text": "x"}), tools=[Notes().write], approver=Leaves()).start("go")
    with pytest.raises(KeyboardInterrupt):
        await run.wait()
    await asyncio.sleep(0)
    assert run.result is not None
    assert run.result.stop_reason == "interrupted"


async def test_a_run_stops_at_the_next_safe_point() -> None:
    def listen(event: Event) -> None:
        if event.event == "tool_result":
            run.stop()

    run = agent_of(ADD, "never").start("go", listener=listen)
    result = await run.wait()
    assert (result.stop_reason, len(result.steps)) == ("interrupted", 1)


async def test_a_new_run_takes_an_id_settings_and_earlier_messages() -> None:
    journal = MemoryJournal()
    earlier: list[Message] = [UserMessage.of("hi"), AssistantMessage(blocks=())]
    agent = agent_of("hello", journal=journal, record={"kind": "test"})
    run = agent.start("go", messages=earlier, run_id="mine", record={"chat": "c1"})
    assert run.messages == (UserMessage.of("hi"), UserMessage.of("go"))
    assert (await run.wait()).run_id == "mine"
    assert await settings_of(journal, "mine") == {"kind": "test", "chat": "c1"}


async def test_a_resumed_run_goes_on_under_its_id_with_the_answers_it_waited_for() -> None:
    journal, notes = MemoryJournal(), Notes()
    write = Call("write", {"text": "x"}, id="w")
    options: dict[str, Any] = {"tools": [notes.write], "journal": journal}
    first = await agent_of(write, approver=AskLater(), **options).start("go").wait()
    assert first.stop_reason == "approval_pending"
    heard: list[Event] = []
    again = agent_of("done", **options).start(
        resume=first.run_id, decisions={"w": Approve()}, listener=heard.append, stream=True
    )
    assert (again.run_id, again.messages, again.run, again.result) == (first.run_id, (), None, None)
    result = await again.wait()
    assert (result.text, notes.written, again.result) == ("done", ["x"], result)
    assert again.run is not None
    assert kinds_of(heard)[0] == "run_started"


async def test_a_resumed_run_that_is_complete_is_only_reported() -> None:
    journal = MemoryJournal()
    first = await agent_of("hi", journal=journal).start("go").wait()
    run = agent_of(journal=journal).start(resume=first.run_id)
    assert [event async for event in run] == []
    assert run.result is not None
    assert run.result.text == "hi"


async def test_a_resumed_run_can_be_stopped_before_its_record_is_open() -> None:
    journal, notes = MemoryJournal(), Notes()
    write = Call("write", {"text": "x"}, id="w")
    options: dict[str, Any] = {"tools": [notes.write], "journal": journal}
    first = await agent_of(write, approver=AskLater(), **options).run("go")
    run = agent_of("never", **options).start(resume=first.run_id, decisions={"w": Approve()})
    run.stop()
    assert (await run.wait()).stop_reason == "interrupted"


async def test_a_forked_run_has_an_id_of_its_own_before_it_begins() -> None:
    journal = MemoryJournal()
    first = await agent_of(ADD, "three", journal=journal).run("go")
    run = agent_of("another", journal=journal).start("again", fork=first.run_id, at_step=1)
    run_id = run.run_id
    result = await run.wait()
    assert (result.text, result.run_id, run_id != first.run_id) == ("another", run_id, True)


async def test_a_fork_does_not_write_into_a_run_that_is_there() -> None:
    journal = MemoryJournal()
    first = await agent_of(ADD, "three", journal=journal).run("go")
    run = agent_of("another", journal=journal).start(fork=first.run_id, at_step=1, run_id=first.run_id)
    with pytest.raises(JournalRefused, match="already"):
        await run.wait()


async def test_the_state_of_a_run_can_be_read_after_it() -> None:
    @tool
    async def remember(ctx: ToolContext) -> str:
        """Keep something."""
        ctx.run.set_state("word", "kept")
        return ""

    run = agent_of(Call("remember"), "ok", tools=[remember]).start("go")
    await run.wait()
    assert run.run is not None
    assert run.run.state["word"] == "kept"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"resume": "a", "fork": "b", "at_step": 1}, "not both"),
        ({"fork": "a"}, "belong together"),
        ({"prompt": "go", "at_step": 1}, "belong together"),
        ({"prompt": "go", "decisions": {"c": Approve()}}, "need resume"),
        ({"resume": "a", "run_id": "b"}, "keeps its id"),
        ({"resume": "a", "messages": [UserMessage.of("hi")]}, "its own messages"),
        ({}, "needs a prompt"),
    ],
)
def test_contradictory_requests_are_refused_at_once(arguments: dict[str, Any], why: str) -> None:
    agent: Agent[Any] = agent_of("never")
    with pytest.raises(UsageError, match=why):
        agent.start(arguments.pop("prompt", None), **arguments)
