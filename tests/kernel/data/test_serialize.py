"""Any value as stable JSON (K31)."""

import json
import os
import subprocess
import sys
import textwrap
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    SecretBytes,
    SecretStr,
    Tag,
    computed_field,
    field_serializer,
    model_serializer,
)

from toolroll.kernel.data.serialize import (
    MAX_RESULT_DEPTH,
    canonical_json,
    dump_json,
    dump_sealed,
    is_stable_model,
    replace_surrogates,
    safe_str,
    to_plain,
    to_plain_unfiltered,
)


class Color(Enum):
    RED = "red"
    DEEP = ("a", 1)


class Level(IntEnum):
    HIGH = 3


class Word(str, Enum):  # noqa: UP042 - what StrEnum replaced is still about
    YES = "yes"


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


@dataclass(slots=True)
class Slotted:
    name: str
    day: date


@dataclass
class Node:
    name: str
    next: "Node | None" = None


class Point(BaseModel):
    x: int
    label: str = "п"


class Aliased(BaseModel):
    inner_name: Annotated[int, Field(serialization_alias="outerName")] = 1


Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (-1.5, "-1.5"),
        (1e300, "1e+300"),
        ("Привіт \u2028 \n", '"Привіт \u2028 \\n"'),
        ([], "[]"),
        ({"b": 1, "a": [1, None]}, '{"b":1,"a":[1,null]}'),
        ((1, "a"), '[1,"a"]'),
        (Pair(1, 2), "[1,2]"),
        (date(2026, 11, 15), '"2026-11-15"'),
        (datetime(2026, 11, 15, 21, 31, tzinfo=UTC), '"2026-11-15T21:31:00Z"'),
        (time(21, 31), '"21:31:00"'),
        (timedelta(days=1, seconds=2), '"P1DT2S"'),
        (Path("src/main.py"), '"src/main.py"'),
        (PurePosixPath("/a b"), '"/a b"'),
        (Decimal("1.10"), '"1.10"'),
        (Decimal("NaN"), '"NaN"'),
        (Fraction(1, 3), '"1/3"'),
        (1 + 2j, '"1+2j"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (b"text \xc3\xa9", '"text é"'),
        (b"\xff\x00", '"/wA="'),
        (bytearray(b"ab"), '"ab"'),
        (memoryview(b"ab"), '"ab"'),
        (float("nan"), "null"),
        ([float("inf"), float("-inf")], "[null,null]"),
        (Real("nan"), "null"),
        (Real(1.5), "1.5"),
        ({3, 1, 20}, "[1,3,20]"),
        (frozenset({"b", "a", "é"}), '["a","b","é"]'),
        ({2.5, 1, 10}, "[1,2.5,10]"),
        ({"a", 1, None, True + 1, (1, 2)}, '[null,[1,2],1,2,"a"]'),
        ({frozenset({2, 1}), frozenset({3})}, "[[1,2],[3]]"),
        (Color.RED, '"red"'),
        (Color.DEEP, '["a",1]'),
        (Level.HIGH, "3"),
        (Word.YES, '"yes"'),
        (Text("t"), '"t"'),
        (Whole(7), "7"),
        (Slotted("n", date(2026, 1, 2)), '{"name":"n","day":"2026-01-02"}'),
        (Node("a", Node("b")), '{"name":"a","next":{"name":"b","next":null}}'),
        (Point(x=1), '{"x":1,"label":"п"}'),
        ([Point(x=1)], '[{"x":1,"label":"п"}]'),
        (Aliased(), '{"outerName":1}'),
        ([Aliased()], '[{"outerName":1}]'),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        (MappingProxyType({"a": {1}}), '{"a":[1]}'),
        (Counter("aab"), '{"a":2,"b":1}'),
        (deque([{2, 1}]), "[[1,2]]"),
        ((item for item in [{2, 1}, "a"]), '[[1,2],"a"]'),
        (map(str, [1, 2]), '["1","2"]'),
        ({"b": 1, "a": 2}.keys(), '["b","a"]'),
        ({"a": {2, 1}}.values(), "[[1,2]]"),
        ({"a": 1}.items(), '[["a",1]]'),
        (range(3), '"range(0, 3)"'),
        (ValueError("no"), '"no"'),
        (SecretStr("hidden"), '"**********"'),
        (int, "\"<class 'int'>\""),
        (Point, f"\"<class '{__name__}.Point'>\""),
    ],
)  # fmt: skip
def test_K31_each_kind_of_value_has_its_json(value: object, expected: str) -> None:
    assert dump_json(value) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (1, "1"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (float("inf"), "null"),
        (Color.RED, "red"),
        (Word.YES, "yes"),
        (Text("t"), "t"),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (b"k", "k"),
        (Path("a/b"), "a/b"),
        ((1, "a"), '[1,"a"]'),
        (frozenset({2, 1}), "[1,2]"),
    ],
)
def test_K31_keys_that_are_no_text_become_the_text_of_their_value(key: object, expected: str) -> None:
    assert json.loads(dump_json({key: 0})) == {expected: 0}


class Broken:
    def __str__(self) -> str:
        raise KeyError("no text")


