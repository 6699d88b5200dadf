"""Keyrings for tests, by the library's own interface: one that works, one that is locked, one that talks too much."""

from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class FileKeyring(KeyringBackend):
    """Keeps keys in a folder, so that another process finds them; `folder` is set by the test, or beside the home."""

    priority = 5
    folder: Path | None = None

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's

    def _file(self, service: str, username: str) -> Path:
        import os

        folder = self.folder or Path(os.environ["TEST_KEYRING"])
        return folder / f"{service}-{username}"

    def get_password(self, service: str, username: str) -> str | None:
        file = self._file(service, username)
        return file.read_text() if file.exists() else None

    def set_password(self, service: str, username: str, password: str) -> None:
        self._file(service, username).write_text(password)

    def delete_password(self, service: str, username: str) -> None:
        self._file(service, username).unlink()


class LockedKeyring(KeyringBackend):
    """Never opens, and says more than it should."""

    priority = 5

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked(f"cannot open {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked(f"cannot keep {password}")

    def delete_password(self, service: str, username: str) -> None:
        raise KeyringLocked(username)
