"""Convert a tool's plain schema to its strict form, or say why it has none.

At every object level all properties are required, those that may be left out take null (or, where the rules say so,
stay out of `required`), and nothing else is let in. Restrictions that a provider does not take go into descriptions:
the strict form takes more values than the plain schema there, and the executor validates against the plain one.

What decides between values (free-form maps, tuples of different types, `not`, `if`) cannot be said in words: such a
schema has no strict form. Nothing here raises for any schema, however malformed, deep or large.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from toolroll.kernel.strict.flatten import (
    TELLING,
    Clash,
    Schema,
    definition_name,
    flatten,
    get_reference,
    resolve_reference,
)
from toolroll.kernel.strict.nodes import (
    SCALARS,
    Node,
    Size,
    add_description,
    drop_null,
    find_alike,
    find_excesses,
    make_nullable,
    make_union,
    measure,
    null_node,
    takes_null,
    types,
    written_nodes,
)
from toolroll.kernel.strict.rules import (
    MAX_LEVELS,
    MAX_PARTS,
    StrictRules,
    describe_restrictions,
    is_scalar,
    keep_restrictions,
)

# More reasons than this help nobody to change a schema.
MAX_REASONS: Final = 10
# A property name is shown in reasons, on terminals too.
_MAX_SHOWN_NAME: Final = 64

_WITHOUT_FORM: Final = (
    *("not", "if", "then", "else", "contains", "patternProperties", "propertyNames", "prefixItems"),
    *("dependencies", "dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties"),
)

_TYPES: Final = SCALARS | {"object", "array"}
_ANY: Final = "any value has no strict form"
_JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictSchema:
    """A schema that the provider's strict mode takes, and what it costs a request."""

    schema: dict[str, object]
    optional_parameters: int
    union_parameters: int
    # Nodes of the schema, definitions at each use: the nearest thing we have to the size of the compiled grammar.
    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStrict:
    """Why a schema has no strict form: one line each, with the place in it."""

    reasons: tuple[str, ...]


def convert_to_strict(schema: Mapping[str, object], rules: StrictRules) -> StrictSchema | NotStrict:
    """Return the schema as the strict mode takes it, always the same for the same input; change nothing in place."""
    conversion = _Conversion(schema, rules)
    root = conversion.root()
    if conversion.reasons:
        return NotStrict(reasons=tuple(conversion.reasons))
    return conversion.finish(root)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    path: str = "parameters"
    level: int = 0
    # References followed since the last property or item: meeting one of them again is a schema of nothing.
    followed: frozenset[str] = frozenset()

    def below(self, step: str) -> "_Place":
        return _Place(path=self.path + step, level=self.level + 1)

    def inside(self, step: str = "") -> "_Place":
        return replace(self, path=self.path + step, level=self.level + 1)

    def behind(self, ref: str) -> "_Place":
        return replace(self, level=self.level + 1, followed=self.followed | {ref})


