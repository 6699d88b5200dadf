"""One writer at a time, and each in its turn: the lock of the stores.

A plain file lock is looked at every 20 ms. A process that writes in a row takes it again within microseconds: with
eight of them at work, others were seen to wait for more than 30 s. So there are two locks. Who waits for the second
holds the first, and who has just written has to queue up there. As only one waits for the second, it can look often:
with 20 ms between two looks, eight processes spent half of their time between one that was done and the next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolroll.safe.locks import FileLock

WAIT_S: Final = 30.0
"""A change takes some 10 ms, and the next in line gets its turn within 2: time for a thousand others."""

NEXT_POLL_S: Final = 0.002
"""Between two looks of the one who is next: 500 a second cost 1 % of a core."""


@contextmanager
def in_turn(folder: Path, name: str) -> Iterator[None]:
    """Inside, no other process or thread is inside for the same folder and name; `LockTimeout` after half a minute."""
    lock = FileLock(folder / f".{name}.lock", timeout_s=WAIT_S, poll_s=NEXT_POLL_S)
    with FileLock(folder / f".{name}.queue.lock", timeout_s=WAIT_S):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
