"""What `toolroll tools show` and `schema` do: they show what a model reads about a tool, its parameters one by one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import click

from toolroll.cli.session import DONE, Session
from toolroll.errors import ToolFailure, UsageError
from toolroll.kernel.strict.convert import NotStrict, convert_to_strict
from toolroll.models.strict import ANTHROPIC, OPENAI
from toolroll.packs.catalog import CatalogEntry, read_catalog

Provider = Literal["openai", "anthropic"]

_EFFECTS = {
    "reads": "reads: runs without being asked about",
    "writes": "writes: needs an approval",
    "external": "external: acts outside, needs an approval",
}

Schema: TypeAlias = Mapping[str, object]

MAX_LEVELS: Final = 4
"""How deep the list goes; whoever needs more reads the schema itself."""

_BOUNDS: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "{}",
}

_PLURALS: Final = {kind: f"{kind}s" for kind in ("boolean", "integer", "number", "object", "string")}


def show_tool(session: Session, name: str, packs: tuple[str, ...], sources: tuple[str, ...]) -> int:
    """Show what a tool does and takes; return the exit code."""
    entry = _entry(name, packs, sources)
    if session.json:
        session.write_json(_as_json(entry))
    else:
        session.show(_as_text(entry))
    return DONE


def show_schema(
    session: Session,
    name: str,
    *,
    strict: bool,
    provider: Provider | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
) -> int:
    """Show the JSON Schema of a tool's arguments; return the exit code."""
    if provider is not None and not strict:
        raise UsageError("--provider chooses whose strict form is shown: add --strict.")
    entry = _entry(name, packs, sources)
    parameters = _strict(entry, provider or "openai") if strict else entry.tool.parameters
    if session.json:
        session.write_json(parameters)
    else:
        session.write_data(json.dumps(parameters, indent=2, ensure_ascii=False))
    return DONE


def _entry(name: str, packs: tuple[str, ...], sources: tuple[str, ...]) -> CatalogEntry:
    return read_catalog(packs, sources, wanted=name).find(name)


def _as_json(entry: CatalogEntry) -> dict[str, Any]:
    tool = entry.tool
    return {
        "name": tool.name,
        "description": tool.description,
        "effect": tool.effect,
        "asks": tool.effect != "reads" or tool.asks,
        "from": entry.origin,
        "parameters": tool.parameters,
        "fingerprint": tool.definition.fingerprint,
    }


def _as_text(entry: CatalogEntry) -> str:
    tool, formatter = entry.tool, _formatter()
    formatter.write(f"{tool.name}\n\n")
    formatter.indent()
    formatter.write_text(tool.description)
    formatter.dedent()
    asks = " (this one asks all the same)" if tool.asks and tool.effect == "reads" else ""
    formatter.write("\n")
    formatter.write_dl([("effect", _EFFECTS[tool.effect] + asks), ("from", entry.origin)])
    return (
        formatter.getvalue() + "\nParameters:\n" + _parameters_text(list_parameters(tool.parameters), formatter.width)
    )


def _parameters_text(parameters: "list[Parameter]", columns: int) -> str:
    """Two columns: the name, and beside it the type and below that what it is for."""
    if not parameters:
        return "  none\n"
    left = min(max(len(one.name) for one in parameters), columns // 2) + 4
    lines: list[str] = []
    for one in parameters:
        told = [f"{one.type} ({'required' if one.is_required else 'optional'})", one.description]
        text = "\n".join(click.wrap_text(line, columns - left) for line in told if line)
        beside = [" " * left + line for line in text.split("\n")]
        name = f"  {one.name}"
        lines += [name.ljust(left) + beside[0][left:], *beside[1:]] if len(name) < left - 1 else [name, *beside]
    return "\n".join(lines) + "\n"


def _formatter() -> click.HelpFormatter:
    return click.get_current_context().make_formatter()


def _strict(entry: CatalogEntry, provider: Provider) -> object:
    form = convert_to_strict(entry.tool.parameters, OPENAI if provider == "openai" else ANTHROPIC)
    if isinstance(form, NotStrict):
        text = f"{entry.tool.name} has no strict form for {provider}: {'; '.join(form.reasons)}."
        raise ToolFailure(f"{text} It is sent as it is, and its arguments are checked here.", code="not_strict")
    return form.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: its path (`todos[].content`), its type in words, whether it must be there, what it is for."""

    name: str
    type: str
    is_required: bool
    description: str


def list_parameters(schema: Schema) -> list[Parameter]:
    """Return every parameter of a tool, in the order of its schema."""
    return list(_properties(schema, schema, "", 0))


def _properties(schema: Schema, root: Schema, prefix: str, level: int) -> Iterator[Parameter]:
    properties, required = _mapping(schema.get("properties")), schema.get("required")
    for name, value in properties.items():
        own = _resolved(_mapping(value), root)
        yield Parameter(
            name=prefix + name,
            type=_type(own, root),
            is_required=isinstance(required, list) and name in required,
            description=str(_mapping(value).get("description") or own.get("description") or ""),
        )
        if level < MAX_LEVELS:
            yield from _inner(own, root, prefix + name, level + 1)


def _inner(schema: Schema, root: Schema, name: str, level: int) -> Iterator[Parameter]:
    for one in _alternatives(schema, root):
        items = _resolved(_mapping(one.get("items")), root)
        yield from _properties(items, root, f"{name}[].", level)
        yield from _properties(one, root, f"{name}.", level)


def _type(schema: Schema, root: Schema) -> str:
    if "enum" in schema or "const" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return (
            " | ".join(json.dumps(value, ensure_ascii=False) for value in values) if isinstance(values, list) else "?"
        )
    several = _alternatives(schema, root)
    if len(several) > 1:
        return " or ".join(dict.fromkeys(_type(one, root) for one in several))
    bounds = [_bound(told, schema[key]) for key, told in _BOUNDS.items() if key in schema]
    return ", ".join([_base(schema, root), *bounds])


def _bound(told: str, value: object) -> str:
    return told.format(value).removesuffix("s") if value == 1 and told.endswith("s") else told.format(value)


def _base(schema: Schema, root: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        items = _resolved(_mapping(schema.get("items")), root)
        kind = _base(items, root)
        return f"list of {_PLURALS.get(kind, kind)}"
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    return str(kind or "any value")


def _alternatives(schema: Schema, root: Schema) -> list[Schema]:
    found = schema.get("anyOf") or schema.get("oneOf")
    return [_resolved(_mapping(one), root) for one in found] if isinstance(found, list) else [schema]


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema that a reference leads to, one step: definitions do not refer to nothing but each other."""
    ref = schema.get("$ref")
    if not isinstance(ref, str):
        return schema
    target: object = root
    for step in ref.removeprefix("#/").split("/"):
        target = _mapping(target).get(step)
    return _mapping(target)


def _mapping(value: object) -> Schema:
    return value if isinstance(value, dict) else {}
