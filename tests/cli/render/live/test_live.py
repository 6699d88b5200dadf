"""Runs at a real terminal, from the command line: what is seen while they go, and what stays."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pyte
import pytest
from tests.cli.render.live.glass import lines_of
from tests.support.programs import environment, toolroll
from tests.support.project import Project
from tests.support.terminal import Pseudo

TOOLS = Path(__file__).parents[2] / "run_tools.py"
PACED = Path(__file__).with_name("paced.py")
SUMMARY = re.compile(r"· run [0-9a-f]{32}")
LIVE = re.compile(r"step \d|▸|thinking:")
WAITED = re.compile(r"▸ wait (\d+) s  █████░░░░░ 50% waiting")
TOOK = r"(?:[\d,]+ ms|[\d.]+ s)"
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
ANSWER = """\
# Чай

Ось **міцний** чай, 绿茶 і ще один дуже довгий рядок про каву.

- один
- два

```js
let x = 1;
```
"""
SHOWN = {
    80: """\
Чай

Ось міцний чай, 绿茶 і ще один дуже довгий рядок про каву.

• один
• два

  js
  let x = 1;
""",
    40: """\
Чай

Ось міцний чай, 绿茶 і ще один дуже
довгий рядок про каву.

• один
• два

  js
  let x = 1;
""",
}
TODOS = {"todos": [{"content": "Заварити чай", "status": "in_progress"}, {"content": "Випити", "status": "pending"}]}
CALLS = [
    {"name": "write_todos", "arguments": TODOS},
    {"name": "look", "arguments": {"path": "немає.txt"}},
    {"name": "look", "arguments": {"path": "чай.txt"}},
]
SAVE = {"name": "save", "arguments": {"path": "a.txt", "text": "новий\n"}}
HOSTILE = (
    "A\x1b[2J\x1b]52;c;aGk=\x07 \x1b]8;;https://evil.example\x1b\\x\x1b]8;;\x1b\\ good\rbad \x9b5m a\u202eb &#x202E;"
)


class Stage:
    """A folder with a script, where commands run at a terminal that is stdout, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gate = folder / "gate"
        os.mkfifo(self.gate)
        (folder / "чай.txt").write_text("зелений", encoding="utf-8")

    def arguments(self, *turns: object) -> list[str]:
        (self.folder / "script.json").write_text(json.dumps(turns), encoding="utf-8")
        return ["run", "Go.", "--model", "scripted:script.json", "--from", str(TOOLS), "--pack", "standard"]

    def open(self, command: list[str], columns: int = 80, rows: int = 24, **env: str) -> Pseudo:
        known = environment(self.folder / "home", **env)
        return Pseudo(command, env=known, cwd=self.folder, columns=columns, rows=rows, stdout_on_terminal=True)

    def paced(self, *turns: object, columns: int = 80) -> Pseudo:
        """The model waits for `say`."""
        return self.open([sys.executable, str(PACED), str(self.gate), *self.arguments(*turns)], columns)

    def say(self, words: int) -> None:
        """Let the model say so many words more; the end of a turn counts as one."""
        with self.gate.open("wb", buffering=0) as gate:
            gate.write(b"." * words)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def ended(terminal: Pseudo, columns: int = 80, rows: int = 24) -> tuple[int, list[str]]:
    """The exit code, and all lines that are left, also above the screen; the id of the run is left out."""
    code, _ = terminal.end()
    screen = pyte.HistoryScreen(columns, rows, history=1_000)
    pyte.ByteStream(screen).feed(terminal.raw)
    return code, [SUMMARY.sub("· run", line) for line in lines_of(screen)]


