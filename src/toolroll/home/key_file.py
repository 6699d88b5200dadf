"""Keys in a private file, for systems without a keyring (S17): written only after a person has agreed to it.

The file is in the user's configuration, for the owner alone (0600). What a project holds is never read.
"""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.root import Root

FILE_NAME: Final = "keys.txt"
_FILE: Final = RelativePath(parts=(FILE_NAME,))
_LOCK: Final = "keys.lock"
_MAX_BYTES: Final = 262_144


class KeyFile:
    """The keys of one user that stand in a file, a `NAME=KEY` a line."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        """Return where the file is, or would be."""
        return self._folder / FILE_NAME

    def read(self) -> Mapping[str, str]:
        """Return all keys by their names."""
        with os_errors(str(self._folder)):
            if not self.path.exists():
                return {}
        with closing(Root(private_folder(self._folder))) as root:
            return _read(root)

    def put(self, name: str, key: str | None) -> None:
        """Put a key into the file, in the place of an older one; None takes it out."""
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            kept = {**_read(root), **({} if key is None else {name: key})}
            lines = [f"{one}={value}\n" for one, value in sorted(kept.items()) if key is not None or one != name]
            root.write_file(_FILE, "".join(lines).encode(), mode=PRIVATE_FILE_MODE)


def _read(root: Root) -> dict[str, str]:
    try:
        text = root.read_bytes(_FILE, limit_bytes=_MAX_BYTES).decode("ascii", "replace")
    except FileMissing:
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: key for name, sign, key in pairs if sign and key}
