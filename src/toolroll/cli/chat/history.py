"""What a person has written before, for the arrow keys: kept privately, bounded, and never with a secret in it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing
from toolroll.home.folders import find_folders
from toolroll.home.keys import known_secrets
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Root
from toolroll.safe.secrets.redact import redact

MAX_KEPT: Final = 500
MAX_KEPT_CHARACTERS: Final = 4_000
"""Of one text: what is longer was pasted, and is not what somebody looks for with an arrow key."""
MAX_FILE_BYTES: Final = MAX_KEPT * MAX_KEPT_CHARACTERS * 6
"""Every character written as `\\u0000`."""

_LOCK_SUFFIX: Final = ".lock"


class MessageHistory:
    """The texts in one private file, one a line as JSON, the oldest first."""

    def __init__(self, file: Path, *, secrets: Sequence[str] = ()) -> None:
        self._folder, self._name = file.parent, RelativePath(parts=(file.name,))
        self._secrets = tuple(secrets)

    @classmethod
    def from_environment(cls, name: str, environment: Mapping[str, str]) -> "MessageHistory":
        """Return the texts of that name among the user's own data; the keys in their environment are never written."""
        return cls(find_folders(environment).data / f"{name}-history.jsonl", secrets=known_secrets(environment))

    def texts(self) -> list[str]:
        """Return all that is kept. Lines that cannot be read are passed over: this is a convenience, and no record."""
        if not self._folder.exists():
            return []
        with closing(Root(private_folder(self._folder))) as root:
            return self._read(root)

    def add(self, text: str) -> None:
        """Keep one more, without its secrets; the oldest go. The same text twice in a row is kept once."""
        kept = redact(text, known=self._secrets)
        if not kept.strip() or len(kept) > MAX_KEPT_CHARACTERS:
            return
        folder = private_folder(self._folder)
        with FileLock(folder / f"{self._name.name}{_LOCK_SUFFIX}"), closing(Root(folder)) as root:
            before = self._read(root)
            if before[-1:] != [kept]:
                root.write_file(self._name, _encode([*before, kept][-MAX_KEPT:]), mode=0o600)

    def _read(self, root: Root) -> list[str]:
        try:
            data = root.read_bytes(self._name, limit_bytes=MAX_FILE_BYTES)
        except FileMissing:
            return []
        return [text for line in data.split(b"\n") if (text := _text(line))]


def _encode(texts: Sequence[str]) -> bytes:
    return "".join(f"{json.dumps(text)}\n" for text in texts).encode()


def _text(line: bytes) -> str:
    try:
        found = json.loads(line)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""
