"""A function's parameters as a model fills them: names, defaults, aliases, and what cannot work."""

# ruff: noqa: B006, B008 - defaults as the users of this project write them

import datetime
import functools
import math
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional

import pytest
from jsonschema import Draft7Validator
from pydantic import AliasChoices, BaseModel, Field, StringConstraints

from toolroll import DependencyKey, Depends, Tool, ToolContext, tool
from toolroll.errors import DefinitionError, DependencyError


def make(function: Callable[..., Any]) -> Tool:
    return tool("Do it.", name="t")(function)


def properties(made: Tool) -> dict[str, Any]:
    found = made.parameters["properties"]
    assert isinstance(found, dict)
    return found


async def call(made: Tool, raw: str = "{}") -> object:
    result = await made.execute_raw(raw)
    return f"error: {result.text}" if result.is_error else result.value


class Point(BaseModel):
    x: int = 0
    y: int = 0


# --- Defaults: where they may stand, and what comes of them ----------------------------------------------


def own(x: int = 3) -> int:
    return x


def in_field(x: int = Field(3, ge=1)) -> int:
    return x


def in_annotation(x: Annotated[int, Field(default=3, ge=1)]) -> int:
    return x


def in_both(x: Annotated[int, Field(default=9, ge=1)] = 3) -> int:
    return x


def in_two_fields(x: Annotated[int, Field(default=9, ge=1)] = Field(3)) -> int:
    return x


def by_factory(x: int = Field(default_factory=lambda: 3)) -> int:
    return x


def by_factory_in_annotation(x: Annotated[int, Field(default_factory=lambda: 3)]) -> int:
    return x


DEFAULTS = [own, in_field, in_annotation, in_both, in_two_fields, by_factory, by_factory_in_annotation]


@pytest.mark.parametrize("function", DEFAULTS, ids=lambda function: function.__name__)
async def test_K10_a_default_applies_wherever_it_is_written(function: Callable[..., int]) -> None:
    made = make(function)
    assert "required" not in made.parameters
    assert await call(made) == 3
    assert await call(made, '{"x": 5}') == 5
    assert (made(), made(5), made(x=5)) == (3, 5, 5)


@pytest.mark.parametrize("function", DEFAULTS, ids=lambda function: function.__name__)
async def test_K11_a_null_that_stands_for_left_out_means_the_default(function: Callable[..., int]) -> None:
    assert await call(make(function), '{"x": null}') == 3


async def test_K11_a_null_that_the_type_takes_stays_a_null() -> None:
    def show(x: int | None = 3, y: int = 4, *, point: Point | None = None) -> list[object]:
        return [x, y, point]

    assert await call(make(show), '{"x": null, "y": null, "point": {"x": null, "y": 5}}') == [None, 4, Point(y=5)]


async def test_K11_a_null_for_what_is_required_is_refused() -> None:
    def show(x: int, y: int = 4) -> int:
        return x + y

    assert "x: Input should be a valid integer (got null)" in str(await call(make(show), '{"x": null, "y": null}'))


@pytest.mark.parametrize("function", DEFAULTS[:5], ids=lambda function: function.__name__)
def test_K10_a_default_is_shown_to_the_model(function: Callable[..., int]) -> None:
    assert properties(make(function))["x"]["default"] == 3


@pytest.mark.parametrize("function", DEFAULTS[5:], ids=lambda function: function.__name__)
def test_K12_what_a_factory_makes_is_not_shown(function: Callable[..., int]) -> None:
    """It may be a date or an id, another one in every process."""
    assert "default" not in properties(make(function))["x"]


async def test_K10_a_factory_runs_for_each_call_and_may_look_at_the_other_arguments() -> None:
    def show(
        a: int = 1,
        made: list[int] = Field(default_factory=list),
        twice: int = Field(default_factory=lambda given: given["a"] * 2),
        stamp: uuid.UUID = Field(default_factory=uuid.uuid4),
    ) -> list[object]:
        made.append(a)
        return [made, twice, stamp]

    shown = make(show)
    first, second = await call(shown, '{"a": 4}'), await call(shown, '{"a": 5, "twice": 1}')
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert (first[:2], second[:2]) == ([[4], 8], [[5], 1])
    assert first[2] != second[2]
    assert shown(a=3)[:2] == [[3], 6]


def test_K1_a_tool_called_directly_needs_what_has_no_default() -> None:
    def add(x: int, y: int = Field(2)) -> int:
        return x + y

    made = make(add)
    assert (made(1), made(1, 1), made(1, y=5)) == (3, 2, 6)
    with pytest.raises(TypeError):
        made()
    with pytest.raises(TypeError):
        made(1, z=3)


