"""What is piped in beside a prompt, and -p (S10)."""

import json
import os

from tests.cli.chat.screen import recorded, said_in
from tests.support.programs import environment, toolroll
from tests.support.project import Project
from tests.support.terminal import Pseudo

EDIT = {
    "name": "create_file",
    "arguments": {"path": "new.txt", "content": "new\n", "description": "A new file."},
    "id": "w1",
}


def test_S10_what_is_piped_in_is_attached_and_named(project: Project) -> None:
    done = project.call("code", "Review this", "--model", project.script("Fine."), stdin="-old\n+new\n")
    assert (done.returncode, done.stdout) == (0, "Fine.\n")
    assert "Attached: stdin (2 lines)." in done.stderr
    [run] = recorded(project)
    mark = f"stdin {run.run_id[:8]}]"
    [said] = said_in(run)
    assert json.dumps(f"Review this\n\n[piped in by the user: {mark}\n-old\n+new\n[end of {mark}")[1:-1] in said
    assert "Review this  (code, " in project.call("runs", "list").stdout


def test_S10_what_is_too_long_for_a_prompt_is_kept_whole(project: Project) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    done = project.call("code", "Sum up", "--model", project.script("Long."), stdin=text)
    assert done.returncode == 0
    [run] = recorded(project)
    [said] = said_in(run)
    assert len(said) < 60_000
    ref = said.partition("ref=")[2].partition("]")[0]
    found = project.call("outputs", "grep", ref, "line 19999")
    assert "line 19999" in found.stdout, found.stderr


def test_S10_an_empty_pipe_attaches_nothing_and_bytes_are_refused(project: Project) -> None:
    script = project.script("Fine.")
    assert "Attached" not in project.call("code", "Hello", "--model", script, stdin="\n").stderr
    refused = project.call("code", "Hello", "--model", script, stdin="a\0b")
    assert (refused.returncode, "no text in UTF-8" in refused.stderr) == (2, True)
    refused = project.call("code", "Hello", "--queue", "--model", script, stdin="text")
    assert (refused.returncode, "--queue takes no piped input" in refused.stderr) == (2, True)


def test_S10_print_shows_the_answer_alone(project: Project) -> None:
    read = {"text": "I look.", "calls": [{"name": "read_file", "arguments": {"path": "src/main.js"}}]}
    done = project.call("code", "-p", "What?", "--model", project.script(read, "A board."))
    assert (done.returncode, done.stdout, done.stderr) == (0, "A board.\n", "")
    done = project.call("code", "--print", "--model", project.script("From stdin."), stdin="What is it?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "From stdin.\n", "")
    done = project.call("code", "-p", "Write", "--model", project.script({"text": "I write.", "calls": [EDIT]}))
    assert done.returncode == 3
    assert "--approve w1" in done.stderr


def test_S10_a_person_who_pipes_something_in_is_still_asked(project: Project) -> None:
    mine, theirs = os.pipe()
    os.write(theirs, b"some text\n")
    os.close(theirs)
    script = project.script({"text": "I write.", "calls": [EDIT]}, "Written.")
    command = toolroll("code", "Write it", "--model", script)
    with Pseudo(command, env=environment(project.home), cwd=project.root, stdin=mine) as screen:
        os.close(mine)
        screen.wait_for("Allow this?")
        screen.press("y", "answer")
        assert screen.end()[0] == 0
    assert project.text("new.txt") == "new\n"
