"""XL12: a program may hang, flood, fork or refuse to stop; it ends, and nothing of it stays."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import time_passes

from toolroll.errors import UsageError
from toolroll.safe.limits import PROGRAM_GRACE_S
from toolroll.safe.programs.run import ProgramResult, _shorten, ended_on_error, minimal_environment, run_program

MB = 1_000_000
DEADLINE_S = 60  # what takes longer hangs: a busy machine is no finding

# The children write their number to a file of their own, so that a test knows whom to look for.
IGNORES = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
TELLS = "import os, pathlib; pathlib.Path(f'pid-{os.getpid()}').touch()\n"
HANGS = "import time\nwhile True: time.sleep(60)\n"


async def run(
    code: str, folder: Path, *, timeout_s: float = DEADLINE_S, limit: int = MB, stdin: bytes = b""
) -> ProgramResult:
    command = [sys.executable, "-S", "-E", "-c", code]
    return await run_program(command, timeout_s=timeout_s, limit_output_bytes=limit, cwd=folder, stdin=stdin)


def spawning(code: str, *, session: bool = False) -> str:
    """Code that starts a grandchild with `code` and goes on."""
    start = f"subprocess.Popen([sys.executable, '-S', '-E', '-c', {code!r}], start_new_session={session})"
    return f"import subprocess, sys\nchild = {start}\n"


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def run_out_of_time(code: str, folder: Path) -> ProgramResult:
    """Run what tells that it has begun, and reach its limit only then."""
    task = asyncio.create_task(run(code, folder, timeout_s=3_600))
    await until(lambda: len(told(folder)) == 1)
    time_passes(3_600)
    return await task


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds of grace that a busy machine does not use up."""
    monkeypatch.setattr("toolroll.safe.programs.run.PROGRAM_GRACE_S", float(DEADLINE_S))
    return DEADLINE_S


def told(folder: Path) -> list[int]:
    return [int(path.name[4:]) for path in folder.glob("pid-*")]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def all_gone(folder: Path, count: int) -> None:
    assert count == len(told(folder))
    await until(lambda: not any(map(alive, told(folder))))


async def test_output_and_exit_code(tmp_path: Path) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert await run(code, tmp_path) == ProgramResult(ended="exited", exit_code=3, stdout=b"out\n", stderr=b"err\n")


async def test_death_by_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    result = await run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", tmp_path)
    assert (result.ended, result.exit_code) == ("exited", -signal.SIGSEGV)


async def test_XL12_there_is_no_shell(tmp_path: Path) -> None:
    argv = ["echo", "; touch x", "$(touch y)", "`touch z`", "*", "$HOME"]
    result = await run_program(argv, timeout_s=DEADLINE_S, limit_output_bytes=MB, cwd=tmp_path)
    assert result.stdout == b"; touch x $(touch y) `touch z` * $HOME\n"
    assert list(tmp_path.iterdir()) == []


async def test_XL12_stdin_is_given_or_at_its_end(tmp_path: Path) -> None:
    echo = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert (await run(echo, tmp_path)).stdout == b""
    assert (await run(echo, tmp_path, stdin=b"x" * MB)).stdout == b"x" * MB


async def test_XL12_a_program_that_never_reads_does_not_block(tmp_path: Path) -> None:
    result = await run("print('done')", tmp_path, stdin=b"x" * 10 * MB)
    assert result.stdout == b"done\n"


async def test_XL12_it_has_a_session_and_no_terminal(tmp_path: Path) -> None:
    code = "import os\nprint(os.getsid(0) == os.getpid())\ntry: open('/dev/tty')\nexcept OSError: print('none')"
    assert (await run(code, tmp_path)).stdout == b"True\nnone\n"


async def test_D6_the_environment_has_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-7f3a")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    result = await run("import os; print(*sorted(os.environ))", tmp_path)
    names = set(result.stdout.decode().split())
    assert {"PATH", "HOME", "LC_ALL", "TOOLROLL_PROGRAM"} <= names
    assert not names & {"ANTHROPIC_API_KEY", "LD_PRELOAD", "PYTHONPATH"}


async def test_a_given_environment_is_the_whole_one(tmp_path: Path) -> None:
    argv = [sys.executable, "-S", "-E", "-c", "import os; print(sorted(os.environ))"]
    result = await run_program(
        argv, timeout_s=DEADLINE_S, limit_output_bytes=MB, env={"ONE": "1", "LC_CTYPE": "C.UTF-8"}
    )
    assert result.stdout == b"['LC_CTYPE', 'ONE', 'TOOLROLL_PROGRAM']\n"