async def test_K10_a_default_that_is_a_model_or_a_collection_is_shown_and_used() -> None:
    def show(
        points: list[Point] = [Point(x=1)],
        point: Point = Point(y=2),
        other: Annotated[Point, Field(description="Another.")] = Point(),
        reference: dict[str, Any] = {"$ref": "#/definitions/Point", "title": "t"},
        days: set[datetime.date] = {datetime.date(2026, 1, 2)},
    ) -> object:
        return [points, point, other, reference, days]

    made = make(show)
    Draft7Validator.check_schema(made.parameters)
    shown = {name: shape["default"] for name, shape in properties(made).items()}
    assert shown == {
        "points": [{"x": 1, "y": 0}],
        "point": {"x": 0, "y": 2},
        "other": {"x": 0, "y": 0},
        "reference": {"$ref": "#/definitions/Point", "title": "t"},
        "days": ["2026-01-02"],
    }
    assert properties(made)["point"]["allOf"] == [{"$ref": "#/definitions/Point"}]  # not beside it: draft-07
    assert await call(made) == show()


@pytest.mark.parametrize("default", [math.inf, math.nan, object(), len, {"deep": [object()]}, b"\xff\xfe"])
def test_a_default_that_json_cannot_carry_is_refused(default: object) -> None:
    def take(fine: int, x: Any = default) -> None: ...

    with pytest.raises(
        DefinitionError, match=r"t: parameter 'x' has the default .*JSON cannot carry\. Use None"
    ) as caught:
        make(take)
    assert (caught.value.tool, caught.value.parameter, caught.value.code) == ("t", "x", "tool_definition")

    def take_field(fine: int, x: Any = Field(default)) -> None: ...

    with pytest.raises(DefinitionError, match="parameter 'x' has the default"):
        make(take_field)


# --- Fields -----------------------------------------------------------------------------------------------


def test_K1_a_description_comes_from_the_field_or_the_docstring() -> None:
    @tool
    def find(
        plain: str,
        annotated: Annotated[str, Field(description="From the annotation.")],
        assigned: str = Field("x", description="From the assignment."),
        both: Annotated[int, Field(description="Not this.")] = Field(1, description="The last one."),
        nothing: int = 0,
    ) -> None:
        """Find.

        Args:
            plain: From the docstring.
            annotated: Not this.
            assigned: Not this.
            no_such: Ignored.
        """

    found = {name: shape.get("description") for name, shape in properties(find).items()}
    assert found == {
        "plain": "From the docstring.",
        "annotated": "From the annotation.",
        "assigned": "From the assignment.",
        "both": "The last one.",
        "nothing": None,
    }


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


async def test_K10_what_a_field_says_is_kept() -> None:
    def take(
        limit: int = Field(3, ge=1, le=9, multiple_of=3),
        name: Annotated[str, Field(min_length=2), Field(pattern="^a")] = "ab",
        short: Annotated[str, StringConstraints(max_length=3)] = "abc",
        exact: int = Field(1, strict=True),
        pet: Cat | Dog | None = Field(None, discriminator="kind"),
        shown: str = Field("x", examples=["one"], json_schema_extra={"x-more": 1}, deprecated=True, title="Dropped"),
    ) -> object:
        return [limit, name, short, exact, pet, shown]

    made = make(take)
    Draft7Validator.check_schema(made.parameters)
    found = properties(made)
    assert found["limit"] == {"type": "integer", "maximum": 9, "minimum": 1, "multipleOf": 3, "default": 3}
    assert found["name"] == {"type": "string", "minLength": 2, "pattern": "^a", "default": "ab"}
    assert found["shown"] == {"type": "string", "examples": ["one"], "x-more": 1, "deprecated": True, "default": "x"}
    for raw in ('{"limit": 4}', '{"name": "b"}', '{"short": "long"}', '{"exact": "1"}', '{"pet": {"kind": "cow"}}'):
        assert str(await call(made, raw)).startswith("error: Invalid arguments for t")
    assert await call(made, '{"limit": 6, "pet": {"kind": "dog"}}') == [6, "ab", "abc", 1, Dog(kind="dog"), "x"]


def test_K10_a_field_without_default_is_required() -> None:
    def take(x: int = Field(...), y: Annotated[int, Field(...)] = Field(), z: Annotated[int, Field()] = 1) -> None: ...

    assert make(take).parameters["required"] == ["x", "y"]


# --- Names ------------------------------------------------------------------------------------------------


async def test_K1_parameters_may_be_called_like_anything_in_python_or_pydantic() -> None:
    async def take(  # noqa: PLR0917 - each name is a case
        self: str,
        cls: str,
        json: str,
        schema: str,
        copy: str,
        model_config: str,
        model_fields: str,
        type: str,  # noqa: A002
        name: str,
        function: str,
        raw: str,
        permit: str,
        args: str,
        kwargs: str,
        _private: str,
        total: str,
        __pydantic_config__: str = "p",
    ) -> str:
        return self + cls + json + _private + __pydantic_config__

    made = make(take)
    names = list(properties(made))
    assert names == list(take.__annotations__)[:-1]
    import json as text

    given = {name: name[0] for name in names}
    assert await call(made, text.dumps(given)) == "scj__"
    assert await made(**given) == "scj__"


