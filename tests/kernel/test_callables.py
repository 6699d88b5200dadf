"""Annotations that are strings: this module has the future import, so every annotation in it is one."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from toolroll import Depends, Run, define_tool, tool
from toolroll.errors import DefinitionError
from toolroll.kernel.callables import (
    NOWHERE,
    capture_place,
    find_written_function,
    read_annotations,
    read_parameters,
    unwrap_callable,
)

if TYPE_CHECKING:
    from decimal import Decimal

    from toolroll import Tool, ToolContext


class Point(BaseModel):
    x: int
    y: int = 0


FAR = Point(x=5)


def get_origin() -> Point:
    return Point(x=0)


async def call(made: Tool, raw: str = "{}") -> object:
    result = await made.execute_raw(raw, Run().context("c"))
    return result.value


async def test_K1_K10_annotations_of_a_module_with_the_future_import_are_read() -> None:
    @tool
    def move(point: Point, by: int = 1, origin: Annotated[Point, Depends(get_origin)] = FAR) -> Decimal:
        """Move a point."""
        return point.x + by + origin.x  # type: ignore[return-value]

    assert list(move.parameters["properties"]) == ["point", "by"]  # type: ignore[call-overload]
    assert await call(move, '{"point": {"x": 3}}') == 4


async def test_K1_types_of_the_function_around_are_seen() -> None:
    class Local(BaseModel):
        size: int

    def get_local() -> Local:
        return Local(size=4)

    def repository(local: Annotated[Local, Depends(get_local)]) -> Iterator[Local]:
        yield local

    @tool
    def grow(local: Local, stored: Annotated[Local, Depends(repository)]) -> int:
        """Grow."""
        return local.size + stored.size

    @tool(name="grow_all")
    def grow_all(locals_: list[Local]) -> int:
        """Grow all."""
        return sum(local.size for local in locals_)

    assert await call(grow, '{"local": {"size": 3}}') == 7
    assert await call(grow_all, '{"locals_": [{"size": 3}, {"size": 1}]}') == 4


async def test_K1_K2_types_inside_of_local_types_are_seen() -> None:
    class Size(BaseModel):
        value: int

    @dataclasses.dataclass
    class Box:
        size: Size

    class Boxes(TypedDict):
        boxes: list[Box]

    @tool
    def measure(boxes: Boxes, box: Box | None = None) -> int:
        """Measure."""
        return sum(box.size.value for box in boxes["boxes"])

    def execute(given: Box, ctx: ToolContext) -> int:
        return given.size.value

    assert await call(measure, '{"boxes": {"boxes": [{"size": {"value": 3}}]}}') == 3
    assert (
        await call(define_tool(name="box", description="B.", input=Box, execute=execute), '{"size": {"value": 4}}') == 4
    )

    def wrong(boxes: Boxes, bad: Callable[[], int]) -> None:
        """Refused."""

    with pytest.raises(DefinitionError) as caught:
        tool(wrong)
    assert caught.value.parameter == "bad"


async def test_K1_a_local_type_hides_one_of_the_module() -> None:
    class Point(BaseModel):
        name: str

    @tool
    def show(point: Point) -> str:
        """Show."""
        return point.name

    assert await call(show, '{"point": {"name": "north"}}') == "north"


async def test_K1_types_of_a_class_body_are_seen() -> None:
    class Tools:
        class Size(BaseModel):
            value: int

        @staticmethod
        @tool
        def show(size: Size) -> int:
            """Show."""
            return size.value

    assert await call(Tools.show, '{"size": {"value": 3}}') == 3


async def test_K1_types_that_a_closure_holds_are_seen() -> None:
    def factory() -> Callable[..., Any]:
        class Hidden(BaseModel):
            value: int

        def show(hidden: Hidden) -> int:
            """Show."""
            return Hidden.model_validate(hidden).value

        return show

    assert await call(tool(factory()), '{"hidden": {"value": 3}}') == 3


async def test_K1_names_of_another_module_are_not_mixed_up_with_those_of_the_function() -> None:
    """Where a tool is made of a function from elsewhere, a local name may mean something else."""
    elsewhere = types.ModuleType("elsewhere")
    source = """
from __future__ import annotations
Size = int

def show(size: Size) -> str:
    "Show."
    return repr(size)
