"""JSON Schema draft-07 of what a tool takes: closed, small, and the same bytes in every process."""

import dataclasses
import datetime
import enum
import ipaddress
import json
import math
import os
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeAlias, TypeVar

import pytest
from jsonschema import Draft7Validator
from pydantic import (
    AnyUrl,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    Json,
    RootModel,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    WithJsonSchema,
    with_config,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from toolroll import Tool, define_tool, tool
from toolroll.errors import DefinitionError
from toolroll.kernel.define.schema import OpenObject, to_draft07, to_json_default

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    city: Annotated[str, Field(description="The town.")] = "Kyiv"


class Person(BaseModel):
    name: str
    address: Address


class Node(BaseModel):
    value: int
    children: "list[Node]" = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


class Page(BaseModel, Generic[T]):
    items: list[T]
    number: int = 1


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    depth: NotRequired[int]
    path: str


class Pair(NamedTuple):
    left: int
    right: str


class Names(RootModel[list[str]]):
    pass


class Rest:
    """A tuple of one first value, and any number of others."""

    def __init__(self, first: Any, rest: Any) -> None:
        self.items = [first, rest]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.tuple_schema([handler(item) for item in self.items], variadic_item_index=1)


Pet: TypeAlias = Annotated[Cat | Dog, Field(discriminator="kind")]


class Awkward(BaseModel):
    """Fields that are called like the words of a schema."""

    title: str
    default: int = 0
    type: str = "t"
    properties: dict[str, int] = {}
    ref: str = Field("r", alias="$ref")
    defs: Address | None = Field(None, alias="$defs")
    items: list[Address] = []


def schema_of(shape: Any) -> dict[str, Any]:
    return to_draft07(TypeAdapter(shape))


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a schema, wherever it stands."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


# Type, a value that fits it, one that does not.
SHAPES: list[tuple[Any, object, object]] = [
    (str, "x", 1),
    (int, 1, "x"),
    (float, 1.5, "x"),
    (bool, True, "x"),
    (None, None, 1),
    (int | None, None, "x"),
    (int | str, "x", []),
    (Colour, "red", "green"),
    (Level, 2, 3),
    (Literal["a", 1, None], 1, "b"),
    (datetime.date, "2026-01-02", 5),
    (datetime.datetime, "2026-01-02T03:04:05Z", []),
    (datetime.time, "03:04:05", []),
    (datetime.timedelta, "PT5S", []),
    (Decimal, "1.5", []),
    (uuid.UUID, "12345678-1234-5678-1234-567812345678", 1),
    (Path, "a/b", 1),
    (bytes, "abc", 1),
    (AnyUrl, "http://host/", 1),
    (ipaddress.IPv4Address, "127.0.0.1", []),
    (SecretStr, "secret", 1),
    (list[int], [1], ["x"]),
    (set[str], ["a", "b"], ["a", "a"]),
    (frozenset[int], [1, 2], "x"),
    (tuple[int, str], [1, "x"], ["x", 1]),
    (tuple[int, ...], [1, 2, 3], ["x"]),
    (tuple[()], [], [1]),
    (Annotated[tuple[Any, ...], Rest(int, str)], [1, "x", "y"], [1, 2]),
    (Annotated[tuple[Any, ...], Rest(str, Address)], ["x", {"street": "s"}], ["x", {}]),
    (tuple[Address, Address], [{"street": "s"}, {"street": "s"}], [{"street": "s"}]),
    (Pair, [1, "x"], [1]),
    (dict[str, int], {"a": 1}, {"a": "x"}),
    (dict[Colour, int], {"red": 1}, {"green": 1}),
    (dict[Annotated[str, StringConstraints(pattern="^a")], int], {"ab": 1}, {"b": 1}),
    (dict[str, Any], {"a": [1]}, []),
    (dict, {"a": 1}, []),
    (Any, {"a": 1}, ...),
    (Address, {"street": "s"}, {"street": "s", "more": 1}),
    (Person, {"name": "n", "address": {"street": "s"}}, {"name": "n", "address": {"street": "s", "more": 1}}),
    (list[Address], [{"street": "s"}], [{}]),
    (tuple[Person, Address], [{"name": "n", "address": {"street": "s"}}, {"street": "s"}], [1, 2]),
    (Node, {"value": 1, "children": [{"value": 2}]}, {"value": 1, "children": [{"value": 2, "more": 1}]}),
    (list[Node], [{"value": 1}], [{"value": "x"}]),
    (Pet, {"kind": "dog", "tricks": ["sit"]}, {"kind": "dog", "lives": 1}),
    (list[Pet], [{"kind": "cat"}], [{"kind": "cow"}]),
    (Page[int], {"items": [1]}, {"items": ["x"]}),
    (Page[Address], {"items": [{"street": "s"}]}, {"items": [{}]}),
    (Point, {"x": 1}, {"x": 1, "z": 1}),
    (Options, {"path": "p"}, {"path": "p", "more": 1}),
    (Names, ["a"], [1]),
    (Json[list[int]], "[1]", 5),
    (Awkward, {"title": "t", "properties": {"a": 1}, "$ref": "r", "$defs": None}, {"default": 1}),
    (Annotated[int, Field(gt=1, le=5, multiple_of=2)], 4, 6),
    (Annotated[str, Field(min_length=2, pattern="^a")], "ab", "b"),
]


@pytest.mark.parametrize(("shape", "fits", "fails"), SHAPES, ids=lambda part: str(part)[:30])
def test_K10_the_schema_is_draft_07_and_says_what_the_validator_does(shape: Any, fits: object, fails: object) -> None:
    schema = schema_of(shape)
    Draft7Validator.check_schema(schema)
    words = {"$defs", "prefixItems", "discriminator"} & {key for node in nodes(schema) for key in node}
    assert words == ({"$defs"} if shape is Awkward else set())  # where a field is called so
    validator, adapter = Draft7Validator(schema), TypeAdapter(shape)
    assert validator.is_valid(fits)
    adapter.validator.validate_json(json.dumps(fits), extra="forbid")
    if fails is not ...:
        assert not validator.is_valid(fails)
        if shape != set[str]:  # where pydantic is content with what becomes one
            with pytest.raises(ValueError):
                adapter.validator.validate_json(json.dumps(fails), extra="forbid")


@pytest.mark.parametrize("shape", [shape for shape, _, _ in SHAPES], ids=lambda part: str(part)[:30])
def test_K10_every_object_with_fields_is_closed(shape: Any) -> None:
    for node in nodes(schema_of(shape)):
        if node.get("type") == "object" and isinstance(node.get("properties"), dict) and node["properties"]:
            assert node["additionalProperties"] is False


def test_K10_a_free_form_map_stays_one() -> None:
    assert schema_of(dict[str, Any]) == {"type": "object", "additionalProperties": True}
    assert schema_of(dict[str, int]) == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_K10_a_tuple_is_told_in_draft_07_words() -> None:
    assert schema_of(tuple[int, str]) == {
        "type": "array",
        "items": [{"type": "integer"}, {"type": "string"}],
        "additionalItems": False,
        "minItems": 2,
        "maxItems": 2,
    }
    assert schema_of(Annotated[tuple[Any, ...], Rest(int, str)])["additionalItems"] == {"type": "string"}


def test_K10_titles_are_dropped_but_not_fields_of_that_name() -> None:
    properties = schema_of(Awkward)["properties"]
    assert list(properties) == ["title", "default", "type", "properties", "$ref", "$defs", "items"]
    assert properties["title"] == {"type": "string"}
    assert "title" not in schema_of(Person)


def test_K10_a_definition_that_is_used_once_stands_where_it_is_used() -> None:
    assert schema_of(Person) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "address": {
                "type": "object",
                "description": "Where somebody lives.",
                "properties": {
                    "street": {"type": "string"},
                    "city": {"type": "string", "description": "The town.", "default": "Kyiv"},
                },
                "required": ["street"],
                "additionalProperties": False,
            },
        },
        "required": ["name", "address"],
        "additionalProperties": False,
    }