async def test_K1_an_alias_is_what_the_model_knows() -> None:
    def find(
        file_pattern: Annotated[str, Field(alias="filePattern", description="A glob.")],
        class_: str = Field("c", alias="class"),
        ref: str = Field("r", validation_alias="$ref"),
        over: Annotated[str, Field(alias="not this")] = Field("o", alias="Over"),
    ) -> list[str]:
        return [file_pattern, class_, ref, over]

    made = make(find)
    assert list(properties(made)) == ["filePattern", "class", "$ref", "Over"]
    assert properties(made)["class"] == {"type": "string", "default": "c"}
    assert made.parameters["required"] == ["filePattern"]
    raw = '{"filePattern": "*.py", "class": "x", "$ref": "y", "Over": "z"}'
    assert await call(made, raw) == ["*.py", "x", "y", "z"]
    assert await call(made, '{"filePattern": "*.py"}') == ["*.py", "c", "r", "o"]
    assert "file_pattern: there is no such parameter" in str(await call(made, '{"file_pattern": "*.py"}'))
    assert made(file_pattern="f") == ["f", "c", "r", "o"]


def test_aliases_that_a_model_cannot_be_told_are_refused() -> None:
    def several(x: int = Field(1, validation_alias=AliasChoices("a", "b"))) -> None: ...

    def shared(a: int, b: int = Field(1, alias="a")) -> None: ...

    with pytest.raises(DefinitionError, match=r"parameter 'x' has several aliases.*alias=") as caught:
        make(several)
    assert caught.value.parameter == "x"
    with pytest.raises(DefinitionError, match=r"parameters 'a' and 'b' are both called 'a'\. Rename one") as caught:
        make(shared)
    assert caught.value.parameter == "b"


# --- The context and what is injected ---------------------------------------------------------------------


def get_db() -> str:
    return "db"


DB: DependencyKey[str] = DependencyKey("db", get_db)


async def test_K6_injected_parameters_are_never_in_the_schema() -> None:
    async def take(
        x: int,
        ctx: ToolContext,
        also: Annotated[ToolContext, "note"],
        maybe: Optional[ToolContext],  # noqa: UP045 - the old spelling
        db: Annotated[str, Depends(get_db)],
        by_key: Annotated[str, Depends(DB)],
        default: Annotated[str | None, Depends(get_db)] = None,
    ) -> object:
        assert ctx is also is maybe
        return [x, db, by_key, default]

    made = make(take)
    assert list(properties(made)) == ["x"]
    assert await call(made, '{"x": 1}') == [1, "db", "db", "db"]
    for name in ("ctx", "also", "maybe", "db", "by_key", "default"):
        refused = str(await call(made, f'{{"x": 1, "{name}": "mine"}}'))
        assert f"{name}: there is no such parameter; it takes: x" in refused


def no_annotation(x: int, ctx) -> str:  # type: ignore[no-untyped-def]
    return f"{x} {type(ctx).__name__}"


def other_name(x: int, tool_context) -> str:  # type: ignore[no-untyped-def]
    return f"{x} {type(tool_context).__name__}"


@pytest.mark.parametrize("function", [no_annotation, other_name])
async def test_K6_a_parameter_named_like_the_context_is_the_context(function: Callable[..., str]) -> None:
    made = make(function)
    assert list(properties(made)) == ["x"]
    assert await call(made, '{"x": 1}') == "1 ToolContext"


def test_K6_the_name_of_the_context_is_not_for_arguments() -> None:
    def take(ctx: str) -> None: ...

    with pytest.raises(DefinitionError, match=r"parameter 'ctx' has the name of the context.*or rename it"):
        make(take)


def in_default(db: str = Depends(get_db)) -> None: ...  # type: ignore[assignment]


def no_type(db=Depends(get_db)) -> None: ...  # type: ignore[no-untyped-def]


def union(db: str | None = Depends(get_db)) -> None: ...  # type: ignore[assignment]


def key_in_default(db: str = DB) -> None: ...  # type: ignore[assignment]


def as_type(db: Depends(get_db)) -> None: ...  # type: ignore[valid-type]


def not_called(db: Annotated[str, Depends]) -> None: ...


def bare_key(db: Annotated[str, DB]) -> None: ...


