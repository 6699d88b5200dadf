"""What ripgrep prints, read at once: all of it, or as much as there was when it was ended."""

import asyncio
import errno
import os
import time
from pathlib import Path

import pytest
from tests.safe.programs.test_ripgrep import (
    DEADLINE_S,
    flood,
    patience,
    pipe_without_writer,
    processes_in,
    until,
    write,
)

from toolroll.errors import UsageError
from toolroll.safe.programs.ripgrep import RipgrepEnd, gather_ripgrep, iterate_ripgrep

__all__ = ["patience"]  # for every test here, too

MB = 1_000_000


async def gather(
    folder: Path, *arguments: str, timeout_s: float = DEADLINE_S, limit_bytes: int = 100 * MB
) -> tuple[RipgrepEnd, bytes]:
    return await gather_ripgrep(arguments, cwd=folder, timeout_s=timeout_s, limit_bytes=limit_bytes)


async def test_C12_all_that_is_printed_is_there(tmp_path: Path) -> None:
    write(tmp_path, a=b"one\ntwo\n", b=b"two")
    end, printed = await gather(tmp_path, "--sort=path", "-e", "two", "--", ".")
    assert (end, printed) == (RipgrepEnd(ended="exited", exit_code=0, stderr=""), b"./a:two\n./b:two\n")
    end, printed = await gather(tmp_path, "-e", "(", "--", ".")
    assert (end.exit_code, printed, "unclosed group" in end.stderr) == (2, b"", True)


async def test_C12_without_memory_files_a_temporary_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    write(tmp_path, a=b"tea\n")
    assert (await gather(tmp_path, "-e", "tea", "--", "."))[1] == b"./a:tea\n"


@pytest.mark.parametrize("lines", [2_000, 5_000_000])
async def test_C12_too_much_output_ends_it(tmp_path: Path, lines: int) -> None:
    """Also where it has ended by itself before anybody looked."""
    flood(tmp_path, lines)
    end, printed = await gather(tmp_path, "-e", "needle", "--", "./flood", limit_bytes=1_000)
    assert (end.ended, len(printed)) == ("output_limit", 1_000)
    assert processes_in(tmp_path) == []


async def test_C12_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    started = time.monotonic()
    end, printed = await gather(tmp_path, "-e", "x", "--", pipe_without_writer(tmp_path), timeout_s=0.2)
    assert (end.ended, end.exit_code, printed) == ("timeout", -9, b"")
    assert time.monotonic() - started < DEADLINE_S
    assert processes_in(tmp_path) == []


async def test_C12_cancelling_leaves_no_process_and_no_descriptor(tmp_path: Path) -> None:
    await gather(tmp_path, "--files")
    before = len(os.listdir("/proc/self/fd"))
    task = asyncio.create_task(gather(tmp_path, "-e", "x", "--", pipe_without_writer(tmp_path)))
    await until(lambda: len(processes_in(tmp_path)) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes_in(tmp_path) == []
    with pytest.raises(UsageError, match="Cannot search"):
        await gather(tmp_path / "missing", "--files")
    await until(lambda: len(os.listdir("/proc/self/fd")) <= before)


async def test_C12_complaints_are_cut_and_the_search_goes_on(tmp_path: Path) -> None:
    write(tmp_path, a=b"tea\n", **{f"ignored{number}": b"tea\n" for number in range(300)}, **{".ignore": b"ignored*\n"})
    arguments = ("--debug", "--count", "-e", "tea", "--", "./")
    end, printed = await gather_ripgrep(arguments, cwd=tmp_path, timeout_s=10, limit_bytes=MB, stderr_bytes=2_000)
    assert (end.ended, printed, len(end.stderr)) == ("exited", b"./a:1\n", 2_000)
    end, _ = await gather_ripgrep(arguments, cwd=tmp_path, timeout_s=10, limit_bytes=MB, stderr_bytes=MB)
    assert end.stderr.count("ignoring ./ignored") == 300


async def test_XF8_where_no_file_can_be_made_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "memfd_create", refuse)
    with pytest.raises(UsageError, match=r"Cannot search: .*Too many open files"):
        await gather(tmp_path, "--files")


def test_XF8_a_walk_that_cannot_begin_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Cannot search: .*No such file"):
        next(iterate_ripgrep(["--files"], cwd=tmp_path / "missing", separator=b"\0"))