def test_programs_are_never_looked_for_in_the_working_folder() -> None:
    for path in ("", ".", "bin:.::./x", "~/bin"):
        assert minimal_environment({"PATH": path}) == {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    assert minimal_environment({"PATH": ".:/opt/bin::/bin", "LANG": "uk", "X": "1"}) == {
        "PATH": "/opt/bin:/bin",
        "LANG": "uk",
    }
    assert minimal_environment({}) == {"PATH": "/usr/local/bin:/usr/bin:/bin"}


@pytest.mark.usefixtures("patience")
async def test_XL12_a_hanging_program_ends_with_what_it_wrote(tmp_path: Path) -> None:
    result = await run_out_of_time("print('begun', flush=True)\n" + TELLS + HANGS, tmp_path)
    assert result == ProgramResult(ended="timeout", exit_code=-signal.SIGTERM, stdout=b"begun\n", stderr=b"")
    await all_gone(tmp_path, 1)


@pytest.mark.usefixtures("patience")
async def test_XL12_a_program_can_clean_up_when_asked_to_end(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal, sys, time\n"  # all of it: while something is imported, sys.exit can go unheard
        "def end(*_): pathlib.Path('cleaned').touch(); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n" + TELLS + HANGS
    )
    result = await run_out_of_time(code, tmp_path)
    assert (result.ended, result.exit_code) == ("timeout", 0)
    assert (tmp_path / "cleaned").exists()


async def test_XL12_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    start = time.monotonic()
    result = await run_out_of_time(IGNORES + TELLS + HANGS, tmp_path)
    assert (result.ended, result.exit_code) == ("timeout", -signal.SIGKILL)
    assert PROGRAM_GRACE_S <= time.monotonic() - start < DEADLINE_S
    await all_gone(tmp_path, 1)


async def test_XL12_grandchildren_end_too(tmp_path: Path) -> None:
    stubborn = IGNORES + TELLS + HANGS
    flood = "import pathlib\nwhile len(list(pathlib.Path().glob('pid-*'))) < 4: pass\nwhile True: print('x' * 1000)"
    result = await run(TELLS + spawning(spawning(stubborn) + stubborn) + spawning(stubborn) + flood, tmp_path)
    assert result.ended == "output_limit"
    await all_gone(tmp_path, 4)


async def test_XL12_what_the_program_left_running_ends_with_it(tmp_path: Path) -> None:
    """A child in the background holds the pipe open; neither it nor the wait for it stays."""
    start = time.monotonic()
    wait = "import pathlib\nwhile not list(pathlib.Path().glob('pid-*')): pass\nprint('done', flush=True)"
    result = await run(spawning(TELLS + HANGS) + wait, tmp_path)
    assert (result.ended, result.exit_code, result.stdout) == ("exited", 0, b"done\n")
    assert time.monotonic() - start < DEADLINE_S / 2
    await all_gone(tmp_path, 1)


DAEMON = spawning(IGNORES + TELLS + HANGS, session=True) + (
    "import pathlib\nwhile not list(pathlib.Path().glob('pid-*')): pass\n"
)


async def test_XL12_a_daemon_that_left_the_session_ends_too(tmp_path: Path) -> None:
    result = await run(DAEMON, tmp_path)
    assert result.ended == "exited"
    await all_gone(tmp_path, 1)


async def test_XL12_without_process_handles_only_the_group_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert (await run(DAEMON, tmp_path)).ended == "exited"
    [daemon] = told(tmp_path)
    assert alive(daemon)
    os.kill(daemon, signal.SIGKILL)
    await all_gone(tmp_path, 1)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_XL12_a_flood_is_cut_in_flat_memory(tmp_path: Path, stream: str) -> None:
    code = TELLS + f"import sys\nwhile True: sys.{stream}.buffer.write(b'x' * 65536)"
    tracemalloc.start()
    try:
        result = await run(code, tmp_path, limit=100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.ended == "output_limit"
    assert len(result.stdout) + len(result.stderr) == 100_000
    assert peak < 2 * MB
    await all_gone(tmp_path, 1)


async def test_XL12_both_streams_share_the_limit(tmp_path: Path) -> None:
    code = "import os\nfor _ in range(100):\n  os.write(1, b'o' * 1000); os.write(2, b'e' * 1000)\n"
    result = await run(code, tmp_path, limit=50_000)
    assert result.ended == "output_limit"
    assert len(result.stdout) + len(result.stderr) == 50_000


async def test_XL12_output_up_to_the_limit_is_no_flood(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('x' * 70_000)"
    exact = await run(code, tmp_path, limit=70_000)
    assert (exact.ended, len(exact.stdout)) == ("exited", 70_000)
    over = await run(code, tmp_path, limit=69_999)
    assert (over.ended, len(over.stdout)) == ("output_limit", 69_999)


async def test_XL12_cancelling_leaves_no_process(tmp_path: Path) -> None:
    stubborn = IGNORES + TELLS + HANGS
    task = asyncio.create_task(run(spawning(stubborn) + stubborn, tmp_path))
    await until(lambda: len(told(tmp_path)) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await all_gone(tmp_path, 2)


async def test_XL12_cancelling_twice_leaves_no_process_either(
    tmp_path: Path, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time while the group is given its grace."""
    started: list[Process] = []
    start_program = asyncio.create_subprocess_exec

    async def start_and_note(*argv: Any, **options: Any) -> Process:
        started.append(await start_program(*argv, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_and_note)
    asked = "import signal, pathlib; signal.signal(signal.SIGTERM, lambda *_: pathlib.Path('asked').touch())\n"
    task = asyncio.create_task(run(spawning(IGNORES + TELLS + HANGS) + asked + TELLS + HANGS, tmp_path))
    await until(lambda: len(told(tmp_path)) == 2)
    task.cancel()
    await until((tmp_path / "asked").exists)
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < patience / 2
    await all_gone(tmp_path, 2)
    # Else the loop is closed before asyncio hears of the end, and warns in whichever test collects the garbage.
    assert await started[0].wait() == -signal.SIGKILL


async def test_XL12_a_clock_that_ran_out_is_left_alone() -> None:
    """Output over the limit can arrive in the very moment when the time is up."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0) as clock:
            await asyncio.Event().wait()
    _shorten(clock, 1)
    assert clock.expired()


async def test_XL12_siblings_are_not_disturbed(tmp_path: Path) -> None:
    hanging, fine, flooding = await asyncio.gather(
        run(HANGS, tmp_path, timeout_s=1),
        run("print('fine')", tmp_path),
        run("while True: print('x' * 1000)", tmp_path, limit=1000),
    )
    assert (hanging.ended, fine.ended, flooding.ended) == ("timeout", "exited", "output_limit")
    assert fine.stdout == b"fine\n"


async def test_what_cannot_start_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program")
    for argv in (["no-such-program-x\x1b[2J"], ["./plain"], [str(tmp_path)], ["echo", "a\x00b"], [], [""], "echo"):
        with pytest.raises(UsageError, match="Cannot start the program") as caught:
            await run_program(argv, timeout_s=DEADLINE_S, limit_output_bytes=MB, cwd=tmp_path)
        assert caught.value.message.isprintable()
        assert "[Errno" not in caught.value.message
    with pytest.raises(UsageError, match="Argument list too long"):  # a word may have 128 KiB
        await run_program(["echo", "x" * 200_000], timeout_s=DEADLINE_S, limit_output_bytes=MB)
    with pytest.raises(UsageError):
        await run_program(["echo"], timeout_s=DEADLINE_S, limit_output_bytes=MB, cwd=tmp_path / "missing")


async def test_XL12_no_descriptor_leaks(tmp_path: Path) -> None:
    async def descriptors() -> int:
        await asyncio.sleep(0)
        return len(os.listdir("/proc/self/fd"))

    await run("print()", tmp_path)
    before = await descriptors()
    for limit in (MB, 0):
        await run("print('x')", tmp_path, limit=limit, stdin=b"x")
    with pytest.raises(UsageError):
        await run_program(["no-such-program"], timeout_s=DEADLINE_S, limit_output_bytes=MB)
    await until(lambda: len(os.listdir("/proc/self/fd")) <= before)


@pytest.mark.parametrize("is_cut", [True, False])
def test_XA25_what_a_person_uses_is_killed_only_if_the_work_is_cut_short(tmp_path: Path, is_cut: bool) -> None:
    """It has a session of its own, as an editor may: no group leads to it."""
    code = f"import sys\nprint('ready', flush=True)\n{IGNORES}sys.stdin.read()"
    command = [sys.executable, "-S", "-E", "-c", code]
    with suppress(KeyboardInterrupt), ended_on_error(os.environ) as known:
        program = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=known, start_new_session=True
        )
        assert program.stdout is not None
        program.stdout.readline()
        if is_cut:
            raise KeyboardInterrupt
        assert program.poll() is None
    with program:  # which closes its input
        pass
    assert program.returncode == (-signal.SIGKILL if is_cut else 0)