class Silent:
    pass


class Speaking:
    def __str__(self) -> str:
        return "I speak"


def test_K31_what_has_no_json_form_becomes_its_text() -> None:
    assert dump_json({"a": Speaking()}) == '{"a":"I speak"}'
    with open(os.devnull, encoding="utf-8") as file:
        assert json.loads(dump_json([file]))[0].startswith("<_io.TextIOWrapper")


def test_K31_texts_hold_no_addresses_and_never_fail() -> None:
    name = f"{__name__}.Silent"
    assert safe_str(Silent()) == f"<{name} object>"
    assert json.loads(dump_json([lambda: 1])) == [
        "<function test_K31_texts_hold_no_addresses_and_never_fail.<locals>.<lambda>>"
    ]
    assert dump_json(Broken()) == '"<Broken>"'
    assert safe_str("crash at 0xdead") == "crash at 0xdead"


def test_K31_huge_integers_stay_readable_by_anybody() -> None:
    assert dump_json(10**4299) == "1" + "0" * 4299
    assert json.loads(dump_json([10**5000, -(10**5000)])) == [hex(10**5000), hex(-(10**5000))]
    assert json.loads(dump_json({10**5000: Whole(10**5000)})) == {hex(10**5000): hex(10**5000)}


def test_K31_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert dump_json(["\ud800", "\ud83d\ude00", "a\udfffb", {"\udc00": 1}]) == '["\ufffd","😀","a\ufffdb",{"\ufffd":1}]'
    assert dump_json(Point(x=1, label="\ud800")) == '{"x":1,"label":"\ufffd"}'
    assert dump_json(Text("\ud800")) == '"\ufffd"'
    assert dump_json(Path("a\udcff")) == '"a\ufffd"'


@given(st.text(st.characters(exclude_categories=())))
def test_K31_well_formed_text_can_be_encoded_and_keeps_all_else(text: str) -> None:
    mended = replace_surrogates(text)
    assert mended.encode().decode() == mended
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert mended == text


class Loop(BaseModel):
    name: str = "loop"
    items: list[Any] = []


def test_K31_what_holds_itself_ends_as_text() -> None:
    once: list[object] = []
    once.append(once)
    assert dump_json(once) == '["[[...]]"]'
    twice: list[object] = []
    twice += [twice, twice, {"a": twice}]  # two ways down at each level would be 2^100 of them
    assert json.loads(dump_json(twice))[2]["a"].startswith("[[...]")
    mapping: dict[str, object] = {}
    mapping["me"] = mapping
    assert dump_json(mapping) == '{"me":"{\'me\': {...}}"}'
    node = Node("a")
    node.next = node
    assert json.loads(dump_json(node))["name"] == "a"
    loop = Loop()
    loop.items.append(loop)
    assert json.loads(dump_json(loop))["name"] == "loop"
    assert "Loop(name='loop', items=[...])" in dump_json(loop)


def test_K31_the_same_value_twice_is_no_loop() -> None:
    shared = [1]
    assert dump_json([shared, shared, (shared,)]) == "[[1],[1],[[1]]]"


def test_K31_what_is_nested_too_deep_ends_as_text() -> None:
    value: object = "end"
    for _ in range(MAX_RESULT_DEPTH + 50):
        value = [value]
    text = dump_json(value)
    assert text.startswith("[" * MAX_RESULT_DEPTH + '"[[')
    abyss: object = "end"
    for _ in range(100_000):
        abyss = [abyss]
    assert json.loads(dump_json(abyss))
    assert dump_json(abyss).count("[") == MAX_RESULT_DEPTH
    assert dump_json({"deep": abyss}).endswith('"<list>"' + "]" * (MAX_RESULT_DEPTH - 1) + "}")


class Failing(BaseModel):
    x: int = 1
    part: Any = None

    @model_serializer
    def write(self) -> dict[str, object]:
        raise KeyError("cannot")


class Custom(BaseModel):
    x: int = 1

    @field_serializer("x")
    def write(self, x: int) -> str:
        return f"<{x}>"


def test_K31_a_model_whose_own_serializer_fails_is_written_by_its_fields() -> None:
    assert dump_json(Failing(part={2, 1})) == '{"x":1,"part":[1,2]}'
    assert dump_json(Custom()) == '{"x":"<1>"}'


