"""The definition of a tool as a server sends it: checked, bounded, and made harmless for a model and a terminal.

All of it was written by somebody else. It is kept whole for the fingerprint and for the person who has to judge it; a
model is told the name, the description and the schema, and no more of them than fits.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from toolroll.errors import DefinitionError
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.data.serialize import canonical_json
from toolroll.kernel.define.schema import JsonSchema
from toolroll.mcp_client.spec import ServerSpec
from toolroll.safe.limits import MAX_TOOL_NAME_CHARACTERS
from toolroll.safe.text import one_line, terminal_safe

MAX_TOOLS: Final = 256
"""Of one server: OpenAI takes 128 tools in a request, and no model chooses well among more."""
MAX_DEFINITION_BYTES: Final = 65_536
"""Of one tool, as JSON: the largest schema of a server in wide use has a third of that."""
MAX_DESCRIPTION_CHARACTERS: Final = 2_048
"""As common clients cut it: what is longer is more likely a prompt than a description."""
SEPARATOR: Final = "__"

_ODD: Final = re.compile(r"[^A-Za-z0-9_-]")
_HASH_CHARACTERS: Final = 8


@dataclass(frozen=True)
class RemoteDefinition:
    """A tool of a server: `raw` is all that the server said of it."""

    server: str
    name: str
    raw: Mapping[str, object]

    @classmethod
    def from_raw(cls, server: str, raw: Mapping[str, object]) -> "RemoteDefinition":
        """Return the definition; DefinitionError says why it cannot be used."""
        name, schema = raw.get("name"), raw.get("inputSchema")
        if not isinstance(name, str) or not name.strip():
            raise DefinitionError(f"The MCP server {server} has a tool without a name. It is not used.", tool=server)
        shown = one_line(name, MAX_TOOL_NAME_CHARACTERS)
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            raise DefinitionError(f"{server}: the schema of {shown!r} is not one of an object.", tool=shown)
        size = len(canonical_json(raw).encode("utf-8", "surrogatepass"))
        if size > MAX_DEFINITION_BYTES:
            raise DefinitionError(
                f"{server}: the definition of {shown!r} has {size:,} bytes; at most {MAX_DEFINITION_BYTES:,} are read.",
                tool=shown,
            )
        return cls(server=server, name=name, raw=raw)

    @cached_property
    def fingerprint(self) -> str:
        """Return a hash that changes with anything that the server says of the tool."""
        return content_hash(canonical_json([self.server, self.raw]))

    @property
    def title(self) -> str:
        """Return a short name for people, on one line."""
        return one_line(str(self.raw.get("title") or self.name), MAX_TOOL_NAME_CHARACTERS)

    @cached_property
    def description(self) -> str:
        """Return what a model is told: whose words these are, then the words, bounded and without hidden characters."""
        given = self.raw.get("description")
        words = terminal_safe(given if isinstance(given, str) else self.title).strip()
        if len(words) > MAX_DESCRIPTION_CHARACTERS:
            words = words[:MAX_DESCRIPTION_CHARACTERS] + "…"
        return f"A tool of the MCP server {self.server!r}. The server says: {words}"

    @property
    def parameters(self) -> JsonSchema:
        """Return the schema of its arguments, as the server wrote it."""
        schema = self.raw["inputSchema"]
        assert isinstance(schema, dict)
        return schema

    @property
    def hints(self) -> tuple[str, ...]:
        """Return what the server claims of the tool: hints, which nobody has checked."""
        found = self.raw.get("annotations")
        return tuple(name for name, value in found.items() if value is True) if isinstance(found, Mapping) else ()

    @cached_property
    def text(self) -> str:
        """Return all that the server says of the tool, one thing a line: what a person judges, and differences show."""
        return "".join(f"{line}\n" for line in _flatten(self.raw))


def _flatten(value: object, before: str = "") -> Iterable[str]:
    match value:
        case dict() if value:
            for key in sorted(value):
                yield from _flatten(value[key], f"{before}.{key}" if before else str(key))
        case list() if value:
            for number, item in enumerate(value):
                yield from _flatten(item, f"{before}[{number}]")
        case _:
            yield f"{before}: {value if isinstance(value, str) else canonical_json(value)}"


def read_definitions(
    spec: ServerSpec, raws: Iterable[Mapping[str, object]]
) -> tuple[list[RemoteDefinition], tuple[str, ...]]:
    """Return the definitions that the person wants, each name once, and notes about those that are not used."""
    found: dict[str, RemoteDefinition] = {}
    notes: list[str] = []
    for raw in raws:
        try:
            one = RemoteDefinition.from_raw(spec.name, raw)
        except DefinitionError as error:
            notes.append(error.message)
            continue
        if one.name in found:
            notes.append(f"{spec.name} has two tools named {one.title!r}. The second is not used.")
        elif spec.uses(one.name):
            found[one.name] = one
    kept = list(found.values())[:MAX_TOOLS]
    if len(found) > MAX_TOOLS:
        notes.append(
            f"{spec.name} offers {len(found):,} tools; the first {MAX_TOOLS} are used. Choose with tools = [...]."
        )
    return kept, tuple(notes)


def choose_name(spec: ServerSpec, tool: str, taken: Collection[str]) -> str:
    """Return the name that a model calls the tool by: the server's before it, in the characters that providers take."""
    wanted = f"{spec.name}{SEPARATOR}{spec.rename.get(tool, tool)}"
    name = _ODD.sub("_", wanted)[:MAX_TOOL_NAME_CHARACTERS]
    if name == wanted and name not in taken:
        return name
    # Cut or changed: another tool could end up with the same name, today or after an update of the server.
    mark = content_hash(wanted)[:_HASH_CHARACTERS]
    return f"{name[: MAX_TOOL_NAME_CHARACTERS - len(mark) - 1]}_{mark}"
