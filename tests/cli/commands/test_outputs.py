"""`toolroll outputs`: list, show and search, for a reader, a pipe, a program and a terminal."""

import json
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import environment, run_raw, toolroll
from tests.support.terminal import Pseudo

from toolroll.home.folders import find_folders
from toolroll.outputs.run_folder import outputs_folder
from toolroll.outputs.store import OutputStore

TEXT = "".join(f"line {number}\n" for number in range(1, 5_001))


class Place:
    """A home with outputs in it: `one11` (text) and `two22` (bytes) of one run, `three3` of another."""

    def __init__(self, home: Path) -> None:
        self.home = home
        folder = outputs_folder(find_folders({"TOOLROLL_HOME": str(home)}))
        ids, times = iter(["one11", "two22", "three3"]), count(1_800_000_000)
        for run, contents in (("run_a", [TEXT, b"\xff\x1b[2Jbell\x07\n" * 3]), ("run_b", ["x" * 9])):
            with OutputStore(folder, run_id=run, make_id=lambda: next(ids), clock=lambda: float(next(times))) as store:
                for content in contents:
                    assert store.keep("call", "a_tool", content) is not None  # type: ignore[arg-type]  # either

    def call(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return run_raw(toolroll("outputs", *arguments), env=environment(self.home), cwd=self.home)

    def json(self, *arguments: str) -> Any:
        return json.loads(self.call(*arguments, "--json").stdout)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("home"))


def test_outputs_are_listed_the_latest_first(place: Place) -> None:
    lines = place.call("list").stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["three3", "two22", "one11"]
    assert lines[2].endswith("48,893 bytes     5,000 lines  a_tool in run_a")
    assert len(place.call("list", "--run", "run_a", "--limit", "1").stdout.splitlines()) == 1
    found = place.json("list", "--run", "run_a")["outputs"]
    assert [one["ref_id"] for one in found] == ["two22", "one11"]
    assert found[1] | {"made": 0, "path": ""} == {
        "ref_id": "one11",
        "run_id": "run_a",
        "call_id": "call",
        "tool": "a_tool",
        "made": 0,
        "kind": "text",
        "byte_size": 48_893,
        "line_count": 5_000,
        "path": "",
    }


def test_one_byte_and_one_line_are_said_so_in_their_columns(tmp_path: Path) -> None:
    folder = outputs_folder(find_folders({"TOOLROLL_HOME": str(tmp_path)}))
    times = count(1_800_000_000)
    with OutputStore(folder, run_id="run", clock=lambda: float(next(times))) as store:
        for content in ("", "x", "x\ny\n"):
            assert store.keep("call", "a_tool", content) is not None
    there = Place.__new__(Place)
    there.home = tmp_path
    assert [line[32:] for line in there.call("list").stdout.decode().splitlines()] == [
        "            4 bytes         2 lines  a_tool in run",
        "            1 byte          1 line   a_tool in run",
        "            0 bytes         0 lines  a_tool in run",
    ]


def test_a_run_is_named_whole(tmp_path: Path) -> None:
    run_id = "5d0c6e9a" * 4
    folder = outputs_folder(find_folders({"TOOLROLL_HOME": str(tmp_path)}))
    with OutputStore(folder, run_id=run_id) as store:
        assert store.keep("call", "a_tool", "x") is not None
    there = Place.__new__(Place)
    there.home = tmp_path
    assert there.call("list").stdout.decode().endswith(f"a_tool in {run_id}\n")


def test_where_there_are_none_it_says_so(tmp_path: Path, place: Place) -> None:
    empty = Place.__new__(Place)
    empty.home = tmp_path
    done = empty.call("list")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"There are no outputs" in done.stderr
    assert empty.json("list") == {"outputs": []}
    other = place.call("list", "--run", "run_z")
    assert (other.returncode, other.stdout) == (0, b"")
    assert other.stderr == b"No run that begins with 'run_z' has outputs. See 'toolroll runs list'.\n"


