"""Nulls that stand for "left out" go, all others stay."""

import copy
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator

from toolroll import tool
from toolroll.errors import ArgumentsRefused
from toolroll.kernel.arguments.nulls import drop_left_out_nulls, drop_nulls_at
from toolroll.kernel.define.function import FunctionTool

TEXT = {"type": "string"}
MAYBE = {"anyOf": [TEXT, {"type": "null"}]}


def closed(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required or [],
        "additionalProperties": False,
        **more,
    }


@pytest.mark.parametrize(
    ("node", "takes_null"),
    [
        (TEXT, False),
        (MAYBE, True),
        ({"oneOf": [TEXT, {"type": "integer"}]}, False),
        ({"type": ["string", "null"]}, True),
        ({"type": ["string", "integer"]}, False),
        ({"type": ["file", 3]}, False),
        ({"enum": ["a", None]}, True),
        ({"enum": ["a", 0, False]}, False),
        ({"const": None}, True),
        ({"const": "a"}, False),
        ({"type": "string", "enum": [None]}, False),
        ({"$ref": "#/definitions/Maybe"}, True),
        ({"$ref": "#/definitions/Text"}, False),
        ({"$ref": "#/$defs/Maybe"}, True),
        ({"$ref": "#/definitions/Text", "default": "a"}, False),
        ({"allOf": [{"$ref": "#/definitions/Text"}]}, False),
        ({"allOf": [{"$ref": "#/definitions/Maybe"}, {"$ref": "#/definitions/Maybe"}]}, True),
        ({"allOf": [MAYBE, TEXT]}, False),
        ({"allOf": [TEXT, MAYBE]}, False),
        ({"$ref": "#/definitions/Maybe", "allOf": [TEXT]}, False),
        ({"$ref": "#/definitions/Ring"}, False),
        ({"$ref": "#/definitions/Missing"}, True),
        ({"$ref": 3}, True),
        ({"anyOf": {}}, True),
        ({}, True),
        (True, True),
        (False, False),
    ],
)
def test_K11_null_for_a_parameter_that_may_be_left_out_goes_unless_it_is_a_value(node: Any, takes_null: bool) -> None:
    tables: dict[str, Any] = {
        "definitions": {"Maybe": MAYBE, "Text": TEXT, "Ring": {"anyOf": [{"$ref": "#/definitions/Ring"}, TEXT]}},
        "$defs": {"Maybe": MAYBE},
    }
    schema = closed({"x": node, "y": TEXT}, **tables)
    assert ({"x": None} if takes_null else {}) == drop_left_out_nulls({"x": None, "y": None}, schema)
    required = closed({"x": node}, ["x"], **tables)
    assert drop_left_out_nulls({"x": None}, required) == {"x": None}


def test_K11_nulls_go_at_every_level() -> None:
    inner = closed({"a": TEXT, "b": MAYBE})
    schema = closed(
        {
            "object": inner,
            "list": {"type": "array", "items": inner},
            "pair": {"type": "array", "items": [inner, TEXT], "additionalItems": {"$ref": "#/definitions/Inner"}},
            "map": {"type": "object", "additionalProperties": inner},
            "open": {"type": "object", "properties": {"a": TEXT}},
            "either": {"anyOf": [TEXT, inner]},
        },
        definitions={"Inner": inner},
    )
    nulls, cleaned = {"a": None, "b": None}, {"b": None}
    value = {
        "object": nulls,
        "list": [nulls, nulls],
        "pair": [nulls, "x", nulls],
        "map": {"k": nulls, "other": None},
        "open": {"a": None, "c": None},
        "either": nulls,
    }
    before = copy.deepcopy(value)
    expected = {
        "object": cleaned,
        "list": [cleaned, cleaned],
        "pair": [cleaned, "x", cleaned],
        "map": {"k": cleaned, "other": None},
        "open": {"c": None},
        "either": cleaned,
    }
    assert expected == drop_left_out_nulls(value, schema)
    assert before == value


def test_K11_a_recursive_value_is_cleaned_all_the_way_down() -> None:
    tree = closed({"name": TEXT, "below": {"type": "array", "items": {"$ref": "#/definitions/Tree"}}})
    value = {"name": None, "below": [{"name": None, "below": [{"name": "x", "below": None}]}]}
    schema = {"$ref": "#/definitions/Tree", "definitions": {"Tree": tree}}
    assert drop_left_out_nulls(value, schema) == {"below": [{"below": [{"name": "x"}]}]}


def test_K11_of_alternatives_the_one_that_fits_decides() -> None:
    first = closed({"kind": {"const": "a"}, "note": TEXT}, ["kind"])
    second = closed({"kind": {"const": "b"}, "note": MAYBE}, ["kind"])
    schema = closed({"x": {"oneOf": [first, second]}})
    assert drop_left_out_nulls({"x": {"kind": "a", "note": None}}, schema) == {"x": {"kind": "a"}}
    kept = {"x": {"kind": "b", "note": None}}
    assert kept == drop_left_out_nulls(kept, schema)
    unknown = {"x": {"kind": "c", "note": None}}
    assert unknown == drop_left_out_nulls(unknown, schema)


