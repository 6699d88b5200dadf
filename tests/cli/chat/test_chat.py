"""Chats about a project: whole conversations at a terminal."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.cli.chat.screen import CTRL_C, CTRL_D, ENTER, TAB, UP, at_screen, chat, chat_of, recorded, said_in, state_of
from tests.mcp_client.scripted import SCRIPT
from tests.support.model_script import Fault, Turn, Use, fail
from tests.support.model_server import KEY, ModelServer
from tests.support.project import Project

MAIN = "src/main.js"
TODO = {"path": MAIN, "old_string": "TODO", "new_string": "ГОТОВО", "description": "Це зроблено."}
BACK = {"path": MAIN, "old_string": "ГОТОВО", "new_string": "TODO", "description": "Назад."}
READ = {"name": "read_file", "arguments": {"path": MAIN}}
EDIT = {"name": "edit", "arguments": TODO, "id": "edit_1"}
UKRAINIAN = (
    "Вітаю! Чим можу **допомогти**?",
    {"text": "Змінюю.", "calls": [EDIT]},
    "Готово: позначку змінено.",
    {"text": "Повертаю.", "calls": [{"name": "edit", "arguments": BACK, "id": "edit_2"}]},
    "Тоді лишаю.",
)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 40)])
def test_S1_a_whole_conversation_in_ukrainian(project: Project, columns: int, rows: int) -> None:
    with chat(project, "code", "--model", project.script(*UKRAINIAN), columns=columns, rows=rows) as screen:
        screen.shows("toolroll code in")
        screen.say("Привіт! Хто ти?", "Вітаю! Чим можу допомогти?")
        screen.waits()
        screen.send("Познач як зроблене в @main".encode())
        screen.shows("@src/main.js")
        screen.send(TAB)
        screen.shows("в @src/main.js")
        screen.send(ENTER)
        screen.shows("· attached src/main.js (9 lines)", "Змінюю.")
        screen.asks("Allow this?")
        screen.send(b"y" + ENTER)
        screen.shows("Готово: позначку змінено.")
        assert "// ГОТОВО:" in project.text(MAIN)
        # What was seen before is known in the next run: the file is not read again.
        screen.say("Поверни назад", "Повертаю.")
        screen.asks("Allow this?")
        screen.send(b"n" + ENTER)
        screen.asks("Why not? (Enter to say nothing)")
        screen.send("ні, хай буде".encode() + ENTER)
        screen.shows("Тоді лишаю.")
        screen.say("/undo")
        screen.asks("Do this? [y/n]")
        screen.send(b"y" + ENTER)
        screen.shows("Undo: src/main.js.")
        screen.say("/exit")
        assert screen.end()[0] == 0
    assert "// TODO:" in project.text(MAIN)
    found = recorded(project)
    assert [state_of(one) for one in found] == ["answer"] * 3
    assert {chat_of(one) for one in found} == {found[0].run_id}
    assert "[attached by the user: src/main.js]" in said_in(found[1])[-1]


def test_S31_mcp_shows_the_servers_and_their_tools(project: Project) -> None:
    assert project.call("mcp", "add", "s", "--", sys.executable, "-S", str(SCRIPT)).returncode == 0
    with chat(project, "code", "--model", project.script("First answer."), rows=60, columns=100) as screen:
        screen.say("/mcp", "s__echo", "Return the text.")


def test_S1_commands_do_what_their_twins_in_the_shell_do(project: Project, tmp_path: Path) -> None:
    project.change({MAIN: "// new\n"})
    other = tmp_path / "other.json"
    other.write_text(json.dumps(["-", "From another model."]))
    with chat(project, "code", "--model", project.script("First answer."), rows=60, columns=100) as screen:
        screen.say("/context", "Error: Nothing was said yet")
        screen.say("/export", "Error: Nothing was said yet")
        screen.say("/help", "/undo", "Tab completes commands and @paths.")
        screen.say("/modle", "There is no command /modle. Did you mean /model?")
        screen.say("/xyzzy", "There is no command /xyzzy. See /help.")
        screen.say("/model", "model: scripted:")
        screen.say("/model nobody", "Error: Unknown model 'nobody'")
        screen.say("/model sonnet", "Error: There is no key for Anthropic.")
        screen.say("/policy", "There are no rules here")
        screen.say("/tools", "repo_map", "write_todos", "Propose to replace one passage of a file.")
        screen.say("/undo 'x", "Error: A quotation mark is not closed")
        screen.say("/undo --nonsense", "Error: No such option")
        screen.say("/undo --help", "Usage: toolroll undo [OPTIONS] [CHANGE]")
        screen.say("/undo")
        screen.asks("Do this? [y/n]")
        screen.send(CTRL_C)
        screen.shows("Nothing was done.")
        screen.say("/redo", "Error: ")
        screen.say("hello", "First answer.")
        screen.say(f"/model scripted:{other}", "model: scripted:")
        screen.say("once more", "From another model.")
        screen.say("/context", "of 128,000 tokens")
        screen.say("/export talk.md", "Written to ")
        screen.say("/export talk.md", "Error: ")
        screen.say("/new hello again", "A new chat begins.", "-")
        screen.say("/new")
        screen.waits()
        screen.say("   ")
        screen.waits_until(lambda: screen.display.count(">") == 2, "another prompt")
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert project.text(MAIN) == "// new\n"
    assert project.text("talk.md").startswith("# toolroll code\n\n## You\n\nhello\n\n## Answer\n\nFirst answer.")
    first, second, third = recorded(project)
    assert [chat_of(one) for one in (first, second, third)] == [first.run_id, first.run_id, third.run_id]


def test_S1_a_file_that_cannot_be_attached_is_told_and_nothing_is_sent(project: Project) -> None:
    (project.root / ".env").write_text("KEY=value\n")
    with chat(project, "code", "--model", project.script("Fine.")) as screen:
        screen.say("see @src/mian.js", "Did you mean 'src/main.js'?", "Nothing was sent.")
        screen.say("see @.env", "is protected against reading")
        screen.waits()
        screen.send(UP + ENTER)
        screen.shows("is protected against reading", times=2)
        screen.say("write to a@b.c about @decorator and \\@src/main.js", "Fine.")
        screen.say("/exit")
        assert screen.end()[0] == 0
    [one] = recorded(project)
    assert "write to a@b.c about @decorator and @src/main.js" in said_in(one)[0]


def test_S1_errors_of_a_model_are_told_in_a_line_and_the_chat_goes_on(project: Project) -> None:
    turns: list[Turn | str] = [
        fail(401, kind="authentication_error", message="invalid x-api-key"),
        Turn([Use("list_files", {"path": "."})]),
        fail(400, kind="invalid_request_error", message="too odd"),
        "Вийшло.",
    ]
    with ModelServer(turns, lenient=True) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        with chat(project, "code", "--model", "sonnet", env=env) as screen:
            screen.say("Скажи щось", "Error: ", "your message back.")
            screen.waits()
            assert "· run " not in screen.whole
            screen.send(UP)
            screen.shows("> Скажи щось")
            screen.send(ENTER)
            screen.shows("· List .", "· run ", "Error: ")
            screen.say("Ще раз", "Вийшло.")
            screen.say("/exit")
            assert screen.end()[0] == 0
        said = [[message["role"] for message in one.body["messages"]] for one in server.requests]
    assert said[:2] == [["user"], ["user"]]  # what nobody answered is not sent twice
    assert said[-1][:2] == ["user", "assistant"]


LEAVING = """
import sys
from toolroll import tool

