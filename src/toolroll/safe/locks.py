"""Locks across processes and threads; the system takes them back from a holder that dies.

It is `flock` on a file that stays: removing a lock file lets two holders lock two files of the same name. Each time it
is taken through a description of its own, which is why it also keeps threads of one process apart.
"""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from toolroll.errors import LockTimeout
from toolroll.messages import A_FILE, ANOTHER_PROCESS, FILE_LOCKED, PROCESS
from toolroll.safe.paths.files import PRIVATE_FILE_MODE
from toolroll.safe.paths.os_errors import kind_error, os_errors

WAIT_S: Final = 10.0  # a locked update with fsync takes about 10 ms, so that this is a thousand of them
POLL_S: Final = 0.02  # 50 tries a second cost under 0.1 % of a core; flock itself cannot wait for a bounded time
_MAX_PID_DIGITS: Final = 10  # process ids are 32-bit numbers at most
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileLock:
    """A lock for `with` and `async with`; LockTimeout when another holder keeps it longer than `timeout_s`.

    While it is waited for it is tried every `poll_s`: more often only where few can be waiting.
    """

    def __init__(self, path: Path | str, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S) -> None:
        self.path: Path = Path(path)
        self.timeout_s = timeout_s
        self.poll_s = poll_s
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock, waiting for it if need be."""
        for pause_s in self._attempts():
            time.sleep(pause_s)

    async def acquire_async(self) -> None:
        """Take the lock; the event loop runs on while it is waited for."""
        import asyncio  # noqa: PLC0415 - five interpreter starts, and most locks are taken without a loop

        for pause_s in self._attempts():
            await asyncio.sleep(pause_s)

    def release(self) -> None:
        """Give the lock back; without holding it, this does nothing."""
        fd, self._fd = self._fd, None
        if fd is None:
            return
        try:
            # The note goes first: who finds one shall find the holder's.
            with suppress(OSError):
                os.ftruncate(fd, 0)
            # Closing is not enough where a forked child still has the description.
            fcntl.flock(fd, fcntl.LOCK_UN)
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    async def __aenter__(self) -> Self:
        await self.acquire_async()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _attempts(self) -> Iterator[float]:
        """Try until the lock is taken; each value is a pause to make before the next attempt."""
        end = time.monotonic() + self.timeout_s
        while not self._try():
            left_s = end - time.monotonic()
            if left_s <= 0:
                raise self._timeout()
            yield min(self.poll_s, left_s)

    def _try(self) -> bool:
        with os_errors(str(self.path)):
            fd = os.open(self.path, _FLAGS, PRIVATE_FILE_MODE)
            taken = False
            try:
                taken = self._take(fd)
            finally:
                if not taken:
                    os.close(fd)
        if taken:
            self._fd = fd
            _leave_note(fd)
        return taken

    def _take(self, fd: int) -> bool:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise kind_error(status.st_mode, str(self.path), needed=A_FILE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        # Somebody who removed the file after we opened it may hold the lock on a new one by now.
        with suppress(FileNotFoundError):
            return os.path.samestat(status, self.path.lstat())
        return False

    def _timeout(self) -> LockTimeout:
        holder = _read_note(self.path)
        by = PROCESS(number=holder) if holder else ANOTHER_PROCESS()
        return LockTimeout(FILE_LOCKED(path=self.path, holder=by, seconds=f"{self.timeout_s:g}"))


@contextmanager
def file_lock(path: Path | str, *, timeout_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock of that path, which no other process or thread holds meanwhile."""
    with FileLock(path, timeout_s=timeout_s):
        yield


def _leave_note(fd: int) -> None:
    # Only a help for people who wait: a full disk is no reason not to hold the lock.
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, b"%d" % os.getpid(), 0)


def _read_note(path: Path) -> str | None:
    with suppress(OSError), path.open("rb") as file:
        note = file.read(_MAX_PID_DIGITS + 1)
        return note.decode() if note.isdigit() and len(note) <= _MAX_PID_DIGITS else None
    return None