def test_K10_a_description_at_the_place_of_use_goes_before_the_models_own() -> None:
    class One(BaseModel):
        home: Address = Field(description="Home.")

    class Two(BaseModel):
        home: Address = Field(description="Home.")
        work: Address

    assert schema_of(One)["properties"]["home"]["description"] == "Home."
    properties = schema_of(Two)["properties"]
    assert properties["home"] == {"allOf": [{"$ref": "#/definitions/Address"}], "description": "Home."}
    assert properties["work"] == {"$ref": "#/definitions/Address"}


def test_K10_recursive_models_refer_to_themselves() -> None:
    schema = schema_of(Node)
    assert schema["properties"]["children"]["items"] == {"$ref": "#/definitions/Node"}
    assert list(schema["definitions"]) == ["Node"]
    assert schema["definitions"]["Node"]["additionalProperties"] is False


def test_K10_models_that_refer_to_each_other_stay_definitions() -> None:
    class Author(BaseModel):
        books: "list[Book]" = []

    class Book(BaseModel):
        author: Author | None = None

    Author.model_rebuild(_types_namespace={"Book": Book})
    schema = schema_of(Book)
    Draft7Validator.check_schema(schema)
    assert sorted(schema["definitions"]) == ["Author", "Book"]


def test_K10_data_that_looks_like_a_schema_is_left_alone() -> None:
    value = {"title": "kept", "properties": {"type": "object"}, "additionalProperties": True, "type": "object"}

    class Model(BaseModel):
        free: dict[str, Any] = value
        shown: Annotated[dict[str, Any], Field(examples=[value], json_schema_extra={"x-more": value})] = {}
        plain: Annotated[Any, WithJsonSchema({"const": value})] = None
        outside: Annotated[Any, WithJsonSchema({"$ref": "https://host/schema"})] = None
        node: Node | None = None

    properties = schema_of(Model)["properties"]
    assert properties["free"]["default"] == value
    assert properties["shown"]["examples"] == [value]
    assert properties["shown"]["x-more"] == value
    assert properties["plain"]["const"] == value
    assert properties["outside"]["$ref"] == "https://host/schema"


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    x: int = 1


