"""The folder of one run: private, and held by a lock for as long as the run lives, so that nobody collects it.

The lock is a shared one on the folder itself. Whoever would remove it needs it alone, and gets it only when all who
held it are gone, by `kill -9` too.
"""

import fcntl
import hashlib
import os
import shutil
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolroll.errors import FileSystemRefused
from toolroll.home.folders import Folders
from toolroll.outputs.format import cut_torn_end
from toolroll.safe.paths.files import private_folder

TEMPORARY_PREFIX: Final = ".new-"
GONE_PREFIX: Final = ".gone-"

_ATTEMPTS: Final = 8  # each is lost only to a collector, which comes once a day
_RANDOM_BYTES: Final = 16
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def outputs_folder(folders: Folders) -> Path:
    """Return the folder of all outputs: with the user's data, as a run that is resumed next week needs its own."""
    return folders.data / "outputs"


def folder_name(run_id: str) -> str:
    """Return the folder's name: an id of ours or of anybody, long or with slashes, becomes 32 letters and digits."""
    return hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class RunFolder:
    """The folder of one run; it is made and held when it is first written to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._release: weakref.finalize[..., RunFolder] | None = None
        self._guard = threading.Lock()  # two threads that begin at once would leave a descriptor behind

    @property
    def is_held(self) -> bool:
        """Return whether this process keeps the folder from being collected."""
        return self._release is not None and self._release.alive

    def hold(self) -> Path:
        """Make the folder, keep it from being collected, and remove what a killed run left half-written in it."""
        with self._guard:
            for _ in range(_ATTEMPTS):
                if self.is_held:
                    return self.path
                private_folder(self.path)
                self._try()
        raise FileSystemRefused(f"'{self.path}' is removed again and again.", path=str(self.path), errno_name="EBUSY")

    def release(self) -> None:
        """Let it be collected."""
        if self._release is not None:
            self._release()

    def _try(self) -> None:
        fd = os.open(self.path, _FOLDER)
        release = weakref.finalize(self, os.close, fd)
        if _lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB):
            clear_temporary(self.path)
            cut_torn_end(self.path)
        fcntl.flock(fd, fcntl.LOCK_SH)
        if is_same_folder(fd, self.path):
            self._release = release
        else:
            release()


@contextmanager
def lock_exclusively(path: Path) -> Iterator[bool]:
    """Yield whether nobody holds the folder; if so, nobody can until the end."""
    try:
        fd = os.open(path, _FOLDER)
    except OSError:
        yield False
        return
    try:
        yield _lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB) and is_same_folder(fd, path)
    finally:
        os.close(fd)


def remove_folder(path: Path) -> bool:
    """Remove a folder with all that is in it, unless a run holds it; whether it is gone."""
    with lock_exclusively(path) as free:
        if not free:
            return False
        # Under another name first: a run that begins now makes itself a new one.
        gone = path.with_name(GONE_PREFIX + os.urandom(_RANDOM_BYTES).hex())
        try:
            path.rename(gone)
        except OSError:
            return False
    shutil.rmtree(gone, ignore_errors=True)
    return True


def temporary_name() -> str:
    """Return a name for a folder that is not finished; no reference looks like it."""
    return TEMPORARY_PREFIX + os.urandom(_RANDOM_BYTES).hex()


def clear_temporary(folder: Path) -> None:
    """Remove what was never finished. Only for who holds the folder alone."""
    for one in folder.glob(f"{TEMPORARY_PREFIX}*"):
        shutil.rmtree(one, ignore_errors=True)


def is_same_folder(fd: int, path: Path) -> bool:
    """Return whether the path still leads to the folder that is open."""
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def _lock(fd: int, operation: int) -> bool:
    try:
        fcntl.flock(fd, operation)
    except BlockingIOError:
        return False
    return True