def test_K31_a_field_that_was_never_set_is_left_out() -> None:
    unset = object.__new__(Slotted)
    unset.name = "n"
    assert dump_json(unset) == '{"name":"n"}'
    assert dump_json(Failing.model_construct(x=2)) == '{"x":2,"part":null}'


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    names: set[str] = {"a", "b"}


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Tagged(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class TaggedPlain(BaseModel):
    pet: Annotated[Dog | Point, Field(union_mode="smart")] | None = None
    mode: dict[str, list[Level]] = {}


class Labelled(BaseModel):
    size: Annotated[int, Tag("number")] | Annotated[str, Tag("word")] = 1


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Computed(BaseModel):
    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def names(self) -> set[str]:
        return {"a", "b"}


class Tree(BaseModel):
    children: "list[Tree]" = []
    at: datetime | None = None
    node: Slotted | None = None


class Rooted(RootModel[dict[str, bool]]):
    pass


@pytest.mark.parametrize("kind", [Point, Dog, TaggedPlain, Labelled, Tree, Aliased])
def test_models_of_plain_types_take_the_fast_way(kind: type) -> None:
    assert is_stable_model(kind)


@pytest.mark.parametrize("kind", [Cat, Tagged, Open, Computed, Loop, Custom, Failing, Rooted, dict, int])
def test_K31_what_may_differ_between_processes_takes_the_careful_way(kind: type) -> None:
    assert not is_stable_model(kind)


SCRIPT = """
from dataclasses import dataclass
from enum import Enum
from collections import deque
from typing import Annotated, Any, Literal
from pydantic import BaseModel, ConfigDict, Field, computed_field
from toolroll.kernel.data.serialize import canonical_json, dump_json, dump_sealed

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    names: set[str] = set(WORDS)
class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
class Tagged(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] = Cat()
class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
class Computed(BaseModel):
    @computed_field
    @property
    def names(self) -> frozenset[str]:
        return frozenset(WORDS)
class Loose(BaseModel):
    anything: Any = set(WORDS)
@dataclass
class Box:
    inside: set[str]
class Words(Enum):
    ALL = frozenset(WORDS)
class Silent: pass

value = [set(WORDS), Cat(), Tagged(), Open(more=set(WORDS)), Computed(), Loose(), Box(set(WORDS)), Words.ALL, Silent(),
         {frozenset(WORDS): 1}, deque([set(WORDS)]), iter([set(WORDS)]), {"z": 1, "a": {("x", 1), ("y", 2)}}, lambda: 1]
print(dump_json(value))
print(dump_json(Tagged()), dump_json(Computed()), dump_json(Open(x=set(WORDS))))
print(canonical_json({word: set(WORDS) for word in set(WORDS)}), dump_sealed(value[:8]))
"""


def test_K31_the_same_value_gives_the_same_bytes_in_every_process() -> None:
    outputs = set()
    for seed in ("0", "1", "2", "3", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(SCRIPT)], env=environment, check=True, capture_output=True
        )
        outputs.add(done.stdout)
    [output] = outputs
    assert output.count(b'["alpha","beta","delta","epsilon","gamma","zeta"]') >= 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_K31_json_values_come_back_as_they_were(value: object) -> None:
    assert json.loads(dump_json(value)) == value
    assert dump_json(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


ANYTHING = st.recursive(
    JSON | st.binary() | st.dates() | st.decimals() | st.uuids() | st.floats() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner),
    max_leaves=10,
)


@given(ANYTHING | st.frozensets(st.integers() | st.text() | st.binary() | st.booleans() | st.none() | st.dates()))
def test_K31_every_value_gives_valid_json_that_is_stable(value: object) -> None:
    text = dump_json(value)
    read = json.loads(text)
    assert dump_json(read) == dump_json(to_plain(value)) == text
    text.encode()


@given(JSON)
def test_canonical_json_does_not_depend_on_the_order_of_keys(value: object) -> None:
    assert canonical_json(value) == canonical_json(turned(value))
    assert json.loads(canonical_json(value)) == value


def turned(value: object) -> object:
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


class Order(BaseModel):
    path: Annotated[str, Field(serialization_alias="p")] = "a"
    hidden: Annotated[int, Field(exclude=True)] = 1
    key: SecretStr = SecretStr("one")
    raw: SecretBytes = SecretBytes(b"two")
    shown: int = 5

    @field_serializer("shown")
    def write(self, _shown: int) -> str:
        return "always the same"


def test_XA1_whole_shows_every_field_and_seals_what_is_not_shown() -> None:
    order = Order()
    assert to_plain(order) == {"p": "a", "key": "**********", "raw": "**********", "shown": "always the same"}
    assert to_plain_unfiltered(order) == {"p": "a", "hidden": 1, "key": "**********", "raw": "**********", "shown": 5}
    seals = {
        dump_sealed([changed])
        for changed in (order, Order(hidden=2), Order(key=SecretStr("x")), Order(raw=SecretBytes(b"y")), Order(shown=6))
    }
    assert len(seals) == 5
    assert dump_sealed(order) == dump_sealed(Order())
    assert to_plain_unfiltered(Open.model_validate({"extra": {2, 1}})) == {"extra": [1, 2]}


def test_XA1_looking_at_arguments_uses_nothing_up() -> None:
    numbers: Iterator[int] = iter([1, 2])
    assert to_plain_unfiltered({"numbers": numbers}) == {"numbers": safe_str(numbers)}
    assert dump_sealed([numbers]) == json.dumps([safe_str(numbers)], separators=(",", ":"))
    assert list(numbers) == [1, 2]


@dataclass
class Defaults:
    items: list[int] = field(default_factory=list)
    hidden: int = field(default=1, repr=False)


def test_K31_a_class_is_not_taken_for_its_instances() -> None:
    assert json.loads(dump_json({"kind": Defaults})) == {"kind": f"<class '{__name__}.Defaults'>"}
    assert dump_json(Defaults()) == '{"items":[],"hidden":1}'
