"""Making tools: the two forms, what they take, and what is refused when a tool is made."""

import asyncio
import dataclasses
import functools
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Generic, NotRequired, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

from toolroll import Preview, Tool, ToolContext, ToolResult, Toolset, define_tool, tool
from toolroll.errors import DefinitionError
from toolroll.kernel.define.tool import check_name
from toolroll.kernel.define.wrappers import renamed, with_approval

T = TypeVar("T")


async def call(made: Tool, raw: str = "{}") -> object:
    result = await made.execute_raw(raw)
    return f"error: {result.text}" if result.is_error else result.value


# --- @tool ------------------------------------------------------------------------------------------------


@tool
def add(x: int, y: int = 1) -> int:
    """Add two numbers.

    Args:
        x: The first.
        y: The second.
    """
    return x + y


@tool("Subtract.")
async def subtract(x: int, y: int) -> int:
    """Not this."""
    return x - y


@tool(name="times", effect="reads", timeout=5)
def multiply(x: int, y: int) -> int:
    """Multiply."""
    return x * y


@tool()
def negate(x: int) -> int:
    """Negate."""
    return -x


async def test_K1_the_decorator_works_bare_with_a_description_and_with_options() -> None:
    made = [add, subtract, multiply, negate]
    assert [(one.name, one.description) for one in made] == [
        ("add", "Add two numbers."),
        ("subtract", "Subtract."),
        ("times", "Multiply."),
        ("negate", "Negate."),
    ]
    raw = '{"x": 5, "y": 3}'
    assert [await call(add, raw), await call(subtract, raw), await call(multiply, raw)] == [8, 2, 15]
    assert await call(negate, '{"x": 5}') == -5


async def test_K1_a_decorated_function_stays_directly_callable() -> None:
    assert (add(1), add(1, 2), add(x=1, y=4)) == (2, 3, 5)
    assert await subtract(5, 3) == 2
    assert multiply(4, 5) == 20


def test_K1_a_decorated_function_looks_like_itself() -> None:
    looks: Any = add
    assert looks.__name__ == "add"
    assert looks.__doc__.startswith("Add two numbers.")
    assert looks.__module__ == __name__
    assert list(inspect.signature(looks).parameters) == ["x", "y"]
    assert repr(add) == "<tool add (reads)>"


def test_K3_a_tool_has_a_name_a_description_and_a_definition() -> None:
    assert isinstance(add, Tool)
    assert (add.definition.name, add.definition.description) == ("add", "Add two numbers.")
    assert add.definition.parameters == {
        "type": "object",
        "properties": {
            "x": {"type": "integer", "description": "The first."},
            "y": {"type": "integer", "description": "The second.", "default": 1},
        },
        "required": ["x"],
        "additionalProperties": False,
    }


def test_K1_attributes_of_a_function_cannot_change_the_tool() -> None:
    """They may be called like the tool's own: an effect must not be set that way."""

    def write(x: int) -> None:
        """Write."""

    write.__dict__.update(_effect="reads", _name="other", _function=print, _parameters={})
    made = tool(effect="writes")(write)
    assert (made.effect, made.name, list(made.parameters)) == ("writes", "write", list(negate.parameters))


class Finder:
    """Finds things."""

    def __init__(self, prefix: str) -> None:
        self._name = self._effect = prefix

    def find(self, x: str) -> str:
        """Find one."""
        return self._name + x

    @classmethod
    async def find_all(cls, x: str) -> str:
        """Find all."""
        return cls.__name__ + x

    @staticmethod
    def find_none(x: str) -> str:
        """Find none."""
        return x

    async def __call__(self, x: str) -> str:
        return self._name + x


async def test_K1_methods_objects_and_partials_are_tools_too() -> None:
    finder = Finder("p:")
    made: list[Tool] = [
        tool(finder.find),
        tool(finder.find_all),
        tool(Finder.find_none),
        tool(Finder.__dict__["find_none"]),
        tool(name="call")(finder),
        tool(name="partial")(functools.partial(finder.find)),
        tool("Nothing.", name="lambda")(lambda: "x"),
        tool("Later.", name="later")(lambda: finder("x")),
    ]
    assert [one.description for one in made] == [
        "Find one.",
        "Find all.",
        "Find none.",
        "Find none.",
        "Finds things.",
        "Find one.",
        "Nothing.",
        "Later.",
    ]
    raw = ['{"x": "1"}'] * 6 + ["{}"] * 2
    values = [await call(one, text) for one, text in zip(made, raw, strict=True)]
    assert values == ["p:1", "Finder1", "1", "1", "p:1", "p:1", "x", "p:x"]
    assert [one.effect for one in made] == ["reads"] * 8


