"""Which tools MCP servers have listed, as far as is known: so that an agent knows them before a server is started.

A listing grants nothing: what a person has accepted is in `mcp_pins`. It is kept in the cache, a file for each server.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import FileMissing, ToolrollError
from toolroll.home.folders import find_folders
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Root

MAX_LISTING_BYTES: Final = 33_554_432
"""Of 256 tools with the largest definitions that are read, twice over."""
_FOLDER: Final = "mcp"


class _Stored(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    tools: list[dict[str, Any]] = Field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a server listed last; or, with a `problem`, why it could not be asked the only time that was tried."""

    tools: Sequence[Mapping[str, Any]] = ()
    problem: str = ""


class ListingBook:
    """The listings of all servers. One that cannot be read is as good as none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "ListingBook":
        """Open the listings in the user's cache."""
        return cls(find_folders(environment).cache)

    def find(self, identity: str) -> Listing | None:
        """Return what is known of a server; None where it was never asked."""
        if not self._folder.exists():
            return None
        try:
            with closing(Root(private_folder(self._folder))) as root:
                data = root.read_bytes(_file(identity), limit_bytes=MAX_LISTING_BYTES)
            stored = _Stored.model_validate_json(data)
        except (FileMissing, ValidationError, ToolrollError):
            return None
        return Listing(tools=stored.tools, problem=stored.problem)

    def put(self, identity: str, name: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Keep what a server lists."""
        self._write(identity, _Stored(name=name, tools=[dict(one) for one in tools]))

    def put_problem(self, identity: str, name: str, problem: str) -> None:
        """Keep why a server could not be asked, so that nobody waits for it again; a list that is known stays."""
        known = self.find(identity)
        if known is None or not known.tools:
            self._write(identity, _Stored(name=name, problem=problem))

    def remove(self, identity: str) -> None:
        """Forget a server."""
        if self._folder.exists():
            with closing(Root(private_folder(self._folder))) as root, suppress(FileMissing):
                root.remove_file(_file(identity))

    def _write(self, identity: str, stored: _Stored) -> None:
        with closing(Root(private_folder(self._folder))) as root:
            root.write_file(_file(identity), stored.model_dump_json().encode(), mode=0o600)


def _file(identity: str) -> RelativePath:
    return RelativePath(parts=(f"{identity}.json",))
