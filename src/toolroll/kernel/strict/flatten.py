"""Merge plain schemas made of several parts (`$ref` with siblings, `allOf`) into one, or say why not.

What a part says is never overridden by another one: a sibling that silently replaced the properties of the schema it
refers to would turn the accepted values upside down (openai/openai-agents-python #4353). Two parts that restrict the
same thing are a clash, and a clash has no strict form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolroll.kernel.strict.rules import is_scalar

Schema: TypeAlias = Mapping[str, object]

# Nobody writes more; a chain of references that leads back to itself ends here.
MAX_MERGED_PARTS: Final = 64

# What a model is told about a value, as opposed to what restricts it.
TELLING: Final = frozenset({"description", "default"})
# Says nothing that a strict schema could carry.
SILENT: Final = frozenset(
    {"$comment", "$defs", "$id", "$schema", "definitions", "deprecated", "discriminator", "examples", "title"}
    | {"readOnly", "writeOnly"}
)
# `additionalProperties` means "besides the properties of my own part"; merged across parts it would mean another thing.
_GROUPS: Final = (
    frozenset({"properties", "additionalProperties", "patternProperties"}),
    frozenset({"items", "additionalItems"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Parts that cannot be one schema, in plain words."""

    reason: str


def get_reference(schema: Schema) -> str | None:
    """Return the address if the schema is a reference with at most a description beside it."""
    rest = set(schema) - SILENT - TELLING
    parts = schema.get("allOf")
    # pydantic wrapped references like this for years, to give them a description.
    if rest == {"allOf"} and isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], Mapping):
        schema, rest = parts[0], set(parts[0]) - SILENT
    ref = schema.get("$ref")
    return ref if rest == {"$ref"} and isinstance(ref, str) else None


def definition_name(ref: str) -> tuple[str, str] | None:
    """Return the table and the name a local reference leads to; None for an address of any other form."""
    hash_mark, _, rest = ref.partition("/")
    table, _, name = rest.partition("/")
    if hash_mark != "#" or table not in {"definitions", "$defs"} or not name or "/" in name:
        return None
    return table, name.replace("~1", "/").replace("~0", "~")


def resolve_reference(root: Schema, ref: str) -> Schema | None:
    """Return the definition a local reference leads to; None when there is none."""
    place = definition_name(ref)
    table = root.get(place[0]) if place else None
    found = table.get(place[1]) if place and isinstance(table, Mapping) else None
    return found if isinstance(found, Mapping) else None


def flatten(schema: Schema, root: Schema) -> dict[str, object] | Clash:
    """Return the schema as one part, nearer descriptions first; a fresh dictionary with the given values."""
    merged: dict[str, object] = {}
    waiting: list[object] = [schema]
    for _ in range(MAX_MERGED_PARTS):
        if not waiting:
            return merged
        part = waiting.pop(0)
        if not isinstance(part, Mapping):
            return Clash(reason="a part of `allOf` is not an object schema")
        clash = _add(merged, part) or _queue(waiting, part, root)
        if clash:
            return clash
    return Clash(reason=f"it refers to itself, or is made of more than {MAX_MERGED_PARTS} parts")


def _queue(waiting: list[object], part: Schema, root: Schema) -> Clash | None:
    if "$ref" in part:
        ref = part["$ref"]
        found = resolve_reference(root, ref) if isinstance(ref, str) else None
        if found is None:
            return Clash(reason="it refers to something that is not a definition of this schema")
        waiting.append(found)
    parts = part.get("allOf", [])
    if not isinstance(parts, list):
        return Clash(reason="`allOf` is not a list")
    waiting.extend(parts)
    return None


def _add(merged: dict[str, object], part: Schema) -> Clash | None:
    for group in _GROUPS:
        if group & set(merged) and group & set(part):
            return Clash(reason=f"two parts of it set {_list_keywords(group & (set(merged) | set(part)))}")
    for key, value in part.items():
        if key in SILENT or key in {"$ref", "allOf"}:
            continue
        if key not in merged:
            merged[key] = value
        elif key not in TELLING and not _same(merged[key], value):
            return Clash(reason=f"two parts of it set {_list_keywords({key})}")
    return None


def _same(one: object, other: object) -> bool:
    # Only scalars are compared: equality of nested values recurses as deep as a hostile schema likes.
    return type(one) is type(other) and is_scalar(one) and is_scalar(other) and one == other


def _list_keywords(keywords: set[str] | frozenset[str]) -> str:
    return " and ".join(f"`{keyword}`" for keyword in sorted(keywords))
