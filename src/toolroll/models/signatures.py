"""Tools in few words: a signature and a sentence each, for models that are lost in a page of JSON Schema."""

from collections.abc import Mapping
from typing import Final

from toolroll.kernel.define.tool import ToolDefinition

_WORDS: Final[Mapping[str, str]] = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
}
MAX_WORDS_SHOWN: Final = 8
"""Of the values that a parameter may have."""


def describe_tool(tool: ToolDefinition) -> str:
    """Return a line such as `read_file(path: text, limit?: number): Read a file.`; what has a `?` can be left out."""
    return f"- {tool.name}({', '.join(_parameters(tool.parameters))}): {first_sentence(tool.description)}"


def first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence."""
    line = " ".join(text.split())
    head, stop, _ = line.partition(". ")
    return f"{head}." if stop else line


def _parameters(schema: Mapping[str, object]) -> list[str]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return []
    needed = required if isinstance(required, list | tuple) else ()
    return [f"{name}{'' if name in needed else '?'}: {_kind(one, schema)}" for name, one in properties.items()]


def _kind(schema: object, whole: Mapping[str, object], depth: int = 6) -> str:
    """Return what a value is, in a word or two."""
    if not isinstance(schema, Mapping) or not depth:
        return "value"
    values = schema.get("enum")
    if isinstance(values, list) and 0 < len(values) <= MAX_WORDS_SHOWN:
        return " or ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in values)
    target = _find(schema.get("$ref"), whole)
    if target is not None:
        return _kind(target, whole, depth - 1)
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        kinds = [_kind(one, whole, depth - 1) for one in choices if one != {"type": "null"}]
        return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type")
    if kind == "object" and isinstance(schema.get("properties"), Mapping):
        return "{" + ", ".join(_inner(schema, whole, depth)) + "}"
    if kind == "array":
        return f"list of {_kind(schema.get('items'), whole, depth - 1)}"
    return _WORDS.get(kind, "value") if isinstance(kind, str) else "value"


def _inner(schema: Mapping[str, object], whole: Mapping[str, object], depth: int) -> list[str]:
    properties, required = schema["properties"], schema.get("required")
    assert isinstance(properties, Mapping)
    needed = required if isinstance(required, list | tuple) else ()
    return [
        f"{name}{'' if name in needed else '?'}: {_kind(one, whole, depth - 1)}" for name, one in properties.items()
    ]


def _find(reference: object, whole: Mapping[str, object]) -> object | None:
    """Return the definition that a reference leads to."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: object = whole
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
