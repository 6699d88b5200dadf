"""Defaults of the wrong type are refused when the tool is made; those that no model could send may be right (K1)."""

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, Field, FilePath, Json, PositiveInt
from typing_extensions import TypedDict

from toolroll import tool
from toolroll.errors import DefinitionError


class Point(BaseModel):
    x: int = 0


@dataclass
class Pair:
    x: int = 0


class Colour(enum.Enum):
    RED = "red"


class Box(TypedDict):
    width: int


def taking(annotation: object, default: object) -> Callable[..., object]:
    def take(first: str, value: Any = default) -> object:
        return value

    take.__annotations__["value"] = annotation
    return take


@pytest.mark.parametrize(
    ("annotation", "default", "said"),
    [
        (int, "a", "'a' (Input should be a valid integer). A default is handed over as it is written."),
        (int, "5", "'5' (Input should be a valid integer)"),
        (int, 1.5, "1.5 (Input should be a valid integer)"),
        (bool, "yes", "'yes' (Input should be a valid boolean)"),
        (str, None, "None (Input should be a valid string). Write value: ... | None = None."),
        (int | str, None, "None (Input should be a valid integer; Input should be a valid string)."),
        (int | None, "x", "'x' (Input should be a valid integer)"),
        (list[str], (), "() (Input should be a valid list)"),
        (list[int], ["a", "b"], "['a', 'b'] (Input should be a valid integer)"),
        (dict[str, int], [], "[] (Input should be a valid dictionary)"),
        (Path, "x", "'x' (Input should be an instance of Path)"),
        (date, "2026-01-01", "'2026-01-01' (Input should be a valid date)"),
        (Pair, {}, "{} (Input should be an instance of Pair)"),
        (Colour, "red", "'red' (Input should be an instance of Colour)"),
        (Literal["a", "b"], "c", "'c' (Input should be 'a' or 'b')"),
        (int, Field("a", alias="number"), "'a' (Input should be a valid integer)"),
        (Annotated[int, Field(gt=0)], "a", "'a' (Input should be a valid integer)"),
    ],
)
def test_K1_a_default_of_another_type_is_refused_when_the_tool_is_made(
    annotation: object, default: object, said: str
) -> None:
    wanted = re.escape(f"take: the default of parameter 'value' is not of its type: {said}")
    with pytest.raises(DefinitionError, match=f"^{wanted}") as caught:
        tool("Take it.")(taking(annotation, default))
    assert (caught.value.tool, caught.value.parameter) == ("take", "value")


def breaks(value: object) -> object:
    raise KeyError(value)


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (int, 1),
        (float, 1),
        (int | None, None),
        (object, 3),
        (Sequence[str], ()),
        (Mapping[str, int], {}),
        (Point, Point(x=2)),
        (Pair, Pair(x=2)),
        (Colour, Colour.RED),
        (Box, {"width": 1}),
        (list[Point], [Point()]),
        (PositiveInt, 0),  # for "none": no value of a model's, but of the type
        (PositiveInt | None, 0),
        (Annotated[str, Field(min_length=3)], ""),
        (FilePath, Path("not-there-yet")),
        (Json[list[int]], [1]),  # what is read from the text, not the text
        (Annotated[int, BeforeValidator(breaks)], 5),
    ],
)
async def test_K1_a_default_of_its_type_is_handed_over_as_it_is(annotation: object, default: object) -> None:
    result = await tool("Take it.")(taking(annotation, default)).execute_raw('{"first": "x"}')
    assert not result.is_error
    assert result.value is default or result.value == default


async def test_K1_a_factory_is_not_called_to_see_what_it_makes() -> None:
    made: list[int] = []

    def count() -> int:
        made.append(1)
        return len(made)

    take = tool("Take it.")(taking(int, Field(default_factory=count)))
    assert made == []
    assert (await take.execute_raw('{"first": "x"}')).value == 1


async def test_K1_defaults_alone_are_enough_for_a_call() -> None:
    async def add(a: int = 1, b: int = 2) -> int:
        return a + b

    assert (await tool("Add.")(add).execute_raw("{}")).value == 3
