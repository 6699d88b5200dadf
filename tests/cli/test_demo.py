"""`toolroll demo`: true, readable, and gone without a trace."""

import inspect
import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.pseudo import Pseudo, environment, toolroll

from toolroll.cli import sample


def played(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        toolroll("demo", *arguments),
        env=environment(folder / "home", TMPDIR=str(folder), **env),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_demo_needs_nobody_and_leaves_nothing(tmp_path: Path) -> None:
    """S8 as far as it goes: no terminal, no key, no home, no trace."""
    done = played(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    for shown in (
        "No model, no key, no network.",
        "(written down in the demo)",
        "- amount: Input should be less than or equal to 99 (got 500)",
        "  2 - 1 x milk\n  2 + 12 x milk\n",
        "model reads  User rejected changes: two are enough",
        "in the file  2 x bread, 2 x milk, 1 x butter\n",
        "meanwhile    somebody adds 6 x eggs",
        "Nothing was done.",
        "The folder and the list are gone again.",
    ):
        assert shown in done.stdout
    assert "\x1b" not in done.stdout
    assert all(len(line) <= 80 and line == line.rstrip() for line in done.stdout.splitlines())


def test_the_demo_says_what_really_happened(tmp_path: Path) -> None:
    """S8: as JSON, each step with the call, the answer, the result, and the file."""
    done = played(tmp_path, "--json")
    steps = json.loads(done.stdout)["steps"]
    assert [(step["answer"], step["is_error"]) for step in steps] == [
        (None, True),
        ("reject", True),
        ("approve", False),
        ("approve", True),
    ]
    assert steps[0]["file"] == steps[1]["file"] == "2 x bread\n1 x milk\n1 x butter\n"
    assert steps[2]["file"] == "2 x bread\n2 x milk\n1 x butter\n"
    assert steps[3]["file"] == steps[2]["file"] + "6 x eggs\n", "the stale yes wrote nothing"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_demo_is_in_colour_and_fits(tmp_path: Path, columns: int) -> None:
    """S8, S7: drawn for the terminal's width, and not wider than can be read."""
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path))
    with Pseudo(
        toolroll("demo"), env=env, cwd=tmp_path, columns=columns, rows=200, stdout_on_terminal=True
    ) as terminal:
        assert terminal.end()[0] == 0
        assert b"\x1b[32m" in terminal.raw
        assert all(len(line) <= min(columns, 88) for line in terminal.display)
        colours = {cell.fg for line in terminal.screen.buffer.values() for cell in line.values()}
    assert {"green", "red", "cyan"} <= colours


def test_the_demo_on_a_narrow_screen_cuts_nothing_off(tmp_path: Path) -> None:
    """S8: code is folded, and a long title still ends in its rule."""
    lines = played(tmp_path, COLUMNS="40").stdout.splitlines()
    assert all(len(line) <= 40 for line in lines)
    joined = "".join("".join(lines).split())
    assert "".join(inspect.getsource(sample.put_item.__wrapped__).split()) in joined  # type: ignore[attr-defined]
    assert "model can repair it " + "─" * 20 in lines


def test_the_demo_without_colour(tmp_path: Path) -> None:
    """S7: NO_COLOR at a terminal."""
    env = environment(tmp_path / "home", NO_COLOR="1")
    with Pseudo(toolroll("demo"), env=env, cwd=tmp_path, rows=200, stdout_on_terminal=True) as terminal:
        terminal.end()
        colours = {cell.fg for line in terminal.screen.buffer.values() for cell in line.values()}
    assert colours == {"default"}
