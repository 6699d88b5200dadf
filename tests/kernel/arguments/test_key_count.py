"""The quick proof that JSON text was unambiguous: it may fail to prove, but must never prove what is not so."""

import dataclasses
import json
import math
import random
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, TypeAlias
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import (
    AliasChoices,
    AliasPath,
    AnyUrl,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import SchemaValidator, core_schema
from typing_extensions import TypedDict

from toolroll import tool
from toolroll.kernel.arguments.key_count import KeyCounter

# --- JSON text that may be wrong in every way that a parser lets through ---------------------------------

Tree: TypeAlias = Any
"""A list of pairs for an object (so that keys can repeat), a tuple for an array, else JSON text."""

Strategy: TypeAlias = st.SearchStrategy[Tree]


def rendered(tree: Tree, dice: random.Random) -> str:
    """The tree as JSON text, with blanks and escapes as the dice fall."""

    def blank() -> str:
        return dice.choice(["", "", " ", "\n", "\r\n\t"])

    if isinstance(tree, str):
        return blank() + tree + blank()
    if isinstance(tree, tuple):
        return blank() + "[" + ",".join(rendered(item, dice) for item in tree) + "]" + blank()
    pairs = (f"{blank()}{quoted(key, dice)}{blank()}:{rendered(value, dice)}" for key, value in tree)
    return blank() + "{" + ",".join(pairs) + "}" + blank()


def quoted(characters: str, dice: random.Random) -> str:
    """A JSON string, with some of its characters escaped."""
    return '"' + "".join(dice.choice(spellings(character)) for character in characters) + '"'


def spellings(character: str) -> tuple[str, str]:
    return json.dumps(character, ensure_ascii=False)[1:-1], f"\\u{ord(character):04x}"


DICE = st.integers(0, 1 << 32).map(random.Random)
TEXT = st.builds(quoted, st.text('ab:"\\{},\n ', max_size=6), DICE)
INT = st.sampled_from(["0", "-7", "12345678901234567890123", "3.0", "1e999", "NaN"])
FLOAT = st.sampled_from(["0", "1.5", "-1e10", "1e999", "-1e999", "Infinity", "-Infinity", "NaN", '"inf"', "1" * 400])
BOOL = st.sampled_from(["true", "false", "1", "1e999"])
NULL = st.just("null")
SCALAR = st.one_of(TEXT, INT, FLOAT, BOOL, NULL)


def array(items: Strategy) -> Strategy:
    return st.lists(items, max_size=3).map(tuple)


def record(**fields: Strategy) -> Strategy:
    """An object with some of the fields, some of them more than once, in any order."""
    pairs = [st.tuples(st.just(name), values) for name, values in fields.items()]
    return st.lists(st.one_of(pairs), max_size=len(fields) + 2)


def mapping(values: Strategy) -> Strategy:
    return st.lists(st.tuples(st.sampled_from(["a", "b", "1", "01", "a:b"]), values), max_size=3)


ANYTHING = st.recursive(SCALAR, lambda inner: st.one_of(array(inner), mapping(inner)), max_leaves=6)


class Ambiguous(Exception):
    """What the count must never clear."""


def refuse_ambiguity(text: str) -> None:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            raise Ambiguous("a key stands twice")
        return dict(pairs)

    def finite(digits: str) -> float:
        if not math.isfinite(float(digits)):
            raise Ambiguous(digits)
        return float(digits)

    json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=finite)


@cache
def counter_of(shape: Any) -> tuple[SchemaValidator, KeyCounter]:
    adapter: TypeAdapter[Any] = TypeAdapter(shape)
    assert isinstance(adapter.validator, SchemaValidator)
    return adapter.validator, KeyCounter(adapter.core_schema)


def clears(shape: Any, text: str) -> bool:
    """Whether the count of this type clears the text; a text that is not valid is never asked about."""
    validator, counter = counter_of(shape)
    try:
        value = validator.validate_json(text, extra="forbid")
    except ValidationError:
        return False
    return counter.proves_unambiguous(text, value)


# --- Types: each with trees that often fit it -------------------------------------------------------------


class Leaf(BaseModel):
    a: int = 1
    b: float = 0.5
    c: str = "x:y"


class Rich(BaseModel):
    """Defaults with keys of their own, which the text never had."""

    leaf: Leaf = Leaf(a=2, b=1.0)
    maybe: Leaf | None = None
    leaves: list[Leaf] = [Leaf(a=3), Leaf(a=4)]
    rows: list[list[Leaf]] = []
    options: dict[str, int] = {"p": 1, "q": 2}
    named: dict[str, Leaf] = {"p": Leaf(a=1, b=2, c="c")}
    fresh: dict[str, float] = Field(default_factory=lambda: {"p": 1.0})