class _Conversion:
    def __init__(self, schema: Schema, rules: StrictRules) -> None:
        self.reasons: list[str] = []
        self._schema = schema
        self._rules = rules
        self._parts = 0
        self._addresses: dict[str, str] = {}
        self._taken: set[str] = set()
        # By address, complete ones only: what is missing here is being made.
        self._definitions: dict[str, Node] = {}
        self._sizes: dict[str, Size] = {}

    def root(self) -> Node:
        flat = self._flat(self._schema, _Place())
        node = self._node(flat, _Place()) if flat is not None else {}
        if node.get("type") != "object" and not self.reasons:
            self._fail(_Place(), "arguments must be one object, not alternatives or another type")
        return node

    def finish(self, root: Node) -> StrictSchema | NotStrict:
        size = measure(root, self._sizes)
        used = self._find_used(root)
        problems = [f"parameters: {problem}" for problem in find_excesses(root, used, size, self._rules)]
        if self._rules.distinct_first_keys:
            problems += [
                f"parameters: two alternatives of a union both start with {name[:_MAX_SHOWN_NAME]!a}; "
                "let each start with a property of its own, or with one whose fixed values differ"
                for name in find_alike(written_nodes(root, used), self._definitions)
            ]
        if problems:
            return NotStrict(reasons=tuple(problems[:MAX_REASONS]))
        return StrictSchema(
            schema={**root, self._rules.definitions_key: used} if used else root,
            optional_parameters=size.optional,
            union_parameters=size.unions,
            cost=size.parts,
        )

    def _find_used(self, root: Node) -> dict[str, Node]:
        """Return the definitions that are still referred to, by name, in the order they were completed."""
        found, waiting = set[str](), [root]
        while waiting:
            refs = {ref for node in written_nodes(waiting.pop(), {}) if isinstance(ref := node.get("$ref"), str)}
            waiting.extend(self._definitions[ref] for ref in sorted(refs - found))
            found |= refs
        return {_name(ref): node for ref, node in self._definitions.items() if ref in found}

    def _fail(self, place: _Place, reason: str) -> Node:
        line = f"{place.path}: {reason}"
        if line not in self.reasons and len(self.reasons) < MAX_REASONS:
            self.reasons.append(line)
        return {}

    def _too_many(self) -> Node:
        return self._fail(_Place(), f"more than {MAX_PARTS} parts")

    def _node(self, schema: object, place: _Place) -> Node:
        self._parts += 1
        if self._parts > MAX_PARTS:
            return self._too_many()
        if place.level > MAX_LEVELS:
            return self._fail(_Place(), f"nested more than {MAX_LEVELS} levels deep")
        if not isinstance(schema, Mapping):
            return self._fail(place, _ANY if schema is True else "not an object schema")
        if (ref := get_reference(schema)) is not None:
            return self._reference(ref, schema, place)
        flat = self._flat(schema, place)
        return self._shape(flat, place) if flat is not None else {}

    def _flat(self, schema: Schema, place: _Place) -> Schema | None:
        flat = flatten(schema, self._schema)
        if isinstance(flat, Clash):
            self._fail(place, flat.reason)
            return None
        return flat

    def _reference(self, ref: str, schema: Schema, place: _Place) -> Node:
        address = self._addresses.get(ref) or self._define(ref, place)
        if address not in self._definitions:
            return self._leads_back(ref, address, place)
        return self._describe({"$ref": address}, schema)

    def _define(self, ref: str, place: _Place) -> str:
        found, named = resolve_reference(self._schema, ref), definition_name(ref)
        if found is None or named is None:
            self._fail(place, "it refers to something that is not a definition of this schema")
            return ""
        address = f"#/{self._rules.definitions_key}/{named[1].replace('~', '~0').replace('/', '~1')}"
        while address in self._taken:
            address += "_"
        self._taken.add(address)
        self._addresses[ref] = address
        node = self._node(found, place.behind(ref))
        self._definitions[address] = node
        self._sizes[address] = measure(node, self._sizes)
        return address

    def _leads_back(self, ref: str, address: str, place: _Place) -> Node:
        if not address:
            return {}
        if ref in place.followed:
            return self._fail(place, "it refers to nothing but itself")
        if not self._rules.takes_recursion:
            return self._fail(place, f"it refers to itself, and {self._rules.name} takes no recursion")
        return {"$ref": address}

    def _shape(self, flat: Schema, place: _Place) -> Node:
        for keyword in _WITHOUT_FORM:
            if keyword in flat:
                return self._fail(place, f"`{keyword}` has no strict form")
        if "anyOf" in flat or "oneOf" in flat:
            return self._describe(self._union(flat, place), flat)
        kinds = self._kinds(flat, place)
        if "enum" in flat or "const" in flat:
            return self._describe(self._choice(flat, kinds, place), flat)
        if len(kinds) > 1:
            each = [{**_restrictions(flat), "type": kind} for kind in kinds]
            return self._describe(make_union([self._node(one, place.inside()) for one in each]), flat)
        return self._describe(self._single(kinds[0], flat, place), flat, kinds[0]) if kinds else {}

    def _describe(self, node: Node, schema: Schema, kind: str = "") -> Node:
        return self._add_description(node, schema.get("description"), describe_restrictions(schema, kind, self._rules))

    def _add_description(self, node: Node, *texts: object) -> Node:
        if "$ref" not in node or not any(texts):
            return add_description(node, *texts)
        # Nothing may stand beside a reference: what it leads to is written out here, to carry the description. One
        # that leads back into what is being made cannot be, and goes without.
        copied = node
        while isinstance(ref := copied.get("$ref"), str) and ref in self._definitions:
            self._parts += self._sizes[ref].parts
            copied = self._definitions[ref]
        if self._parts > MAX_PARTS:
            return self._too_many()
        return node if "$ref" in copied else add_description(copied, *texts)

    def _kinds(self, flat: Schema, place: _Place) -> list[str]:
        named = flat.get("type", _infer_type(flat))
        kinds = [named] if isinstance(named, str) else named if isinstance(named, list) else []
        if all(isinstance(kind, str) and kind in _TYPES for kind in kinds) and (kinds or "type" not in flat):
            if not kinds and "enum" not in flat and "const" not in flat:
                self._fail(place, _ANY)
            return list(dict.fromkeys(kinds))
        self._fail(place, "`type` names no JSON type")
        return []

    def _union(self, flat: Schema, place: _Place) -> Node:
        if "anyOf" in flat and "oneOf" in flat:
            return self._fail(place, "`anyOf` and `oneOf` together have no strict form")
        raw = flat.get("anyOf", flat.get("oneOf"))
        if not isinstance(raw, list) or not raw:
            return self._fail(place, "alternatives must be a list with something in it")
        if len(raw) > MAX_PARTS:
            return self._too_many()
        shared = _restrictions(flat)
        joined = [{"allOf": [shared, one]} if shared else one for one in raw]
        several = sum(not _is_null(one) for one in raw) > 1
        steps = [f"|{number}" if several else "" for number in range(1, len(raw) + 1)]
        return make_union([self._node(one, place.inside(step)) for one, step in zip(joined, steps, strict=True)])

    def _choice(self, flat: Schema, kinds: list[str], place: _Place) -> Node:
        values = [flat["const"]] if "const" in flat else flat["enum"]
        if not isinstance(values, list) or not all(map(is_scalar, values)):
            return self._fail(place, "only strings, numbers, booleans and null can be fixed values")
        distinct = {(type(value), value): value for value in values if not kinds or _is_of(value, kinds)}
        if not distinct:
            return self._fail(place, "none of its fixed values is of its type")
        names = list(dict.fromkeys(_JSON_TYPES[type(value)] for value in distinct.values()))
        if "number" in names and "integer" in names:
            names.remove("integer")
        if names == ["null"]:
            return null_node()
        node: Node = {"type": names[0] if len(names) == 1 else names}
        return {**node, "const": flat["const"]} if "const" in flat else {**node, "enum": list(distinct.values())}

    def _single(self, kind: str, flat: Schema, place: _Place) -> Node:
        if kind == "object":
            return self._object(flat, place)
        if kind == "array":
            return self._array(flat, place)
        return {"type": kind, **keep_restrictions(flat, kind, self._rules)}

    def _object(self, flat: Schema, place: _Place) -> Node:
        properties, needed = flat.get("properties", {}), flat.get("required", [])
        # Who names properties and says nothing of others means no others; who names none means any.
        if flat.get("additionalProperties", "properties" not in flat) is not False:
            return self._fail(place, "a free-form map has no strict form")
        if not isinstance(properties, Mapping) or not all(isinstance(name, str) for name in properties):
            return self._fail(place, "`properties` is not a table of schemas")
        if len(properties) > MAX_PARTS:
            return self._too_many()
        if not isinstance(needed, list) or not all(isinstance(name, str) and name in properties for name in needed):
            return self._fail(place, "`required` names something that is not among the properties")
        nodes: dict[str, Node] = {}
        required: list[str] = []
        needed = frozenset(needed)
        for name, schema in properties.items():
            node = self._node(schema, place.below(_step(name)))
            nodes[name], must = (node, True) if name in needed else self._optional(node, schema)
            required += [name] if must else []
        return {"type": "object", "properties": nodes, "required": required, "additionalProperties": False}

    def _optional(self, node: Node, schema: object) -> tuple[Node, bool]:
        """Return a parameter that may be left out, in the form the rules choose, and whether it is required then."""
        if self._rules.optional == "nullable":
            return make_nullable(node), True
        if not takes_null(node):
            return node, False
        # Absent means the default, and that is null: nothing is lost with the explicit one, and a union is saved.
        if isinstance(schema, Mapping) and schema.get("default", 0) is None and types(node) != ["null"]:
            bare = drop_null({key: value for key, value in node.items() if key != "description"})
            return self._add_description(bare, node.get("description")), False
        return node, True

    def _array(self, flat: Schema, place: _Place) -> Node:
        items = flat.get("items", True)
        node = self._tuple(items, flat, place) if isinstance(items, list) else self._node(items, place.below("[]"))
        return {"type": "array", "items": node, **keep_restrictions(flat, "array", self._rules)}

    def _tuple(self, items: list[object], flat: Schema, place: _Place) -> Node:
        rest = flat.get("additionalItems")
        schemas = [*items, rest] if isinstance(rest, Mapping) else items
        if len(schemas) > MAX_PARTS:
            return self._too_many()
        nodes = [self._node(schema, place.below(f"[{number}]")) for number, schema in enumerate(schemas)]
        if len({json.dumps(node, sort_keys=True) for node in nodes}) != 1:
            return self._fail(place, "a tuple of different types has no strict form")
        return nodes[0]


def _restrictions(flat: Schema) -> Schema:
    return {key: value for key, value in flat.items() if key not in TELLING and key not in {"anyOf", "oneOf"}}


def _infer_type(flat: Schema) -> str | None:
    return "object" if "properties" in flat else "array" if "items" in flat else None


def _is_null(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _is_of(value: object, kinds: list[str]) -> bool:
    kind = _JSON_TYPES[type(value)]
    whole = kind == "integer" or (isinstance(value, float) and value.is_integer())
    return kind in kinds or (kind == "integer" and "number" in kinds) or (whole and "integer" in kinds)


def _step(name: str) -> str:
    plain = name.isascii() and name.isidentifier() and len(name) <= _MAX_SHOWN_NAME
    return f".{name}" if plain else f"[{name[:_MAX_SHOWN_NAME]!a}]"


def _name(address: str) -> str:
    return address.split("/", 2)[2].replace("~1", "/").replace("~0", "~")
