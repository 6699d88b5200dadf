"""A run told live, event by event, with a clock of our own; and what a long answer costs."""

import asyncio
import itertools
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.cli.render.live.glass import Glass
from tests.cli.render.test_renderers import CALL, REQUEST, RESULT

from toolroll import Approve, ToolCall, ToolResult
from toolroll.agent.cost import Bill
from toolroll.agent.events import (
    ArgumentsArrived,
    CallFinished,
    CallStarted,
    ContextTrimmed,
    Event,
    ReasoningArrived,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    TextArrived,
    WaitingForModel,
    Warned,
)
from toolroll.agent.result import Step
from toolroll.cli.render.live.renderer import LiveRenderer
from toolroll.cli.render.plain import PlainRenderer
from toolroll.cli.render.renderer import make_renderer
from toolroll.cli.session import Session
from toolroll.errors import QuotaExceeded
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, Progress, StateChanged
from toolroll.kernel.data.usage import Usage

STARTED = RunStarted(run_id="r", model="scripted")
STEP = Step(number=1, text="", usage=Usage(input_tokens=10, output_tokens=5), bill=Bill.from_usd(None), duration_s=1.0)
TODOS = {"todos": [{"id": "1", "content": "Заварити", "status": "pending"}]}


class Room:
    """A live renderer at a terminal; the time is what the test says."""

    def __init__(self, glass: Glass) -> None:
        self.glass = glass
        self.now = 0.0
        self.renderer = LiveRenderer(Session(_out=glass.out), environment={}, model="first", clock=lambda: self.now)

    def on_event(self, *events: Event) -> list[str]:
        """The lines of the terminal after these."""
        for event in events:
            self.now += 1.0
            self.renderer.on_event(event)
        return self.glass.look()


@pytest.fixture
def glass() -> Iterator[Glass]:
    with Glass() as glass:
        yield glass


@pytest.fixture
def room(glass: Glass) -> Room:
    return Room(glass)


def test_S1_words_grow_below_and_stay_above(room: Room) -> None:
    assert room.on_event(STARTED, StepStarted(number=1)) == ["step 1 · scripted"]
    assert room.on_event(TextArrived("**Так"), TextArrived(", ")) == ["**Так,", "step 1 · scripted"]
    assert room.on_event(TextArrived("чай.**")) == ["Так, чай.", "step 1 · scripted"]
    assert room.on_event(TextArrived("\n\nІ")) == ["Так, чай.", "", "І", "step 1 · scripted"]
    shown = room.on_event(StepFinished(step=STEP), StepStarted(number=2))
    assert shown == ["Так, чай.", "", "І", "step 2 · 10 in, 5 out · scripted"]
    assert room.on_event(RunFinished(result=RESULT)) == ["Так, чай.", "", "І"]


def test_S1_a_thought_is_a_hint_that_goes_away(room: Room) -> None:
    shown = room.on_event(STARTED, ReasoningArrived("Hm,\n\x1b[2J"), ReasoningArrived(" so."))
    assert shown == ["thinking: Hm, ‹U+001B›[2J so.", "step 1 · scripted"]
    shown = room.on_event(ReasoningArrived("word " * 50 + "last."))
    assert (shown[0][:11], shown[0][-5:], len(shown[0]) < 80) == ("thinking: …", "last.", True)
    assert room.on_event(TextArrived("Yes.")) == ["Yes.", "step 1 · scripted"]


def test_S1_calls_that_run_together_have_a_line_each(room: Room) -> None:
    other = ToolCall(id="d", name="seek", arguments="{}")
    shown = room.on_event(
        STARTED, TextArrived("I look."), ReasoningArrived("Hm."), ArgumentsArrived("c", "look", '{"pa')
    )
    assert shown == ["I look.", "▸ look: 4 characters of arguments", "step 1 · scripted"]
    shown = room.on_event(ArgumentsArrived("c", "look", "th"), ArgumentsArrived("d", "seek", "{}"))
    assert shown[1:3] == ["▸ look: 6 characters of arguments", "▸ seek: 2 characters of arguments"]
    shown = room.on_event(CallStarted(call=CALL), CallStarted(call=other))
    assert shown == ["I look.", '▸ look 1 s  {"path": "a"}', "▸ seek 0 s  {}", "step 1 · scripted"]
    shown = room.on_event(Progress(call_id="d", message="half", fraction=0.5))
    assert shown[2] == "▸ seek 1 s  █████░░░░░ 50% half"
    shown = room.on_event(CallFinished(call=other, result=ToolResult.failure("Gone.", code="gone"), duration_ms=3.0))
    assert shown[:3] == ["I look.", "", "✗ seek {}  3 ms, gone: Gone."]
    shown = room.on_event(CallFinished(call=CALL, result=ToolResult.of_text("four"), duration_ms=3.0))
    assert shown[3:] == ['· look {"path": "a"}  3 ms, 4 bytes', "step 1 · scripted"]
    assert room.on_event(TextArrived("So."))[4:] == ["", "So.", "step 1 · scripted"]


