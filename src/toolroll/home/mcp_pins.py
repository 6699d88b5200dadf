"""What MCP servers said of their tools when a person accepted them: kept outside of every workspace (XM2).

A tool is pinned by everything that its server said of it. While that is the same, no question is asked about it; when
it changes, the person is shown the difference. The list also lets an agent know a server's tools before the server is
started.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import FileMissing, JsonRefused
from toolroll.home.folders import find_folders
from toolroll.kernel.arguments.parse import parse_json
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

VERSION: Final = 1
MAX_PINS_BYTES: Final = 33_554_432
"""Hundreds of servers with a hundred tools each."""

_FILE: Final = RelativePath(parts=("mcp-pins.json",))
_LOCK: Final = "mcp-pins.lock"
_OTHERS_CAN_WRITE: Final = 0o022

Definition = Mapping[str, object]


class _Server(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    tools: dict[str, dict[str, Any]]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=1, le=VERSION)] = VERSION
    servers: dict[str, _Server] = Field(default_factory=dict)


class PinBook:
    """The file with the pinned definitions. One that cannot be read is reported and left alone: nothing is pinned."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "PinBook":
        """Open the pins in the user's configuration."""
        return cls(find_folders(environment).config)

    def find(self, identity: str) -> dict[str, dict[str, Any]]:
        """Return the pinned definitions of a server, by the names of its tools."""
        if not self._folder.exists():
            return {}
        with closing(Root(private_folder(self._folder))) as root:
            server = self._read(root).servers.get(identity)
        return {} if server is None else server.tools

    def pin(self, identity: str, name: str, definitions: Sequence[Definition]) -> None:
        """Pin definitions of a server that is called `name`; others of the same server stay."""

        def change(stored: _Stored) -> None:
            server = stored.servers.setdefault(identity, _Server(name=name, tools={}))
            server.tools |= {str(one["name"]): dict(one) for one in definitions}

        self._change(change)

    def remove(self, identity: str, tools: Sequence[str] | None = None) -> None:
        """Pin these tools of a server no longer; without a list, none of them."""

        def change(stored: _Stored) -> None:
            server = stored.servers.get(identity)
            if server is None:
                return
            server.tools = {} if tools is None else {k: v for k, v in server.tools.items() if k not in tools}
            if not server.tools:
                del stored.servers[identity]

        self._change(change)

    def _change(self, change: Callable[[_Stored], None]) -> None:
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            stored = self._read(root)
            before = stored.model_dump_json(indent=1)
            change(stored)
            after = stored.model_dump_json(indent=1)
            if after != before:
                root.write_file(_FILE, f"{after}\n".encode(), mode=0o600)

    def _read(self, root: Root) -> _Stored:
        try:
            mode = root.stat(_FILE).mode
        except FileMissing:
            return _Stored()
        if mode & _OTHERS_CAN_WRITE:
            raise self._refusal("other users can write to it. Look through it, then make it yours (chmod 600)")
        try:
            text = root.read_bytes(_FILE, limit_bytes=MAX_PINS_BYTES).decode()
            parse_json(text, limit_bytes=MAX_PINS_BYTES)  # strictly: a second key of one name would win otherwise
            return _Stored.model_validate_json(text)
        except ValidationError as error:
            raise self._refusal(str(error.errors(include_url=False)[0]["msg"])) from None
        except (JsonRefused, UnicodeDecodeError) as error:
            raise self._refusal(str(error).rstrip(".")) from None

    def _refusal(self, why: str) -> JsonRefused:
        path = quote_path(str(self._folder / _FILE.name))
        return JsonRefused(
            f"The pinned tools of MCP servers in '{path}' cannot be used: {why}. Repair the file or move it away; "
            "until then no MCP server is used."
        )
