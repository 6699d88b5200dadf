"""A tool of an MCP server as a tool of ours: asked about until a person has said otherwise, pinned, and not trusted.

What the server says of the tool (that it only reads, that it is harmless) is shown and believed by nobody. A call runs
without a question only if the person has allowed that tool, and only while its definition is the pinned one.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from toolroll.errors import ToolFailure
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import Effect, Preview
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.labels import ALL_LABELS, UNTRUSTED, Labels
from toolroll.kernel.data.serialize import dump_plain
from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.diff.unified import unified_diff
from toolroll.lazy import load
from toolroll.mcp_client.definition import RemoteDefinition
from toolroll.mcp_client.spec import ServerSpec

if TYPE_CHECKING:
    from toolroll.mcp_client.arguments import SchemaCheck

NEW: Final = "Nobody has accepted this tool so far. All that the server says of it is below; a yes accepts it."
CHANGED: Final = "The server describes this tool otherwise than when it was accepted. A yes accepts the new definition."


class Caller(Protocol):
    """The server, as its tools see it."""

    async def refresh(self) -> None:
        """Connect if needed, and note how the server describes its tools now."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, object], ctx: ToolContext) -> ToolResult:
        """Call a tool."""
        ...

    def accept(self, definition: RemoteDefinition) -> None:
        """Pin a definition that the person has accepted."""
        ...


class RemoteTool(Tool):
    """A tool of an MCP server."""

    def __init__(
        self,
        name: str,
        current: RemoteDefinition,
        *,
        spec: ServerSpec,
        caller: Caller,
        pinned: RemoteDefinition | None,
    ) -> None:
        self._name = name
        self._current = current
        self._spec = spec
        self._caller = caller
        self._pinned = pinned
        self._is_gone = False
        self._check: SchemaCheck | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def remote_name(self) -> str:
        """Return the name that the server calls it by."""
        return self._current.name

    @property
    def description(self) -> str:
        return self._current.description

    @property
    def parameters(self) -> JsonSchema:
        return self._current.parameters

    @property
    def effect(self) -> Effect:
        if self._spec.only_reads(self.remote_name):
            return "reads"
        return "writes" if self._spec.local else "external"

    @property
    def labels(self) -> Labels:
        return ALL_LABELS if self._spec.private else UNTRUSTED

    @property
    def core(self) -> Tool:
        return self

    @property
    def current(self) -> RemoteDefinition:
        """Return how the server describes the tool now, as far as is known."""
        return self._current

    @property
    def pinned(self) -> RemoteDefinition | None:
        """Return the definition that a person has accepted."""
        return self._pinned

    @property
    def is_pinned(self) -> bool:
        """Return whether the definition is the one that a person has accepted."""
        return self._pinned is not None and self._pinned.fingerprint == self._current.fingerprint

    @property
    def asks(self) -> bool:
        return not self.is_pinned

    @property
    def has_condition(self) -> bool:
        return True

    def needs_approval(self, arguments: object, ctx: ToolContext) -> bool | None:  # noqa: ARG002 - the tool decides
        if not self.is_pinned:
            return True
        return False if self._spec.allows(self.remote_name) else None

    def update(self, definition: RemoteDefinition | None) -> None:
        """Note how the server describes the tool now; None if it has it no longer."""
        self._is_gone = definition is None
        if definition is not None and definition.fingerprint != self._current.fingerprint:
            self._current, self._check = definition, None

    def validate(self, raw: str) -> object:
        value = parse_object(raw)
        if self._check is None:
            # Loaded here: who only lists tools needs no JSON Schema.
            self._check = load("toolroll.mcp_client.arguments:SchemaCheck")(self.name, self.parameters)
        self._check.check(value)
        return value

    def paths(self, arguments: object) -> tuple[str, ...]:  # noqa: ARG002 - a server's own paths are not ours
        return ()

    def why(self, arguments: object) -> str:  # noqa: ARG002 - the server's words are no reason
        return f"{self._current.title} of the MCP server {self._spec.name}"

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:  # noqa: ARG002
        await self._caller.refresh()
        self._require_there()
        lines = [f"{self.name} {dump_plain(arguments)}", f"Server: {self._spec.place}"]
        if self._current.hints:
            lines.append(f"The server claims: {', '.join(self._current.hints)}. Nobody has checked that.")
        return Preview(
            kind="text",
            text="\n".join([*lines, *self._describe_change()]),
            base=self._current.fingerprint,
            payload=self._current.fingerprint,
        )

    def _describe_change(self) -> list[str]:
        if self.is_pinned:
            return []
        if self._pinned is None:
            return ["", NEW, "", self._current.text.rstrip("\n")]
        difference = unified_diff(self._pinned.text, self._current.text, path=self.remote_name)
        return ["", CHANGED, "", "".join(difference).rstrip("\n")]

    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        given = Permit.redeem(permit, self, ctx)
        assert isinstance(given, dict)
        return self._invoke(permit, given, ctx)

    async def _invoke(self, permit: Permit, given: Mapping[str, object], ctx: ToolContext) -> object:
        await self._caller.refresh()
        self._require_there()
        if not self.is_pinned:
            shown = None if permit.preview is None else permit.preview.payload
            if permit.granted != "person" or shown != self._current.fingerprint:
                raise ToolFailure(
                    f"The MCP server {self._spec.name} describes {self.name} otherwise than a person has accepted. "
                    "Nothing was sent. Call it again, so that the person is asked.",
                    code="definition_changed",
                )
            self._pinned = self._current
            self._caller.accept(self._current)
        ctx.run.add_labels(self.labels)
        return await self._caller.call(self.remote_name, given, ctx)

    def _require_there(self) -> None:
        if self._is_gone:
            raise ToolFailure(
                f"The MCP server {self._spec.name} has no tool {self._current.title!r} any more. Do without it.",
                code="tool_gone",
            )


MakeTool = Callable[[RemoteDefinition], RemoteTool]
