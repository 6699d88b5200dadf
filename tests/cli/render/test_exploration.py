"""Explorations at a terminal: what is seen while they go, and how they are stopped."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.cli.chat.screen import CTRL_C, CTRL_D, Screen, at_screen, chat, recorded, state_of
from tests.cli.render.live.glass import Glass
from tests.cli.render.test_renderers import CALL
from tests.support.programs import toolroll
from tests.support.project import Project

from toolroll import ToolResult
from toolroll.agent.cost import Bill
from toolroll.agent.events import (
    CallFinished,
    CallStarted,
    Event,
    Retrying,
    RunStarted,
    StepFinished,
    StepStarted,
    TextArrived,
    WaitingForModel,
)
from toolroll.agent.result import Step
from toolroll.cli.render.exploration import LiveExplorationView, PlainView
from toolroll.cli.session import Session
from toolroll.kernel.call.events import StateChanged
from toolroll.kernel.data.usage import Usage

IDEA = "Сонячні дахи"
SEARCH = {"calls": [{"name": "web_search", "arguments": {"query": "solar roofs"}}]}
FOUND = {"title": "Сонце", "url": "https://example.com/sun", "content": "It shines."}
STOPPING = "Stopping when the running calls are done. Ctrl-C again stops at once."


class Engine(ThreadingHTTPServer):
    """A search engine that answers when it may."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    @property
    def env(self) -> dict[str, str]:
        """Where it is."""
        return {"SEARXNG_URL": f"http://127.0.0.1:{self.server_port}"}


class _Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """The one page that there is."""
        assert isinstance(self.server, Engine)
        self.server.is_asked.set()
        self.server.may_answer.wait(30)
        body = json.dumps({"results": [FOUND]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_arguments: Any) -> None:  # noqa: A002 - its name there
        """Nothing is told."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        thread = threading.Thread(target=engine.serve_forever)
        thread.start()
        yield engine
        engine.may_answer.set()
        engine.shutdown()
        thread.join()


def searches(screen: Screen, engine: Engine) -> None:
    """Wait until the call runs: it is on the screen also while the model still writes it."""
    screen.shows("▸ web_search")
    screen.waits_until(engine.is_asked.is_set, "the search")


def exploring(project: Project, engine: Engine, *turns: object) -> Screen:
    """An exploration at a terminal."""
    command = toolroll("explore", IDEA, "--model", project.script(*turns))
    return at_screen(project.home, project.root, *command, env=engine.env, columns=120)


def test_XL42_an_exploration_in_plain_lines_tells_of_a_wait(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainView()
    for waited_s in (5.0, 34.2):
        view.on_event(WaitingForModel(waited_s=waited_s, limit_s=120.0))
    assert capsys.readouterr().err == "· waiting for the model, 34 s; gives up after 120 s\n"


def test_S1_what_is_written_is_counted_and_what_is_found_stays() -> None:
    now = 0.0
    step = Step(
        number=1, text="", usage=Usage(input_tokens=10, output_tokens=5), bill=Bill.from_usd(None), duration_s=1.0
    )
    with Glass() as glass:
        listener = LiveExplorationView(Session(_out=glass.out), environment={}, model="first", clock=lambda: now)

        def heard(*events: Event) -> list[str]:
            nonlocal now
            for event in events:
                now += 1.0
                listener.on_event(event)
            return glass.look()

        assert heard(RunStarted(run_id="r", model="m"), StepStarted(number=1)) == ["thinking · step 1 · m"]
        assert heard(TextArrived("# Дахи\n\n"), TextArrived("Сонце")) == [
            "▸ writing: 13 characters",
            "writing · step 1 · m",
        ]
        again = Retrying(attempt=1, wait_s=1.0, reason="Busy.")
        waiting = "⠋ Busy. Trying again in 1 s (attempt 2) · Ctrl-C stops"
        assert heard(again) == [waiting, "thinking · step 1 · m"]
        shown = heard(TextArrived("I look."), CallStarted(call=CALL))
        assert shown == ['▸ look 0 s  {"path": "a"}', "reading · step 1 · m"]
        found = {"title": "Sun\x1b", "url": "https://example.com/", "cited": False}
        heard(StateChanged(name="search.source:1", value=found), StateChanged(name="todos", value=[]))
        shown = heard(CallFinished(call=CALL, result=ToolResult.of_text("x"), duration_ms=1.0))
        assert shown[:2] == ["· found Sun‹U+001B› <https://example.com/>", '· look {"path": "a"}  1 ms, 1 bytes']
        shown = heard(TextArrived("Done."), StepFinished(step=step))
        assert shown[2:] == ["thinking · step 1 · 10 in, 5 out · m"]
        listener.close()
        listener.close()
        assert glass.look() == shown[:2]


def test_S1_an_exploration_is_watched_at_a_terminal(project: Project, engine: Engine) -> None:
    with exploring(project, engine, SEARCH, "# Дахи\n\nСонце світить.") as screen:
        screen.shows("▸ web_search", "searching · step 1 · scripted:script.json")
        engine.may_answer.set()
        assert screen.end()[0] == 0
        lines = [line for line in screen.display if line]
        assert lines[0] == "· found Сонце <https://example.com/sun>"
        assert lines[1] == '· searched "solar roofs": 1 page'
        assert lines[2:4] == ["Дахи", "Сонце світить."], "the document is shown, and rendered"
        [end] = [number for number, line in enumerate(lines) if line.startswith("· written: 2 steps")]
        assert "".join(lines[end:]).endswith("/research.md")  # folded, where the path is long
        assert screen.echoes


@pytest.mark.parametrize("is_patient", [True, False])
def test_S1_ctrl_c_lets_a_search_finish_and_the_second_does_not(
    project: Project, engine: Engine, is_patient: bool
) -> None:
    with exploring(project, engine, SEARCH, "# Дахи") as screen:
        searches(screen, engine)
        screen.send(CTRL_C, STOPPING)
        if is_patient:
            engine.may_answer.set()
        else:
            screen.send(CTRL_C)
        assert screen.end()[0] == 130
        assert ("· found Сонце" in screen.whole) == is_patient
        [run] = recorded(project)
        told = [line for line in screen.display if line][-2:]
        assert told == [f"Go on with: toolroll runs resume {run.run_id}", "Error: Interrupted."]
        assert screen.echoes
    assert state_of(run) == "interrupted"
    if is_patient:  # else the search would have to be asked about: nobody knows what became of it
        done = project.call("runs", "resume", run.run_id)
        assert (done.returncode, done.stdout.endswith("/research.md\n")) == (0, True)


def test_S1_ctrl_c_in_a_chat_lets_a_search_finish(project: Project, engine: Engine) -> None:
    script = project.script(SEARCH, "# Дахи")
    with chat(project, "explore", "--model", script, env=engine.env, columns=120, rows=40) as screen:
        screen.say(IDEA)
        searches(screen, engine)
        screen.send(CTRL_C, STOPPING)
        engine.may_answer.set()
        screen.shows("· found Сонце", "Go on with: toolroll runs resume", "Interrupted.")
        screen.say(IDEA, "· written: 2 steps", "/research.md")
        screen.waits()
        assert "▸" not in screen.whole
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
