"""Tools whose arguments are described by a JSON Schema that somebody else wrote."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolroll import Tool, ToolContext, define_tool
from toolroll.errors import ArgumentsRefused, DefinitionError

SCHEMA: dict[str, object] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "zip": {"type": "string", "pattern": "^[0-9]{5}$", "maxLength": 5, "description": "The code."},
        "amount": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
        "share": {"type": ["number", "null"], "multipleOf": 0.5},
        "size": {"enum": ["small", "large", 3, {"cm": 1}]},
        "kind": {"type": "string", "const": "order"},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1, "maxItems": 3},
        "names": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
        "either": {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/Node"}]},
        "other": {"oneOf": [{"type": "integer"}, {"$ref": "#/definitions/Node"}]},
        "one": {"allOf": [{"type": "boolean"}], "description": "A flag."},
        "any": {"description": "Whatever there is."},
        "anything": True,
    },
    "required": ["zip"],
    "definitions": {
        "Node": {
            "type": "object",
            "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/definitions/Node"}},
            "required": ["value"],
        }
    },
}


def repeat(arguments: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
    return arguments


def make(schema: dict[str, object]) -> Tool:
    return define_tool(name="order", description="Order.", input=schema, execute=repeat)


ORDER = make(SCHEMA)


async def test_A49_a_tool_is_made_of_a_json_schema_and_a_function() -> None:
    given = {
        "zip": "12345",
        "size": {"cm": 1},
        "tags": ["a", "b"],
        "any": [1],
        "either": {"value": 1, "next": {"value": 2}},
    }
    raw = json.dumps(given)
    result = await ORDER.execute_raw(raw)
    assert not result.is_error
    assert json.loads(raw) == json.loads(result.text)
    assert list(ORDER.parameters["properties"])[:2] == ["zip", "amount"]  # type: ignore[call-overload]  # a dict
    assert ORDER.parameters["additionalProperties"] is False
    assert json.dumps(ORDER.parameters) == json.dumps(make(SCHEMA).parameters)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "zip: missing, and required (string)"),
        ({"zip": "12a45"}, "zip: String should match pattern"),
        ({"zip": "12345", "amount": 10}, "amount: Input should be less than 10"),
        ({"zip": "12345", "share": 0.3}, "share"),
        ({"zip": "12345", "size": "huge"}, 'size: Input should be one of "small", "large", 3, {"cm":1}'),
        ({"zip": "12345", "kind": "gift"}, 'kind: Input should be one of "order"'),
        ({"zip": "12345", "tags": ["a", "a"]}, "tags: Each item may stand there once"),
        ({"zip": "12345", "tags": []}, "tags: List should have at least 1 item"),
        ({"zip": "12345", "names": {}}, "names: Dictionary should have at least 1 item"),
        ({"zip": "12345", "either": {"value": 1, "nxt": 2}}, "nxt"),
        ({"zip": "12345", "colour": "red"}, "colour: there is no such parameter; it takes: zip, amount"),
    ],
)
async def test_A49_arguments_that_the_schema_forbids_are_refused(arguments: dict[str, object], told: str) -> None:
    result = await ORDER.execute_raw(json.dumps(arguments))
    assert result.code == "invalid_arguments"
    assert told in result.text


async def test_A49_doubled_keys_and_nulls_that_stand_for_nothing_follow_the_rules_of_every_tool() -> None:
    assert (await ORDER.execute_raw('{"zip": "12345", "zip": "54321"}')).code == "invalid_json"
    result = await ORDER.execute_raw('{"zip": "12345", "amount": null}')
    assert json.loads(result.text) == {"zip": "12345"}


def test_A49_paths_of_a_raw_schema_are_known_to_rules() -> None:
    schema = {"type": "object", "properties": {"file": {"type": "string"}}}
    made = define_tool(name="t", description="x", input=schema, execute=repeat, paths=["file"])
    assert made.paths(made.validate('{"file": "a.txt"}')) == ("a.txt",)
    with pytest.raises(DefinitionError, match="there is: file"):
        define_tool(name="t", description="x", input=schema, execute=repeat, paths=["fil"])


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "array"}, "type 'array'"),
        ({}, "type None"),
        ({"type": "object", "properties": {"a": {"type": "string", "contentEncoding": "base64"}}}, "contentEncoding"),
        ({"type": "object", "properties": {"a": {"type": "date"}}}, "type 'date'"),
        ({"type": "object", "properties": {"a": {"minimum": 3}}}, "minimum"),
        ({"type": "object", "properties": {"a": {"type": ["null", "string"], "minimum": 3}}}, "minimum"),
        ({"type": "object", "properties": {"a": {"type": "boolean", "minimum": 3}}}, "the schema of a has minimum"),
        ({"type": "object", "properties": {"a": {"allOf": [{}, {}]}}}, "allOf"),
        ({"type": "object", "properties": {"a": {"enum": [1], "not": {}}}}, "not"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": [{}]}}}, "a list of items"),
        ({"type": "object", "properties": {"a": {"$ref": "http://example.com/x"}}}, "http://example.com/x"),
        ({"type": "object", "properties": {"a": False}}, "no JSON Schema"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": 3}}}, "3"),
        ({"type": "object", "properties": {"a": {"$ref": "#/definitions/B"}}}, "B"),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": True}, "name them all, or none"),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}, "no JSON Schema"),
        ({"type": "object", "properties": []}, "no JSON Schema"),
        ({"type": "object", "properties": {"a": {"enum": 3}}}, "no JSON Schema"),
    ],
)
def test_A49_a_schema_that_cannot_be_checked_is_refused_when_the_tool_is_made(
    schema: dict[str, object], told: str
) -> None:
    with pytest.raises(DefinitionError) as refused:
        make(schema)
    assert told in str(refused.value)


def test_A49_an_open_map_takes_any_names() -> None:
    made = make({"type": "object", "additionalProperties": {"type": "integer"}})
    assert made.validate('{"a": 1}') == {"a": 1}
    with pytest.raises(ArgumentsRefused):
        made.validate('{"a": "x"}')


PLAIN = st.none() | st.booleans() | st.integers(-1, 12) | st.sampled_from([0.5, 0.3])
WORDS = st.sampled_from(["12345", "1234", "small", "large", "order", "x"])
VALUES = st.recursive(
    PLAIN | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["cm", "value", "next", "a"]), inner),
    max_leaves=5,
)
NAMES = [*ORDER.parameters["properties"], "unknown"]  # type: ignore[misc]  # a dict


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMES), VALUES)
def test_A49_what_the_schema_allows_is_taken_as_it_is(name: str, value: object) -> None:
    arguments = {"zip": "12345", name: value}
    if jsonschema.Draft7Validator(ORDER.parameters).is_valid(arguments):
        assert arguments == ORDER.validate(json.dumps(arguments))
    elif value is not None and name in (
        "tags",
        "size",
        "unknown",
    ):  # elsewhere "3" is a number
        with pytest.raises(ArgumentsRefused):
            ORDER.validate(json.dumps(arguments))
