"""The strict form of one schema: what is required, nullable, told, merged, and what has no form."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from toolroll.kernel.strict.convert import MAX_REASONS, NotStrict, StrictSchema, convert_to_strict
from toolroll.kernel.strict.rules import StrictRules
from toolroll.models.strict import ANTHROPIC, OPENAI

ABSENT = replace(ANTHROPIC, optional="absent")


def closed(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required or [],
        "additionalProperties": False,
        **more,
    }


def form_of(schema: Mapping[str, Any], rules: StrictRules = OPENAI) -> StrictSchema:
    form = convert_to_strict(schema, rules)
    assert isinstance(form, StrictSchema), form
    return form


def reasons_of(schema: Mapping[str, Any], rules: StrictRules = OPENAI) -> tuple[str, ...]:
    form = convert_to_strict(schema, rules)
    assert isinstance(form, NotStrict), form
    return form.reasons


def required_form(node: Any, rules: StrictRules = OPENAI, *, definitions: Any = None) -> Any:
    """The form of one required parameter."""
    properties: Any = form_of(closed({"x": node}, ["x"], definitions=definitions), rules).schema["properties"]
    return properties["x"]


def optional_form(node: Any) -> Any:
    """The form of one parameter that may be left out."""
    properties: Any = form_of(closed({"x": node})).schema["properties"]
    return properties["x"]


def test_K11_every_property_is_required_at_every_level_and_optional_ones_take_null() -> None:
    schema = closed(
        {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 5},
            "where": closed({"line": {"type": "integer"}}),
        },
        ["path", "where"],
        description="Read a file.",
    )
    expected = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": ["integer", "null"], "description": "(default 5)"},
            "where": {
                "type": "object",
                "properties": {"line": {"type": ["integer", "null"]}},
                "required": ["line"],
                "additionalProperties": False,
            },
        },
        "required": ["path", "limit", "where"],
        "additionalProperties": False,
        "description": "Read a file.",
    }
    form = form_of(schema)
    assert expected == form.schema
    assert (form.optional_parameters, form.union_parameters, form.cost) == (0, 2, 5)


def test_K11_where_the_rules_say_absent_optional_parameters_stay_out_of_required() -> None:
    form = form_of(closed({"a": {"type": "string"}, "b": {"type": "string"}}, ["a"]), ABSENT)
    assert form.schema["required"] == ["a"]
    assert form.schema["properties"] == {"a": {"type": "string"}, "b": {"type": "string"}}
    assert (form.optional_parameters, form.union_parameters) == (1, 0)


@pytest.mark.parametrize(
    ("plain", "strict", "required"),
    [
        ({"type": ["string", "null"], "default": None}, {"type": "string"}, []),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, {"type": "string"}, []),
        ({"enum": ["a", 1, None], "default": None}, {"type": ["string", "integer"], "enum": ["a", 1]}, []),
        # Null and "left out" mean different things here: both stay sayable where they can.
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}, ["x"]),
        (
            {"type": ["string", "null"], "default": "a"},
            {"type": ["string", "null"], "description": '(default "a")'},
            ["x"],
        ),
        ({"type": "null", "default": None}, {"type": "null"}, ["x"]),
    ],
)
def test_K11_absent_saves_a_union_where_null_is_the_default(plain: Any, strict: Any, required: list[str]) -> None:
    form = form_of(closed({"x": plain}), ABSENT).schema
    assert form["properties"] == {"x": strict}
    assert form["required"] == required


def test_K11_absent_writes_a_reference_out_where_it_carries_a_description() -> None:
    nullable = {"anyOf": [{"$ref": "#/definitions/D"}, {"type": "null"}], "default": None}
    definitions = {"D": closed({}, description="Its own.")}
    written = form_of(closed({"x": {**nullable, "description": "Said."}}, definitions=definitions), ABSENT).schema
    assert "$defs" not in written
    assert written["properties"] == {"x": {**closed({}), "description": "Said. Its own."}}
    referred = form_of(closed({"x": nullable}, definitions=definitions), ABSENT).schema
    assert referred["properties"] == {"x": {"$ref": "#/$defs/D"}}


@pytest.mark.parametrize(
    ("plain", "strict"),
    [
        ({"type": "boolean"}, {"type": ["boolean", "null"]}),
        ({"enum": ["a", "b"]}, {"type": ["string", "null"], "enum": ["a", "b", None]}),
        ({"enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": 1}, {"type": ["integer", "null"], "enum": [1, None]}),
        ({"const": None}, {"type": "null"}),
        (
            {"type": "array", "items": {"type": "string"}, "description": "Said."},
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "description": "Said."},
        ),
        (closed({}), {"anyOf": [closed({}), {"type": "null"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}),
    ],
)
def test_K11_everything_can_be_made_nullable(plain: Any, strict: Any) -> None:
    assert strict == optional_form(plain)


@pytest.mark.parametrize(
    ("plain", "strict"),
    [
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"type": ["null"]}, {"type": "null"}),
        ({"anyOf": [{"type": "null"}, {"const": None}]}, {"type": "null"}),
        ({"anyOf": [{"type": "string", "title": "A"}, {"type": "string"}]}, {"type": "string"}),
        (
            {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["integer", "boolean"]}]},
            {"anyOf": [{"type": ["string", "null"]}, {"type": "integer"}, {"type": "boolean"}]},
        ),
        ({"anyOf": [{"const": 1}, {"const": True}]}, None),
        ({"enum": [1, 1, True, 1.5]}, {"type": ["boolean", "number"], "enum": [1, True, 1.5]}),
        ({"type": "string", "enum": ["a", 1, None]}, {"type": "string", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2.0, 2.5]}, {"type": "number", "enum": [1, 2.0]}),
        ({"type": "number", "const": 1}, {"type": "integer", "const": 1}),
        ({"const": "a", "enum": ["a"]}, {"type": "string", "const": "a"}),
        ({"type": "string", "anyOf": [{"minLength": 1}, {"enum": ["a"]}]}, None),
        ({"properties": {}, "title": "T"}, closed({})),
        ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "object", "additionalProperties": False}, closed({})),
        ({"type": "array", "items": [{"type": "string"}] * 2}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}},
        ),
    ],
)
def test_K11_other_ways_of_saying_it_are_rewritten(plain: Any, strict: Any) -> None:
    form = required_form(plain)
    if strict is not None:
        assert json.dumps(strict) == json.dumps(form)
    else:
        assert len(form["anyOf"]) == 2


@pytest.mark.parametrize(
    ("plain", "told"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 200}, "(at least 1, at most 200 characters)"),
        ({"type": "string", "minLength": 1}, "(at least 1 character)"),
        ({"type": "string", "maxLength": 3, "pattern": "^a{2}$"}, "(at most 3 characters, matching ^a{2}$)"),
        ({"type": "string", "format": "path", "contentEncoding": "base64"}, "(format path, base64 encoded)"),
        ({"type": "integer", "minimum": 0, "maximum": 9, "default": 5}, "(at least 0, at most 9; default 5)"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, "(more than 0, less than 0.5)"),
        ({"type": "integer", "multipleOf": 2, "description": "Even."}, "Even. (a multiple of 2)"),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2, "uniqueItems": True},
            "(exactly 2 items, no repeats)",
        ),
        ({"type": "array", "items": {"type": "string"}, "default": []}, "(default [])"),
        ({"type": "string", "default": "päth"}, '(default "päth")'),
        ({"enum": ["a"], "default": "a", "description": "One."}, 'One. (default "a")'),
        ({**closed({}), "default": {"a": 1}}, '(default {"a": 1})'),
        (
            {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}], "default": "x", "description": "Said."},
            'Said. (default "x") (at most 5 characters)',
        ),
    ],
)
def test_K11_dropped_restrictions_and_defaults_are_told(plain: Any, told: str) -> None:
    assert told == required_form(plain)["description"]


@pytest.mark.parametrize(
    "plain",
    [
        {"type": "string", "default": None},
        {"type": "string", "pattern": "x" * 201},
        {"type": "string", "default": "x" * 200},
        {"type": "string", "default": [[1]]},
        {"type": "string", "default": {"a": [1]}},
        {"type": "string", "minLength": "1", "maxLength": True, "pattern": 10**5000, "format": None},
        {"type": "array", "items": {"type": "string"}, "uniqueItems": False},
        {"type": "number", "minimum": float("inf")},
        {"type": "boolean", "minLength": 3},
        {"type": "string", "description": 3},
    ],
)
def test_K11_what_tells_a_model_nothing_is_not_told(plain: Any) -> None:
    assert "description" not in required_form(plain)


def test_K11_anthropic_keeps_what_its_grammar_knows() -> None:
    assert required_form({"type": "string", "format": "date"}, ANTHROPIC) == {"type": "string", "format": "date"}
    assert "format" not in required_form({"type": "string", "format": "path"}, ANTHROPIC)
    assert "format" not in required_form({"type": "string", "format": ["date"]}, ANTHROPIC)
    strings = {"type": "array", "items": {"type": "string"}}
    assert {**strings, "minItems": 1} == required_form({**strings, "minItems": 1}, ANTHROPIC)
    assert {**strings, "description": "(at least 2 items)"} == required_form({**strings, "minItems": 2}, ANTHROPIC)
    assert strings == required_form({**strings, "minItems": [1]}, ANTHROPIC)


def test_K11_rules_are_data_and_may_keep_more() -> None:
    rules = replace(OPENAI, keywords=frozenset({"maximum", "minItems"}), definitions_key="definitions")
    assert required_form({"type": "integer", "maximum": 3}, rules) == {"type": "integer", "maximum": 3}
    assert "maximum" not in required_form({"type": "integer", "maximum": [3]}, rules)
    strings = {"type": "array", "items": {"type": "string"}, "minItems": 7}
    assert strings == required_form(strings, rules)
    schema = closed({"x": {"$ref": "#/$defs/D"}}, ["x"], **{"$defs": {"D": closed({})}})
    assert form_of(schema, rules).schema["definitions"] == {"D": closed({})}


def test_K11_references_stay_and_lead_to_definitions_in_order_of_use() -> None:
    schema = closed(
        {"a": {"$ref": "#/definitions/A~1b"}, "b": {"$ref": "#/definitions/B", "title": "B"}},
        ["a", "b"],
        definitions={"B": {"type": "string"}, "A/b": closed({"b": {"$ref": "#/definitions/B"}}, ["b"]), "No": {}},
    )
    form = form_of(schema)
    assert form.schema["properties"] == {"a": {"$ref": "#/$defs/A~1b"}, "b": {"$ref": "#/$defs/B"}}
    assert json.dumps(form.schema["$defs"]) == json.dumps(
        {"B": {"type": "string"}, "A/b": closed({"b": {"$ref": "#/$defs/B"}}, ["b"])}
    )
    assert form.cost == 4


def test_K11_two_tables_with_one_name_do_not_meet() -> None:
    schema = closed(
        {"a": {"$ref": "#/definitions/D"}, "b": {"$ref": "#/$defs/D"}},
        ["a", "b"],
        **{"definitions": {"D": {"type": "string"}}, "$defs": {"D": {"type": "integer"}}},
    )
    form = form_of(schema).schema
    assert form["properties"] == {"a": {"$ref": "#/$defs/D"}, "b": {"$ref": "#/$defs/D_"}}
    assert form["$defs"] == {"D": {"type": "string"}, "D_": {"type": "integer"}}


@pytest.mark.parametrize(
    "node",
    [
        {"$ref": "#/definitions/D", "description": "Said."},
        {"allOf": [{"$ref": "#/definitions/D"}], "description": "Said."},
        {"allOf": [{"$ref": "#/definitions/D", "description": "Said."}]},
        {"anyOf": [{"$ref": "#/definitions/D"}], "description": "Said."},
        {"$ref": "#/definitions/Alias", "description": "Said."},
    ],
)
def test_K11_nothing_stands_beside_a_reference(node: Any) -> None:
    definitions = {"D": {"type": "string"}, "Alias": {"$ref": "#/definitions/D"}}
    form = form_of(closed({"x": node}, ["x"], definitions=definitions)).schema
    assert form == closed({"x": {"type": "string", "description": "Said."}}, ["x"])


def test_K11_parts_are_merged_and_never_override_one_another() -> None:
    definitions = {"D": closed({"a": {"type": "string"}}, ["a"], description="Far.")}
    far = {"$ref": "#/definitions/D"}
    near = closed({"a": {"type": "string"}}, ["a"], description="Near.")
    assert required_form({**far, "type": "object", "description": "Near."}, definitions=definitions) == near
    assert closed({"a": {"type": "string"}}, ["a"], description="Far.") == required_form(
        {**far, "type": "object"}, definitions=definitions
    )
    assert (
        required_form({"allOf": [{"type": "integer"}, {"minimum": True, "default": 1}], "description": "Near."})[
            "description"
        ]
        == "Near. (default 1)"
    )
    clash = closed({"x": {**far, "properties": {"b": {"type": "string"}}}}, definitions=definitions)
    assert reasons_of(clash) == ("parameters.x: two parts of it set `additionalProperties` and `properties`",)
    types = closed({"x": {"allOf": [{"type": "integer"}, {"type": "string"}]}})
    assert reasons_of(types) == ("parameters.x: two parts of it set `type`",)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ({"type": "object", "additionalProperties": {"type": "string"}}, "a free-form map has no strict form"),
        ({"type": "object", "properties": {}, "additionalProperties": True}, "a free-form map has no strict form"),
        ({"type": "object"}, "a free-form map has no strict form"),
        ({"type": "object", "properties": []}, "`properties` is not a table of schemas"),
        ({"properties": {1: {"type": "string"}}}, "`properties` is not a table of schemas"),
        (closed({}, ["a"]), "`required` names something that is not among the properties"),
        ({"properties": {}, "required": "a"}, "`required` names something that is not among the properties"),
        ({}, "any value has no strict form"),
        (True, "any value has no strict form"),
        (False, "not an object schema"),
        ({"minLength": 1}, "any value has no strict form"),
        ({"type": []}, "`type` names no JSON type"),
        ({"type": "file"}, "`type` names no JSON type"),
        ({"type": [["string"]]}, "`type` names no JSON type"),
        ({"type": {"a": 1}}, "`type` names no JSON type"),
        ({"enum": [[1]]}, "only strings, numbers, booleans and null can be fixed values"),
        ({"const": float("nan")}, "only strings, numbers, booleans and null can be fixed values"),
        ({"enum": "ab"}, "only strings, numbers, booleans and null can be fixed values"),
        ({"type": "string", "enum": [1]}, "none of its fixed values is of its type"),
        ({"enum": []}, "none of its fixed values is of its type"),
        ({"type": "boolean", "enum": [1]}, "none of its fixed values is of its type"),
        ({"anyOf": []}, "alternatives must be a list with something in it"),
        ({"oneOf": {}}, "alternatives must be a list with something in it"),
        ({"anyOf": [{}], "oneOf": [{}]}, "`anyOf` and `oneOf` together have no strict form"),
        ({"allOf": {}}, "`allOf` is not a list"),
        ({"allOf": [True]}, "a part of `allOf` is not an object schema"),
        ({"type": "string", "not": {}}, "`not` has no strict form"),
        ({"if": {}, "then": {}}, "`if` has no strict form"),
        ({"patternProperties": {}}, "`patternProperties` has no strict form"),
        ({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, "a tuple of different types"),
        ({"type": "array", "items": []}, "a tuple of different types has no strict form"),
        ({"$ref": "#/definitions/Missing"}, "it refers to something that is not a definition of this schema"),
        ({"$ref": "#/definitions/Not"}, "it refers to something that is not a definition of this schema"),
        ({"$ref": "#"}, "it refers to something that is not a definition of this schema"),
        ({"$ref": "#/properties/x"}, "it refers to something that is not a definition of this schema"),
        ({"$ref": "#/definitions/Not/properties"}, "it refers to something that is not a definition of this schema"),
        ({"$ref": "https://example.org/schema"}, "it refers to something that is not a definition of this schema"),
        ({"$ref": 3}, "it refers to something that is not a definition of this schema"),
        (
            {"$ref": "#/$defs/Missing", "type": "string"},
            "it refers to something that is not a definition of this schema",
        ),
        ({"$ref": "#/definitions/Self"}, "it refers to nothing but itself"),
        ({"$ref": "#/definitions/Ring"}, "it refers to nothing but itself"),
        ({"$ref": "#/definitions/Merged", "type": "object"}, "it refers to itself, or is made of more than 64 parts"),
    ],
)
def test_K11_what_has_no_strict_form_says_where_and_why(node: Any, reason: str) -> None:
    definitions = {
        "Not": 3,
        "Self": {"anyOf": [{"$ref": "#/definitions/Self"}, {"type": "null"}]},
        "Ring": {"$ref": "#/definitions/Back"},
        "Back": {"$ref": "#/definitions/Ring", "description": "Round and round."},
        "Merged": {"allOf": [{"$ref": "#/definitions/Merged"}]},
    }
    schema = closed({"x": node}, definitions=definitions)
    for rules in (OPENAI, ANTHROPIC):
        (line,) = reasons_of(schema, rules)
        assert line.startswith(f"parameters.x: {reason}")


def test_K11_reasons_name_the_place() -> None:
    anything = {"type": "object", "additionalProperties": True}
    schema = closed(
        {
            "changes": {"anyOf": [anything, {"type": "null"}]},
            "list": {"type": "array", "items": anything},
            "pair": {"type": "array", "items": [anything, anything]},
            "either": {"anyOf": [{"type": "string"}, closed({"deep": anything})]},
            "more\x1b[2J": anything,
            "ї": anything,
        }
    )
    free = "a free-form map has no strict form"
    assert reasons_of(schema) == (
        f"parameters.changes: {free}",
        f"parameters.list[]: {free}",
        f"parameters.pair[0]: {free}",
        f"parameters.pair[1]: {free}",
        f"parameters.either|2.deep: {free}",
        f"parameters['more\\x1b[2J']: {free}",
        f"parameters['\\u0457']: {free}",
    )
    many = closed({f"p{number}": anything for number in range(99)})
    assert len(reasons_of(many)) == MAX_REASONS


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": ["object", "null"], "properties": {}},
        {"anyOf": [closed({}), closed({"a": {"type": "string"}})]},
        {"const": None},
    ],
)
def test_K11_the_root_is_one_plain_object(schema: Any) -> None:
    expected = ("parameters: arguments must be one object, not alternatives or another type",)
    assert expected == reasons_of(schema) == reasons_of(schema, ANTHROPIC)


def test_K11_a_root_that_is_a_reference_is_written_out() -> None:
    tree = closed({"below": {"type": "array", "items": {"$ref": "#/definitions/Tree"}}}, ["below"])
    form = form_of({"$ref": "#/definitions/Tree", "definitions": {"Tree": tree}}).schema
    strict = closed({"below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}, ["below"])
    assert {**strict, "$defs": {"Tree": strict}} == form
    assert reasons_of({"$ref": "#/definitions/Other"})[0].startswith("parameters: it refers to something")


def test_K11_recursion_is_kept_for_openai_and_refused_for_anthropic() -> None:
    loop = {"$ref": "#/definitions/Loop"}
    definitions = {
        "Loop": closed({"next": {"anyOf": [loop, {"type": "null"}]}, "again": {**loop, "description": "D."}})
    }
    schema = closed({"x": {**loop, "description": "First."}}, ["x"], definitions=definitions)
    form = form_of(schema).schema
    properties: Any = form["properties"]
    inner = [{"$ref": "#/$defs/Loop"}, {"type": "null"}]
    body = closed({"next": {"anyOf": inner}, "again": {"anyOf": inner}}, ["next", "again"])
    assert {**body, "description": "First."} == properties["x"]
    assert {"Loop": body} == form["$defs"]
    once = {"Loop": closed({"next": {"anyOf": [loop], "description": "Not sayable."}}, ["next"])}
    alone = closed({"next": {"$ref": "#/$defs/Loop"}}, ["next"])
    again = form_of(closed({"x": loop}, ["x"], definitions=once)).schema
    assert again["$defs"] == {"Loop": alone}
    assert reasons_of(schema, ANTHROPIC) == (
        "parameters.x.next: it refers to itself, and anthropic takes no recursion",
        "parameters.x.again: it refers to itself, and anthropic takes no recursion",
    )


def alternatives(*each: Any) -> dict[str, Any]:
    definitions = {"D": each[0], "Both": {"anyOf": [{"$ref": "#/definitions/D"}, {"type": "null"}]}}
    rest = [{"$ref": "#/definitions/Both"}, *each[1:]]
    return closed({"x": {"oneOf": rest}}, ["x"], definitions=definitions)


def tagged(**properties: Any) -> dict[str, Any]:
    return closed(properties, list(properties))


def test_K11_openai_alternatives_must_differ_in_what_comes_first() -> None:
    """openai/openai-python #2193: two objects that start alike are refused with the whole request."""
    text = {"type": "string"}
    same = alternatives(tagged(name=text, kind={"const": "a"}), tagged(name=text, kind={"const": "b"}))
    (reason,) = reasons_of(same)
    assert "both start with 'name'" in reason
    assert isinstance(convert_to_strict(same, ANTHROPIC), StrictSchema)
    for other in (tagged(kind=text), tagged(kind={"const": "a"}), tagged(kind={"enum": ["b", "a"]})):
        assert reasons_of(alternatives(tagged(kind={"const": "a"}), tagged(other=text), other))
        assert reasons_of(alternatives(other, tagged(kind={"const": "a"})))
    assert reasons_of(alternatives(tagged(kind=text), tagged(kind=text), tagged(kind={"const": 1})))
    for good in (
        (tagged(kind={"const": "a"}), tagged(kind={"const": "b"}), tagged(kind={"enum": ["c", "d"]})),
        (tagged(kind={"const": 1}), tagged(kind={"const": True}), tagged(), tagged(other=text)),
        (tagged(a=text), tagged(b=text), text),
    ):
        form_of(alternatives(*good))


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (closed({f"p{n}": {"type": "string"} for n in range(5_001)}), "more than 5000 properties, the openai limit"),
        (closed({"x": {"enum": list(range(1_001))}}, ["x"]), "more than 1000 enum values, the openai limit"),
        (closed({"p" * 120_001: {"type": "string"}}), "more than 120000 characters in names and fixed values"),
        (closed({"x": {"const": "p" * 120_000}}, ["x"]), "more than 120000 characters in names and fixed values"),
        (
            closed({"x": {"enum": [f"{n:060}" for n in range(251)]}}),
            "more than 15000 characters in one long enum, the openai limit",
        ),
    ],
)
def test_K11_the_documented_sizes_of_one_openai_schema(schema: Any, reason: str) -> None:
    (line,) = reasons_of(schema)
    assert line.startswith(f"parameters: {reason}")
    form_of(schema, ANTHROPIC)


def test_K11_ten_levels_are_the_most_for_openai_also_through_references() -> None:
    def nested(levels: int) -> dict[str, Any]:
        definitions = {f"D{n}": closed({"x": {"$ref": f"#/definitions/D{n + 1}"}}, ["x"]) for n in range(levels)}
        return {**definitions.pop("D0"), "definitions": {**definitions, f"D{levels}": {"type": "string"}}}

    form_of(nested(10))
    assert reasons_of(nested(11)) == ("parameters: more than 10 nested levels, the openai limit",)
    form_of(nested(11), ANTHROPIC)
    listed: Any = {"type": "string"}
    for _ in range(9):
        listed = {"type": "array", "items": listed}
    form_of(closed({"x": listed}, ["x"]))
    assert reasons_of(closed({"x": {"type": "array", "items": listed}}, ["x"]))
    form_of(closed({"x": {"enum": [f"{n:059}" for n in range(250)]}}))
