"""Numbers that are none, sent as text: refused with their place, wherever they stand."""

from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError
from tests.kernel.stand_ins import Person

from toolroll.errors import ArgumentsRefused
from toolroll.kernel.approval.request import Approve
from toolroll.kernel.arguments.key_count import KeyCounter
from toolroll.kernel.arguments.validator import (
    MAX_REASON_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    describe_errors,
    find_infinite,
    may_be_infinite,
)
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool
from toolroll.safe.limits import MAX_VALIDATION_ERRORS_SHOWN

WORDS = ["inf", "-Infinity", "+inf", "nan", "NaN", "1e999", "9" * 400]


class Point(BaseModel):
    x: float
    limit: float = Field(default_factory=lambda: inf)


@dataclass
class Data:
    x: float


@pytest.mark.parametrize("word", WORDS)
async def test_XJ5_a_number_that_is_none_is_refused_before_anybody_is_asked(word: str) -> None:
    @tool(effect="external")
    async def pay(amount: float, note: str = "") -> str:
        """Pay."""
        return f"paid {amount}"

    person = Person(Approve())
    for rest in ("", ', "note": "a:b"'):
        result = await pay.execute_raw(f'{{"amount": "{word}"{rest}}}', Run(approver=person).context())
        assert result.code == "invalid_arguments"
        assert result.text.startswith("Invalid arguments for pay:\n- amount: a number must be finite, not ")
    assert person.asked == []
    assert (await pay.execute_raw('{"amount": "1.5"}', Run(approver=person).context())).text == "paid 1.5"


@pytest.mark.parametrize(
    ("kind", "raw", "place"),
    [
        (list[float], '["1", "inf"]', "given[1]"),
        (set[float], '["inf"]', "given[0]"),
        (tuple[int, float], '[1, "nan"]', "given[1]"),
        (dict[str, float], '{"a": "inf"}', "given.a"),
        (dict[float, str], '{"inf": "a"}', "given.inf"),
        (Point, '{"x": "inf"}', "given.x"),
        (Data, '{"x": "inf"}', "given.x"),
        (list[Point] | None, '[{"x": 1}, {"x": 1, "limit": "inf"}]', "given[1].limit"),
        (float | bool, '"inf"', "given"),
        (Annotated[str, AfterValidator(float)], '"inf"', "given"),
        (Annotated[str, AfterValidator(Decimal)], '"sNaN"', "given"),
        (complex, '"inf+1j"', "given"),
    ],
    ids=str,
)
async def test_XJ5_its_place_is_named(kind: Any, raw: str, place: str) -> None:
    @tool
    async def take(given: kind) -> str:
        """Take."""
        return "ran"

    result = await take.execute_raw(f'{{"given": {raw}}}')
    assert (result.code, f"\n- {place}: a number must be finite" in result.text) == ("invalid_arguments", True)


async def test_XJ5_a_default_was_not_sent_and_stands() -> None:
    def execute(given: Point, ctx: ToolContext) -> float:
        return given.x

    made = define_tool(name="take", description="Take.", input=Point, execute=execute)
    assert (await made.execute_raw('{"x": 1}')).text == "1.0"


@pytest.mark.parametrize(
    ("kind", "may"),
    [(str, False), (list[dict[str, int | None]], False), (float, True), (dict[float, int], True), (Point, True)],
    ids=str,
)
def test_XJ5_only_types_that_may_hold_one_are_searched(kind: Any, may: bool) -> None:
    assert may_be_infinite(TypeAdapter(kind).core_schema) is may


def test_XJ5_what_is_no_number_is_no_fault() -> None:
    assert find_infinite({"a": [1, "inf", None, Decimal(1), Data, 2j, Data(x=1)]}) is None
    assert not KeyCounter(TypeAdapter(dict[float, int]).core_schema).proves_unambiguous('{"inf":1}', {inf: 1})


def test_XJ5_the_labels_of_choices_are_no_types() -> None:
    assert not may_be_infinite({"type": "union", "choices": [({"type": "int"}, "label")]})
    assert may_be_infinite({"type": "union", "choices": [({"type": "float"}, "label")]})


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