class OpenTyped(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]

    x: int = 1


class OpenEmpty(BaseModel):
    model_config = ConfigDict(extra="allow")


@with_config(ConfigDict(extra="allow"))
class OpenDict(TypedDict):
    x: int


class Holder(BaseModel):
    deep: list[Open]


@pytest.mark.parametrize("shape", [Open, OpenTyped, OpenEmpty, OpenDict, Holder, tuple[Open, Open]])
def test_K10_a_model_that_takes_what_it_does_not_name_is_refused(shape: Any) -> None:
    with pytest.raises(OpenObject):
        schema_of(shape)

    def take(fine: int, wide: Any, wide_too: int = 1) -> None: ...

    take.__annotations__["wide"] = shape
    with pytest.raises(DefinitionError, match=r'extra="allow".*use dict\[str, \.\.\.\]') as caught:
        tool("Take.")(take)
    assert caught.value.parameter == "wide"


def test_K10_an_open_input_model_is_refused_too() -> None:
    with pytest.raises(DefinitionError, match="take: the input takes fields it does not name") as caught:
        define_tool(name="take", description="Take.", input=Open, execute=lambda given, ctx: given)
    assert caught.value.parameter is None
    with pytest.raises(DefinitionError, match="take: deep takes fields it does not name"):
        define_tool(name="take", description="Take.", input=Holder, execute=lambda given, ctx: given)


class Ignoring(BaseModel):
    model_config = ConfigDict(extra="ignore")

    x: int = 1
    inner: "list[Ignoring]" = []


@with_config(ConfigDict(extra="ignore"))
class IgnoringDict(TypedDict):
    x: int


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ('{"more": 1}', "more"),
        ('{"model": {"more": 1}}', "model.more"),
        ('{"model": {"inner": [{"more": 1}]}}', "model.inner[0].more"),
        ('{"fields": {"x": 1, "more": 1}}', "fields.more"),
        ('{"point": {"x": 1, "more": 1}}', "point.more"),
        ('{"pet": {"kind": "cat", "more": 1}}', "pet.cat.more"),
    ],
)
async def test_K10_an_argument_that_the_schema_does_not_name_is_rejected_at_every_level(raw: str, place: str) -> None:
    @tool("Take.")
    async def take(
        model: Ignoring | None = None,
        fields: IgnoringDict | None = None,
        point: Point | None = None,
        pet: Pet | None = None,
    ) -> str:
        return "ran"

    result = await take.execute_raw(raw)
    assert (result.is_error, result.code) == (True, "invalid_arguments")
    assert f"- {place}: there is no such parameter" in result.text


# --- Defaults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (Colour.RED, "red"),
        (Path("a/b"), "a/b"),
        (Decimal("1.50"), "1.50"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"abc", "abc"),
        ({"b", "a", "c"}, ["a", "b", "c"]),
        ({"set": {3, 1, 2}}, {"set": [1, 2, 3]}),
        ((1, "x"), [1, "x"]),
        (Address(street="s"), {"street": "s", "city": "Kyiv"}),
        (Point(x=1), {"x": 1, "y": 0}),
    ],
)
def test_K10_defaults_are_shown_as_json(value: object, expected: object) -> None:
    assert to_json_default(value) == expected


def test_K10_a_default_that_json_cannot_carry_has_no_json_form() -> None:
    loop: list[object] = []
    loop.append(loop)
    for value in (object(), math.inf, math.nan, [math.inf], b"\xff", len, Address, loop):
        with pytest.raises(ValueError):
            to_json_default(value)


