"""Keep contents that were read, by their hash, to show what changed in a file since (C19).

Private, outside of the workspace, and no promise: the oldest are removed, and whoever finds nothing here does without.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolroll.errors import ToolrollError
from toolroll.kernel.approval.request import content_hash
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.workspace.workspace import Workspace

MAX_FILES: Final = 1_000
MAX_BYTES: Final = 64 << 20
"""Of all together: what a day of runs reads."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ContentCache:
    """The contents that runs in one workspace have read. Threads and processes may share the folder."""

    def __init__(self, workspace: Workspace, *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
        self._workspace = workspace
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._folder: Path | None = None

    def keep(self, data: bytes) -> None:
        """Remember a content, if that is possible: a full disk is no reason why somebody could not read."""
        with suppress(OSError, ToolrollError):
            path = self._opened() / content_hash(data)
            with suppress(FileExistsError):
                # Not synced: what a power cut leaves of it does not have its hash.
                with os.fdopen(os.open(path, _NEW, PRIVATE_FILE_MODE), "wb") as file:
                    file.write(data)
                return
            os.utime(path)

    def get(self, hash_: str) -> bytes | None:
        """Return the content of that hash, if it is still here whole."""
        with suppress(OSError, ToolrollError):
            path = self._opened() / hash_
            data = path.read_bytes()
            if content_hash(data) == hash_:
                return data
            path.unlink()
        return None

    def _opened(self) -> Path:
        if self._folder is None:
            self._folder = private_folder(self._workspace.state / "contents")
            self._collect(self._folder)
        return self._folder

    def _collect(self, folder: Path) -> None:
        """Remove what has not been asked for the longest, until the rest is within its limits."""
        found = sorted(((one, one.stat()) for one in os.scandir(folder)), key=lambda pair: -pair[1].st_mtime_ns)
        size = 0
        for number, (entry, status) in enumerate(found, 1):
            size += status.st_size
            if number > self._max_files or size > self._max_bytes:
                with suppress(FileNotFoundError):
                    os.unlink(entry.path)  # noqa: PTH108 -- an entry, of which there may be a thousand
