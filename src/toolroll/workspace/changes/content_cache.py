"""Keep contents that a run has read, by their hash, to show what changed in a file since (C19).

Private, outside of the workspace, and no promise: the oldest are removed, and whoever finds nothing here does without.
A content with something in it that looks like a secret is not kept. Each run has a folder of its own, which goes when
the run is deleted.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolroll.errors import ToolrollError
from toolroll.home.keys import known_secrets
from toolroll.kernel.approval.request import content_hash
from toolroll.outputs.run_folder import folder_name
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.secrets.redact import redact
from toolroll.workspace.workspace import Workspace

MAX_FILES: Final = 1_000
MAX_BYTES: Final = 64 << 20
"""Of all together: what a day of runs reads."""
FOLDER: Final = "contents"

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ContentCache:
    """The contents that runs in one workspace have read. Threads and processes may share the folder."""

    def __init__(
        self, workspace: Workspace, run_id: str, *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES
    ) -> None:
        self._workspace = workspace
        self._run = folder_name(run_id)
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._folder: Path | None = None

    def keep(self, data: bytes) -> None:
        """Remember a content, if that is possible: a full disk is no reason why somebody could not read."""
        with suppress(OSError, ToolrollError):
            path = private_folder(self._opened() / self._run) / content_hash(data)
            if path.exists():
                os.utime(path)
            elif not _holds_secret(data):
                # Not synced: what a power cut leaves of it does not have its hash.
                with os.fdopen(os.open(path, _NEW, PRIVATE_FILE_MODE), "wb") as file:
                    file.write(data)

    def get(self, hash_: str) -> bytes | None:
        """Return the content of that hash, if it is still here whole; a fork finds what the other run has read."""
        with suppress(OSError, ToolrollError):
            for path in self._opened().glob(f"*/{hash_}"):
                data = path.read_bytes()
                if content_hash(data) == hash_:
                    return data
                path.unlink()
        return None

    def _opened(self) -> Path:
        if self._folder is None:
            self._folder = private_folder(self._workspace.state / FOLDER)
            self._collect(self._folder)
        return self._folder

    def _collect(self, folder: Path) -> None:
        """Remove what has not been asked for the longest, until the rest is within its limits."""
        for entry in list(os.scandir(folder)):
            if entry.is_file(follow_symlinks=False):  # from before 0.2.0: of any run, and with secrets
                Path(entry.path).unlink()
        found = sorted(((one, one.stat()) for one in _contents(folder)), key=lambda pair: -pair[1].st_mtime_ns)
        size = 0
        for number, (entry, status) in enumerate(found, 1):
            size += status.st_size
            if number > self._max_files or size > self._max_bytes:
                with suppress(FileNotFoundError):
                    os.unlink(entry.path)  # noqa: PTH108 -- an entry, of which there may be a thousand


def remove_contents(states: Path, run_ids: Iterable[str]) -> None:
    """Remove what these runs have read, in all workspaces whose state is below a folder."""
    for run_id in run_ids:
        for folder in states.glob(f"*/{FOLDER}/{folder_name(run_id)}"):
            shutil.rmtree(folder, ignore_errors=True)


def _contents(folder: Path) -> "Iterator[os.DirEntry[str]]":
    for run in list(os.scandir(folder)):
        with suppress(FileNotFoundError):  # deleted meanwhile
            found = list(os.scandir(run.path))
            yield from found
            if not found:
                Path(run.path).rmdir()


def _holds_secret(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return redact(text, known=known_secrets(os.environ)) != text