@pytest.mark.parametrize("columns", [80, 40])
def test_S1_an_answer_is_drawn_while_it_comes_and_stays(stage: Stage, columns: int) -> None:
    words = len(ANSWER.split(" "))
    with stage.paced(ANSWER, columns=columns) as terminal:
        terminal.see("step 1 · scripted:script.json")
        stage.say(3)
        terminal.see("Чай", "Ось міцний", "step 1 · scripted:script.json")
        stage.say(words - 4)
        terminal.see("• один", "  let x =")
        stage.say(2)
        code, lines = ended(terminal, columns)
    summary = "· run: answer, 1 step, 15 tokens, cost unknown"
    told = "".join(f"{line}\n" for line in lines)
    assert code == 0
    assert told.startswith(SHOWN[columns] + "\n· run")
    assert " ".join(told.removeprefix(SHOWN[columns]).split()) == summary
    assert "step" not in SUMMARY.sub("", told.replace("1 step,", ""))


@pytest.mark.parametrize("columns", [80, 40])
def test_S1_calls_errors_and_todos_are_told_as_they_happen(stage: Stage, columns: int) -> None:
    arguments = stage.arguments({"text": "Дивлюся.", "calls": CALLS}, "Готово.")
    with stage.open(toolroll(*arguments), columns) as terminal:
        code, lines = ended(terminal, columns)
    assert code == 0
    assert lines[0] == "Дивлюся."
    assert lines[-1 if columns == 80 else -2].startswith("· run")
    for line in ("todos 0/2", "  [>] Заварити чай", "  [ ] Випити", "Готово."):
        assert lines.count(line) == 1
    assert lines.count("a word of the tool's own") == 2
    told = " ".join(lines)
    assert re.search(rf'· look {{"path":"ч\S+  {TOOK}, 14 bytes', told)
    assert re.search(rf"✗ look .*{TOOK}, ?tool_error: .*No such file", told)
    assert [line for line in lines if len(line) > columns or LIVE.match(line)] == []
    assert b"\x1b[31m" in terminal.raw


def test_S7_a_call_that_runs_shows_how_far_it_is(stage: Stage) -> None:
    wait = {"name": "wait", "arguments": {"for_file": "go"}}
    with stage.open(toolroll(*stage.arguments({"calls": [wait]}, "Done."))) as terminal:
        terminal.waits_until(lambda: len(set(WAITED.findall(terminal.text))) > 1, "the next second")
        seconds = [int(one) for one in WAITED.findall(terminal.text)]
        assert seconds == sorted(seconds)
        (stage.folder / "go").touch()
        code, lines = ended(terminal)
    assert code == 0
    assert re.fullmatch(r'· wait {"for_file":"go"}  [\d.]+ s, 11 bytes', lines[0])
    assert lines[1:3] == ["", "Done."]


@pytest.mark.parametrize("columns", [80, 40])
def test_S5_the_question_has_the_terminal_to_itself(stage: Stage, columns: int) -> None:
    arguments = stage.arguments({"text": "Зберігаю.", "calls": [SAVE]}, "Збережено.")
    with stage.open(toolroll(*arguments), columns) as terminal:
        terminal.wait_for("Allow this?")
        assert "Зберігаю." in terminal.display
        assert [line for line in terminal.display if LIVE.match(line)] == []
        terminal.press("y")
        code, lines = ended(terminal, columns)
    assert code == 0
    asked = lines.index("Allow this? y")
    assert "Збережено." in lines[asked:]
    assert [line for line in lines if LIVE.match(line)] == []
    assert (stage.folder / "a.txt").read_text(encoding="utf-8") == "новий\n"


def test_S5_ctrl_c_at_the_question_leaves_it_on_the_screen(stage: Stage) -> None:
    with stage.open(toolroll(*stage.arguments({"calls": [SAVE]}, "Збережено."))) as terminal:
        terminal.wait_for("Allow this?")
        terminal.send(b"\x03")
        code, lines = ended(terminal)
    assert code == 130
    assert "Allow this? ^C" in lines
    assert any(line.startswith("· run: interrupted") for line in lines)
    assert [line for line in lines if LIVE.match(line)] == []


