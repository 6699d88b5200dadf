"""Random plain schemas, values of a schema, and what providers take, written from their rules and not from ours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]

NAMES = ["a", "b", "c", "kind", "päth", "with space"]
FIXED = [None, True, False, 0, 1, -5, 0.5, 1.0, "", "x", "y"]
LENGTHS = {"minLength": 1, "maxLength": 9, "pattern": "^x", "format": "date"}
BOUNDS = {"minimum": 1, "maximum": 9, "exclusiveMinimum": 0, "multipleOf": 2}

# Strategies are made once: making them costs more than drawing from them.
COUNT = [st.integers(0, most) for most in range(12)]
NAME_LISTS = st.lists(st.sampled_from(NAMES), max_size=4, unique=True)
FIXED_LISTS = st.lists(st.sampled_from(FIXED), min_size=1, max_size=4)
TYPE_LISTS = st.lists(st.sampled_from(["string", "integer", "null"]), min_size=1, max_size=3, unique=True)

Draw = Callable[[st.SearchStrategy[Any]], Any]


def one_of(draw: Draw, choices: Sequence[Any]) -> Any:
    return choices[draw(COUNT[len(choices) - 1])]


def some(draw: Draw, choices: Schema) -> Schema:
    return {key: value for key, value in choices.items() if draw(COUNT[3]) == 0}


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """What a random schema may be made of."""

    unions: bool = True
    formless: bool = False


def scalar(draw: Draw) -> Schema:
    kind = one_of(draw, ["string", "integer", "number", "boolean", "enum", "const", "list"])
    if kind == "string":
        return {"type": kind, **some(draw, LENGTHS)}
    if kind in {"integer", "number"}:
        return {"type": kind, **some(draw, BOUNDS)}
    if kind == "boolean":
        return {"type": kind}
    if kind == "enum":
        return {"enum": draw(FIXED_LISTS)}
    if kind == "const":
        return {"const": one_of(draw, FIXED)}
    return {"type": draw(TYPE_LISTS)}


def shape(draw: Draw, names: list[str], kinds: Kinds, depth: int) -> Schema:
    """A schema with references to the named definitions."""
    ways = ["scalar", "scalar"]
    ways += ["reference", "wrapped"] if names else []
    ways += ["object", "array", "tuple", "optional"] if depth else []
    ways += ["anyOf", "oneOf"] if depth and kinds.unions else []
    ways += ["formless"] if depth and kinds.formless else []
    way = one_of(draw, ways)
    if way == "scalar":
        return scalar(draw)
    if way in {"reference", "wrapped"}:
        ref = {"$ref": f"#/definitions/{one_of(draw, names)}"}
        return ref if way == "reference" else {"allOf": [ref]}
    if way == "object":
        return closed(draw, names, kinds, depth - 1)
    if way in {"anyOf", "oneOf"}:
        return {way: [shape(draw, names, kinds, depth - 1) for _ in range(1 + draw(COUNT[2]))]}
    inner = shape(draw, names, kinds, depth - 1)
    wrapped: dict[str, Schema] = {
        "array": {"type": "array", "items": inner, **some(draw, {"minItems": 1})},
        "tuple": {"type": "array", "items": [inner, inner], "additionalItems": False},
        "optional": {"anyOf": [inner, {"type": "null"}]},
        "formless": one_of(
            draw,
            [
                {"type": "object", "additionalProperties": inner},
                {"type": "array", "items": [inner, {"type": "string"}]},
                {"allOf": [inner, {"type": "string"}]},
                {},
            ],
        ),
    }
    return wrapped[way]


def closed(draw: Draw, names: list[str], kinds: Kinds, depth: int) -> Schema:
    properties, required = {}, []
    for name in draw(NAME_LISTS):
        properties[name] = shape(draw, names, kinds, depth)
        if draw(COUNT[1]):
            required.append(name)
        else:
            properties[name] |= some(draw, {"description": "What it is.", "default": None})
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


ALL_WITH_FORM = Kinds()


@st.composite
def plain_schemas(draw: Draw, *, kinds: Kinds = ALL_WITH_FORM, recursion: bool = False) -> Schema:
    """A tool's plain schema: draft-07, closed objects, definitions that refer to later ones and maybe to themselves."""
    definitions = {"D0": shape(draw, ["D1"], kinds, 2), "D1": shape(draw, [], kinds, 2)}
    if recursion:
        loop = definitions["Loop"] = closed(draw, ["D1"], kinds, 1)
        ref = {"$ref": "#/definitions/Loop"}
        loop["properties"] |= {"next": {"anyOf": [ref, {"type": "null"}]}, "more": {"type": "array", "items": ref}}
    return {**closed(draw, list(definitions), kinds, 2), "definitions": definitions}


def resolve(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema or "allOf" in schema:
        if "$ref" in schema:
            _, table, name = schema["$ref"].split("/", 2)
            schema = root[table][name]
        else:
            schema = schema["allOf"][0]
    return schema


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "x", "xyz"]),
    "integer": st.integers(-9, 9),
    "number": st.floats(-3, 3),
    "boolean": st.booleans(),
    "null": st.none(),
}


@st.composite
def filled_values(draw: Draw, schema: Schema) -> tuple[Any, Any]:
    """A value of the schema, restrictions aside; and the same with null for every property that is left out."""
    return filled_value(draw, schema, schema, 0)


