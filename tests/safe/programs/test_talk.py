"""XM23: a program that is talked to line by line; what it writes is bounded, and nothing of it stays."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from toolroll.errors import UsageError
from toolroll.safe.programs.run import minimal_environment
from toolroll.safe.programs.talk import MAX_STDERR_BYTES, Talk, open_program

ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
LIMIT_BYTES = 100_000


def opened(code: str, folder: Path | None = None, limit: int = LIMIT_BYTES):  # type: ignore[no-untyped-def]  # a context manager
    env = minimal_environment(os.environ)
    return open_program([sys.executable, "-S", "-E", "-c", code], env=env, cwd=folder, limit_line_bytes=limit)


async def read(talk: Talk) -> list[bytes]:
    found = []
    while (line := await talk.read_line()) is not None:
        found.append(line)
    return found


async def test_XM23_lines_go_in_and_come_out(tmp_path: Path) -> None:
    async with opened(ECHO, tmp_path) as talk:
        await talk.write_line(b"hello")
        assert await talk.read_line() == b"hello\n"


async def test_XM23_the_end_of_a_program_is_the_end_of_its_lines() -> None:
    async with opened(
        "import sys; print('one'); print('two', end=''); print('why', file=sys.stderr); sys.exit(3)"
    ) as talk:
        assert await read(talk) == [b"one\n", b"two"]
        assert await talk.wait_end(60) == 3
        while not talk.stderr:
            await asyncio.sleep(0.01)
        assert talk.stderr == "why\n"


async def test_XM23_a_line_over_the_limit_is_refused() -> None:
    async with opened("print('x' * 1_000_000)", limit=1_000) as talk:
        with pytest.raises(ValueError, match="longer than the limit"):
            await talk.read_line()


async def test_XM23_of_stderr_the_end_is_kept() -> None:
    async with opened("import sys; sys.stderr.write('x' * 1_000_000 + 'last'); sys.stderr.flush(); input()") as talk:
        while not talk.stderr.endswith("last"):
            await asyncio.sleep(0.01)
        assert len(talk.stderr) == MAX_STDERR_BYTES


async def test_XM23_a_program_that_does_not_end_is_ended() -> None:
    code = "import signal, time, os\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid(), flush=True)\n"
    async with opened(code + "time.sleep(300)") as talk:
        pid = int((await talk.read_line()) or b"0")
        assert await talk.wait_end(0.01) is None
    assert not os.path.exists(f"/proc/{pid}") or "State:\tZ" in Path(f"/proc/{pid}/status").read_text()


async def test_XM23_a_program_that_cannot_be_started_is_named() -> None:
    for name in ("/no/such/program", "nul\0"):
        with pytest.raises(UsageError, match="Cannot start"):
            async with open_program([name], env={}, limit_line_bytes=LIMIT_BYTES):
                pass