class Needed(BaseModel):
    """Nothing may be left out."""

    a: int
    b: float
    maybe: float | None
    leaves: list[Leaf]


class NeededDict(TypedDict):
    a: int
    b: float
    needed: Needed


class Plain(TypedDict):
    leaf: NotRequired[Leaf]
    ratio: NotRequired[float]
    names: NotRequired[list[str]]
    inner: NotRequired[dict[str, float | None]]


class Filled(TypedDict):
    """Its defaults become keys of the value."""

    a: NotRequired[int]
    b: Annotated[int, Field(default=3)]
    c: Annotated[dict[str, int], Field(default_factory=lambda: {"p": 1, "q": 2})]


class Shared(BaseModel):
    """One key of the text may fill two fields."""

    a: int = Field(0, validation_alias=AliasPath("k", 0))
    b: int = Field(0, validation_alias=AliasPath("k", 1))


class Choosing(BaseModel):
    a: int = Field(0, validation_alias=AliasChoices("k", "l"))
    b: int = Field(0, validation_alias=AliasChoices("l", "k"))


class ByName(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    a: int = Field(0, alias="b")
    b: int = 0


class Renamed(BaseModel):
    a: int = Field(0, alias="filePattern")
    b: int = Field(0, validation_alias="type")


class Setting(BaseModel):
    """What it sets itself counts as given."""

    a: int = 0
    b: int = 0

    def model_post_init(self, context: object) -> None:
        self.b = 5


class Building(BaseModel):
    a: int = 0
    b: int = 0

    def __init__(self, **data: Any) -> None:
        super().__init__(**{"b": 1, **data})


class Checking(BaseModel):
    a: int = 0
    b: int = 0

    @model_validator(mode="after")
    def check(self) -> "Checking":
        self.b = 5
        return self


class Cleaning(BaseModel):
    names: dict[str, int] = {}

    @field_validator("names", mode="after")
    @classmethod
    def clean(cls, names: dict[str, int]) -> dict[str, int]:
        return names | {"more": 1}


class Texts(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    c: str = ""


class TextField(BaseModel):
    c: str = Field("", coerce_numbers_to_str=True)


class Limits(Enum):
    LOW = 1
    NONE = math.inf


class Forgiving(Enum):
    LOW = 1

    @classmethod
    def _missing_(cls, value: object) -> "Forgiving":
        return cls.LOW


class Size(Enum):
    SMALL = "small"
    ONE = 1


class Choice(BaseModel):
    limit: Limits | None = None
    forgiving: Forgiving = Forgiving.LOW
    size: Size = Size.SMALL
    kind: Literal["a", 1, None] = "a"


class Rows(RootModel[list[Leaf]]):
    pass


@dataclasses.dataclass
class Point:
    a: int = 0
    b: float = 0.0


class Tree2(BaseModel):
    a: int = 0
    children: "list[Tree2]" = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    a: int = 0


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    a: dict[str, int] = {}


Pet: TypeAlias = Annotated[Cat | Dog, Field(discriminator="kind")]

LEAF = record(a=INT, b=FLOAT, c=TEXT)
RICH = record(
    leaf=LEAF,
    maybe=st.one_of(LEAF, NULL),
    leaves=array(LEAF),
    rows=array(array(LEAF)),
    options=mapping(INT),
    named=mapping(LEAF),
    fresh=mapping(FLOAT),
)
AB = record(a=INT, b=INT)


def complete(**fields: Strategy) -> Strategy:
    """An object with all of the fields, and some of them once more."""
    whole = st.fixed_dictionaries(fields).map(lambda found: list(found.items()))
    return st.tuples(whole, record(**fields)).map(lambda both: (both[0] + both[1])[: len(fields) + 1])


NEEDED = complete(a=INT, b=FLOAT, maybe=st.one_of(FLOAT, NULL), leaves=array(LEAF))
SHAPES: list[tuple[Any, Strategy]] = [
    (Leaf, LEAF),
    (Rich, RICH),
    (Needed, NEEDED),
    (NeededDict, complete(a=INT, b=FLOAT, needed=NEEDED)),
    (Plain, record(leaf=LEAF, ratio=FLOAT, names=array(TEXT), inner=mapping(st.one_of(FLOAT, NULL)))),
    (Filled, record(a=INT, b=INT, c=mapping(INT))),
    (Shared, record(k=array(INT))),
    (Choosing, record(k=INT, l=INT)),
    (ByName, record(a=INT, b=INT)),
    (Renamed, record(filePattern=INT, type=INT)),
    (Setting, AB),
    (Building, AB),
    (Checking, AB),
    (Cleaning, record(names=mapping(INT))),
    (Texts, record(c=SCALAR)),
    (TextField, record(c=SCALAR)),
    (Choice, record(limit=SCALAR, forgiving=SCALAR, size=SCALAR, kind=SCALAR)),
    (Rows, array(LEAF)),
    (Point, record(a=INT, b=FLOAT)),
    (Tree2, record(a=INT, children=array(record(a=INT, children=array(record(a=INT)))))),
    (Pet, st.one_of(record(kind=st.just('"cat"'), a=INT), record(kind=st.just('"dog"'), a=mapping(INT)))),
    (list[Leaf | dict[str, int]], array(st.one_of(LEAF, mapping(INT)))),
    (list[int | str | None], array(SCALAR)),
    (list[int | float], array(SCALAR)),
    (dict[int, float], mapping(FLOAT)),
    (dict[str, dict[str, Leaf]], mapping(mapping(LEAF))),
    (list[Leaf] | None, st.one_of(array(LEAF), NULL)),
    (dict[str, Any], mapping(ANYTHING)),
    (dict, mapping(ANYTHING)),
    (list, array(ANYTHING)),
    (Any, ANYTHING),
    (tuple[int, Leaf], st.tuples(INT, LEAF)),
    (set[float], array(FLOAT)),
    (dict[str, date | datetime | time | timedelta | UUID | AnyUrl | bool | int], mapping(SCALAR)),
    (dict[str, Decimal], mapping(FLOAT)),
    (list[Annotated[dict[str, int], Field(default={"a": 1})]], array(mapping(INT))),
]


@settings(max_examples=50)  # of each type
@given(st.data())
@pytest.mark.parametrize(("shape", "trees"), SHAPES, ids=lambda part: getattr(part, "__name__", str(part))[:40])
def test_XJ5_XL6_a_text_with_a_key_twice_or_an_infinite_number_is_never_cleared(
    shape: Any, trees: Strategy, data: st.DataObject
) -> None:
    text = rendered(data.draw(trees), data.draw(DICE))
    if clears(shape, text):
        refuse_ambiguity(text)


TWICE = [
    (Leaf, '{"a":1,"a":2}'),
    (Leaf, '{"a":1,"\\u0061":2}'),
    (Leaf, '{"b":1e999}'),
    (Leaf, '{"b":Infinity}'),
    (Needed, '{"a":1,"b":1e999,"maybe":1,"leaves":[]}'),
    (Needed, '{"a":1,"b":1,"maybe":-1e999,"leaves":[]}'),
    (Needed, '{"a":1,"b":1,"maybe":null,"leaves":[{"b":1e999},{"b":2}]}'),
    (Needed, '{"a":1,"b":1e999,"b":1,"maybe":null,"leaves":[]}'),
    (NeededDict, '{"a":1,"b":1e999,"needed":{"a":1,"b":1,"maybe":null,"leaves":[]}}'),
    (NeededDict, '{"a":1,"a":1,"b":1,"needed":{"a":1,"b":1,"maybe":null,"leaves":[]}}'),
    (Rich, '{"leaf":{"a":1},"leaf":{"a":2}}'),
    (Rich, '{"options":{"p":1,"p":2}}'),
    (Rich, '{"named":{"p":{"a":1,"a":2}}}'),
    (Filled, '{"a":1,"a":2,"a":3}'),
    (Filled, '{"c":{},"c":{},"b":1}'),
    (Shared, '{"k":[1,2],"k":[3,4]}'),
    (Choosing, '{"k":1,"k":2}'),
    (ByName, '{"b":1,"b":2}'),
    (Setting, '{"a":1,"a":2}'),
    (Building, '{"a":1,"a":2}'),
    (Checking, '{"a":1,"a":2}'),
    (Cleaning, '{"names":{},"names":{}}'),
    (Texts, '{"c":1e999}'),
    (TextField, '{"c":1e999}'),
    (Choice, '{"limit":1e999}'),
    (Choice, '{"forgiving":1e999}'),
    (Choice, '{"forgiving":{"a":1,"a":2},"size":1}'),
]


@pytest.mark.parametrize(("shape", "text"), TWICE)
def test_XJ5_XL6_texts_that_once_seemed_unambiguous(shape: Any, text: str) -> None:
    """Each of these is valid for its type, so only the count and the second reading stand in the way."""
    TypeAdapter(shape).validator.validate_json(text, extra="forbid")
    with pytest.raises(Ambiguous):
        refuse_ambiguity(text)
    assert not clears(shape, text)


@pytest.mark.parametrize("kind", [str, int, bool, None, date, datetime, time, timedelta, UUID, AnyUrl, Size])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "Infinity", "-Infinity", "NaN"])
def test_XJ5_types_without_keys_take_no_infinite_number(kind: Any, number: str) -> None:
    """The count counts nothing in them, so nothing infinite may get in."""
    with pytest.raises(ValidationError):
        TypeAdapter(dict[str, kind]).validate_json(f'{{"x":{number}}}')