@pytest.mark.parametrize("value", [math.inf, object()])
def test_K10_a_default_inside_a_model_that_json_cannot_carry_is_refused(value: object) -> None:
    class Inner(BaseModel):
        x: Any = value

    def take(fine: int, inner: Inner) -> None: ...

    take.__annotations__["inner"] = Inner
    with pytest.raises(
        DefinitionError, match=r"parameter 'inner' has a type that cannot be used .*the default"
    ) as caught:
        tool("Take.")(take)
    assert caught.value.parameter == "inner"


def test_K10_one_choice_that_json_cannot_carry_is_refused_and_not_left_out() -> None:
    class Opaque:
        pass

    class Model(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)

        x: int | Opaque = 1

    with pytest.raises(DefinitionError, match="the input has a type that cannot be used"):
        define_tool(name="take", description="Take.", input=Model, execute=lambda given, ctx: given)


class Branch(BaseModel):
    kind: Literal["branch"] = Field(alias="type")
    parts: "list[Annotated[Branch | Twig, Field(discriminator='kind')]]" = []


class Twig(BaseModel):
    kind: Literal["twig"] = Field(alias="type")
    parts: "list[Annotated[Branch | Twig, Field(discriminator='kind')]]" = []


def test_K10_a_discriminator_that_pydantic_cannot_show_is_no_harm() -> None:
    schema = schema_of(Annotated[Branch | Twig, Field(discriminator="kind")])
    Draft7Validator.check_schema(schema)
    assert Draft7Validator(schema).is_valid({"type": "branch", "parts": [{"type": "twig"}]})


def test_K10_a_default_that_looks_like_a_reference_is_refused_and_no_riddle() -> None:
    class Model(BaseModel):
        free: dict[str, Any] = {"$ref": "#/$defs/Nothing"}

    def take(model: Model) -> None: ...

    take.__annotations__["model"] = Model
    with pytest.raises(
        DefinitionError, match=r"parameter 'model' has a type that cannot be used \('#/\$defs/Nothing'\)"
    ):
        tool("Take.")(take)


# --- The same bytes -----------------------------------------------------------------------------------------

PROGRAM = """
    import enum, json
    from typing import Annotated, Any, Literal
    from pydantic import BaseModel, Field
    from toolroll import tool

    class Colour(str, enum.Enum):
        RED = "red"
        BLUE = "blue"

    class Inner(BaseModel):
        tags: set[str] = {"one", "two", "three", "four", "five"}
        colours: frozenset[Colour] = frozenset(Colour)

    class Outer(BaseModel):
        first: Inner = Inner()
        second: list[Inner] = [Inner(tags={"x", "y", "z"})]
        mixed: set[Any] = {"x", 1, None, 2.5}
        many: dict[str, set[str]] = {"k": {"a", "b", "c", "d"}}

    @tool
    def find(
        outer: Outer,
        other: Inner,
        names: set[str] = {"d", "c", "b", "a"},
        kinds: set[Literal["x", "y", "z"]] = {"z", "y", "x"},
        fresh: list[int] = Field(default_factory=lambda: [id(object())]),
        made: Annotated[Inner, Field(description="Made.")] = Inner(tags={"p", "q", "r"}),
    ) -> None:
        "Find."

    print(json.dumps(find.parameters))
    print(find.definition.fingerprint)
"""


def run_with_seed(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(PROGRAM)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=200).stdout


def test_K12_the_same_function_gives_the_same_bytes_in_every_process() -> None:
    outputs = {run_with_seed(seed) for seed in ("0", "1", "2", "3", "4242")}
    assert len(outputs) == 1
    schema = json.loads(outputs.pop().splitlines()[0])
    Draft7Validator.check_schema(schema)
    assert "default" not in schema["properties"]["fresh"]  # a factory may give something else each time
    assert schema["properties"]["made"] == {
        "allOf": [{"$ref": "#/definitions/Inner"}],
        "description": "Made.",
        "default": {"tags": ["p", "q", "r"], "colours": ["blue", "red"]},
    }


def test_K12_a_definition_is_made_once_per_tool() -> None:
    made: Tool = tool("Take.")(_take)
    assert made.definition is made.definition
    assert made.parameters is made.definition.parameters


def _take(x: Mapping[str, int]) -> None: ...


def test_a_definition_that_another_one_uses_twice_is_written_once() -> None:
    class Inner(BaseModel):
        number: int

    class Outer(BaseModel):
        first: Inner
        second: Inner

    class Arguments(BaseModel):
        outer: Outer

    schema: Any = to_draft07(TypeAdapter(Arguments))
    assert list(schema["definitions"]) == ["Inner"]
    assert schema["properties"]["outer"]["properties"]["second"] == {"$ref": "#/definitions/Inner"}