@pytest.mark.parametrize(
    ("function", "inner"),
    [
        (in_default, "str"),
        (no_type, "the type"),
        (union, r"str \| None"),
        (key_in_default, "str"),
        (as_type, "the type"),
        (not_called, "the type"),
        (bare_key, "the type"),
    ],
)
def test_K6_an_injected_value_without_its_annotation_is_refused(function: Callable[..., None], inner: str) -> None:
    """Each of these would otherwise be a parameter that a model fills."""
    wanted = rf"parameter 'db' is injected.*Write db: Annotated\[{inner}, Depends\(\.\.\.\)\]\."
    with pytest.raises(DefinitionError, match=wanted) as caught:
        make(function)
    assert caught.value.parameter == "db"


# --- What cannot work -------------------------------------------------------------------------------------


def variadic(*args: int) -> None: ...


def keywords(**options: int) -> None: ...


def positional(x: int, /) -> None: ...


def untyped(x) -> None: ...  # type: ignore[no-untyped-def]


def unreadable(x: "int |") -> None: ...  # type: ignore[valid-type]  # noqa: F722


def opaque(x: "threading_lock") -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "parameter", "advice"),
    [
        (variadic, "args", r"\*args: a model sends named values\. Take a list instead: args: list\[\.\.\.\]"),
        (keywords, "options", r"\*\*options: .*Take a map instead: options: dict\[str, \.\.\.\]"),
        (positional, "x", r"x is positional-only, and a model sends names\. Remove the '/'"),
        (untyped, "x", r"parameter 'x' has no type\. Write x: str"),
        (unreadable, "x", r"the annotation of parameter 'x' cannot be evaluated"),
        (opaque, "x", r"the annotation of parameter 'x' cannot be evaluated \(name 'threading_lock' is not defined\)"),
    ],
)
def test_a_bad_parameter_is_refused_with_its_name_and_what_to_write(
    function: Callable[..., None], parameter: str, advice: str
) -> None:
    with pytest.raises(DefinitionError, match=f"t: {advice}") as caught:
        make(function)
    assert (caught.value.tool, caught.value.parameter) == ("t", parameter)


class Opaque:
    pass


def in_list(fine: int, x: list[Opaque]) -> None: ...


def function_type(fine: int, x: Callable[[], int]) -> None: ...


def wrong_constraint(fine: int, x: Annotated[str, Field(union_mode="left_to_right")]) -> None: ...


def wrong_discriminator(fine: int, x: Annotated[int | str, Field(discriminator="kind")]) -> None: ...


def wrong_number(fine: int, x: Annotated[int, Field(multiple_of=0)]) -> None: ...


def bad_pattern(fine: int, x: Annotated[str, Field(pattern="(")]) -> None: ...


@pytest.mark.parametrize(
    "function", [in_list, function_type, wrong_constraint, wrong_discriminator, wrong_number, bad_pattern]
)
def test_a_type_that_cannot_be_used_is_refused_with_the_parameter(function: Callable[..., None]) -> None:
    advice = (
        r"t: parameter 'x' has a type that cannot be used \(.+\)\. Take a plain type .* inject the value with Depends"
    )
    with pytest.raises(DefinitionError, match=advice) as caught:
        make(function)
    assert caught.value.parameter == "x"
    assert "arbitrary_types_allowed" not in caught.value.message
    assert "\n" not in caught.value.message


def test_a_method_is_refused_until_it_is_bound() -> None:
    class Tools:
        def find(self, x: int) -> int:
            return x

    with pytest.raises(DefinitionError, match=r"'self' shows that this is a method.*tool\(object\.method\)"):
        make(Tools.find)
    assert list(properties(make(Tools().find))) == ["x"]


def test_a_builtin_that_does_not_tell_its_parameters_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"does not tell its parameters\. Write a function around it"):
        make(min)


def test_a_provider_that_cannot_work_is_refused_with_the_tool_and_the_parameter() -> None:
    def broken(x: int) -> int:
        return x

    def take(y: Annotated[int, Depends(broken)]) -> None: ...

    with pytest.raises(DependencyError, match="nobody can provide its parameter 'x'") as caught:
        make(take)
    assert caught.value.__notes__ == ["tool t, parameter 'y'"]


# --- Partials ---------------------------------------------------------------------------------------------


async def test_K1_what_a_partial_has_bound_no_model_can_set() -> None:
    async def read(root: str, path: str, limit: int = 3, db: Annotated[str, Depends(get_db)] = "") -> str:
        """Read."""
        return f"{root}/{path} {limit} {db}"

    by_name = tool(name="t")(functools.partial(read, root="/safe", db="bound"))
    by_place = tool(name="t")(functools.partial(read, "/safe"))
    assert by_name.description == by_place.description == "Read."
    assert list(properties(by_name)) == list(properties(by_place)) == ["path", "limit"]
    assert await call(by_name, '{"path": "a"}') == "/safe/a 3 bound"
    assert await call(by_place, '{"path": "a"}') == "/safe/a 3 db"
    assert "root: there is no such parameter" in str(await call(by_name, '{"path": "a", "root": "/"}'))
