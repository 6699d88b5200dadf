"""Chats about ideas: the first message is explored, the others are questions about it."""

import socket
from pathlib import Path

from tests.cli.chat.screen import CTRL_C, CTRL_D, ENTER, chat, chat_of, recorded, said_in, state_of
from tests.support.model_script import Fault, Turn
from tests.support.model_server import KEY, ModelServer
from tests.support.project import Project

IDEA = "Сонячні дахи в селі"
DOCUMENT = "# Дахи\n\nСонце світить."


def documents(project: Project) -> list[Path]:
    """What was written."""
    return sorted((project.root / "ideas").glob("*/research.md"))


def test_S1_an_idea_is_explored_and_then_asked_about(project: Project, tmp_path: Path) -> None:
    listing = {"calls": [{"name": "read_research", "arguments": {"path": "x.md"}}]}
    script = project.script(DOCUMENT, "Бо світить сонце.", listing, "Невідомо.")
    with chat(project, "explore", "--model", script, rows=50) as screen:
        screen.shows("Write the idea to explore.")
        screen.say("/undo", "There is no command /undo.")
        screen.say("/tools", "read_research")
        screen.say(IDEA, "· written: 1 step", "research.md")
        screen.say("Чому саме дахи?", "Бо світить сонце.")
        screen.say("А скільки?", "Невідомо.")
        screen.say("/context", "of 128,000 tokens")
        screen.say(f"/new {IDEA}", "A new chat begins.", "This idea was explored before; nothing was done.")
        screen.say("Ще питання", "Бо світить сонце.")
        screen.say("/model nobody", "Error: Unknown model 'nobody'")
        screen.say(f"/model {script}", "model: scripted:")
        screen.waits()
        screen.paste(f"/new {'x' * 10_001}")
        screen.send(ENTER)
        screen.shows("Error: The idea has more than")
        screen.say("/exit")
        assert screen.end()[0] == 0
    [document] = documents(project)
    assert document.read_text().startswith(DOCUMENT)
    found = recorded(project)
    assert [state_of(one) for one in found] == ["answer"] * 4
    assert [chat_of(one) for one in found[1:3]] == [found[0].run_id] * 2
    assert chat_of(found[3]) == found[3].run_id
    assert any("Сонце світить." in said for said in said_in(found[1]))


def test_S1_an_exploration_that_fails_or_is_stopped_can_be_gone_on_with(project: Project) -> None:
    turns = [Turn(fault=Fault(status=400, kind="invalid_request_error", message="odd")), Turn(fault=Fault(stall=True))]
    with ModelServer(turns, lenient=True) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        with chat(project, "explore", "--model", "sonnet", env=env, rows=40) as screen:
            screen.say(IDEA, "toolroll runs resume", "odd", "Arrow-up brings your message back.")
            screen.say("Інша думка")
            screen.waits_until(lambda: len(server.requests) == 2, "the request")
            screen.send(CTRL_C)
            screen.shows("Interrupted.")
            screen.shows("toolroll runs resume", times=2)
            screen.waits()
            screen.send(CTRL_D)
            assert screen.end()[0] == 0
    assert documents(project) == []


def test_S1_at_a_limit_a_question_is_gone_on_with(project: Project) -> None:
    calls = [{"calls": [{"name": "read_research", "arguments": {"path": f"{name}.md"}}]} for name in "abcd"]
    script = project.script(DOCUMENT, *calls, "Досить.", "Ось відповідь.")
    with chat(project, "explore", "--model", script, rows=50) as screen:
        screen.say(IDEA, "research.md")
        screen.say("Скільки?", "Досить.")
        screen.asks("Go on? [y/n]")
        screen.send(b"y\r")
        screen.shows("Ось відповідь.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0


def test_S1_what_is_logged_is_not_on_the_screen(project: Project) -> None:
    """Nobody listens where the search is: the person reads what the model makes of that, and no line of a log."""
    search = {"calls": [{"name": "web_search", "arguments": {"query": "solar roofs"}}]}
    script = project.script(search, DOCUMENT, search, "Unknown.")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    env = {"SEARXNG_URL": url, "https_proxy": url, "no_proxy": ""}  # the search without a key gets no further, either
    with chat(project, "explore", "--model", script, env=env, rows=40) as screen:
        screen.say(IDEA, "research.md")
        screen.say("How many?", "Unknown.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    [log] = (project.root / "ideas").glob("*/exploration-log.json")
    assert "searxng" in log.read_text()
    assert "the search by" not in screen.text
    assert [state_of(one) for one in recorded(project)] == ["answer"] * 2