"""
    exec(source, elsewhere.__dict__)
    Size = str  # noqa: N806, F841 - what the lookup must not find
    assert await call(tool(elsewhere.show), '{"size": "3"}') == "3"


async def test_K6_a_context_that_only_type_checkers_import_is_injected() -> None:
    @tool
    def first(ctx: ToolContext) -> str:
        """First."""
        return ctx.call_id

    @tool
    def second(run_context: ToolContext | None = None, name: str = "x") -> str:
        """Second."""
        assert run_context is not None
        return run_context.call_id + name

    @tool
    def third(context: Optional[ToolContext]) -> str:  # noqa: UP045 - the old spelling
        """Third."""
        assert context is not None
        return context.call_id

    assert [await call(made) for made in (first, second, third)] == ["c", "cx", "c"]
    assert list(second.parameters["properties"]) == ["name"]  # type: ignore[call-overload]


def _unknown(amount: Decimal) -> None:
    """Refused."""


def _not_generic(amount: Point[int]) -> None:  # type: ignore[type-arg]
    """Refused."""


def _no_attribute(amount: Point.Nothing) -> None:  # type: ignore[name-defined]
    """Refused."""


@pytest.mark.parametrize("function", [_unknown, _not_generic, _no_attribute])
def test_K1_an_annotation_that_cannot_be_evaluated_is_refused_with_the_parameter(function: Callable[..., None]) -> None:
    with pytest.raises(DefinitionError, match=r"parameter 'amount' cannot be evaluated \(.+\)\. Define or import"):
        tool(function)
    with pytest.raises(DefinitionError) as caught:
        tool(name="other")(function)
    assert (caught.value.tool, caught.value.parameter) == ("other", "amount")


async def test_K2_define_tool_takes_a_model_of_this_module() -> None:
    async def execute(point: Point, ctx: ToolContext) -> int:
        return point.x + len(ctx.call_id)

    made = define_tool(name="move", description="Move.", input=Point, execute=execute)
    assert await call(made, '{"x": 3}') == 4


def test_K1_a_name_that_is_not_assigned_yet_is_no_harm() -> None:
    def use(size: int) -> object:
        return later, size

    assert read_annotations(use, ["size"], owner="use") == {"size": int}
    later = 1
    assert use(1) == (later, 1)


def test_K1_only_the_wanted_parameters_are_evaluated() -> None:
    def use(size: int, other: Missing) -> Missing: ...  # type: ignore[name-defined]  # noqa: F821

    assert read_annotations(use, ["size", "no such"], owner="use") == {"size": int}


def test_K1_a_builtin_has_no_annotations() -> None:
    assert read_annotations(len, ["obj"], owner="len") == {}


class Caller:
    """Calls."""

    def __init__(self, size: int) -> None: ...

    async def __call__(self, size: int) -> None: ...

    def method(self, size: int) -> None: ...


class Blank:
    """Has no constructor of its own."""


def plain(size: int, name: str = "") -> None: ...


@functools.wraps(plain)
def wrapper(*args: Any, **kwargs: Any) -> None: ...


def test_K1_the_function_behind_a_callable_is_found() -> None:
    caller = Caller(1)
    assert unwrap_callable(plain) is plain
    assert unwrap_callable(staticmethod(plain)) is plain
    assert unwrap_callable(caller) == caller.__call__
    assert unwrap_callable(Caller) is Caller
    assert find_written_function(functools.partial(functools.partial(plain, 1), name="x")) is plain
    assert find_written_function(wrapper) is plain
    assert find_written_function(Caller) is Caller.__init__
    assert find_written_function(Blank) is object.__new__
    assert find_written_function(caller).__name__ == "__call__"
    assert find_written_function(caller.method).__name__ == "method"


def test_K1_parameters_that_a_partial_has_bound_are_settled() -> None:
    assert list(read_parameters(plain)) == ["size", "name"]
    assert list(read_parameters(functools.partial(plain, 1))) == ["name"]
    assert list(read_parameters(functools.partial(plain, name="x"))) == ["size"]
    assert list(read_parameters(wrapper)) == ["size", "name"]


MODULE_PLACE = capture_place(1)


def test_K1_a_place_is_the_module_and_what_is_local_there() -> None:
    local = 7
    place = capture_place(1 + local - local)
    assert place.module is globals()
    assert place.names == {"local": 7}
    assert MODULE_PLACE.module is globals()
    assert MODULE_PLACE.names == {}
    assert NOWHERE.names == {}


def test_K10_descriptions_and_constraints_written_as_strings_count() -> None:
    @tool
    def find(limit: Annotated[int, Field(ge=1, description="How many.")] = 3) -> None:
        """Find."""

    assert find.parameters["properties"] == {
        "limit": {"type": "integer", "description": "How many.", "minimum": 1, "default": 3}
    }
