"""Numbers that are none, sent as text: refused with their place, wherever they stand."""

from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter
from tests.kernel.stand_ins import Person

from toolroll.kernel.approval.request import Approve
from toolroll.kernel.arguments.infinite import find_infinite, may_be_infinite
from toolroll.kernel.arguments.key_count import KeyCounter
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.define.decorator import define_tool, tool

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
