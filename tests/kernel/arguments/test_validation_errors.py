"""Faults in words that let a model repair its call (K33, XL6)."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError

from toolroll.errors import ArgumentsRefused
from toolroll.kernel.arguments.validation_errors import MAX_REASON_CHARACTERS, MAX_VALUE_CHARACTERS, describe_errors
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool
from toolroll.safe.limits import MAX_VALIDATION_ERRORS_SHOWN


class Item(BaseModel):
    name: str
    count: int = 1


class Shelf(BaseModel):
    items: list[Item]
    twin: Item | None = None
    inner: "Shelf | None" = None


@tool
def put(shelf: Shelf, place: int, note: str = "") -> str:
    """Put something."""
    return "ok"


@tool
def bare() -> str:
    """Take nothing."""
    return "ok"


def faults_of(one: Tool, raw: str) -> str:
    with pytest.raises(ArgumentsRefused) as refusal:
        one.validate(raw)
    return refusal.value.message


GOOD = '"shelf":{"items":[{"name":"a"}]}'


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (f"{{{GOOD}}}", "- place: missing, and required (integer)"),
        ('{"place":1}', "- shelf: missing, and required (object)"),
        (
            f'{{{GOOD},"place":"x"}}',
            '- place: Input should be a valid integer, unable to parse string as an integer (got "x")',
        ),
        (
            f'{{{GOOD},"place":1.5}}',
            "- place: Input should be a valid integer, got a number with a fractional part (got 1.5)",
        ),
        (f'{{{GOOD},"place":null}}', "- place: Input should be a valid integer (got null)"),
        (f'{{{GOOD},"place":1,"color":2}}', "- color: there is no such parameter; it takes: shelf, place, note"),
        ('{"place":1,"shelf":{}}', "- shelf.items: missing, and required (array)"),
        (
            '{"place":1,"shelf":{"items":[{"name":"a"},{"count":2}]}}',
            "- shelf.items[1].name: missing, and required (string)",
        ),
        (
            '{"place":1,"shelf":{"items":[{"name":"a","size":1}]}}',
            "- shelf.items[0].size: there is no such parameter; it takes: name, count",
        ),
        (
            '{"place":1,"shelf":{"items":[],"more":1}}',
            "- shelf.more: there is no such parameter; it takes: items, twin, inner",
        ),
        (
            '{"place":1,"shelf":{"items":[],"twin":{"name":"a","x":1}}}',
            "- shelf.twin.x: there is no such parameter; it takes: name, count",
        ),
        ('{"place":1,"shelf":"text"}', '- shelf: Input should be an object (got "text")'),
    ],
)
def test_K33_a_fault_names_the_field_what_was_wrong_and_what_was_expected(raw: str, fault: str) -> None:
    lines = faults_of(put, raw).splitlines()
    assert lines[0] == "Invalid arguments for put:"
    assert fault in lines


def test_K33_all_faults_come_at_once_and_no_more_than_help() -> None:
    raw = '{"shelf":{"items":[' + ",".join(['{"count":"x"}'] * 20) + ']},"place":[]}'
    lines = faults_of(put, raw).splitlines()
    assert len(lines) == 1 + MAX_VALIDATION_ERRORS_SHOWN + 1
    assert lines[-1] == f"- ...and {41 - MAX_VALIDATION_ERRORS_SHOWN} more"


def test_K33_a_tool_without_parameters_says_so() -> None:
    assert faults_of(bare, '{"x":1}') == "Invalid arguments for bare:\n- x: there is no such parameter; it takes none"


def test_K33_the_whole_input_can_be_at_fault() -> None:
    one = define_tool(name="one", description="d", input=Item, execute=lambda item, ctx: item.name)
    assert faults_of(one, "{}") == "Invalid arguments for one:\n- name: missing, and required (string)"


def refuse(value: str) -> str:
    raise ValueError("no " * 1000)


def test_XL6_faults_stay_short_whatever_was_sent() -> None:
    @tool
    def take(text: Annotated[str, AfterValidator(refuse)], numbers: dict[str, int] | None = None) -> str:
        """Take."""
        return "ok"

    long = "k" * 5000
    message = faults_of(take, f'{{"text":"{long}","numbers":{{"{long}":"{long}"}},"{long}":1}}')
    assert all(len(line) < 2 * MAX_REASON_CHARACTERS + MAX_VALUE_CHARACTERS for line in message.splitlines())
    assert '(got "' + "k" * (MAX_VALUE_CHARACTERS - 1) + "…)" in message
    assert f"- {'k' * MAX_VALUE_CHARACTERS}…: there is no such parameter" in message
    deep = "".join(f'{{"{letter * 100}":' for letter in "abcdefgh")
    adapter: TypeAdapter[Any] = TypeAdapter(dict[str, dict[str, dict[str, dict[str, dict[str, dict[str, int]]]]]])
    with pytest.raises(ValidationError) as error:
        adapter.validate_json(deep + "1" + "}" * 8)
    assert len(describe_errors("take", error.value, {})) < 1000


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"properties": []},
        {"properties": {"a": True}},
        {"properties": {"a": {"$ref": "#/definitions/A"}}},
        {"properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"$ref": "#/definitions/A"}}},
        {"properties": {"a": {"items": [{"type": "string"}]}}},
        {"properties": {"a": {"type": ["string", "null"]}}},
    ],
)
def test_K33_an_odd_schema_costs_the_hint_not_the_answer(parameters: dict[str, object]) -> None:
    adapter = TypeAdapter(dict[str, list[Item]])
    with pytest.raises(ValidationError) as error:
        adapter.validate_json('{"a":[{"nam":1}]}', extra="forbid")
    assert describe_errors("t", error.value, parameters).splitlines() == [
        "Invalid arguments for t:",
        "- a[0].name: missing, and required",
        "- a[0].nam: there is no such parameter",
    ]


@given(st.dictionaries(st.text(max_size=10), st.integers() | st.text() | st.lists(st.integers()), max_size=15))
def test_XL6_every_wrong_call_has_a_bounded_answer_with_a_place(arguments: dict[str, object]) -> None:
    from json import dumps

    message = faults_of(put, dumps(arguments))
    assert message.startswith("Invalid arguments for put:\n- ")
    assert len(message) < (MAX_VALIDATION_ERRORS_SHOWN + 2) * (MAX_REASON_CHARACTERS + MAX_VALUE_CHARACTERS)
    message.encode()
