"""Logins at MCP servers: the tokens that OAuth gave for each, in one file that only the user can read.

A token is kept under the server that it was given for, and goes to no other (XM30).
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import FileMissing, JsonRefused
from toolroll.home.folders import find_folders
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root
from toolroll.safe.secrets.redact import remember_secret

MAX_BYTES: Final = 4_194_304
_FILE: Final = RelativePath(parts=("mcp-tokens.json",))
_LOCK: Final = "mcp-tokens.lock"
_OTHERS_CAN_SEE: Final = 0o077
_SECRETS: Final = ("access_token", "refresh_token", "client_secret")


class McpLogin(BaseModel):
    """A login at one server: its tokens, and who we are there, as the standard writes them."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    name: str
    url: str
    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    """What the authorization server says of itself: where tokens are renewed, and nowhere else."""
    expires_at: float | None = None
    """When the access token ends, in seconds since 1970."""


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int = Field(default=1, ge=1, le=1)
    servers: dict[str, McpLogin] = Field(default_factory=dict)


class McpTokenBook:
    """The file with the logins. One that cannot be read is reported and left alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "McpTokenBook":
        """Open the logins in the user's configuration."""
        return cls(find_folders(environment).config)

    def find(self, identity: str) -> McpLogin | None:
        """Return the login at a server; what is secret in it is shown and logged nowhere."""
        if not self._folder.exists():
            return None
        with closing(Root(private_folder(self._folder))) as root:
            found = self._read(root).servers.get(identity)
        for part in () if found is None else (found.tokens or {}, found.client or {}):
            for name in _SECRETS:
                if isinstance(value := part.get(name), str) and value:
                    remember_secret(value)
        return found

    def put(self, identity: str, login: McpLogin) -> None:
        """Keep a login, in the place of an older one."""
        self._change(lambda servers: {**servers, identity: login})

    def remove(self, identity: str) -> bool:
        """Forget the login at a server; return whether there was one."""
        was_there = self.find(identity) is not None
        if was_there:
            self._change(lambda servers: {key: one for key, one in servers.items() if key != identity})
        return was_there

    def _change(self, change: Callable[[dict[str, McpLogin]], dict[str, McpLogin]]) -> None:
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            after = _Stored(servers=change(self._read(root).servers))
            root.write_file(_FILE, f"{after.model_dump_json(indent=1)}\n".encode(), mode=0o600)

    def _read(self, root: Root) -> _Stored:
        try:
            mode = root.stat(_FILE).mode
        except FileMissing:
            return _Stored()
        if mode & _OTHERS_CAN_SEE:
            raise self._refusal("other users can see it. Make it yours (chmod 600), and log in again")
        try:
            return _Stored.model_validate_json(root.read_bytes(_FILE, limit_bytes=MAX_BYTES))
        except ValidationError:  # whose words would quote a token
            raise self._refusal("its content is not what was written there") from None

    def _refusal(self, why: str) -> JsonRefused:
        path = quote_path(str(self._folder / _FILE.name))
        return JsonRefused(f"The logins at MCP servers in '{path}' cannot be used: {why}.")