def test_K11_a_null_that_some_fitting_alternative_takes_stays() -> None:
    schema = closed({"x": {"anyOf": [closed({"note": TEXT}), closed({"note": MAYBE})]}})
    kept = {"x": {"note": None}}
    assert kept == drop_left_out_nulls(kept, schema)
    either = closed({"x": {"anyOf": [closed({"note": TEXT}), closed({"note": {"type": "integer"}}, ["note"])]}})
    assert drop_left_out_nulls({"x": {"note": None}}, either) == {"x": {}}


def test_K11_an_alternative_that_misses_something_does_not_fit() -> None:
    schema = closed({"x": {"anyOf": [closed({"a": TEXT, "note": MAYBE}, ["a"]), closed({"note": TEXT})]}})
    assert drop_left_out_nulls({"x": {"note": None}}, schema) == {"x": {}}
    kept = {"x": {"a": "b", "note": None}}
    assert drop_left_out_nulls(kept, schema) is kept


@pytest.mark.parametrize(
    ("value", "alternative"),
    [
        ({"n": 1, "note": None}, "integer"),
        ({"n": 1.0, "note": None}, "integer"),
        ({"n": 1.5, "note": None}, "number"),
        ({"n": True, "note": None}, "boolean"),
        ({"n": float("inf"), "note": None}, "number"),
    ],
)
def test_K11_types_tell_alternatives_apart_as_json_does(value: dict[str, Any], alternative: str) -> None:
    names = ["integer", "number", "boolean"]
    each = [closed({"n": {"type": name}, "note": TEXT if name == alternative else MAYBE}, ["n"]) for name in names]
    wanted = [one for name, one in zip(names, each, strict=True) if name in {alternative, "boolean"}]
    cleaned = drop_left_out_nulls({"x": value}, closed({"x": {"anyOf": wanted}}))
    assert {"x": {"n": value["n"]}} == cleaned


def test_K11_one_is_not_true() -> None:
    first = closed({"flag": {"enum": [True, [1]]}, "note": MAYBE})
    second = closed({"flag": {"enum": [1]}, "note": TEXT})
    schema = closed({"x": {"anyOf": [first, second]}})
    assert drop_left_out_nulls({"x": {"flag": 1, "note": None}}, schema) == {"x": {"flag": 1}}
    kept = {"x": {"flag": True, "note": None}}
    assert kept == drop_left_out_nulls(kept, schema)
    unfit = {"x": {"flag": [1], "note": None}}
    assert unfit == drop_left_out_nulls(unfit, schema)


def test_K11_a_value_without_such_nulls_is_the_same_object() -> None:
    schema = closed({"x": closed({"a": TEXT}), "y": MAYBE})
    for value in ({"x": {"a": "b"}}, {"x": {"a": "b"}, "y": None}, {"x": [None]}, {"z": None}):
        assert drop_left_out_nulls(value, schema) is value


@pytest.mark.parametrize("value", [None, 3, "x", [None], {"a": None}])
def test_K11_values_that_fit_nothing_are_left_to_the_validator(value: Any) -> None:
    assert drop_left_out_nulls(value, closed({"x": TEXT})) is value
    assert drop_left_out_nulls(value, {"type": "object", "properties": 3, "required": 3}) is value


def test_K11_nulls_are_dropped_where_the_validator_points_at_them() -> None:
    value: dict[str, object] = {"a": None, "b": {"c": None, "d": 1}, "e": [{"f": None}, {"f": None}]}
    found = drop_nulls_at(value, [("a",), ("b", "c"), ("e", 1, "f")])
    assert found == {"b": {"d": 1}, "e": [{"f": None}, {}]}
    assert value == {"a": None, "b": {"c": None, "d": 1}, "e": [{"f": None}, {"f": None}]}


def test_K11_a_place_that_is_none_is_passed_over() -> None:
    value: dict[str, object] = {"a": 1, "b": [None], "c": None}
    places: list[Sequence[int | str]] = [
        ("a",),
        ("a", "x"),
        ("b", 0),
        ("b", 7, "x"),
        ("missing", "x"),
        ("c", "str"),
        ("x", 3),
    ]
    assert drop_nulls_at(value, places) is value


def test_K11_the_quick_way_and_the_walk_agree_in_a_call() -> None:
    @tool
    def order(item: str, amount: int = 2, size: Literal["s", "l"] = "s", note: str | None = "none") -> list[object]:
        """Order."""
        return [item, amount, size, note]

    raw = '{"item": "tea", "amount": null, "size": null, "note": null}'
    assert isinstance(order, FunctionTool)
    given = order.validate(raw)
    assert isinstance(given, dict)
    assert order(**given) == ["tea", 2, "s", None]


def test_K11_a_null_that_a_validator_of_the_users_refuses_is_no_left_out_one() -> None:
    def no_null(value: object) -> object:
        if value is None:
            raise ValueError("say what you mean")
        return value

    @tool
    def note(text: Annotated[str | None, AfterValidator(no_null)] = "x") -> str:
        """Note."""
        return str(text)

    with pytest.raises(ArgumentsRefused, match="say what you mean"):
        note.validate('{"text": null}')