async def test_K1_a_tool_may_be_a_static_method() -> None:
    class Tools:
        @staticmethod
        @tool
        def inner(x: int) -> int:
            """Static inside."""
            return x

        @tool
        @staticmethod
        def outer(x: int) -> int:
            """Static outside."""
            return x

    assert [await call(Tools.inner, '{"x": 1}'), await call(Tools.outer, '{"x": 2}')] == [1, 2]
    assert Tools.outer(3) == 3


async def test_K1_a_decorated_function_inside_is_read_through() -> None:
    def twice(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> int:
            return function(*args, **kwargs) * 2

        return wrapper

    @tool
    @twice
    def show(x: int) -> int:
        """Show.

        Args:
            x: A number.
        """
        return x

    assert show.parameters["properties"] == {"x": {"type": "integer", "description": "A number."}}
    assert await call(show, '{"x": 4}') == 8


# --- What cannot be a tool --------------------------------------------------------------------------------


def yields(x: int) -> Iterator[int]:
    """Yield."""
    yield x


async def yields_later(x: int) -> AsyncIterator[int]:
    """Yield."""
    yield x


@pytest.mark.parametrize("function", [yields, yields_later, functools.partial(yields), functools.partial(yields_later)])
def test_a_generator_is_refused_with_what_to_do_instead(function: Callable[..., Any]) -> None:
    with pytest.raises(DefinitionError, match=r"t: .*this function yields\. Return a list instead.*ctx\.progress"):
        tool(name="t")(function)
    with pytest.raises(DefinitionError, match="this function yields"):
        define_tool(name="t", description="T.", input=Input, execute=lambda_of(function))


def lambda_of(function: Callable[..., Any]) -> Callable[[Any, ToolContext], Any]:
    if inspect.isasyncgenfunction(function):

        async def later(given: Any, ctx: ToolContext) -> AsyncIterator[int]:
            yield 1

        return later

    def now(given: Any, ctx: ToolContext) -> Iterator[int]:
        yield 1

    return now


def test_a_tool_is_not_made_of_a_tool() -> None:
    """Around an approval it would be a way past the person."""
    for made in (add, with_approval(add)):
        with pytest.raises(DefinitionError, match=r"add is a tool already.*renamed"):
            tool(made)


@pytest.mark.parametrize("subject", [Finder, classmethod(lambda cls: 1), property(), 5, [print]])
def test_a_tool_is_made_of_a_function(subject: Any) -> None:
    with pytest.raises(DefinitionError, match=r"A tool is made of a function.*tool\(object\.method\)"):
        tool(subject)


@pytest.mark.parametrize("name", ["", "has space", "dot.ted", "sl/ash", "é", "a" * 65, "new\nline", "end\n"])
def test_K4_a_name_that_providers_refuse_is_refused_at_once(name: str) -> None:
    with pytest.raises(DefinitionError, match="cannot be named") as caught:
        define_tool(name=name, description="T.", input=Input, execute=execute)
    assert caught.value.tool == name
    if name:
        with pytest.raises(DefinitionError, match=r"cannot be named .*Pass name="):
            tool("T.", name=name)(lambda: 1)
    with pytest.raises(DefinitionError):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "A-b_9", "a" * 64, "-", "0"])
def test_K4_a_name_that_providers_take_is_taken(name: str) -> None:
    assert tool("T.", name=name)(lambda: 1).name == name


def test_K4_functions_without_a_usable_name_need_one() -> None:
    for function in (lambda: 1, functools.partial(print), Finder("x")):
        with pytest.raises(DefinitionError, match="Pass name="):
            tool("T.")(function)


