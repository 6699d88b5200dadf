"""An MCP server whose tools are used: connected when they are first needed, listed, pinned, and closed at the end."""

import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from toolroll.errors import UsageError
from toolroll.home.keys import with_keys
from toolroll.home.mcp_listings import ListingBook
from toolroll.home.mcp_pins import PinBook
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.tool import Tool
from toolroll.lazy import load
from toolroll.mcp_client.definition import RemoteDefinition, choose_name, read_definitions
from toolroll.mcp_client.spec import CALL_SECONDS, CONNECT_SECONDS, ServerSpec
from toolroll.mcp_client.tool import RemoteTool

if TYPE_CHECKING:
    import httpx2

    from toolroll.mcp_client.connection import Connection, MakeAuth
    from toolroll.mcp_client.session import Session, SessionInfo


class MCPServer:
    """The tools of an MCP server, for an agent.

    `async with MCPServer("files", command="npx", args=["-y", "some-server", "."]) as files:` starts the server and
    lists its tools; `Agent(tools=[*files])` uses them. With `pins`, what a person accepted is known from there, and the
    server is started at the first call.
    """

    def __init__(
        self,
        name: str,
        *,
        command: str = "",
        args: Sequence[str] = (),
        env: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        cwd: str | None = None,
        url: str = "",
        headers: Mapping[str, str] | None = None,
        auth: "httpx2.Auth | None" = None,
        tools: Sequence[str] = ("*",),
        exclude: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        reads: Sequence[str] = (),
        local: bool = False,
        private: bool = True,
        connect_seconds: float = CONNECT_SECONDS,
        call_seconds: float = CALL_SECONDS,
        pins: PinBook | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Describe the server; nothing is started. The options are those of `ServerSpec`.

        `auth` authorizes requests, such as the SDK's OAuth provider. `pins` keeps what a person accepted; without it,
        the definitions that the server lists first are taken as accepted, and changes to them are asked about.
        """
        spec = ServerSpec(
            name=name,
            command=command,
            args=_words(args, "args"),
            env=_words(env, "env"),
            variables=dict(variables or {}),
            cwd=cwd,
            url=url,
            headers=dict(headers or {}),
            tools=_words(tools, "tools"),
            exclude=_words(exclude, "exclude"),
            rename=dict(rename or {}),
            allow=_words(allow, "allow"),
            reads=_words(reads, "reads"),
            local=local,
            private=private,
            connect_seconds=connect_seconds,
            call_seconds=call_seconds,
        )
        self._set_up(spec, pins, None, environment, None if auth is None else lambda: auth)

    @classmethod
    def from_spec(
        cls,
        spec: ServerSpec,
        *,
        pins: PinBook | None = None,
        listings: ListingBook | None = None,
        environment: Mapping[str, str] | None = None,
        make_auth: "MakeAuth | None" = None,
    ) -> "MCPServer":
        """Return the server that the spec describes; with `listings`, its tools are known before it is started.

        `make_auth` returns what authorizes requests, anew for each connection.
        """
        server = cls.__new__(cls)
        server._set_up(spec, pins, listings, environment, make_auth)  # noqa: SLF001 - one of ours
        return server

    def _set_up(
        self,
        spec: ServerSpec,
        pins: PinBook | None,
        listings: ListingBook | None,
        environment: Mapping[str, str] | None,
        make_auth: "MakeAuth | None",
    ) -> None:
        self.spec: ServerSpec = spec
        self.notes: tuple[str, ...] = ()
        """What a person should know, such as tools of the server that cannot be used."""
        self._pins = pins
        self._listings = listings
        self._environment = with_keys(os.environ) if environment is None else environment
        self._make_auth = make_auth
        self._connection: Connection | None = None
        self._listed = 0
        self._tools: dict[str, RemoteTool] | None = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, once they are known: inside of `async with`, or after `load_pinned`."""
        return tuple(self)

    @property
    def remote_tools(self) -> tuple[RemoteTool, ...]:
        """Return the same tools with what is known of their definitions; none while they are not known."""
        return tuple((self._tools or {}).values())

    def __iter__(self) -> Iterator[Tool]:
        if self._tools is None:
            raise UsageError(
                f"The tools of the MCP server {self.spec.name} are not known yet. Use it inside of "
                "'async with server:', and make the agent there."
            )
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools or ())

    def load_pinned(self) -> bool:
        """Take the tools from what was listed or pinned before, without starting the server; return whether it was."""
        if self._tools is None:
            pinned = {} if self._pins is None else self._pins.find(self.spec.identity)
            listing = None if self._listings is None else self._listings.find(self.spec.identity)
            known = listing.tools if listing is not None and listing.tools else list(pinned.values())
            if known:
                self._read(known, pinned)
        return self._tools is not None

    @property
    def is_open(self) -> bool:
        """Return whether the server is connected at this moment."""
        return self._connection is not None and self._connection.is_open

    async def open(self) -> None:
        """Learn the tools: from the pins, or from the server itself."""
        if not self.load_pinned():
            await self.refresh()

    async def refresh(self) -> None:
        """Connect if needed, and note how the server describes its tools now; once for each connection."""
        connection = self._connect()
        if self._tools is not None and connection.is_open and connection.number == self._listed:
            return
        raws = await connection.request(_list_tools)
        self._listed = connection.number
        self._keep_listing(raws)
        if self._tools is None:
            # Without pins, what the server says first is what the person who wrote this program has chosen.
            own = {str(raw.get("name")): raw for raw in raws}
            self._read(raws, own if self._pins is None else self._pins.find(self.spec.identity))
            return
        found, self.notes = read_definitions(self.spec, raws)
        now = {one.name: one for one in found}
        for tool in self._tools.values():
            tool.update(now.pop(tool.remote_name, None))
        # What the server has beside those that are known is for the next agent.
        self._add(list(now.values()), {})

    def _keep_listing(self, raws: Sequence[Mapping[str, Any]]) -> None:
        if self._listings is not None:
            self._listings.put(self.spec.identity, self.spec.name, raws)

    async def inspect(self) -> tuple[list[RemoteDefinition], "SessionInfo"]:
        """Return what the server lists now, whatever is pinned, and what it says of itself."""
        connection = self._connect()
        raws = await connection.request(_list_tools)
        self._keep_listing(raws)
        found, self.notes = read_definitions(self.spec, raws)
        return found, await connection.info()

    async def call(self, tool: str, arguments: Mapping[str, object], ctx: ToolContext) -> ToolResult:
        """Call a tool by the server's own name; for its tools only, which the executor guards."""

        async def work(session: "Session") -> ToolResult:
            return await session.call_tool(tool, arguments, ctx.progress)

        ask = load("toolroll.mcp_client.elicitation:make_ask")(self.spec.name, ctx)
        connection = self._connect()
        result = await connection.request(work, seconds=self.spec.call_seconds, ask=ask)
        connection.note_success()
        return result

    def accept(self, definition: RemoteDefinition) -> None:
        """Pin a definition that the person has accepted."""
        if self._pins is not None:
            self._pins.pin(self.spec.identity, self.spec.name, [definition.raw])

    def close(self) -> None:
        """End the connection, and the server if it was started here."""
        if self._connection is not None:
            self._connection.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, raws: Sequence[Mapping[str, Any]], pinned: Mapping[str, Mapping[str, Any]]) -> None:
        found, self.notes = read_definitions(self.spec, raws)
        self._tools = {}
        self._add(found, pinned)

    def _add(self, found: Sequence[RemoteDefinition], pinned: Mapping[str, Mapping[str, Any]]) -> None:
        assert self._tools is not None
        for one in found:
            name = choose_name(self.spec, one.name, self._tools)
            accepted = pinned.get(one.name)
            self._tools[name] = RemoteTool(
                name,
                one,
                spec=self.spec,
                caller=self,
                pinned=None if accepted is None else RemoteDefinition(self.spec.name, one.name, accepted),
            )

    def _connect(self) -> "Connection":
        if self._connection is None:
            # The SDK costs as much as all the rest: loaded when a server is really needed.
            self._connection = load("toolroll.mcp_client.connection:Connection")(
                self.spec, self._environment, make_auth=self._make_auth
            )
        return self._connection


async def _list_tools(session: "Session") -> list[dict[str, Any]]:
    return await session.list_tools()


def _words(given: Sequence[str], option: str) -> tuple[str, ...]:
    # A string is a sequence of strings too.
    if isinstance(given, str):
        raise UsageError(f"{option} takes a list of texts, not {given!r}.")
    return tuple(given)