class Bare:
    """A model's class as pydantic-core sees it."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")


def test_XJ5_a_value_replaced_after_an_error_proves_nothing() -> None:
    inner = core_schema.dict_schema(core_schema.str_schema(), core_schema.int_schema())
    replaced = core_schema.with_default_schema(inner, default={"p": 1, "q": 2}, on_error="default")
    for schema in (
        core_schema.typed_dict_schema({"a": core_schema.typed_dict_field(replaced)}),
        core_schema.model_schema(Bare, core_schema.model_fields_schema({"a": core_schema.model_field(replaced)})),
    ):
        text = '{"a":{"x":[]},"a":{"x":[]},"a":{"x":{"a":1}}}'
        value = SchemaValidator(schema).validate_json(text)
        assert not KeyCounter(schema).proves_unambiguous(text, value)


# --- Not vacuous: what is plain is cleared ------------------------------------------------------------------

CLEARED: list[tuple[Any, object]] = [
    (Leaf, {}),
    (Leaf, {"a": 1, "b": 2.5, "c": "text"}),
    (Rich, {"leaf": {"a": 1}, "maybe": None, "leaves": [{"b": 1.0}, {}], "rows": [[{"a": 1}]], "options": {"x": 1}}),
    (Rich, {"named": {"one": {"a": 1}}, "fresh": {"x": 1.5, "y": 2.5}, "maybe": {"c": "x"}}),
    (Needed, {"a": 1, "b": 1.5, "maybe": 2.5, "leaves": [{"a": 1}]}),
    (NeededDict, {"a": 1, "b": 1.5, "needed": {"a": 1, "b": 2, "maybe": None, "leaves": []}}),
    (Plain, {"leaf": {"a": 1}, "ratio": 1.0, "names": ["x"], "inner": {"x": 1.0, "y": None}}),
    (Renamed, {"filePattern": 1, "type": 2}),
    (Choice.model_fields["size"].annotation, "small"),
    (dict[str, Literal["a", 1, None]], {"x": "a", "y": None}),
    (dict[str, int | str], {"x": 1, "y": "z"}),
    (list[bool], [True]),
    (int, 5),
    (dict[int, float], {1: 1.5}),
]


@pytest.mark.parametrize(("shape", "value"), CLEARED)
def test_XJ5_plain_text_is_cleared(shape: Any, value: object) -> None:
    assert clears(shape, json.dumps(value, indent=1))


KEYS = st.text("abc", min_size=1)
counted = st.fixed_dictionaries(
    {
        "leaf": st.fixed_dictionaries({}, optional={"a": st.integers(), "b": st.floats(-1e9, 1e9)}),
        "leaves": st.lists(st.fixed_dictionaries({}, optional={"a": st.integers(), "c": st.text("xyz,{}[] ")})),
        "options": st.dictionaries(KEYS, st.integers()),
        "fresh": st.dictionaries(KEYS, st.floats(allow_nan=False, allow_infinity=False)),
    }
)


@given(counted)
@example({})
def test_XJ5_every_text_without_colons_in_strings_is_cleared(value: Mapping[str, object]) -> None:
    assert clears(Rich, json.dumps(value))


async def test_XL6_XJ5_a_key_twice_never_reaches_a_tool() -> None:
    ran: list[object] = []

    @tool("Take.")
    async def take(leaf: Leaf, filled: Filled, more: float = 1.0) -> str:
        ran.append(leaf)
        return "ran"

    for raw in (
        '{"leaf":{"a":1,"a":2},"filled":{}}',
        '{"leaf":{},"leaf":{},"filled":{}}',
        '{"leaf":{},"filled":{"a":1,"a":2}}',
        '{"leaf":{},"filled":{},"more":1e999}',
        '{"leaf":{},"filled":{},"more":NaN}',
    ):
        result = await take.execute_raw(raw)
        assert (result.code, ran) == ("invalid_json", [])
    assert (await take.execute_raw('{"leaf":{},"filled":{}}')).text == "ran"
