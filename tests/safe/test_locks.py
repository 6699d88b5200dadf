"""One at a time, across processes and threads, also when the holder is killed."""

import asyncio
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.descriptors import as_many_descriptors

from toolroll.errors import FileMissing, LockTimeout, NotAFile, OutsideRoot
from toolroll.safe import locks
from toolroll.safe.locks import FileLock, file_lock

HOLD = """
import sys, time
from toolroll.safe.locks import file_lock
with file_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

HANGS_S = 60  # a busy machine is slow, but not that slow

COUNT = """
import json, os, sys
from toolroll.safe.paths.files import replace_file
from toolroll.safe.locks import file_lock
folder = os.open(sys.argv[1], os.O_RDONLY)
rounds = 0
while rounds < 100 or not os.path.exists(sys.argv[2]):
    rounds += 1
    with file_lock(f"{sys.argv[1]}/lock", timeout_s=60):
        with open(f"{sys.argv[1]}/count.json", "rb") as file:
            count = json.load(file)["count"]
        replace_file(folder, "count.json", json.dumps({"count": count + 1, "pad": "x" * 5000}).encode())
print(rounds)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@contextmanager
def holder(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the lock until it is killed or its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_a_lock_is_taken_given_back_and_taken_again(path: Path) -> None:
    lock = FileLock(path)
    for _ in range(3):
        with lock:
            assert path.read_text() == str(os.getpid())
        assert path.read_text() == ""
    lock.release()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_holder_in_another_process_is_waited_for_and_named(path: Path) -> None:
    with holder(path) as process:
        start = time.monotonic()
        with pytest.raises(LockTimeout, match=f"process {process.pid} ") as caught, file_lock(path, timeout_s=0.2):
            pytest.fail("two holders")
        assert 0.2 <= time.monotonic() - start < HANGS_S
        assert "0.2 s" in caught.value.message
        assert path.exists()
        assert process.stdin is not None
        process.stdin.close()
        with file_lock(path):
            assert path.read_text() == str(os.getpid())


def test_a_killed_holder_holds_nothing(path: Path) -> None:
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        with file_lock(path, timeout_s=HANGS_S):
            assert path.read_text() == str(os.getpid())


def test_no_wait_at_all_is_one_try(path: Path) -> None:
    with file_lock(path), pytest.raises(LockTimeout, match=str(os.getpid())), file_lock(path, timeout_s=0):
        pytest.fail("two holders")


@pytest.mark.parametrize("note", [b"", b"rm -rf", b"9" * 100, b"\xff"])
def test_a_note_that_is_no_process_id_is_not_repeated(path: Path, note: bytes) -> None:
    with file_lock(path):
        path.write_bytes(note)
        with pytest.raises(LockTimeout, match="another process"), file_lock(path, timeout_s=0):
            pytest.fail("two holders")


def test_a_note_that_cannot_be_written_or_read_does_not_matter(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "ftruncate", full)
    lock = FileLock(path, timeout_s=0)
    with lock, pytest.raises(LockTimeout, match="another process"):
        lock.acquire()
    assert locks._read_note(path.parent / "none") is None


def test_threads_of_one_process_take_turns(path: Path) -> None:
    inside = 0
    most = 0
    shared = FileLock(path, timeout_s=30)

    def work() -> None:
        nonlocal inside, most
        for _ in range(10):
            with shared:
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)


async def test_waiting_in_a_loop_does_not_stop_it(path: Path) -> None:
    async def end_after_ten_turns(process: "subprocess.Popen[str]") -> None:
        for _ in range(10):
            await asyncio.sleep(0.005)
        assert process.stdin is not None
        process.stdin.close()

    with holder(path) as process:
        with pytest.raises(LockTimeout):
            async with FileLock(path, timeout_s=0.05):
                pytest.fail("two holders")
        ending = asyncio.create_task(end_after_ten_turns(process))
        async with FileLock(path, timeout_s=HANGS_S):
            assert path.read_text() == str(os.getpid())
            assert ending.done()
        await ending


async def test_a_cancelled_wait_leaves_nothing_behind(path: Path) -> None:
    with as_many_descriptors(), file_lock(path):
        waiting = asyncio.create_task(FileLock(path).acquire_async())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    with file_lock(path, timeout_s=0):
        pass


def test_a_lock_file_that_was_removed_meanwhile_is_not_enough(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever removes it lets two files of one name be locked: the one that still has the name counts."""
    real = os.open
    removed: list[Path] = []

    def opened(name: Path, flags: int, mode: int) -> int:
        fd = real(name, flags, mode)
        if len(removed) < 2:
            removed.append(name)
            name.unlink()
            if len(removed) == 2:
                name.touch()
        return fd

    monkeypatch.setattr(os, "open", opened)
    with file_lock(path):
        assert path.read_text() == str(os.getpid())
    assert len(removed) == 2


def test_what_is_no_file_cannot_be_locked(path: Path) -> None:
    (path.parent / "pipe").mkdir()
    os.mkfifo(path)
    (path.parent / "link").symlink_to("elsewhere")
    refusals = {"lock": NotAFile, "pipe": NotAFile, "link": OutsideRoot, "none/lock": FileMissing}
    for name, error in refusals.items():
        with as_many_descriptors(), pytest.raises(error), file_lock(path.parent / name):
            pytest.fail("locked")
    assert not (path.parent / "elsewhere").exists()


def test_a_forked_child_does_not_keep_the_lock(path: Path) -> None:
    with file_lock(path):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:  # shares the description; lives until the parent has tried
            os.close(write_end)
            os.read(read_end, 1)
            os._exit(0)
        os.close(read_end)
    with file_lock(path, timeout_s=0):
        pass
    os.close(write_end)
    os.waitpid(child, 0)


@pytest.mark.timeout(120)
def test_eight_processes_count_to_eight_hundred(tmp_path: Path) -> None:
    """Locked, each update builds on the last one; replaced at once, no reader sees a torn file."""
    shared, enough = tmp_path / "shared", tmp_path / "enough"  # they go on until it was read a hundred times
    shared.mkdir()
    (shared / "count.json").write_text('{"count": 0}')
    command = [sys.executable, "-c", COUNT, str(shared), str(enough)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    torn = reads = 0
    while any(worker.poll() is None for worker in workers):
        reads += 1
        try:
            json.loads((shared / "count.json").read_bytes())
        except ValueError:
            torn += 1
        if reads == 100:
            enough.touch()
    assert [worker.returncode for worker in workers] == [0] * 8
    counted = [int(worker.communicate()[0]) for worker in workers]
    assert min(counted) >= 100
    assert json.loads((shared / "count.json").read_bytes())["count"] == sum(counted)
    assert torn == 0
    assert sorted(os.listdir(shared)) == ["count.json", "lock"]
