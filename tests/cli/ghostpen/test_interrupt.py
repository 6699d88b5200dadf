"""Ctrl-C while the program calls something for a person: that is let finish, and then nothing more is begun."""

import asyncio
import os
import signal
from typing import cast

import pytest

from toolroll.agent.events import CallFinished, CallStarted, Event
from toolroll.agent.live import LiveRun
from toolroll.cli.driver import Interrupts
from toolroll.cli.ghostpen.write_post import InterruptiblePerson
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.packs.writing.session.interface import DraftView, Question

DRAFT = DraftView(text="Tea.", platform="x", number=1, length=4, limit=280, notes=())
WHAT = Question(text="What?")
OWN = ToolCall(id="own_1", name="write_to_notion", arguments="{}")
THEIRS = ToolCall(id="call_1", name="web_search", arguments="{}")


class Person:
    """Keeps what reaches them."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def ask(self, question: Question) -> str | None:
        self.seen.append(question.text)
        return "ok"

    def say(self, text: str) -> None:
        self.seen.append(text)

    def show_draft(self, draft: DraftView) -> None:
        self.seen.append(draft.text)


async def test_S1_W30_after_ctrl_c_what_was_done_is_told_and_nothing_is_begun() -> None:
    person, stopping, heard = Person(), Interrupts(), list[Event]()
    stopped = InterruptiblePerson(person, stopping, heard.append)
    run = cast("LiveRun[None]", object())
    with stopping.listen(), stopping.cancel_here():
        assert await stopped.ask(WHAT) == "ok"
        stopped.show_draft(DRAFT)
        stopped.on_start(run)
        stopped.on_event(CallStarted(call=THEIRS))
        stopped.on_event(CallStarted(call=OWN))
        os.kill(os.getpid(), signal.SIGINT)
        while not stopping.is_requested:
            await asyncio.sleep(0)
        stopped.on_event(CallFinished(call=OWN, result=ToolResult.of_text("{}"), duration_ms=1.0))
        stopped.say("Saved.")
        with pytest.raises(KeyboardInterrupt):
            stopped.show_draft(DRAFT)
        with pytest.raises(KeyboardInterrupt):
            stopped.on_start(run)
        with pytest.raises(KeyboardInterrupt):
            await stopped.ask(WHAT)
    assert person.seen == ["What?", "Tea.", "Saved."]
    assert [one.event for one in heard] == ["tool_call_started", "tool_call_started", "tool_result"]


async def test_S1_W30_ctrl_c_between_calls_stops_at_once() -> None:
    stopping = Interrupts()
    stopped = InterruptiblePerson(Person(), stopping, lambda _event: None)

    async def work() -> None:
        with stopping.cancel_here():
            stopped.on_event(CallStarted(call=OWN))
            stopped.on_event(CallFinished(call=OWN, result=ToolResult.of_text("{}"), duration_ms=1.0))
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.get_running_loop().create_future()

    with stopping.listen():
        with pytest.raises(asyncio.CancelledError):
            await work()
        stopping.settle()


async def test_S1_W30_ctrl_c_while_a_person_types_stops_nothing() -> None:
    """Pressed twice in a row, the second one comes as a signal while the line editor tells of the first."""

    class Typing(Person):
        async def ask(self, question: Question) -> str | None:
            os.kill(os.getpid(), signal.SIGINT)
            while not stopping.is_requested:
                await asyncio.sleep(0)
            return await super().ask(question)

    stopping = Interrupts()
    stopped = InterruptiblePerson(Typing(), stopping, lambda _event: None)
    with stopping.listen(), stopping.cancel_here():
        assert [await stopped.ask(WHAT), await stopped.ask(WHAT)] == ["ok", "ok"]
        assert not stopping.is_requested
