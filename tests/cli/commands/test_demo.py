"""`toolroll demo`: true, readable, and gone without a trace."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.programs import environment, run_toolroll, toolroll
from tests.support.terminal import Pseudo

CHANGED_LINE = 'cups === 0 ? "no tea at all"'


def played(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    known = environment(folder / "home", TMPDIR=str(folder), **env)
    return run_toolroll("demo", *arguments, env=known, cwd=folder)


def test_S8_the_demo_needs_nobody_and_leaves_nothing(tmp_path: Path) -> None:
    """No terminal, no key, no home, no trace."""
    done = played(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    for shown in (
        "What the model says is recorded",
        "src/services/format.js:2  function formatCups",
        "3 imports in 3 files",
        "note  src/services/format.js is imported by 3 files.",
        "  @@ -1,2 +1,3 @@\n",
        "Allow this? y   (recorded",
        "Written: src/services/format.js (+2 -1)",
        "Byte for byte as it was.",
        "the same each time",
    ):
        assert shown in done.stdout, shown
    assert "\x1b" not in done.stdout
    assert all(len(line) <= 80 and line == line.rstrip() for line in done.stdout.splitlines())


def test_S8_the_demo_says_what_really_happened(tmp_path: Path) -> None:
    """As JSON: each call with what came of it, the file before and after, and that undo and replay did their work."""
    told = json.loads(played(tmp_path, "--json").stdout)
    assert sorted(call["name"] for call in told["calls"]) == ["edit", "find_definition", "find_importers", "read_file"]
    assert not any(call["is_error"] for call in told["calls"])
    assert CHANGED_LINE not in told["before"]
    assert CHANGED_LINE in told["after"]
    assert (told["undone"], told["replay_is_same"]) == (True, True)


def test_S8_what_is_logged_is_not_on_the_screen(tmp_path: Path) -> None:
    logged = "import atexit, logging; atexit.register(logging.getLogger('toolroll').warning, 'A line of the log.')"
    command = [sys.executable, "-c", f"{logged}; from toolroll.cli.main import main; main()", "demo", "--json"]
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path))
    for more, told in ((), ""), (("--debug",), "A line of the log.\n"):
        done = subprocess.run([*command, *more], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, told)


def test_S8_the_person_can_be_asked_and_say_no(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path))
    command = toolroll("demo", "--ask")
    with Pseudo(command, env=env, cwd=tmp_path, rows=200, stdout_on_terminal=True) as terminal:
        terminal.wait_for("Allow this?")
        terminal.press("n", "Why not?")
        terminal.press("I like numbers.", "Try next")
        assert terminal.end()[0] == 0
        text = "\n".join(terminal.display)
    assert "User rejected changes: I like numbers." in text
    assert "There is nothing to undo" in text
    assert CHANGED_LINE not in text.split("There is nothing")[0].split("in the file")[-1]


def test_S8_asking_needs_a_terminal(tmp_path: Path) -> None:
    done = played(tmp_path, "--ask")
    assert done.returncode == 2
    assert "--ask needs a terminal" in done.stderr


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_S7_the_demo_is_in_colour_and_fits(tmp_path: Path, columns: int) -> None:
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path))
    with Pseudo(
        toolroll("demo"), env=env, cwd=tmp_path, columns=columns, rows=300, stdout_on_terminal=True
    ) as terminal:
        assert terminal.end()[0] == 0
        assert b"\x1b[32m" in terminal.raw
        assert all(len(line) <= min(columns, 88) for line in terminal.display)
        colours = {cell.fg for line in terminal.screen.buffer.values() for cell in line.values()}
    assert {"green", "cyan"} <= colours


def test_S7_the_demo_without_colour(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path), NO_COLOR="1")
    with Pseudo(toolroll("demo"), env=env, cwd=tmp_path, rows=300, stdout_on_terminal=True) as terminal:
        assert terminal.end()[0] == 0
        assert {cell.fg for line in terminal.screen.buffer.values() for cell in line.values()} == {"default"}