@tool(effect="reads")
async def leave() -> str:
    \"\"\"Leave.\"\"\"
    sys.stderr.write("half a line")
    raise SystemExit(7)
"""
BROKEN = """
import sys
from toolroll.agent.events import RunStarted, TextArrived
from toolroll.cli.chat.code import CodeChat
from toolroll.cli.main import main

async def say(self, message, driver):
    driver.listener(RunStarted(run_id="r", model="m"))
    driver.listener(TextArrived(text="Half a sentence"))
    sys.stderr.write("half a line")
    raise KIND(7)

CodeChat.say = say
main()
"""


def test_S1_a_tool_that_would_end_the_process_does_not_end_the_chat(project: Project) -> None:
    tools = project.root / ".toolroll" / "tools"
    tools.mkdir(parents=True)
    (tools / "leaving.py").write_text(LEAVING)
    assert project.call("trust", "add", ".toolroll/tools/leaving.py", "--yes").returncode == 0
    script = project.script({"calls": [{"name": "leave", "arguments": {}}]}, "Still here.")
    with chat(project, "code", "--model", script) as screen:
        screen.say("Go.", "tool_error: Error executing tool: SystemExit: 7", "Still here.")
        screen.waits()
        assert "half a line" in screen.display
        assert not any(line.startswith(("step ", "▸")) for line in screen.display)
        screen.say("/exit")
        assert screen.end()[0] == 0
        assert screen.echoes


@pytest.mark.parametrize(("kind", "code"), [("ZeroDivisionError", 1), ("SystemExit", 7)])
def test_S1_an_unexpected_error_in_an_answer_leaves_the_terminal_as_it_was(
    project: Project, kind: str, code: int
) -> None:
    command = [sys.executable, "-c", BROKEN.replace("KIND", kind), "code", "--model", project.script("-")]
    with at_screen(project.home, project.root, *command) as screen:
        screen.say("Go.")
        assert screen.end()[0] == code
        assert {"Half a sentence", "half a line"} <= set(screen.display)
        assert ("Something unexpected went wrong: ZeroDivisionError: 7." in screen.whole) == (code == 1)
        assert not any(line.startswith("step ") for line in screen.display)
        assert screen.echoes


def test_S1_ctrl_c_stops_the_answer_and_the_conversation_goes_on(project: Project) -> None:
    with ModelServer(["Перша.", Turn(fault=Fault(stall=True)), "Третя."], lenient=True) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        with chat(project, "code", "--model", "sonnet", env=env) as screen:
            screen.say("one", "Перша.")
            screen.say("two")
            screen.waits_until(lambda: len(server.requests) == 2, "the request")
            screen.send(CTRL_C)
            screen.shows("interrupted, 0 steps")
            assert "toolroll runs resume" not in screen.whole
            screen.say("three", "Третя.")
            screen.say("/exit")
            assert screen.end()[0] == 0
        texts = json.dumps(server.requests[-1].body["messages"])
    assert all(word in texts for word in ("one", "two", "three"))


CHECK = 'trap "" TERM INT; touch begun; while :; do sleep 0.05; done'


def test_XA26_one_ctrl_c_ends_a_check(project: Project) -> None:
    (project.home / "config").mkdir(parents=True, mode=0o700)
    (project.home / "config" / "settings.toml").write_text(f"[code]\ncheck = ['sh', '-c', '{CHECK}']\n")
    check = {"calls": [{"name": "run_check", "id": "check_1"}]}
    with chat(project, "code", "--yes", "--model", project.script(check, "That is all.")) as screen:
        screen.say("/policy", "This chat was begun with --yes: every change is made without asking.")
        screen.say("check it", "▸ Check")
        screen.waits_until((project.root / "begun").exists, "the check")
        screen.send(CTRL_C)
        screen.shows("interrupted (stopped on request)")
        screen.say("what came of it?", "That is all.")
        screen.say("/exit")
        assert screen.end()[0] == 0
    assert "was ended before it was done" in "".join(said_in(recorded(project)[-1]))


def test_S1_S16_at_a_limit_somebody_is_asked_to_go_on(project: Project) -> None:
    listing = {"calls": [{"name": "list_files", "arguments": {"path": "."}}]}
    script = project.script(
        listing, listing, "All of it.", listing, listing, "The end.", listing, listing, "Summed up."
    )
    with chat(project, "code", "--model", script, "--max-steps", "2") as screen:
        screen.say("go")
        screen.asks("Go on? [y/n]")
        screen.send(b"y" + ENTER)
        screen.shows("All of it.")
        screen.say("more")
        screen.asks("Go on? [y/n]")
        screen.send(CTRL_C)
        screen.waits()
        screen.say("and?", "The end.")
        screen.say("once more")
        screen.asks("Go on? [y/n]")
        screen.send(b"n" + ENTER)
        screen.shows("Summed up.")
        screen.say("/exit")
        assert screen.end()[0] == 0


def test_XD2_XA1_an_approval_that_was_pending_at_a_kill_is_still_pending_and_bound(project: Project) -> None:
    script = project.script("Hello.", {"calls": [READ]}, {"calls": [EDIT]}, "It is changed.")
    with chat(project, "code", "--model", script) as screen:
        screen.say("hi", "Hello.")
        screen.say("change it")
        screen.asks("Allow this?")
        os.kill(screen.process.pid, signal.SIGKILL)
        screen.process.wait()
    assert "TODO" in project.text(MAIN)
    last = recorded(project)[-1].run_id
    waiting = project.call("runs", "resume", last)
    assert (waiting.returncode, "--approve edit_1" in waiting.stderr) == (3, True)
    (project.root / MAIN).write_text("// TODO: something else\n")
    stale = project.call("runs", "resume", last, "--approve", "edit_1", "--json")
    assert ("stale_edit" in stale.stdout, project.text(MAIN)) == (True, "// TODO: something else\n")


def test_XD2_an_approval_that_was_pending_at_a_kill_can_be_given_later(project: Project) -> None:
    script = project.script({"calls": [READ]}, {"calls": [EDIT]}, "It is changed.")
    with chat(project, "code", "--model", script) as screen:
        screen.say("change it")
        screen.asks("Allow this?")
        os.kill(screen.process.pid, signal.SIGKILL)
        screen.process.wait()
    [last] = recorded(project)
    done = project.call("runs", "resume", last.run_id, "--approve", "edit_1")
    assert (done.returncode, done.stdout, "ГОТОВО" in project.text(MAIN)) == (0, "It is changed.\n", True)


def test_S1_C35_an_always_counts_at_once_and_is_taken_back_in_the_chat(project: Project) -> None:
    back, again = {**EDIT, "arguments": BACK, "id": "edit_2"}, {**EDIT, "id": "edit_3"}
    first = ({"calls": [READ]}, {"calls": [EDIT]}, "Changed.")
    script = project.script(*first, {"calls": [back]}, "Changed back.", {"calls": [again]}, "Not changed.")
    with chat(project, "code", "--model", script, rows=60) as screen:
        screen.say("go")
        screen.asks("Allow this?")
        screen.send(b"!" + ENTER)
        screen.asks(f"On which paths? [{MAIN}]")
        screen.send(ENTER)
        screen.asks("Always allow this?")
        screen.send(b"y" + ENTER)
        screen.shows("Changed.")
        screen.say("and back", "Changed back.")
        assert "TODO" in project.text(MAIN)
        screen.say("/policy explain edit src/main.js", "allow: edit on src/main.js")
        screen.say("/policy list --root .", f"1       allow edit on {MAIN}")
        screen.say("/policy forget 2", "There is no rule 2 here.")
        screen.say("/policy forget 1", f"Forgotten: allow edit on {MAIN}.")
        screen.say("/policy", "There are no rules here")
        screen.say("and again")
        screen.asks("Allow this?")
        screen.send(CTRL_D)
        screen.shows("Not changed.")
        screen.say("/exit")
        assert screen.end()[0] == 0


@pytest.mark.parametrize("more", [(), ("--plain",)], ids=["live", "plain"])
def test_S1_what_was_said_before_an_interrupted_approval_is_told_once(project: Project, more: tuple[str, ...]) -> None:
    script = project.script({"text": "I read it first.", "calls": [READ]}, {"calls": [EDIT]}, "-")
    with chat(project, "code", *more, "--model", script, rows=60) as screen:
        screen.waits()
        screen.send(b"go" + ENTER)
        screen.asks("Allow this?")
        screen.send(CTRL_C)
        screen.shows("interrupted")
        screen.waits()
        assert screen.whole.count("I read it first.") == 1
        assert "Allow this? ^C" in screen.display
        screen.send(CTRL_D)
        assert screen.end()[0] == 0


def test_S1_in_plain_nothing_moves(project: Project) -> None:
    with chat(project, "code", "--plain", "--model", project.script("Привіт!")) as screen:
        screen.shows("> ".rstrip())
        screen.waits()
        screen.send("Хто ти?\r".encode())
        screen.shows("Привіт!")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
        assert b"\x1b[" not in screen.raw


def test_S1_XA8_without_a_terminal_or_for_a_program_there_is_no_chat(project: Project) -> None:
    done = project.call("code", "--json")
    told = json.loads(done.stdout)["error"]["message"]
    assert (done.returncode, told.startswith("--json is for one PROMPT: write it behind the command.")) == (2, True)
