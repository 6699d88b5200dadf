"""Check the schema that a model is shown."""

from collections.abc import Iterator, Mapping

from jsonschema import Draft7Validator, SchemaError

from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.strict.flatten import resolve_reference
from toolroll.testing.report import Finding, Outcome


def check_schema(tool: Tool) -> Outcome:
    """Check that the schema is draft-07 with an object at its root, every object closed and every reference known."""
    problems = tuple(Finding(check="schema", text=text) for text in _find_problems(tool.parameters))
    return Outcome(
        held="schema: draft-07, every object closed, every reference leads somewhere",
        findings=() if problems else tuple(_find_odd_defaults(tool.parameters)),
        problems=problems,
    )


def find_schema_error(schema: Mapping[str, object]) -> str | None:
    """Describe where and why a schema is not draft-07; None if it is."""
    try:
        Draft7Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path.replace('$', 'parameters', 1)} is not draft-07: {error.message}."
    return None


def matches_schema(value: object, schema: Mapping[str, object]) -> bool:
    """Return whether the schema takes the value."""
    return Draft7Validator(schema).is_valid(value)


def walk_schema(node: Mapping[str, object], place: str = "parameters") -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield every schema within a schema, with its place in it."""
    yield place, node
    for key in ("properties", "definitions", "$defs"):
        named = node.get(key)
        for name, child in named.items() if isinstance(named, Mapping) else ():
            yield from walk_schema(child, f"{place}.{name}")
    for key in ("items", "additionalProperties", "anyOf", "oneOf", "allOf"):
        below = node.get(key)
        for child in below if isinstance(below, list) else [below]:
            if isinstance(child, Mapping):
                yield from walk_schema(child, f"{place}[]" if key == "items" else place)


def _find_problems(schema: JsonSchema) -> Iterator[str]:
    if broken := find_schema_error(schema):
        yield broken
        return
    if schema.get("type") != "object":
        yield f"arguments must be an object, and this schema is of type {schema.get('type')!r}."
    for place, node in walk_schema(schema):
        if node.get("type") == "object" and "additionalProperties" not in node:
            yield f"{place} takes fields it does not name: additionalProperties is missing."
        ref = node.get("$ref")
        if isinstance(ref, str) and resolve_reference(schema, ref) is None:
            yield f"{place} refers to {ref}, which is not there."


def _find_odd_defaults(schema: JsonSchema) -> Iterator[Finding]:
    properties = schema.get("properties", {})
    assert isinstance(properties, Mapping)
    for name, node in properties.items():
        alone = {**node, "definitions": schema.get("definitions", {})}
        if "default" in node and not matches_schema(node["default"], alone):
            text = f"the default of '{name}' ({node['default']!r}) is not what the schema says '{name}' takes."
            yield Finding(check="schema", text=text)
