"""Schemas made to hurt: as deep, as wide and as doubled as a stranger's server likes. No crash, no long wait."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from toolroll.kernel.arguments.nulls import drop_left_out_nulls
from toolroll.kernel.strict.convert import NotStrict, StrictSchema, convert_to_strict
from toolroll.kernel.strict.rules import StrictRules
from toolroll.models.strict import ANTHROPIC, OPENAI

DEEP = 10_000
BOTH = pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])


@contextmanager
def soon() -> Iterator[None]:
    """Five seconds, the project's bound for anything hostile."""
    start = time.process_time()
    yield
    assert time.process_time() - start < 5


def wrapped(inner: Any, wrap: Callable[[Any], Any], times: int) -> Any:
    for _ in range(times):
        inner = wrap(inner)
    return inner


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


WRAPS: dict[str, Callable[[Any], Any]] = {
    "properties": lambda inner: closed({"x": inner}),
    "items": lambda inner: {"type": "array", "items": inner},
    "tuple": lambda inner: {"type": "array", "items": [inner, inner]},
    "anyOf": lambda inner: {"anyOf": [inner, {"type": "null"}]},
    "allOf": lambda inner: {"allOf": [inner], "minLength": 1},
    "shared with siblings": lambda inner: {"type": "object", "anyOf": [inner, inner]},
    "default": lambda inner: {"type": "string", "default": inner},
    "enum": lambda inner: {"enum": [inner]},
    "const": lambda inner: {"const": inner},
    "not": lambda inner: {"not": inner},
}


@BOTH
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
def test_K11_ten_thousand_levels_have_no_strict_form(wrap: Callable[[Any], Any], rules: StrictRules) -> None:
    schema = closed({"x": wrapped({"type": "string"}, wrap, DEEP)})
    value = {"x": wrapped(None, lambda inner: {"x": inner}, DEEP), "y": wrapped(None, lambda inner: [inner], DEEP)}
    with soon():
        form = convert_to_strict(schema, rules)
        drop_left_out_nulls(value, schema)
    # A default is no part of the form: it is only not told.
    assert isinstance(form, StrictSchema if wrap is WRAPS["default"] else NotStrict)


@BOTH
@pytest.mark.parametrize(
    "step",
    [
        lambda ref: closed({"a": ref, "b": ref}),
        lambda ref: closed({"a": {**ref, "description": "A."}, "b": {**ref, "description": "B."}}),
        lambda ref: {"anyOf": [{**ref, "description": "A."}, closed({"b": ref})]},
        lambda ref: {"allOf": [ref, {"allOf": [ref]}]},
        lambda ref: {"anyOf": [ref, ref], "type": "object"},
    ],
    ids=["properties", "described", "anyOf", "allOf", "siblings"],
)
def test_K11_doubling_definitions_have_no_strict_form(step: Callable[[Any], Any], rules: StrictRules) -> None:
    """Forty definitions that each use the next one twice are a trillion parts; a name may be met in any order."""
    names = [f"D{number}" for number in range(41)]
    pairs = pairwise(names)
    definitions = {name: step({"$ref": f"#/definitions/{after}"}) for name, after in pairs}
    definitions["D40"] = closed({"x": {"type": "string"}})
    for order in (names, names[::-1]):
        schema = closed({name: {"$ref": f"#/definitions/{name}"} for name in order}, definitions=definitions)
        with soon():
            assert isinstance(convert_to_strict(schema, rules), NotStrict)
            drop_left_out_nulls({"D0": {"a": None, "b": {"a": None}}}, schema)


@BOTH
def test_K11_a_chain_met_from_its_end_is_measured_without_recursion(rules: StrictRules) -> None:
    names = [f"D{number}" for number in range(3_000)]
    pairs = pairwise(names)
    definitions = {name: closed({"x": {"$ref": f"#/definitions/{after}"}}) for name, after in pairs}
    definitions[names[-1]] = {"type": "string"}
    schema = closed({name: {"$ref": f"#/definitions/{name}"} for name in names[::-1]}, definitions=definitions)
    with soon():
        assert isinstance(convert_to_strict(schema, rules), NotStrict)


@BOTH
def test_K11_a_shared_python_object_is_no_way_around_the_bound(rules: StrictRules) -> None:
    schema = closed({"x": wrapped({"type": "string"}, lambda inner: {"anyOf": [inner, closed({"x": inner})]}, 40)})
    value = {"x": wrapped(None, lambda inner: {"x": inner}, 40)}
    with soon():
        assert isinstance(convert_to_strict(schema, rules), NotStrict)
        drop_left_out_nulls(value, schema)


@BOTH
def test_K11_too_many_properties_or_alternatives_have_no_strict_form(rules: StrictRules) -> None:
    wide = closed({f"p{number}": {"type": "string"} for number in range(200_000)})
    many = closed({"x": {"anyOf": [{"const": number} for number in range(200_000)]}})
    pairs = closed({"x": {"type": "array", "items": [{"const": 1} for _ in range(200_000)]}})
    grid = closed(
        {f"p{number}": dict(wide, properties={f"p{n}": {"type": "null"} for n in range(9_000)}) for number in range(60)}
    )
    for schema in (wide, many, pairs, grid):
        with soon():
            assert convert_to_strict(schema, rules) == NotStrict(reasons=("parameters: more than 10000 parts",))


@BOTH
def test_K11_a_reference_written_out_too_often_has_no_strict_form(rules: StrictRules) -> None:
    large = {"Large": closed({f"p{number}": {"type": "string"} for number in range(900)})}
    said = {f"x{n}": {"$ref": "#/definitions/Large", "description": "Said."} for n in range(12)}
    assert convert_to_strict(closed(said, definitions=large), rules) == NotStrict(
        reasons=("parameters: more than 10000 parts",)
    )


def test_K11_a_megabyte_of_nulls_is_cleaned_in_bounded_time() -> None:
    ref = {"$ref": "#/definitions/D"}
    either = {
        "anyOf": [closed({"a": {"type": "string"}, "b": ref}), closed({"c": ref}), {"type": "array", "items": ref}]
    }
    schema = closed({"x": {"type": "array", "items": ref}}, definitions={"D": either})
    value = {"x": [{"a": None, "b": None}, {"c": None}] * 20_000}
    with soon():
        assert drop_left_out_nulls(value, schema) == {"x": [{}, {}] * 20_000}
    beyond = {"x": [{"a": None}] * 400_000}
    with soon():
        assert drop_left_out_nulls(beyond, schema)["x"][-1] in ({"a": None}, {})
