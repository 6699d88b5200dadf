"""Made-up arguments fit the schema they were made from, whatever it says."""

import json
from typing import Any

import pytest

from toolroll.testing.samples import NoSamples, check_samples
from toolroll.testing.schema import matches_schema

REF = {"$ref": "#/definitions/A"}


def closed(required: tuple[str, ...] = ("a",), /, **properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def samples_of(schema: dict[str, object], count: int = 25) -> list[Any]:
    found: list[str] = []
    assert check_samples(schema, count, found.append) is None
    return [json.loads(raw) for raw in found]


@pytest.mark.parametrize(
    "node",
    [
        {"type": "string", "minLength": 2, "maxLength": 4},
        {"type": "string", "pattern": "^[ab]+$"},
        {"type": ["integer", "null"]},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"enum": [1, "a", None]},
        {"const": {"x": 1}},
        {},
        {"allOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 100}]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"oneOf": [{"type": "integer"}, {"type": "number", "maximum": 5}]},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 3}, "uniqueItems": True},
        {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False, "minItems": 2},
        {"type": "array"},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2},
        {"type": "object", "additionalProperties": {"type": "null"}, "propertyNames": {"pattern": "^[ab]{2}$"}},
        closed((), b={"type": "string"}),
        {**closed(a={"type": "integer"}), "type": ["object", "null"]},
        {"type": ["array", "string"], "items": closed(a={"type": "integer"})},
        {"type": "object", "enum": [{"x": 1}]},
        {**closed((), a={"type": "integer"}, b={"type": "integer"}), "minProperties": 1, "maxProperties": 1},
    ],
    ids=json.dumps,
)
def test_what_is_made_up_fits(node: dict[str, object]) -> None:
    schema = closed(a=node)
    samples = samples_of(schema)
    assert [sample for sample in samples if not matches_schema(sample, schema)] == []
    assert samples


def test_the_same_schema_gives_the_same_samples() -> None:
    schema = closed(a={"type": "string"}, b={"type": "integer"})
    assert samples_of(schema) == samples_of(schema)


def test_optional_properties_are_there_and_not_there() -> None:
    samples = samples_of(closed(a={"type": "boolean"}, b={"type": "boolean"}))
    assert {"b" in sample for sample in samples} == {True, False}


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return max(map(depth, value), default=0) if isinstance(value, list) else 0


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = closed((), left=REF, all={"type": "array", "items": REF}, other={"anyOf": [REF, {"type": "null"}]})
    schema = {**closed(a=REF), "definitions": {"A": node}}
    samples = samples_of(schema)
    assert [sample for sample in samples if not matches_schema(sample, schema)] == []
    assert 3 <= max(map(depth, samples)) <= 5


@pytest.mark.parametrize("node", [closed(a=REF), closed(a={"type": "array", "items": REF, "minItems": 1})])
def test_a_schema_of_endless_things_has_no_samples(node: dict[str, object]) -> None:
    with pytest.raises(NoSamples):
        samples_of({**closed(a=REF), "definitions": {"A": node}})


def test_all_formats_are_made(recwarn: pytest.WarningsRecorder) -> None:
    names = ["date", "date-time", "time", "duration", "uuid", "email", "uri", "ipv4", "ipv6", "base64", "regex", "odd"]
    properties = {name: {"type": "string", "format": name} for name in names}
    samples = samples_of(closed(tuple(names), **properties), 5)
    assert all(set(names) == set(sample) for sample in samples)
    assert samples[0]["duration"].startswith("PT")
    assert not recwarn.list
