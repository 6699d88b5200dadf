"""`toolroll code`: limits, approvals, what it may do and what it says; and `toolroll call` in a project."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tests.apps.coding import code_agent_in, code_tools_in, surface_for
from tests.support.programs import environment, toolroll
from tests.support.project import Calling, Project, lines, snapshot
from tests.support.terminal import Pseudo

MAIN = "src/main.js"
READ = {"name": "read_file", "arguments": {"path": MAIN}, "id": "read_1"}
LIST = {"name": "list_files", "arguments": {"path": "."}, "id": "list_1"}
TODO = {"path": MAIN, "old_string": "TODO", "new_string": "DONE", "description": "It is done."}
EDIT = {"name": "edit", "arguments": TODO, "id": "edit_1"}
CHANGE = ({"calls": [READ]}, {"text": "I change it.", "calls": [EDIT]}, "It is changed.")
LOOK, LISTING = {"calls": [{k: v for k, v in READ.items() if k != "id"}]}, {"calls": [LIST | {"id": None}]}
CLOSED = (LOOK, "So far.", LISTING, "Still not.", "All of it.")
MANY = (LOOK, LISTING, {"text": "Still."} | LOOK, LISTING, "So far.", "All of it.")


def run_id(told: str) -> str:
    """The run that was told of last."""
    return told.rpartition("· run ")[2][:32]


def test_C40_S16_at_the_limit_a_person_goes_on_or_stops(project: Project) -> None:
    command = ("code", "Go.", "--model", project.script(*MANY), "--max-steps", "2")
    with project.terminal(*command) as terminal:
        terminal.wait_for("The limit is reached after 2 steps. Go on? [y/n]")
        terminal.press("y", "The limit is reached after 4 steps. Go on? [y/n]")
        terminal.press("n")
        code, out = terminal.end()
        assert terminal.text.count("· Go on with: toolroll runs resume") == 1
        assert "step_count_is" not in terminal.text
    assert (code, out) == (4, "Still.\nSo far.\n")
    again = project.call("runs", "resume", run_id(terminal.text))
    assert (again.stdout, again.returncode) == ("All of it.\n", 0)


def test_C40_ctrl_c_at_the_limit_keeps_the_run(project: Project) -> None:
    command = ("code", "Go.", "--model", project.script(*MANY), "--max-steps", "2")
    with project.terminal(*command) as terminal:
        terminal.wait_for("Go on? [y/n]")
        terminal.send(b"\x03", "toolroll runs resume")
        assert terminal.end() == (130, "")


def test_C40_XA8_without_a_terminal_the_limit_is_4_and_can_be_gone_on_from(project: Project) -> None:
    done = project.call("code", "Go.", "--model", project.script(*CLOSED), "--max-steps", "2")
    assert (done.returncode, done.stdout) == (4, "So far.\n")
    assert "Go on? [y/n]" not in done.stderr
    again = project.call("runs", "resume", run_id(done.stderr), "--max-steps", "5")
    assert (again.stdout, again.returncode) == ("Still not.\n", 0)


def test_C40_as_json_nobody_is_asked_at_the_limit(project: Project) -> None:
    command = ("code", "Go.", "--model", project.script(*CLOSED), "--max-steps", "2", "--json")
    with project.terminal(*command) as terminal:
        code, out = terminal.end()
    last = json.loads(out.splitlines()[-1])
    assert (code, last["stop_reason"], last["text"]) == (4, "condition", "So far.")


def test_XA8_where_nobody_can_be_asked_it_is_3_and_waits(project: Project) -> None:
    before = snapshot(project.root)
    done = project.call("code", "Go.", "--model", project.script(*CHANGE))
    assert (done.returncode, done.stdout) == (3, "I change it.\n(Waiting for an approval: edit (edit_1).)\n")
    assert snapshot(project.root) == before
    assert "  +// DONE: read the name of the board from the command line" in done.stderr
    assert f"toolroll runs resume {run_id(done.stderr)} --approve edit_1" in done.stderr
    yes = project.call("runs", "resume", run_id(done.stderr), "--approve", "edit_1")
    assert (yes.stdout, yes.returncode) == ("It is changed.\n", 0)
    assert "// DONE: read" in project.text(MAIN)


def test_XA8_XA1_a_yes_to_a_file_that_has_changed_since_does_not_count(project: Project) -> None:
    done = project.call("code", "Go.", "--model", project.script(*CHANGE))
    (project.root / MAIN).write_text("// TODO: something else\n")
    again = project.call("runs", "resume", run_id(done.stderr), "--approve", "edit_1", "--json")
    assert project.text(MAIN) == "// TODO: something else\n"
    [result] = [event for event in lines(again) if event["event"] == "tool_result"]
    assert (result["is_error"], result["code"]) == (True, "stale_edit")


def test_S2_with_yes_every_event_is_a_line_of_json(project: Project) -> None:
    done = project.call("code", "Go.", "--model", project.script(*CHANGE), "--yes", "--json", "--root", ".")
    events = lines(done)
    assert [event["index"] for event in events] == list(range(1, len(events) + 1))
    by_name = {event["event"]: event for event in events}
    assert (by_name["approval_requested"]["why"], by_name["approval_decided"]["decision"]) == ("It is done.", "approve")
    assert (by_name["run_finished"]["text"], done.returncode) == ("It is changed.", 0)
    assert done.stderr.startswith("Note: The model follows AGENTS.md")
    assert done.stderr.count("\n") == 1
    assert "// DONE: read" in project.text(MAIN)
    assert project.call("undo", "--yes").returncode == 0
    again = project.call("runs", "replay", by_name["run_finished"]["run_id"])
    assert (again.returncode, "the same in 3 steps" in again.stdout) == (0, True)


def test_C40_read_only_offers_and_does_nothing_that_changes(project: Project) -> None:
    before = snapshot(project.root)
    new = {"path": "b.js", "content": "b", "description": "B."}
    calls = [READ, EDIT, {"name": "create_file", "arguments": new, "id": "create_1"}]
    done = project.call("code", "Go.", "--model", project.script({"calls": calls}, "No."), "--read-only", "--json")
    results = {event["name"]: event["code"] for event in lines(done) if event["event"] == "tool_result"}
    assert results == {"read_file": None, "edit": "unknown_tool", "create_file": "unknown_tool"}
    assert snapshot(project.root) == before
    setup = code_agent_in(surface_for({"TOOLROLL_HOME": str(project.home)}), project.root, read_only=True).setup
    assert {tool.effect for tool in setup.tools} == {"reads"}
    assert "You cannot change" in setup.system


def test_C40_read_only_stays_so_when_the_run_goes_on(project: Project) -> None:
    turns = ({"calls": [READ]}, "So far.", {"calls": [EDIT]}, "No.")
    done = project.call("code", "Go.", "--model", project.script(*turns), "--read-only", "--max-steps", "2")
    again = project.call("runs", "resume", run_id(done.stderr), "--yes", "--max-steps", "5", "--json")
    [result] = [event for event in lines(again) if event["event"] == "tool_result"]
    assert result["code"] == "unknown_tool"
    assert "TODO" in project.text(MAIN)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("Go.",), "No model is named. Add --model NAME or set TOOLROLL_MODEL"),
        (("Go.",), "'toolroll call' calls any tool but a project's own."),
        (("Go.", "--model", "nobody"), "Unknown model 'nobody'"),
        (("Go.", "--model", "sonnet", "--root", "nowhere"), "Directory 'nowhere' does not exist"),
        (("Go.", "--model", "sonnet", "--root", "package.json"), "'package.json' is a file"),
        (("Go.", "--model", "sonnet", "--yes", "--read-only"), "--yes and --read-only exclude each other"),
        (("Go.", "--model", "sonnet", "--max-steps", "0"), "0 is not in the range"),
        ((), "There is no PROMPT, and no terminal to chat at. Write it behind the command ('-' reads it from stdin)"),
        (("", "--model", "sonnet"), "The prompt is empty. Say what is to be done."),
        ((" \n", "--model", "sonnet"), "The prompt is empty."),
        (("-", "--model", "sonnet"), "The prompt is empty."),
        (
            ("x" * 100_001, "--model", "sonnet"),
            "The prompt has 100,001 characters; at most 100,000 are allowed. Put the",
        ),
    ],
)
def test_S2_what_makes_no_sense_is_told(project: Project, arguments: tuple[str, ...], told: str) -> None:
    done = project.call("code", *arguments)
    assert (done.returncode, done.stdout, told in done.stderr) == (2, "", True)
    assert not (project.home / "data" / "runs.db").exists() or "Unknown model" in told


def test_S2_a_missing_key_is_told(project: Project) -> None:
    done = project.call("code", "Go.", "--json", TOOLROLL_MODEL="sonnet")
    assert (done.returncode, lines(done)[-1]["error"]["code"]) == (1, "authentication")


def test_S5_a_prompt_from_stdin_and_a_yes_from_the_keyboard(project: Project) -> None:
    """The keyboard is asked through /dev/tty: what was piped in is the prompt, and no answer."""
    read, write = os.pipe()
    os.write(write, b"y\ny\n")
    os.close(write)
    command = toolroll("code", "-")
    env = environment(project.home, TOOLROLL_MODEL=project.script(*CHANGE))
    with Pseudo(command, env=env, cwd=project.root, columns=100, rows=60, stdin=read) as terminal:
        os.close(read)
        terminal.wait_for("Allow this?")
        assert "TODO" in project.text(MAIN)
        terminal.press("y")
        assert terminal.end() == (0, "I change it.\nIt is changed.\n")
    [listed] = json.loads(project.call("runs", "list", "--json").stdout)["runs"]
    assert listed["prompt"] == "y\ny\n"


def test_S2_ctrl_c_keeps_the_run(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = toolroll("code", "Go.", "--model", f"openai-compatible:m@http://127.0.0.1:{port}/v1")
        with subprocess.Popen(
            command,
            env=environment(project.home),
            cwd=project.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            connection, _ = server.accept()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
            connection.close()
    assert process.returncode == 130
    assert "toolroll runs resume " in err
    go_on = err.rpartition("toolroll runs resume ")[2].split()[0]
    again = project.call("runs", "resume", go_on, "--model", project.script("Here I am."))
    assert (again.stdout, again.returncode) == ("Here I am.\n", 0)


@pytest.mark.strace
def test_C31_XE6_a_run_that_is_killed_in_the_middle_of_a_change_goes_on(project: Project) -> None:
    """Before the new file is in its place: what was begun is taken back, and the change that was approved is made."""
    tracing = ("strace", "-f", "-o", os.devnull, "-e", "trace=renameat", "-e", "inject=renameat:signal=KILL:when=1")
    command = [*tracing, *toolroll("code", "Go.", "--model", project.script(*CHANGE), "--yes", "--json")]
    killed = subprocess.run(
        command, env=environment(project.home), cwd=project.root, capture_output=True, text=True, check=False
    )
    assert (killed.returncode, "TODO" in project.text(MAIN)) == (-signal.SIGKILL, True)
    again = project.call("runs", "resume", str(lines(killed)[0]["run_id"]))
    assert (again.stdout, again.returncode) == ("It is changed.\n", 0)
    assert "// DONE: read" in project.text(MAIN)
    assert [line.split()[4] for line in project.call("changes").stdout.splitlines()] == ["applied", "failed"]


def test_C43_instructions_of_the_project_are_read_if_they_can_be(project: Project, tmp_path: Path) -> None:
    surface = surface_for({"TOOLROLL_HOME": str(project.home)})
    told = code_agent_in(surface, project.root, system="Be brief.").setup.system
    assert "never use fractions" in told
    assert told.endswith("\n\nBe brief.")
    (project.root / "AGENTS.md").unlink()
    (tmp_path / "secret").write_text("canary")
    (project.root / "AGENTS.md").symlink_to(tmp_path / "secret")
    assert "canary" not in code_agent_in(surface, project.root).setup.system


def test_C43_C2_a_person_is_told_once_that_instructions_are_not_used(project: Project) -> None:
    (project.root / "AGENTS.md").write_bytes(b"a\0b")
    command = ("code", "Go.", "--model", project.script("Done."))
    done, as_json = project.call(*command), project.call(*command, "--json")
    for one in (done, as_json):
        assert one.returncode == 0
        assert one.stderr.count("Warning: AGENTS.md is not used: 'AGENTS.md' is binary") == 1
    assert done.stdout == "Done.\n"
    (project.root / "AGENTS.md").write_text("Use tabs.\n")
    told = project.call(*command).stderr
    assert "is not used" not in told


def test_XL36_a_person_is_told_once_a_run_that_the_projects_instructions_are_followed(project: Project) -> None:
    (project.root / "AGENTS.md").write_text("Use tabs.\n")
    done = project.call("code", "Go.", "--model", project.script("Done."))
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert done.stderr.count("Note: The model follows AGENTS.md of this project.") == 1
    (project.root / "AGENTS.md").unlink()
    assert "AGENTS.md" not in project.call("code", "Go.", "--model", project.script("Done.")).stderr


def test_C34_the_check_of_the_settings_is_a_tool(project: Project) -> None:
    (project.home / "config").mkdir(parents=True, mode=0o700)
    (project.home / "config" / "settings.toml").write_text('[code]\ncheck = ["true"]\n')
    surface = surface_for({"TOOLROLL_HOME": str(project.home)})
    assert "settings" in {entry.origin for entry in code_tools_in(surface, project.root)}
    assert "settings" not in {entry.origin for entry in code_tools_in(surface, project.root, read_only=True)}


def test_S3_C19_a_person_needs_no_earlier_read(project: Project) -> None:
    """In a folder that is not the working one; and with an approval that shows the difference."""
    given = json.dumps({"path": MAIN, "old_string": "TODO", "new_string": "DONE"})
    command = toolroll("call", "edit", given, "--root", str(project.root))
    with Pseudo(command, env=environment(project.home), cwd=project.home.parent, columns=100, rows=60) as terminal:
        terminal.wait_for("Allow this?")
        assert "8 - // TODO: read the name of the board from the command line" in terminal.text
        terminal.press("y")
        code, out = terminal.end()
    assert (code, out.startswith("Written: src/main.js (+1 -1). Undo it with change id ")) == (0, True)
    assert "// DONE: read" in project.text(MAIN)
    assert project.call("undo", "--yes").returncode == 0
    assert "// TODO: read" in project.text(MAIN)


def test_S3_XA8_a_call_in_a_project_without_a_person(project: Project) -> None:
    new = json.dumps({"path": "b.js", "content": "b\n", "description": "B."})
    asked = project.call("call", "create_file", new)
    assert (asked.returncode, (project.root / "b.js").exists()) == (3, False)
    allowed = project.call("call", "create_file", new, "--yes", "--json")
    assert (allowed.returncode, json.loads(allowed.stdout)["is_error"]) == (0, False)
    assert project.text("b.js") == "b\n"
    nowhere = project.call("call", "read_file", '{"path": "b.js"}', "--root", "nowhere", "--json")
    assert (nowhere.returncode, json.loads(nowhere.stdout)["error"]["code"]) == (2, "usage")


def test_K43_a_remembered_yes_counts_for_the_project_it_was_given_in(project: Project, call: Calling) -> None:
    """Not for the folder that the command was called from."""
    elsewhere = project.home.with_name("elsewhere")
    (elsewhere / "src").mkdir(parents=True)
    (elsewhere / MAIN).write_text("TODO\n")
    given = json.dumps({"path": MAIN, "old_string": "TODO", "new_string": "DONE"})
    env = environment(project.home)
    command = toolroll("call", "edit", given, "--root", str(project.root))
    with Pseudo(command, env=env, cwd=elsewhere, columns=100, rows=60) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("!", "On which paths? [src/main.js]")
        terminal.press("", "Always allow this?")
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert project.call("undo", "--yes").returncode == 0
    assert project.call("call", "edit", given).returncode == 0
    refused = project.call("call", "edit", given, "--root", str(elsewhere))
    assert (refused.returncode, (elsewhere / MAIN).read_text()) == (3, "TODO\n")


def creating(*paths: str) -> dict[str, object]:
    """A turn that makes files."""
    given = [{"path": path, "content": "x\n", "description": f"Make {path}."} for path in paths]
    return {"calls": [{"name": "create_file", "id": one["path"], "arguments": one} for one in given]}


def test_C35_XA4_an_always_counts_at_once_in_its_own_run_and_so_does_taking_it_back(project: Project) -> None:
    """For the calls of the same turn, and of all after it; a deny rule stays one."""
    project.call("config", "set", "code.deny", "src/secret/**")
    turns = (creating("src/a.js", "src/b.js", "c.js"), creating("src/d.js", "src/secret/e.js"), creating("f.js"))
    script = project.script(*turns, creating("src/g.js"), "Done.")
    with project.terminal("code", "Go.", "--model", script) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("!", "On which paths?")
        terminal.press("src/**", "Always allow this?")
        terminal.press("y", "Without asking, as you have said always: create_file on src/b.js.", "(3 of 3)", "Allow")
        terminal.press("y", "Make f.js.", "Allow this?")
        assert "Make src/d.js." not in terminal.text
        assert project.text("src/d.js") == "x\n"
        assert "allow: " in project.call("policy", "explain", "create_file", "src/g.js").stdout
        assert "Forgotten" in project.call("policy", "forget", "1").stdout
        terminal.press("y", "Make src/g.js.", "Allow this?")
        terminal.send(b"\x04")
        assert terminal.end() == (0, "Done.\n")
    assert {path.name for path in project.root.rglob("?.js")} == {"a.js", "b.js", "c.js", "d.js", "f.js"}


def editing(path: str) -> dict[str, object]:
    """A turn that reads a file and one that changes it."""
    arguments = {"path": path, "old_string": "word", "new_string": "other", "description": f"Edit {path}."}
    return {"calls": [{"name": "edit", "id": f"edit {path}", "arguments": arguments}]}


def test_XP11_XP14_an_always_for_a_folder_is_none_for_what_its_links_lead_to(project: Project) -> None:
    """Through the real command line: without a terminal nothing is written, and at one the person sees the file."""
    notes, makefile = project.root / "notes", project.root / "Makefile"
    notes.mkdir()
    for file in (notes / "a.md", makefile):
        file.write_text("a word\n")
    (notes / "link.md").symlink_to("../Makefile")
    reading = {"calls": [{"name": "read_file", "arguments": {"path": name}} for name in ("notes/a.md", "Makefile")]}
    turns = (reading, editing("notes/a.md"), editing("notes/link.md"), "Done.")
    with project.terminal("code", "Go.", "--model", project.script(*turns)) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("!", "On which paths?")
        terminal.press("notes/**", "Always allow this?")
        terminal.press("y", "Edit notes/link.md.", "notes/link.md leads to Makefile", "Allow this?")
        terminal.press("!", "On which paths? [Makefile]")
        terminal.press("notes/**", "it does not match what is asked for here", "Allow this?")
        terminal.press("!", "On which paths? [Makefile]")
        terminal.press("", "You are still asked about notes/link.md", "Always allow this?")
        terminal.press("n", "Allow this?")
        terminal.press("n", "Why not?")
        terminal.press("")
        assert terminal.end()[0] == 0
    assert [file.read_text() for file in (notes / "a.md", makefile)] == ["a other\n", "a word\n"]
    (notes / "a.md").write_text("a word\n")
    done = project.call("code", "Go.", "--model", project.script(*turns))
    assert [file.read_text() for file in (notes / "a.md", makefile)] == ["a other\n", "a word\n"], done.stdout


def test_C35_an_always_for_this_run_ends_with_it_and_is_written_nowhere(project: Project) -> None:
    project.call("config", "set", "code.deny", "src/secret/**")
    turns = (creating("src/a.js", "src/b.js"), creating("src/d.js", "src/secret/e.js"), "Done.")
    with project.terminal("code", "Go.", "--model", project.script(*turns)) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("!", "On which paths?")
        terminal.press("src/**", "[r] until this command ends", "Always allow this?")
        terminal.press("r", "Allowed until this command ends. Nothing is stored.")
        assert terminal.end() == (0, "Done.\n")
    assert {path.name for path in project.root.rglob("?.js")} == {"a.js", "b.js", "d.js"}
    assert "ask: " in project.call("policy", "explain", "create_file", "src/g.js").stdout
    with project.terminal("code", "Go.", "--model", project.script(creating("src/g.js"), "Done.")) as terminal:
        terminal.wait_for("Make src/g.js.")
        terminal.wait_for("Allow this?")
