"""What ripgrep prints, read at once in a thread: all of it, or as much as there was when it was ended."""

import errno
import os
import resource
import threading
import time
from pathlib import Path

import pytest
from tests.safe.programs.test_ripgrep import (
    DEADLINE_S,
    flood,
    patience,
    pipe_without_writer,
    processes_in,
    write,
)

from toolroll.errors import UsageError
from toolroll.safe.programs import ripgrep_process
from toolroll.safe.programs.ripgrep import RipgrepEnd, collect_ripgrep

__all__ = ["patience"]  # for every test here, too

MB = 1_000_000


def collect(
    folder: Path, *arguments: str, timeout_s: float = DEADLINE_S, limit_bytes: int = 100 * MB
) -> tuple[RipgrepEnd, bytes]:
    until = time.monotonic() + timeout_s
    return collect_ripgrep(arguments, cwd=folder, left_s=lambda: until - time.monotonic(), limit_bytes=limit_bytes)


def test_C12_all_that_is_printed_is_there(tmp_path: Path) -> None:
    write(tmp_path, a=b"one\ntwo\n", b=b"two")
    end, printed = collect(tmp_path, "--sort=path", "-e", "two", "--", ".")
    assert (end, printed) == (RipgrepEnd(ended="exited", exit_code=0, stderr=""), b"./a:two\n./b:two\n")
    end, printed = collect(tmp_path, "-e", "(", "--", ".")
    assert (end.exit_code, printed, "unclosed group" in end.stderr) == (2, b"", True)


def test_C12_too_much_output_ends_it(tmp_path: Path) -> None:
    flood(tmp_path, 5_000_000)
    end, _ = collect(tmp_path, "-e", "needle", "--", "./flood", limit_bytes=1_000)
    assert end.ended == "output_limit"
    assert processes_in(tmp_path) == []


def test_XF14_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    end, printed = collect(tmp_path, "-e", "x", "--", pipe_without_writer(tmp_path), timeout_s=0.2)
    assert (end.ended, end.exit_code, printed) == ("timeout", -9, b"")
    assert processes_in(tmp_path) == []


def test_XF14_a_caller_who_gives_up_ends_it(tmp_path: Path) -> None:
    left, ends = [float(DEADLINE_S)], list[RipgrepEnd]()
    name = pipe_without_writer(tmp_path)

    def work() -> None:
        arguments = ["-e", "x", "--", name]
        ends.append(collect_ripgrep(arguments, cwd=tmp_path, left_s=lambda: left[0], limit_bytes=MB)[0])

    thread = threading.Thread(target=work)
    thread.start()
    while not processes_in(tmp_path):
        time.sleep(0.01)
    left[0] = 0.0
    thread.join(DEADLINE_S)
    assert [end.ended for end in ends] == ["timeout"]
    assert processes_in(tmp_path) == []


def test_XF14_its_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ripgrep_process.start_ripgrep(["sleep", "60"], cwd=tmp_path) as process:
        try:
            limits = resource.prlimit(process.pid, resource.RLIMIT_AS)
        finally:
            process.kill()
    assert limits == (ripgrep_process.MEMORY_BYTES, ripgrep_process.MEMORY_BYTES)
    monkeypatch.delattr(resource, "prlimit")  # as on systems that cannot
    write(tmp_path, a=b"tea\n")
    assert collect(tmp_path, "-e", "tea", "--", ".")[1] == b"./a:tea\n"


def test_XF12_it_reads_no_ignore_file_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, a=b"tea\n")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / ".ignore").symlink_to("/dev/zero")
    (tmp_path / ".git").mkdir()
    assert collect(tmp_path, "-e", "tea", "--", "./a")[1] == b"tea\n"


def test_XF8_where_no_file_can_be_made_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("toolroll.safe.programs.ripgrep.TemporaryFile", refuse)
    with pytest.raises(UsageError, match=r"Cannot search: .*Too many open files"):
        collect(tmp_path, "--files")


def test_XF8_what_cannot_begin_says_so(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(UsageError, match=r"Cannot search: .*No such file"):
        collect(tmp_path / "missing", "--files")
    assert len(os.listdir("/proc/self/fd")) <= before
