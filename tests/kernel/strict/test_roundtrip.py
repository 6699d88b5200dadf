"""Strict forms of random schemas: what providers take, and no value lost or gained on the way there and back."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from tests.kernel.strict.strict_support import (
    Kinds,
    check_anthropic_subset,
    check_openai_subset,
    filled_values,
    optional_count,
    plain_schemas,
    relaxed,
    union_count,
)

from toolroll.kernel.arguments.nulls import drop_left_out_nulls
from toolroll.kernel.strict.convert import NotStrict, StrictSchema, convert_to_strict
from toolroll.kernel.strict.rules import StrictRules
from toolroll.models.strict import ANTHROPIC, OPENAI

# Unions of objects with the same first key are common in random schemas; OpenAI's rule on them is tested by itself.
ANY_KEYS = replace(OPENAI, distinct_first_keys=False, max_depth=None)
ABSENT = replace(ANTHROPIC, optional="absent")


def converted(schema: dict[str, Any], rules: StrictRules) -> StrictSchema:
    form = convert_to_strict(schema, rules)
    event(f"{rules.name} {type(form).__name__}")
    assume(isinstance(form, StrictSchema))
    assert isinstance(form, StrictSchema)
    return form


@given(plain_schemas(recursion=True, kinds=Kinds(formless=True)))
def test_K11_openai_forms_keep_to_its_subset(schema: dict[str, Any]) -> None:
    check_openai_subset(converted(schema, OPENAI).schema)


@given(plain_schemas(recursion=True, kinds=Kinds(formless=True)), st.sampled_from([ANTHROPIC, ABSENT]))
def test_K11_anthropic_forms_keep_to_its_subset_and_are_counted_right(
    schema: dict[str, Any], rules: StrictRules
) -> None:
    form = converted(schema, rules)
    check_anthropic_subset(form.schema, all_required=rules is ANTHROPIC)
    assert optional_count(form.schema) == form.optional_parameters
    assert union_count(form.schema) == form.union_parameters


@given(plain_schemas())
def test_K11_only_what_decides_between_values_has_no_form(schema: dict[str, Any]) -> None:
    """Every schema of closed objects, arrays, unions and fixed values has a form, unless values contradict types."""
    form = convert_to_strict(schema, ANY_KEYS)
    assert isinstance(form, StrictSchema), form


@pytest.mark.parametrize("rules", [ANY_KEYS, ANTHROPIC, ABSENT], ids=["openai", "anthropic", "absent"])
@given(data=st.data())
def test_K11_what_a_model_sends_strictly_is_valid_plainly(rules: StrictRules, data: st.DataObject) -> None:
    schema = data.draw(plain_schemas(recursion=rules.takes_recursion))
    form = converted(schema, rules)
    sent, filled = data.draw(filled_values(form.schema))
    sent = filled if rules.optional == "nullable" else sent
    assert Draft7Validator(form.schema).is_valid(sent)
    before = copy.deepcopy(sent)
    received = drop_left_out_nulls(sent, schema)
    assert before == sent
    Draft7Validator(relaxed(schema)).validate(received)


@given(data=st.data())
def test_K11_every_plain_value_can_be_sent_strictly(data: st.DataObject) -> None:
    schema = data.draw(plain_schemas(recursion=True))
    form = converted(schema, ANY_KEYS)
    value, filled = data.draw(filled_values(schema))
    assert Draft7Validator(relaxed(schema)).is_valid(value)
    Draft7Validator(form.schema).validate(filled)


@given(data=st.data())
def test_K11_a_value_comes_back_as_it_was_without_unions(data: st.DataObject) -> None:
    schema = data.draw(plain_schemas(recursion=True, kinds=Kinds(unions=False)))
    value, filled = data.draw(filled_values(schema))
    # Null for a nullable parameter that was left out is null, not absence: that much a strict form cannot tell apart.
    assert drop_left_out_nulls(value, schema) == value
    received = drop_left_out_nulls(filled, schema)
    Draft7Validator(relaxed(schema)).validate(received)
    assert drop_left_out_nulls(received, schema) == received


@given(plain_schemas(recursion=True, kinds=Kinds(formless=True)), st.sampled_from([OPENAI, ANTHROPIC, ABSENT]))
def test_K12_the_same_schema_gives_the_same_bytes_and_stays_as_it_is(
    schema: dict[str, Any], rules: StrictRules
) -> None:
    before = json.dumps(schema)
    first, second = convert_to_strict(schema, rules), convert_to_strict(json.loads(before), rules)
    assert before == json.dumps(schema)
    if isinstance(first, NotStrict):
        assert first == second
    else:
        assert isinstance(second, StrictSchema)
        assert json.dumps(first.schema) == json.dumps(second.schema)


KEYWORDS = [
    *("type", "properties", "items", "anyOf", "allOf", "oneOf", "$ref", "enum", "const", "required", "a", "not"),
    *("additionalProperties", "definitions", "default", "description", "minItems", "maxLength", "format"),
]
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(KEYWORDS),
            st.one_of(inner, st.sampled_from(["object", "array", "string", "#/definitions/a"])),
            max_size=5,
        ),
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "definitions", "allOf", "anyOf"]), JSON), JSON)
def test_K11_no_text_that_calls_itself_a_schema_raises(schema: dict[str, Any], value: Any) -> None:
    for shape in (schema, {"type": "object", "properties": {"a": schema}, "definitions": {"a": schema}}):
        for rules in (OPENAI, ABSENT):
            form = convert_to_strict(shape, rules)
            assert isinstance(form, StrictSchema) or form.reasons
        drop_left_out_nulls({"a": value, "b": [None]}, shape)
