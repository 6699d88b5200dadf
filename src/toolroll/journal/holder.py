"""A sign of life that the system takes back when a process dies: who holds a run is seen to be alive, or not.

Each journal that writes holds a lock on a file of its own, beside the run log, for as long as it is open. A run names
its holder. If that one's lock can be taken, its process is gone, also by `kill -9`, and the run is free at once: no
clock, nothing to renew, nothing to wait for after a crash. One machine is enough for this: so it is for SQLite.
"""

import os
import re
import secrets
from pathlib import Path
from typing import Final

from toolroll.errors import LockTimeout
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder

_NAME: Final = re.compile(r"[0-9]{1,10}-[0-9a-f]{16}")
_RANDOM_BYTES: Final = 8  # a process id comes back; together with 64 random bits it does not


class Holder:
    """This process, as far as its lock shows: `name` is what a run is held under."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name: str = f"{os.getpid()}-{secrets.token_hex(_RANDOM_BYTES)}"
        private_folder(folder)
        self._lock = FileLock(folder / self.name, timeout_s=0)
        self._lock.acquire()

    def is_alive(self, name: str) -> bool:
        """Return whether the holder of that name still runs. What is left of a dead one is cleared away."""
        if name == self.name:
            return True
        if not _NAME.fullmatch(name):
            return False
        lock = FileLock(self._folder / name, timeout_s=0)
        try:
            lock.acquire()
        except LockTimeout:
            return True
        self._clear(lock)
        return False

    def close(self) -> None:
        """Give up everything that is held."""
        self._clear(self._lock)

    def _clear(self, lock: FileLock) -> None:
        lock.path.unlink(missing_ok=True)
        lock.release()


def process_of(name: str) -> int:
    """Return the process id in the name of a holder."""
    return int(name.partition("-")[0])
