"""Chats that are gone on with later: by --continue, --resume and /resume (S9)."""

import pytest
from tests.cli.chat.screen import CTRL_C, ENTER, chat, chat_of, recorded, said_in
from tests.support.project import Project, lines

from toolroll.cli.chat.reopen import format_age

READ = {"text": "I look.", "calls": [{"name": "read_file", "arguments": {"path": "src/main.js"}}]}
EDIT = {
    "name": "edit",
    "arguments": {"path": "src/main.js", "old_string": "TODO", "new_string": "DONE", "description": "It is done."},
}


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 40)])
def test_S9_a_chat_is_left_and_gone_on_with(project: Project, columns: int, rows: int) -> None:
    script = project.script(READ, "It keeps count of tea.", {"text": "I mark it.", "calls": [EDIT]}, "Marked.")
    with chat(project, "code", "--model", script, columns=columns, rows=rows) as screen:
        screen.say("What is this project about?", "It keeps count of tea.")
        screen.say("/exit", "Come back with:", "  toolroll code --continue")
        assert screen.end()[0] == 0
    [first] = recorded(project)
    assert f"toolroll code --resume {first.run_id[:12]}" in " ".join(screen.text.split())
    with chat(project, "code", "--continue", columns=columns, rows=rows) as screen:
        screen.shows("Going on with: What is this project", "It keeps count of tea.")
        # The file was read before the chat was left, and need not be read again.
        screen.say("Mark it as done", "I mark it.")
        screen.asks("Allow this?")
        screen.send(b"y" + ENTER)
        screen.shows("Marked.")
        screen.say("/exit")
        assert screen.end()[0] == 0
    assert "DONE" in project.text("src/main.js")
    first, second = recorded(project)
    assert chat_of(second) == first.run_id
    assert len(said_in(second)) > 1


def test_S9_a_chat_is_one_line_with_what_it_was_about(project: Project) -> None:
    script = project.script("One.", "Two.")
    for arguments in (["First question"], ["Second question", "--continue"]):
        assert project.call("code", *arguments, "--model", script).returncode == 0
    [line] = project.call("runs", "list").stdout.splitlines()
    assert "First question" in line
    assert "(code, scripted:script.json, 2 messages, cost unknown, …" in line
    assert line.endswith(f"/{project.root.name})")
    [told] = lines(project.call("runs", "list", "--json"))[0]["runs"]
    assert (told["title"], told["prompt"], told["messages"]) == ("First question", "Second question", 2)
    assert (told["application"], told["folder"], told["run_id"]) == ("code", str(project.root), told["runs"][-1])
    assert len(project.call("runs", "list", "--all").stdout.splitlines()) == 2


def test_S9_a_fork_names_its_parent_in_the_list_and_in_the_choice(project: Project) -> None:
    assert project.call("code", "Tell me", "--model", project.script("One.")).returncode == 0
    [first] = recorded(project)
    script = project.script("-", "Other.")
    assert project.call("runs", "fork", first.run_id, "--at", "1", "--model", script, "--prompt", "No").returncode == 0
    newest = project.call("runs", "list").stdout.splitlines()[0]
    assert f"(fork of {first.run_id[:12]} at step 1, code, " in newest
    with chat(project, "code", "--resume", columns=100) as screen:
        screen.shows("1  Tell me", f"fork of {first.run_id[:12]}", "2  Tell me")
        screen.asks("Which one? [1-2, Enter for none]")
        screen.send(b"7" + ENTER)
        screen.shows("Type a number from 1 to 2, or only Enter.")
        screen.asks("Which one? [1-2, Enter for none]")
        screen.send(ENTER)
        assert screen.end()[0] == 0


def test_S9_one_of_several_chats_is_chosen_inside_another(project: Project) -> None:
    script = project.script("About beans.", "About leaves.", "More about leaves.")
    for prompt in ("Beans", "Leaves"):
        assert project.call("code", prompt, "--model", project.script(f"About {prompt}.")).returncode == 0
    beans, leaves = recorded(project)
    script = project.script("-", "More.")
    with chat(project, "code", "--model", script) as screen:
        screen.say("/resume")
        screen.asks("Which one? [1-2, Enter for none]")
        screen.send(CTRL_C)
        screen.say("/resume nope", "Error: There is no chat 'nope'.")
        screen.say(f"/resume {leaves.run_id[:8]}", "Going on with: Leaves", "About Leaves.")
        screen.say("And?", "More.")
        screen.say("/resume")
        screen.asks("Which one? [1-2, Enter for none]")
        screen.send(b"2" + ENTER)
        screen.shows("Going on with: Beans")
        screen.say("/exit")
        assert screen.end()[0] == 0
    assert [chat_of(one) for one in recorded(project)[2:]] == [leaves.run_id]
    assert beans.run_id[:12] in screen.text


def test_S9_mistakes_are_told_before_anything_is_paid(project: Project) -> None:
    script = project.script("Never said.")
    for arguments, told in (
        (["--continue"], "There is no earlier chat in"),
        (["--resume", "3f9c"], "There is no chat '3f9c'"),
        (["--resume"], "There is no terminal to choose at"),
        (["--continue", "--resume", "3f9c"], "exclude each other"),
        (["--continue", "--queue"], "--queue needs a PROMPT"),
    ):
        done = project.call("code", "Hello", *arguments, "--model", script)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "just now"), (59, "just now"), (60, "1 minute ago"), (7_300, "2 hours ago"), (90_000, "1 day ago")],
)
def test_S9_ages_are_told_in_words(seconds: float, told: str) -> None:
    assert format_age(seconds) == told