def test_an_output_is_shown_by_lines(place: Place) -> None:
    done = place.call("show", "one1", "--offset", "3", "--limit", "2")
    assert done.stdout.decode().splitlines()[:2] == ["     4\tline 4", "     5\tline 5"]
    last = done.stdout.decode().splitlines()[2]
    assert last.endswith("Next: toolroll outputs show one11 --offset 5 --limit 2]"), "a command, for people"
    onward = last.partition("toolroll outputs ")[2].removesuffix("]")
    assert place.call(*onward.split()).stdout.decode().startswith("     6\tline 6\n     7\tline 7\n[")
    assert place.call("show", "three3").stdout.decode().endswith("This is the end.]\n")
    shown = place.json("show", "one11", "--offset", "3", "--limit", "2")
    assert shown["lines"] == ["line 4", "line 5"]
    assert shown["next"] == {"offset": 5, "column": 0}
    assert place.json("show", "three3", "--column", "4")["lines"] == ["xxxxx"]
    assert place.json("show", "three3")["next"] is None


def test_raw_is_byte_for_byte_in_a_pipe(place: Place) -> None:
    assert place.call("show", "one11", "--raw").stdout == TEXT.encode()
    assert place.call("show", "two22", "--raw").stdout == b"\xff\x1b[2Jbell\x07\n" * 3


def test_raw_at_a_terminal_is_text_that_it_does_not_obey(place: Place, tmp_path: Path) -> None:
    with Pseudo(
        toolroll("outputs", "show", "two22", "--raw"),
        env=environment(place.home),
        cwd=tmp_path,
        stdout_on_terminal=True,
    ) as terminal:
        terminal.wait_for("bell")
        assert terminal.end()[0] == 0
    assert b"\x1b[2J" not in terminal.raw
    assert "‹U+001B›[2Jbell‹U+0007›".encode() in terminal.raw


def test_an_output_is_searched(place: Place) -> None:
    done = place.call("grep", "one11", "line 77", "-B", "1", "--max-matches", "1")
    assert done.stdout.decode().startswith("76-line 76\n77:line 77\n...and 10 more\n")
    assert done.stdout.decode().endswith("Read on from the last one: toolroll outputs show one11 --offset 76]\n")
    found = place.json("grep", "one11", "7{3}$", "--regex")
    assert (found["total"], found["matches"][0]) == (5, {"line": 777, "start": 6_876, "column": 5})
    assert place.call("grep", "one11", "nowhere").returncode == 1


def test_what_goes_wrong_is_told(place: Place) -> None:
    assert place.json("show", "nowhere")["error"]["code"] == "not_found"
    assert place.json("grep", "one11", "(", "--regex")["error"]["code"] == "invalid_pattern"
    assert place.json("show", "one11", "--raw")["error"]["code"] == "usage"
    assert place.json("show", "one11", "--offset", "9999")["error"]["code"] == "out_of_range"
    assert place.call("show", "../one11").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["show", "nope"], 1, "There is no output 'nope'. See 'toolroll outputs list'."),
        (["show", "on"], 2, "'on' is too short. Write 4 characters of the reference, or more."),
        (["show", "one11", "--raw", "--offset", "5"], 2, "--raw writes all of it."),
        (["show", "one11", "--offset", "-1"], 2, "-1 is not in the range x>=0."),
        (["show", "three3", "--offset", "9" * 30], 1, "The output has 1 line: offset 999,999,"),
        (["grep", "one11", "(", "--regex"], 1, "The pattern cannot be used: unclosed group."),
        (["grep", "one11", ""], 1, "The pattern cannot be used: it is empty, and would match every line."),
        (["grep", "one11", "x", "--max-matches", "0"], 2, "0 is not in the range x>=1."),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_a_mistake_is_told_in_a_line(place: Place, arguments: list[str], code: int, told: str) -> None:
    done = place.call(*arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert told in done.stderr.decode()
    assert done.stderr.decode().count("\n") == 1


def test_more_than_there_can_be_is_as_much_as_there_can_be(place: Place) -> None:
    shown = place.call("show", "one11", "--limit", "9" * 30).stdout.decode().splitlines()
    assert len(shown) == 2_001
    assert shown[-1].endswith("Next: toolroll outputs show one11 --offset 2000]")
    found = place.call("grep", "one11", "line", "-B", "9" * 30, "--max-matches", "9" * 30).stdout.decode().splitlines()
    assert found[-2:][0] == "...and 4,000 more"