def test_S7_progress_that_belongs_to_no_call_has_a_line(room: Room) -> None:
    shown = room.on_event(STARTED, Progress(call_id="x", message="Indexing", fraction=0.25))
    assert shown == ["██░░░░░░░░ 25% Indexing", "step 1 · scripted"]
    assert room.on_event(StepStarted(number=2)) == ["step 2 · scripted"]


def test_S1_todos_are_shown_when_they_change(room: Room) -> None:
    shown = room.on_event(STARTED, StateChanged(name="todos", value=TODOS), StateChanged(name="todos", value=TODOS))
    assert shown == ["todos 0/1", "  [ ] Заварити", "step 1 · scripted"]
    assert room.on_event(StateChanged(name="sources", value=TODOS)) == shown


def test_S5_while_somebody_is_asked_the_terminal_is_theirs(room: Room) -> None:
    second = replace(REQUEST, call_id="d")
    shown = room.on_event(
        STARTED, TextArrived("I save."), *(ApprovalRequested(request=one) for one in (REQUEST, second))
    )
    assert shown == ["I save."]
    room.glass.out.write("Allow? y\n")
    assert room.on_event(ApprovalDecided(request=REQUEST, decision=Approve())) == ["I save.", "Allow? y"]
    shown = room.on_event(ApprovalDecided(request=second, decision=Approve()))
    assert shown == ["I save.", "Allow? y", "step 1 · scripted"]
    room.on_event(ApprovalRequested(request=REQUEST))
    assert room.on_event(StepStarted(number=2))[-1] == "step 2 · scripted"  # nobody has answered, and it goes on


def test_S1_others_can_have_the_terminal_for_a_while(room: Room) -> None:
    room.on_event(STARTED)
    with room.renderer.paused():
        assert room.on_event(TextArrived("a\n\nb")) == ["a"]
    assert room.glass.look() == ["a", "", "b", "step 1 · scripted"]


def test_S1_what_a_person_should_know_stays(room: Room) -> None:
    trimmed = ContextTrimmed(outputs=3, tokens_before=61_000, tokens_after=30_000)
    shown = room.on_event(
        STARTED, TextArrived("Half"), Retrying(attempt=1, wait_s=0.5, reason="Busy."), TextArrived("All.")
    )
    assert shown == ["Half", "", "All.", "step 1 · scripted"]
    shown = room.on_event(Warned(kind="repeated_call", text="Careful."), trimmed)
    assert shown[4:6] == ["! Careful.", "· The conversation gets long: the model reads old outputs again only where it"]
    assert len(room.on_event(trimmed)) == len(shown)  # said once
    assert room.renderer.finish(replace(RESULT, text="All.")) == 0
    assert room.glass.look().count("All.") == 1


def test_S16_an_overloaded_provider_is_waited_for_with_a_countdown(room: Room) -> None:
    shown = room.on_event(STARTED, Retrying(attempt=3, wait_s=12.0, reason="The provider is overloaded."))
    assert shown[0][2:] == "The provider is overloaded. Trying again in 12 s (attempt 4) · Ctrl-C stops"
    room.now += 7.0
    room.renderer._tick()
    assert "in 5 s" in room.glass.look()[0]
    room.now += 7.0
    room.renderer._tick()
    assert "again now" in room.glass.look()[0]
    assert room.on_event(TextArrived("So.")) == ["So.", "step 1 · scripted"]


def test_XL42_a_wait_for_the_model_is_counted_until_something_comes(room: Room) -> None:
    shown = room.on_event(STARTED, WaitingForModel(waited_s=34.0, limit_s=120.0))
    assert shown[0][2:] == "waiting for the model, 34 s; gives up after 120 s · Ctrl-C stops"
    assert shown[1:] == ["step 1 · scripted"]
    assert room.on_event(TextArrived("All.")) == ["All.", "step 1 · scripted"]


def test_S11_a_spinner_counts_while_nothing_else_moves(room: Room) -> None:
    assert room.on_event(STARTED, StepStarted(number=1)) == ["step 1 · scripted"]
    room.now += 12.4
    room.renderer._tick()
    assert [line[2:] for line in room.glass.look()] == ["12 s · Ctrl-C stops", "ep 1 · scripted"]
    assert room.on_event(TextArrived("So")) == ["So", "step 1 · scripted"]