def test_S1_a_project_is_worked_on_live(tmp_path: Path) -> None:
    project = Project(tmp_path)
    todo = {"path": "src/main.js", "old_string": "TODO", "new_string": "DONE", "description": "It is done."}
    calls = [{"name": "read_file", "arguments": {"path": "src/main.js"}}, {"name": "edit", "arguments": todo}]
    script = project.script({"calls": calls[:1]}, {"text": "I **change** it.", "calls": calls[1:]}, "It *is* changed.")
    command = toolroll("code", "Go.", "--model", script)
    env = environment(project.home)
    with Pseudo(command, env=env, cwd=project.root, stdout_on_terminal=True) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("y")
        code, lines = ended(terminal)
    assert code == 0
    assert {"I change it.", "It is changed."} <= set(lines)
    assert [line for line in lines if LIVE.match(line)] == []
    assert "// DONE: read" in project.text("src/main.js")


def test_S1_ctrl_c_keeps_what_has_come(stage: Stage) -> None:
    with stage.paced("Одне слово, друге слово, третє.") as terminal:
        stage.say(3)
        terminal.see("Одне слово, друге", "step 1 · scripted:script.json")
        terminal.send(b"\x03")
        code, lines = ended(terminal)
    assert code == 130
    assert lines[0].removesuffix("^C") == "Одне слово, друге"
    assert lines[1:3] == ["", "· run: interrupted, 0 steps, 0 tokens, $0.0000"]
    assert lines[3].startswith("· Go on with: toolroll runs resume")


def test_S1_ctrl_c_while_a_call_runs_says_what_happens(stage: Stage) -> None:
    wait = {"name": "wait", "arguments": {"for_file": "go"}}
    with stage.open(toolroll(*stage.arguments({"text": "I wait.", "calls": [wait]}, "Done."))) as terminal:
        terminal.wait_for("█████░░░░░ 50% waiting")
        terminal.send(b"\x03", "Ctrl-C again stops at once.", "▸ wait")
        (stage.folder / "go").touch()
        code, lines = ended(terminal)
    assert code == 130
    assert lines[0] == "I wait."
    assert [line for line in lines if LIVE.match(line)] == []


def test_S1_a_resize_leaves_nothing_behind(stage: Stage) -> None:
    """On a terminal that does not fold its lines anew, as the one of these tests."""
    text = "one two three four five six seven eight nine ten eleven twelve"
    with stage.paced(text) as terminal:
        stage.say(10)
        terminal.see("one two three four five six seven eight nine ten")
        terminal.resize(40, 24)  # the first line and the last are cut to that by the terminal, before they are drawn
        terminal.see("one two three four five six seven eight", "nine ten", "step 1 · scripted:script.json")
        terminal.resize(24, 24)
        terminal.see("one two three four five", "six seven eight nine", "ten", "step 1 · scripted:scri…")
        terminal.resize(100, 30)
        terminal.see("one two three four five six seven eight nine ten", "step 1 · scripted:script.json")
        stage.say(3)
        terminal.end()
        lines = [SUMMARY.sub("· run", line) for line in terminal.display if line]
    assert lines == [text, "· run: answer, 1 step, 15 tokens, cost unknown"]


def test_S1_an_error_of_the_model_keeps_what_has_come(stage: Stage) -> None:
    turns = ({"text": "I look.", "calls": CALLS[2:]}, {"error": {"code": "quota", "message": "No money."}})
    with stage.open(toolroll(*stage.arguments(*turns))) as terminal:
        code, lines = ended(terminal)
    assert code == 1
    assert lines[0] == "I look."
    assert any(line.startswith("Error: ") for line in lines)
    assert [line for line in lines if LIVE.match(line)] == []


def test_XA6_hostile_text_reaches_the_terminal_as_text(stage: Stage) -> None:
    calls = [{"name": "look", "arguments": {"path": HOSTILE}}]
    todos = {"todos": [{"content": HOSTILE, "status": "pending"}]}
    turns = (
        {"text": HOSTILE, "calls": [*calls, {"name": "write_todos", "arguments": todos}]},
        f"`{HOSTILE}`\n\n    {HOSTILE}",
    )
    with stage.open(toolroll(*stage.arguments(*turns))) as terminal:
        code, lines = ended(terminal)
    assert code == 0
    for power in (b"\x1b]", b"\x1b[2J", b"\x07", "\x9b".encode(), "\u202e".encode(), b"good\r"):
        assert power not in terminal.raw
    told = "".join(lines)
    assert told.count("‹U+001B›]52;c;aGk=‹U+0007›") >= 3
    assert "https://evil.example" in told


