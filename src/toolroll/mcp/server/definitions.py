"""What a client reads about a tool: name, title, description, hints, and a schema that clients can take.

Some clients refuse all tools for one schema they cannot read: `anyOf` with null for an optional parameter, a `$schema`,
a list of types. The schemas here say less than those that models of our own agents get; a call is checked as there.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import Tool as ToolListing
from mcp_types import ToolAnnotations

from toolroll.agent.approvals import effect_of
from toolroll.kernel.define.tool import Tool
from toolroll.outputs.cut import CONTEXT_BYTES, whole_characters

MAX_TEXT_BYTES: Final = 2_048
"""Of a description, and of the instructions: Claude Code cuts both there without a word."""
_CUT: Final = " [...]"
_NULL: Final = {"type": "null"}
_OLD: Final = "#/definitions/"
_SINGLE: Final = frozenset({"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"})
_LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs"})


def list_tool(tool: Tool) -> ToolListing:
    """Return a tool as clients list it."""
    effect = effect_of(tool)
    reads = effect == "reads"
    return ToolListing(
        name=tool.name,
        title=tool.name.replace("_", " ").replace("-", " ").strip().capitalize() or tool.name,
        description=fit_text(tool.description),
        input_schema=to_client_schema(tool.parameters),
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=not reads,
            idempotent_hint=reads,
            open_world_hint=effect == "external",
        ),
        # How much of a result Claude Code shows a model before it moves it into a file: what we send at most.
        _meta={"anthropic/maxResultSizeChars": CONTEXT_BYTES},
    )


def fit_text(text: str) -> str:
    """Return a text for clients; what is longer than they take ends in a mark that says so."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_TEXT_BYTES:
        return text
    return data[: whole_characters(data, MAX_TEXT_BYTES - len(_CUT))].decode("utf-8", "ignore") + _CUT


def to_client_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments in the words that clients know (draft 2020-12)."""
    whole = {key: value for key, value in schema.items() if key not in ("$schema", "definitions")}
    definitions = schema.get("definitions", {})
    if definitions:
        whole["$defs"] = definitions
    made = _convert(whole)
    made.setdefault("type", "object")
    return made


def _convert(node: Mapping[str, Any]) -> dict[str, Any]:
    node = _merge_reference(_without_null(node))
    made = {key: _convert_value(key, value) for key, value in node.items() if key != "additionalItems"}
    if isinstance(node.get("items"), list):  # a tuple, as draft-07 writes it
        made["prefixItems"] = [_convert(one) for one in node["items"]]
        made["items"] = node.get("additionalItems", False)
    if isinstance(made.get("$ref"), str):
        made["$ref"] = made["$ref"].replace(_OLD, "#/$defs/")
    return made


def _convert_value(key: str, value: Any) -> Any:
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _convert(inner) if isinstance(inner, Mapping) else inner for name, inner in value.items()}
    if key in _SINGLE and isinstance(value, Mapping):
        return _convert(value)
    if key in _LISTED and isinstance(value, list):
        return [_convert(inner) for inner in value]
    return value


def _without_null(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a value has to be if it is there at all: a client leaves out what is null."""
    found = {key: value for key, value in node.items() if not (key == "default" and value is None)}
    kinds, choices = node.get("type"), node.get("anyOf")
    if isinstance(kinds, list) and "null" in kinds:
        left = [kind for kind in kinds if kind != "null"]
        found["type"] = left[0] if len(left) == 1 else left
    if isinstance(choices, list) and _NULL in choices:
        rest = [one for one in choices if one != _NULL]
        del found["anyOf"]
        found = {**rest[0], **found} if len(rest) == 1 else {**found, "anyOf": rest}
    return found


def _merge_reference(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write `allOf` with one reference, which draft-07 needs for a description beside it, as the reference."""
    match node.get("allOf"):
        case [{"$ref": str(), **others} as pointer] if not others:
            return {**pointer, **{key: value for key, value in node.items() if key != "allOf"}}
    return node