def test_K4_two_tools_of_one_name_are_refused_when_they_are_put_together() -> None:
    with pytest.raises(DefinitionError, match=r"Two tools are named 'add'.*renamed") as caught:
        Toolset([add, negate, renamed(negate, "add")])
    assert caught.value.tool == "add"


def test_K1_a_tool_without_a_description_is_refused() -> None:
    def silent(x: int) -> None: ...

    with pytest.raises(DefinitionError, match=r"silent: a model needs to know.*Write a docstring, or pass"):
        tool(silent)
    with pytest.raises(DefinitionError, match="a model needs to know"):
        tool("  ")(silent)
    with pytest.raises(DefinitionError, match="a model needs to know"):
        tool(name="t")(functools.partial(silent))  # partial's own docstring is not about the tool
    with pytest.raises(DefinitionError, match="a model needs to know"):
        define_tool(name="t", description=" ", input=Input, execute=execute)


def test_K40_an_effect_is_one_of_three_words() -> None:
    with pytest.raises(DefinitionError, match="effect is 'reads', 'writes' or 'external', not 'none'"):
        tool(effect="none")(lambda_named())  # type: ignore[call-overload]


def lambda_named() -> Callable[[], int]:
    def named() -> int:
        """Named."""
        return 1

    return named


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_K5_a_timeout_is_a_number_of_seconds_above_zero(timeout: float) -> None:
    with pytest.raises(DefinitionError, match="a timeout is a number of seconds above 0"):
        tool(timeout=timeout)(lambda_named())
    with pytest.raises(DefinitionError, match="a timeout is a number of seconds above 0"):
        define_tool(name="t", description="T.", input=Input, execute=execute, timeout=timeout)


def test_paths_and_why_name_parameters() -> None:
    def read(path: str, ctx: ToolContext, why: str = "") -> None:
        """Read."""

    made = tool(paths=["path"], why="why")(read)
    assert made.name == "read"
    for wrong in ({"paths": ["pth"]}, {"why": "reason"}, {"paths": ["ctx"]}):
        with pytest.raises(DefinitionError, match=r"read: there is no parameter .*; there is: path, why\.") as caught:
            tool(**wrong)(read)
        assert caught.value.parameter in {"pth", "reason", "ctx"}
    with pytest.raises(DefinitionError, match=r"paths= takes a list of parameters: paths=\['path'\]"):
        tool(paths="path")(read)
    with pytest.raises(DefinitionError, match="there is: none"):
        tool(why="x")(lambda_named())


def test_a_preview_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"preview must be a function that takes \(arguments, ctx, edited\)"):
        tool(preview=lambda arguments: Preview.of_text("x"))(lambda_named())
    with pytest.raises(DefinitionError, match="preview must be a function"):
        tool(preview="text")(lambda_named())  # type: ignore[call-overload]


# --- define_tool ------------------------------------------------------------------------------------------


class Input(BaseModel):
    """What it takes."""

    x: int
    y: int = 1


class InputDict(TypedDict):
    x: int
    y: NotRequired[int]


@dataclasses.dataclass
class InputData:
    x: int
    y: int = 1


@pydantic_dataclass
class InputPydantic:
    x: int
    y: int = 1


class GenericModel(BaseModel, Generic[T]):
    x: T
    y: int = 1


@dataclasses.dataclass
class GenericData(Generic[T]):
    x: T
    y: int = 1


class GenericDict(TypedDict, Generic[T]):
    x: T
    y: NotRequired[int]


class Rooted(BaseModel):
    x: int
    y: int = 1
    root: int = 0


class Deferred(BaseModel):
    model_config = ConfigDict(defer_build=True)

    x: int
    y: int = 1


INPUTS = [
    Input,
    InputDict,
    InputData,
    InputPydantic,
    GenericModel[int],
    GenericData[int],
    GenericDict[int],
    Rooted,
    Deferred,
]


def execute(given: Any, ctx: ToolContext) -> Any:
    field = given.get if isinstance(given, dict) else functools.partial(getattr, given)
    x: Any = field("x")
    return x + (field("y", 1) or 0) * 10


async def execute_later(given: Any, ctx: ToolContext) -> Any:
    await asyncio.sleep(0)
    return execute(given, ctx)