def test_S1_the_end_tells_what_it_came_to(room: Room) -> None:
    room.on_event(STARTED, TextArrived("I do **it**"))
    assert room.renderer.finish(replace(RESULT, text="Another *answer*.")) == 0
    summary = "· run r: answer, 0 steps, 0 tokens, $0.0000"
    assert room.glass.look() == ["I do it", "", "Another answer.", "", summary]
    room.renderer.close()
    assert room.glass.look()[-1] == summary


def test_S1_what_came_is_there_after_an_error(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", room.glass.out)
    room.on_event(STARTED, TextArrived("I was about to"))
    failed = replace(RESULT, stop_reason="failed", stop_detail="No money.")
    assert room.renderer.finish(failed, QuotaExceeded("No money.")) == 1
    shown = room.glass.look()
    assert shown[:2] == ["I was about to", ""]
    assert "failed (No money.)" in shown[2]
    assert shown[3].startswith("Error: No money.")
    assert "toolroll runs resume r" in shown[4]


def test_S1_what_came_is_there_after_a_close(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", room.glass.out)
    room.on_event(STARTED, TextArrived("```\nhalf a li"))
    room.renderer.close()
    room.renderer.close()
    assert room.glass.look() == ["  half a li"]
    assert sys.stderr is room.glass.out


def test_S1_a_long_block_shows_its_end_while_it_grows(room: Room) -> None:
    rows = [f"- item {n}" for n in range(60)]
    shown = room.on_event(STARTED, TextArrived("\n".join(rows)))
    assert len(shown) == 22
    assert shown[-2:] == ["• item 59", "step 1 · scripted"]
    room.renderer.close()
    assert room.glass.look() == [f"• item {n}" for n in range(60)]


def test_S1_a_narrow_screen_is_used_as_it_is(room: Room) -> None:
    room.glass.resize(20, 10)
    shown = room.on_event(
        STARTED, TextArrived("Слово за словом, 漢字漢字漢字 і ще."), StateChanged(name="todos", value=TODOS)
    )
    assert shown == ["Слово за словом,", "漢字漢字漢字 і ще.", "", "todos 0/1", "  [ ] Заварити", "step 1 · scripted"]


async def test_S1_what_changes_without_an_event_is_drawn_too(glass: Glass) -> None:
    renderer = LiveRenderer(Session(_out=glass.out), environment={})
    renderer.on_event(STARTED)
    renderer.on_event(RunStarted(run_id="r", model="second"))
    for word in ("One ", "two ", "three ", "four ", "five"):
        renderer.on_event(TextArrived(word))
    async with asyncio.timeout(10):
        while "One two three four five" not in glass.look():
            await asyncio.sleep(0.01)
        glass.resize(20, 24)
        while "One two three four" not in glass.look():
            await asyncio.sleep(0.01)
    renderer.close()
    tasks = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]  # no other way to see timers
    assert [handle for handle in tasks if not handle.cancelled() and "_tick" in repr(handle)] == []


def test_S1_tools_in_threads_may_report(room: Room) -> None:
    room.on_event(STARTED)
    threads = [
        threading.Thread(target=room.renderer.on_event, args=(Progress(call_id="x", message="m"),)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert room.on_event(Progress(call_id="x", message="last")) == ["last", "step 1 · scripted"]


def test_S1_who_tells_depends_on_the_terminal(glass: Glass, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(_out=glass.out, plain=False)
    with Glass() as other:
        for err, kind in ((glass.out, LiveRenderer), (other.out, PlainRenderer), (None, PlainRenderer)):
            monkeypatch.setattr(sys, "stderr", err)
            assert type(make_renderer(session, model="m")) is kind
    monkeypatch.setattr(sys, "stderr", glass.out)
    assert type(make_renderer(replace(session, plain=True))) is PlainRenderer
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        assert type(make_renderer(replace(session, _out=nowhere))) is PlainRenderer


def count_calls(text: str, pieces: int) -> int:
    """Return how many Python functions run while a text is told in so many pieces, at a hundredth of a second each."""
    size, calls = len(text) // pieces, 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        renderer = LiveRenderer(Session(_out=nowhere), environment={}, clock=itertools.count(0, 0.01).__next__)
        renderer.on_event(STARTED)
        sys.setprofile(count)
        try:
            for start in range(0, len(text), size):
                renderer.on_event(TextArrived(text[start : start + size]))
            renderer.close()
        finally:
            sys.setprofile(None)
    return calls


@pytest.mark.parametrize("part", ["слово ", "x = 1\n", "- пункт\n", "Абзац, **який** є.\n\n"])
def test_S1_a_delta_costs_the_same_at_the_end_of_a_long_answer(part: str) -> None:
    """Four times the text, about four times the work; were it quadratic, sixteen times."""
    count_calls(part * 100, 10)
    short = count_calls(part * (4_000 // len(part)), 100)
    long = count_calls(part * (16_000 // len(part)), 400)
    assert long < short * 8
