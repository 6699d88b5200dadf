"""The program while it runs: any program that prints will do to try it."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from tests.safe.programs.test_ripgrep import DEADLINE_S, flood, patience, pipe_without_writer, processes_in, until
from tests.support.descriptors import as_many_descriptors

from toolroll.safe.programs.ripgrep import run_ripgrep
from toolroll.safe.programs.ripgrep_process import MAX_STDERR_BYTES, RipgrepProcess, ripgrep_process

__all__ = ["patience"]  # for every test here, too

PIDFD = ["as it is", "none", "refused"]


@pytest.fixture
def pidfd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Waiting for the end of a process, as kernels and containers allow it."""

    def refused(pid: int) -> int:
        raise PermissionError(pid)

    if request.param == "none":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    elif request.param == "refused":
        monkeypatch.setattr(os, "pidfd_open", refused, raising=False)
    return str(request.param)


async def all_of(process: RipgrepProcess) -> bytes:
    printed = b""
    while chunk := await process.read():
        printed += chunk
    await process.wait()
    return printed


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


@pytest.mark.usefixtures("pidfd")
@pytest.mark.parametrize("pidfd", PIDFD, indirect=True)
async def test_what_it_prints_and_complains_of_and_its_exit_code(tmp_path: Path) -> None:
    async with ripgrep_process(shell("pwd; echo no >&2; exit 3"), cwd=tmp_path) as process:
        assert await all_of(process) == f"{tmp_path}\n".encode()
    assert (process.complaints, process.exit_code) == ("no\n", 3)


@pytest.mark.usefixtures("pidfd")
@pytest.mark.parametrize("pidfd", PIDFD, indirect=True)
async def test_C12_leaving_ends_it_however_one_leaves(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        async with ripgrep_process(["sleep", "60"], cwd=tmp_path) as process:
            raise KeyError
    assert (process.exit_code, processes_in(tmp_path)) == (-9, [])


@pytest.mark.usefixtures("pidfd")
@pytest.mark.parametrize("pidfd", ["none", "refused"], indirect=True)
async def test_C12_without_an_event_it_is_asked_again_and_again_whether_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends only after it was asked once: by chance it is gone before, and nobody would have waited."""
    script = "exec >&- 2>&-; while [ ! -e asked ]; do sleep 0.01; done; exit 5"
    async with ripgrep_process(shell(script), cwd=tmp_path) as process:
        ask = process._process.poll

        def poll() -> int | None:
            code = ask()
            (tmp_path / "asked").touch()
            return code

        monkeypatch.setattr(process._process, "poll", poll)
        assert await all_of(process) == b""
        assert process.exit_code == 5


async def test_C12_complaints_that_nobody_waits_for_do_not_hold_it_up(tmp_path: Path) -> None:
    """A pipe holds 64 KiB: whoever reads only what is printed would wait for ever."""
    script = "head -c 300000 /dev/zero >&2; echo printed; head -c 300000 /dev/zero >&2"
    async with ripgrep_process(shell(script), cwd=tmp_path) as process:
        assert await all_of(process) == b"printed\n"
    assert len(process.complaints) == MAX_STDERR_BYTES


async def test_C12_it_is_told_the_home_folder_and_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    for home in (["HOME=/home/somebody"], []):
        if not home:
            monkeypatch.delenv("HOME")
        async with ripgrep_process(["/usr/bin/env"], cwd=tmp_path) as process:
            lines = (await all_of(process)).decode().split()
        assert sorted(lines) == [*home, "PATH=/usr/local/bin:/usr/bin:/bin"]


async def test_C12_others_get_their_turn_while_it_floods(tmp_path: Path) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    async with ripgrep_process(["yes"], cwd=tmp_path) as process:
        for _ in range(200):
            assert await process.read()
    task.cancel()
    assert turns >= 200


async def test_C12_a_reader_that_fails_fails_as_it_is_and_ends_the_search(tmp_path: Path) -> None:
    def fail(line: bytes) -> bool:
        raise KeyError(line)

    flood(tmp_path)
    with pytest.raises(KeyError, match="needle"):
        await run_ripgrep(
            ["-e", "needle", "--", "./flood"], cwd=tmp_path, timeout_s=DEADLINE_S, on_line=fail, limit_bytes=10_000_000
        )
    assert processes_in(tmp_path) == []


async def test_C12_cancelled_twice_it_is_killed_and_nothing_stays_open(tmp_path: Path) -> None:
    name = pipe_without_writer(tmp_path)

    async def search() -> None:
        await run_ripgrep(
            ["-e", "x", "--", name], cwd=tmp_path, timeout_s=DEADLINE_S, on_line=lambda _: True, limit_bytes=1_000
        )

    await run_ripgrep(["--files"], cwd=tmp_path, timeout_s=DEADLINE_S, on_line=lambda _: True, limit_bytes=1_000)
    with as_many_descriptors():
        task = asyncio.create_task(search())
        await until(lambda: len(processes_in(tmp_path)) == 1)
        [pid] = processes_in(tmp_path)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not Path("/proc", pid).exists())  # nor is it a dead one whom nobody asked how it ended


async def test_C12_what_does_not_die_at_once_is_still_asked_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that does not answer holds up even who was killed; here the signal comes late instead."""
    monkeypatch.setattr("toolroll.safe.programs.ripgrep_process.PROGRAM_KILLED_S", 0.01)
    async with ripgrep_process(["sleep", "60"], cwd=tmp_path) as process:
        [pid] = processes_in(tmp_path)
        monkeypatch.setattr(process._process, "kill", lambda: None)
    assert process.exit_code is None
    os.kill(int(pid), signal.SIGKILL)
    await until(lambda: process.exit_code == -9)


async def test_C12_the_time_counts_also_when_it_has_closed_its_output(tmp_path: Path) -> None:
    """Its end was not seen: its exit code says nothing about what it found."""
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nexec >&-\nexec sleep 60\n")
    program.chmod(0o700)
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolroll.safe.programs.ripgrep.ripgrep_path", lambda: str(program))
        end = await run_ripgrep([], cwd=tmp_path, timeout_s=0.2, on_line=lambda _: True, limit_bytes=1_000)
    assert (end.ended, end.exit_code) == ("timeout", -9)
    assert time.monotonic() - began < DEADLINE_S


async def test_C12_cancelled_while_it_ends_it_leaves_no_descriptor_that_the_loop_watches(tmp_path: Path) -> None:
    """Descriptors are given out again: the loop must not take them for the ones it was told to watch."""

    async def search() -> None:
        async with ripgrep_process(shell("exec >&-; exec sleep 60"), cwd=tmp_path) as process:
            assert await process.read() == b""
            closed.set()
            await process.wait()

    closed = asyncio.Event()
    task = asyncio.create_task(search())
    await closed.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with ripgrep_process(shell("echo next"), cwd=tmp_path) as process, asyncio.timeout(DEADLINE_S):
        assert await all_of(process) == b"next\n"