def filled_value(draw: Draw, schema: Schema, root: Schema, depth: int) -> tuple[Any, Any]:
    schema = resolve(schema, root)
    if (alternatives := schema.get("anyOf", schema.get("oneOf"))) is not None:
        ends = [one for one in alternatives if one == {"type": "null"}] if depth > 3 else []
        return filled_value(draw, one_of(draw, ends or alternatives), root, depth + 1)
    if "const" in schema or "enum" in schema:
        value = one_of(draw, [schema["const"]] if "const" in schema else schema["enum"])
        return value, value
    kind = schema["type"]
    kind = one_of(draw, kind) if isinstance(kind, list) else kind
    if kind == "object":
        return filled_object(draw, schema, root, depth)
    if kind == "array":
        return filled_array(draw, schema, root, depth)
    value = draw(VALUES[kind])
    return value, value


def filled_object(draw: Draw, schema: Schema, root: Schema, depth: int) -> tuple[Any, Any]:
    value: dict[str, Any] = {}
    filled: dict[str, Any] = {}
    for name, below in schema["properties"].items():
        if name not in schema["required"] and (depth > 6 or draw(COUNT[1])):
            filled[name] = None
        else:
            value[name], filled[name] = filled_value(draw, below, root, depth + 1)
    return value, filled


def filled_array(draw: Draw, schema: Schema, root: Schema, depth: int) -> tuple[Any, Any]:
    items = schema["items"]
    least = schema.get("minItems", 0)
    each = items if isinstance(items, list) else [items] * (least + (draw(COUNT[1]) if depth < 5 else 0))
    pairs = [filled_value(draw, one, root, depth + 1) for one in each]
    return [value for value, _ in pairs], [filled for _, filled in pairs]


RESTRICTIONS = {"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum"} | {
    *("multipleOf", "minItems", "default", "additionalItems"),
}


def relaxed(schema: Any) -> Any:
    """The plain schema without what its strict form may drop: restrictions, exclusiveness, the length of a tuple."""
    if isinstance(schema, list):
        return [relaxed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key in {"properties", "definitions"}:
            result[key] = {name: relaxed(one) for name, one in value.items()}
        elif key not in RESTRICTIONS:
            result["anyOf" if key == "oneOf" else key] = value if key in {"enum", "const"} else relaxed(value)
    if isinstance(result.get("items"), list):
        result["items"] = result["items"][0]
    return result


def nodes(schema: Schema) -> Iterator[Schema]:
    """Every schema in a schema, definitions once."""
    yield schema
    for table in ("properties", "$defs"):
        for below in schema.get(table, {}).values():
            yield from nodes(below)
    for below in [*([schema["items"]] if "items" in schema else []), *schema.get("anyOf", [])]:
        yield from nodes(below)


def check_subset(schema: Schema, *, more_keywords: set[str], all_required: bool) -> None:
    """What both providers want of a strict schema."""
    assert schema["type"] == "object"
    known = {"type", "description", "properties", "required", "additionalProperties", "items", "enum", "const"}
    for node in nodes(schema):
        if "$ref" in node:
            assert set(node) == {"$ref"}, "nothing stands beside a reference"
            assert node["$ref"].split("/", 2)[2] in schema["$defs"]
            continue
        assert set(node) <= known | {"anyOf", "$defs"} | more_keywords, node
        assert ("type" in node) != ("anyOf" in node)
        if "anyOf" in node:
            assert set(node) <= {"anyOf", "description"}
            assert len(node["anyOf"]) > 1
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert set(node["required"]) <= set(node["properties"])
            assert not all_required or list(node["properties"]) == node["required"]
        if node.get("type") == "array":
            assert isinstance(node["items"], dict)


def check_openai_subset(schema: Schema) -> None:
    check_subset(schema, more_keywords=set(), all_required=True)
    assert depth_of(schema, schema, ()) <= 10
    assert sum(len(node.get("properties", {})) for node in nodes(schema)) <= 5_000
    assert sum(len(node.get("enum", [])) for node in nodes(schema)) <= 1_000


def check_anthropic_subset(schema: Schema, *, all_required: bool = True) -> None:
    check_subset(schema, more_keywords={"format", "minItems"}, all_required=all_required)
    assert not recursive(schema)
    for node in nodes(schema):
        assert node.get("minItems", 0) in {0, 1}
        assert node.get("format", "date") in {"date", "email", "uri", "uuid", "date-time", "time"}


def below(node: Schema) -> list[Schema]:
    items = [node["items"]] if "items" in node else []
    return [*node.get("properties", {}).values(), *items, *node.get("anyOf", [])]


def depth_of(node: Schema, root: Schema, inside: tuple[str, ...]) -> int:
    if "$ref" in node:
        ref = node["$ref"]
        return 0 if ref in inside else depth_of(resolve(node, root), root, (*inside, ref))
    own = node.get("type") in ("object", "array")
    return own + max((depth_of(one, root, inside) for one in below(node)), default=0)


def recursive(root: Schema) -> bool:
    def leads_back(node: Schema, inside: tuple[str, ...]) -> bool:
        if "$ref" in node:
            return node["$ref"] in inside or leads_back(resolve(node, root), (*inside, node["$ref"]))
        return any(leads_back(one, inside) for one in below(node))

    return leads_back(root, ())


def expanded(root: Schema, count: Callable[[Schema], int]) -> int:
    """A count over all nodes, definitions at each use."""

    def total(node: Schema) -> int:
        node = resolve(node, root)
        return count(node) + sum(map(total, below(node)))

    return total(root)


def optional_count(root: Schema) -> int:
    return expanded(root, lambda node: len(node.get("properties", {})) - len(node.get("required", [])))


def union_count(root: Schema) -> int:
    return expanded(root, lambda node: "anyOf" in node or isinstance(node.get("type"), list))
