"""The MCP servers of a project's agents: those of your settings, and those of the project that you have trusted.

A server is started when one of its tools is first needed. Its tools are known before that, from what it listed the last
time; one that was never asked is waited for once, for a few seconds.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from toolroll.apps.surface import Surface
from toolroll.errors import ToolrollError
from toolroll.home.keys import with_keys
from toolroll.home.mcp_listings import ListingBook
from toolroll.home.mcp_pins import PinBook
from toolroll.home.mcp_servers import MCP_JSON, ServerSettings, parse_mcp_json
from toolroll.home.mcp_tokens import McpTokenBook
from toolroll.home.project_settings import read_mcp_json_bytes, untrusted_note
from toolroll.home.rules import SERVER_PLACE, workspace_key
from toolroll.home.settings import SERVERS, Settings
from toolroll.home.trust import TrustBook
from toolroll.lazy import load
from toolroll.mcp_client.server import MCPServer
from toolroll.mcp_client.spec import ServerSpec
from toolroll.packs.catalog import CatalogEntry

if TYPE_CHECKING:
    import httpx2

LEARN_SECONDS: Final = 5.0
"""That an agent waits for servers whose tools nobody knows yet: once, all of them together."""
NO_SDK: Final = "MCP servers are not used: they need one more package. Install it: pip install 'toolroll[mcp]'"

Origin = Literal["settings", "project", ".mcp.json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedServer:
    """A server that is named somewhere: how it is reached, and where it is named."""

    spec: ServerSpec
    origin: Origin


class ServerPool:
    """The servers of one folder. Their processes and connections live until it is closed, from message to message."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._servers: dict[str, MCPServer] = {}
        self._told: set[str] = set()
        self.named: tuple[NamedServer, ...] = ()
        """The servers that are in use."""

    def find(self, name: str) -> MCPServer | None:
        """Return the server of that name."""
        return self._servers.get(name)

    def update(self, named: Sequence[NamedServer]) -> None:
        """Use exactly these from now on: one that is the same as before stays open, the others are closed."""
        kept = {one.spec.name: one for one in named}
        for name, server in list(self._servers.items()):
            if name not in kept or kept[name].spec != server.spec:
                self._servers.pop(name).close()
        for name, one in kept.items():
            if name not in self._servers:
                self._servers[name] = make_server(one.spec, self._environment)
        self.named = tuple(named)

    async def learn(self, surface: Surface, *, seconds: float = LEARN_SECONDS) -> None:
        """Ask the servers whose tools nobody knows yet, all at once; tell about those that do not answer in time."""
        book = ListingBook.from_environment(self._environment)
        unknown = [
            server
            for server in self._servers.values()
            if not server.load_pinned() and book.find(server.spec.identity) is None
        ]
        if not unknown:
            return
        tasks = {asyncio.ensure_future(server.refresh()): server for server in unknown}
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        for done, server in tasks.items():
            if done in late:
                book.put_problem(server.spec.identity, server.spec.name, f"it took more than {seconds:g} seconds")
            elif (error := done.exception()) is not None:
                told = error.message if isinstance(error, ToolrollError) else type(error).__name__
                book.put_problem(server.spec.identity, server.spec.name, told)
                surface.warn(f"The MCP server {server.spec.name} is not used. {told}")

    def entries(self, surface: Surface) -> list[CatalogEntry]:
        """Return the tools that are known, each with the server it is from; note servers whose tools are not."""
        found: list[CatalogEntry] = []
        for name, server in self._servers.items():
            if server.load_pinned():
                place = f"{SERVER_PLACE}{name}:{server.spec.identity}"
                found += [CatalogEntry(tool=tool, origin=f"MCP server {name}", place=place) for tool in server]
                notes = server.notes
            else:
                notes = (f"The tools of the MCP server {name} are not known yet. Try it: toolroll mcp test {name}",)
            for note in notes:
                self._note_once(note, surface)
        return found

    def _note_once(self, text: str, surface: Surface) -> None:
        if text not in self._told:
            self._told.add(text)
            surface.note(text)

    def close(self) -> None:
        """End all connections, and the servers that were started."""
        for server in self._servers.values():
            server.close()


def make_server(spec: ServerSpec, environment: Mapping[str, str]) -> MCPServer:
    """Return the server, with the definitions that were accepted and the login that is kept."""

    def make_auth() -> "httpx2.Auth":
        # The SDK: loaded when a connection is made.
        tokens = McpTokenBook.from_environment(environment)
        made: httpx2.Auth = load("toolroll.mcp_client.oauth:make_auth")(spec, tokens)
        return made

    return MCPServer.from_spec(
        spec,
        pins=PinBook.from_environment(environment),
        listings=ListingBook.from_environment(environment),
        environment=with_keys(environment),
        make_auth=make_auth if spec.oauth else None,
    )


def find_servers(root: Path, settings: Settings, surface: Surface) -> list[NamedServer]:
    """Return the servers that agents in this folder use; tell about those that are not used, and why."""
    named: dict[str, NamedServer] = {}
    sources: list[tuple[Origin, Mapping[str, ServerSettings]]] = []
    own = {name: one for name, one in settings.mcp_servers.items() if _is_own(settings, name)}
    theirs = {name: one for name, one in settings.mcp_servers.items() if name not in own}
    sources += [("settings", own), ("project", theirs), (".mcp.json", read_mcp_json(root, surface))]
    for origin, servers in sources:
        for name, one in servers.items():
            if name in named:
                surface.note(f"Your own MCP server '{name}' is used, not the one of that name in {MCP_JSON}.")
                continue
            try:
                spec = ServerSpec.from_settings(name, one, folder=None if origin == "settings" else str(root.resolve()))
            except ToolrollError as error:
                surface.warn(f"{error.message} It is not used.")
                continue
            named[name] = NamedServer(spec=spec, origin=origin)
    if named and find_spec("mcp") is None:
        surface.warn(NO_SDK)
        return []
    return list(named.values())


def read_mcp_json(root: Path, surface: Surface) -> dict[str, ServerSettings]:
    """Return the servers in a project's `.mcp.json`, if exactly that content is trusted; tell if it is not."""
    try:
        content = read_mcp_json_bytes(root)
        if content is None:
            return {}
        if not TrustBook.from_environment(surface.environment).trusts(workspace_key(root), MCP_JSON, content):
            surface.note(untrusted_note(root, MCP_JSON, "MCP servers"))
            return {}
        return parse_mcp_json(content)
    except ToolrollError as error:
        surface.warn(error.message)
        return {}


def _is_own(settings: Settings, name: str) -> bool:
    return settings.origin(f"{SERVERS}.{name}").kind != "project"