def test_S7_no_colours_where_they_are_not_wanted(stage: Stage) -> None:
    arguments = stage.arguments({"text": ANSWER, "calls": CALLS}, "Done.")
    with stage.open(toolroll(*arguments)) as terminal:
        terminal.end()
    assert COLOUR.search(terminal.raw)
    with stage.open(toolroll(*arguments), NO_COLOR="1") as terminal:
        code, lines = ended(terminal)
    assert (code, COLOUR.search(terminal.raw)) == (0, None)
    assert "todos 0/2" in lines


@pytest.mark.parametrize(("more", "term"), [(["--plain"], "xterm-256color"), ([], "dumb")])
def test_S1_plain_is_text_and_nothing_else(stage: Stage, more: list[str], term: str) -> None:
    arguments = stage.arguments({"text": "**Так.**", "calls": [*CALLS, SAVE]}, "Done.")
    with stage.open(toolroll(*arguments, *more), TERM=term) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("y")
        code, lines = ended(terminal)
    assert code == 0
    assert b"\x1b" not in terminal.raw
    assert {"**Так.**", "Done."} <= set(lines)


def test_S1_in_a_pipe_it_is_plain(stage: Stage) -> None:
    done = subprocess.run(
        toolroll(*stage.arguments({"text": ANSWER, "calls": CALLS[2:]}, "Готово.")),
        env=environment(stage.folder / "home"),
        cwd=stage.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == ANSWER + "Готово.\n"
    told = re.sub(r"[\d,]+ ms", "1 ms", SUMMARY.sub("· run", done.stderr.decode()))
    assert told == (
        "a word of the tool's own\n"
        '· look {"path":"чай.txt"}  1 ms, 14 bytes\n'
        "· run: answer, 2 steps, 30 tokens, cost unknown\n"
    )


def test_S1_with_stdout_in_a_pipe_the_terminal_is_told_in_lines(stage: Stage) -> None:
    arguments = stage.arguments("**Так.**")
    with Pseudo(toolroll(*arguments), env=environment(stage.folder / "home"), cwd=stage.folder) as terminal:
        assert terminal.end() == (0, "**Так.**\n")
        assert "step 1" not in terminal.text


def test_S1_keys_that_are_pressed_meanwhile_push_nothing_away(stage: Stage) -> None:
    text = "one two three four five six seven eight"
    with stage.paced({"text": text, "calls": [SAVE]}, "Done.") as terminal:
        stage.say(4)
        terminal.see("one two three four", "step 1 · scripted:script.json")
        terminal.send(b"x\r\r")
        stage.say(5)
        terminal.wait_for("Allow this?")
        terminal.press("y")
        stage.say(2)
        code, lines = ended(terminal)
    assert code == 0
    assert (lines[0], lines.count(text), [line for line in lines if LIVE.match(line)]) == (text, 1, [])
    assert "Allow this? y" in lines  # what is typed then is shown


def test_S1_in_the_background_the_terminal_is_left_as_it_is(stage: Stage) -> None:
    """To change its modes from there would stop the process."""
    program = f"exec setsid -w {shlex.join(toolroll(*stage.arguments('Done.')))}"
    with stage.open(["bash", "-c", program]) as terminal:
        code, lines = ended(terminal)
    assert (code, lines[0]) == (0, "Done.")


def test_S1_a_run_that_is_killed_leaves_no_mode_of_the_screen_behind(stage: Stage) -> None:
    with stage.paced("Одне слово.") as terminal:
        stage.say(1)
        terminal.see("Одне")
        terminal.process.send_signal(signal.SIGKILL)
        terminal.end()
        assert re.findall(rb"\x1b\[\?\d+[hl]", terminal.raw) == []