@pytest.mark.parametrize("shape", INPUTS, ids=str)
@pytest.mark.parametrize("run", [execute, execute_later])
async def test_K2_define_tool_takes_models_typed_dicts_and_dataclasses(shape: Any, run: Callable[..., Any]) -> None:
    made = define_tool(name="sum", description="Sum.", input=shape, execute=run)
    assert isinstance(made, Tool)
    assert made.parameters["required"] == ["x"]
    assert made.parameters["additionalProperties"] is False
    assert await call(made, '{"x": 1}') == 11
    assert await call(made, '{"x": 1, "y": 2}') == 21
    assert "z: there is no such parameter; it takes: x, y" in str(await call(made, '{"x": 1, "z": 2}'))
    assert "x: Input should be a valid integer" in str(await call(made, '{"x": "one"}'))


async def test_K2_both_forms_give_the_same_tool() -> None:
    data = define_tool(name="add", description="Add two numbers.", input=InputPlain, execute=lambda i, _: i.x + i.y)
    assert data.definition == add.definition
    assert data.definition.fingerprint == add.definition.fingerprint
    assert await call(data, '{"x": 5}') == await call(add, '{"x": 5}') == 6


class InputPlain(BaseModel):
    x: Annotated[int, Field(description="The first.")]
    y: Annotated[int, Field(description="The second.")] = 1


def test_K2_the_function_behind_it_stays_callable() -> None:
    made = define_tool(name="sum", description="Sum.", input=Input, execute=execute)
    assert made(Input(x=1), ToolContext()) == 11


async def test_K2_execute_may_be_any_callable() -> None:
    class Summing:
        async def __call__(self, given: Input, ctx: ToolContext) -> ToolResult:
            return ToolResult.of_text(str(given.x))

    for run in (Summing(), functools.partial(execute_later), lambda *given: execute_later(*given)):  # noqa: PLW0108 - on purpose
        made = define_tool(name="sum", description="Sum.", input=Input, execute=run, timeout=5)
        assert str(await call(made, '{"x": 1}')) in {"1", "11"}


class Names(RootModel[list[str]]):
    pass


class Free(RootModel[dict[str, int]]):
    pass


@pytest.mark.parametrize(
    "shape", [int, dict, dict[str, int], list[Input], Names, Free, Input(x=1), print, "Input", None]
)
def test_K2_another_input_is_refused(shape: Any) -> None:
    with pytest.raises(DefinitionError, match="sum: input must be a pydantic model with fields, a TypedDict, a data"):
        define_tool(name="sum", description="Sum.", input=shape, execute=execute)


@pytest.mark.parametrize("run", [lambda given: 1, lambda: 1, lambda a, b, c: 1, 5, None])
def test_K2_execute_takes_the_input_and_the_context(run: Any) -> None:
    with pytest.raises(DefinitionError, match=r"sum: execute must be a function that takes \(input, ctx\)"):
        define_tool(name="sum", description="Sum.", input=Input, execute=run)


def test_K2_an_input_that_json_cannot_carry_is_refused() -> None:
    class Broken(BaseModel):
        x: Callable[[], int]

    with pytest.raises(DefinitionError, match="sum: the input has a type that cannot be used"):
        define_tool(name="sum", description="Sum.", input=Broken, execute=execute)


def test_K2_an_input_that_is_not_complete_is_refused() -> None:
    class Waiting(TypedDict):
        x: "NeverDefined"  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(
        DefinitionError, match=r"the input has a type that cannot be used \(name 'NeverDefined' is not defi"
    ):
        define_tool(name="sum", description="Sum.", input=Waiting, execute=execute)


@pytest.mark.parametrize("shape", [Input, InputDict, InputData])
def test_K2_paths_and_why_name_fields(shape: Any) -> None:
    define_tool(name="sum", description="Sum.", input=shape, execute=execute, paths=["x"], why="y")
    with pytest.raises(DefinitionError, match="there is no parameter 'z' for paths= or why= to name; there is: x, y"):
        define_tool(name="sum", description="Sum.", input=shape, execute=execute, paths=["z"])


def test_K12_a_definition_is_json() -> None:
    assert json.loads(json.dumps(add.parameters)) == add.parameters
