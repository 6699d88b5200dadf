"""The secret that webhooks are signed with: created once, in a private file, and shown only then (R33)."""

import base64
import secrets
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing, UsageError
from toolroll.home.folders import find_folders
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Root
from toolroll.safe.secrets.redact import remember_secret

VARIABLE: Final = "TOOLROLL_WEBHOOK_SECRET"
"""Set it where several machines send webhooks, so that all of them sign alike."""
PREFIX: Final = "whsec_"
"""As in the specification of Standard Webhooks: the rest is base64."""
RANDOM_BYTES: Final = 32
MIN_BYTES: Final = 24
"""As that specification demands."""
_MAX_FILE_BYTES: Final = 1_024
_FILE: Final = RelativePath(parts=("webhook-secret",))
_LOCK: Final = "webhook-secret.lock"


class WebhookSecret:
    """The user's secret for webhooks: of the environment, or else of a file that only the user can read."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._given = environment.get(VARIABLE, "")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "WebhookSecret":
        """Return the user's own."""
        return cls(find_folders(environment).config, environment)

    def create(self, *, replace: bool = False) -> str:
        """Store a new secret, and return it as it is given to a receiver; an older one is kept without `replace`."""
        made = PREFIX + base64.b64encode(secrets.token_bytes(RANDOM_BYTES)).decode()
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            if self._read(root) is not None and not replace:
                raise UsageError("There is a secret for webhooks already. To replace it, add --new.")
            root.write_file(_FILE, f"{made}\n".encode(), mode=0o600)
        return made

    def key(self) -> bytes | None:
        """Return the bytes to sign with; None if there is no secret yet."""
        text: str | None = self._given
        if not text and self._folder.exists():
            with closing(Root(private_folder(self._folder))) as root:
                text = self._read(root)
        if not text:
            return None
        remember_secret(text)
        return _decode(text)

    def _read(self, root: Root) -> str | None:
        try:
            return root.read_bytes(_FILE, limit_bytes=_MAX_FILE_BYTES).decode("utf-8", "replace").strip()
        except FileMissing:
            return None


def _decode(text: str) -> bytes:
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        key = b""
    if len(key) < MIN_BYTES:
        raise UsageError(
            f"The secret for webhooks cannot be used: it must be '{PREFIX}' and at least {MIN_BYTES} bytes in base64. "
            "Create one: toolroll tokens webhook-secret --new"
        )
    return key
