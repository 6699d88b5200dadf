"""Prove quickly that JSON text was unambiguous, by counting keys in what pydantic made of it.

`parse_json` finds keys that stand twice and numbers beyond a double, but has to read the text a second time for that:
a third of the cost of a whole call. Most calls can be cleared without. Every key of the text has its own colon, so if
the checked value holds as many keys as the text has colons, none was overwritten. Where the two differ (a colon inside
a string, a type that cannot be counted) nothing is proved, and the text is read again.

The proof stands on one thing: a count never exceeds the keys that the text really gave. Whatever could add one (a
default that becomes part of the value, one key that fills two fields, code of the user's) makes a type uncountable.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final, TypeAlias

Count: TypeAlias = Callable[[Any], int]
"""Counts the keys a value was made from, one less for each infinite float: then the count cannot come out right."""

_WITHOUT_KEYS: Final = frozenset(
    ("str", "int", "bool", "none", "literal", "enum", "date", "datetime", "time", "timedelta", "uuid", "url")
)


class Uncountable(Exception):
    """A type that may hold more or fewer keys than its text."""


class KeyCounter:
    """Counts keys in values of one type, where that type can be counted."""

    def __init__(self, core_schema: Mapping[str, Any]) -> None:
        self._count: Count | None
        self._definitions: dict[str, Mapping[str, Any]] = {}
        self._counts: dict[str, Count | None] = {}
        if core_schema["type"] == "definitions":  # of types that are used more than once
            self._definitions = {one["ref"]: one for one in core_schema["definitions"]}
            core_schema = core_schema["schema"]
        try:
            self._count = self._compile(core_schema) or _no_keys
        except Uncountable:
            self._count = None

    def proves_unambiguous(self, text: str, value: object) -> bool:
        """Return whether the value proves that no key stood twice in the text and no number was too large."""
        return self._count is not None and text.count(":") == self._count(value)

    def _compile(self, node: Mapping[str, Any]) -> Count | None:
        """Return the function that counts; None for a value that holds no keys."""
        match node["type"]:
            case kind if kind in _WITHOUT_KEYS and not _may_swallow_infinity(node):
                return None
            case "float":
                return _count_float
            case "nullable":
                return self._nullable(node)
            case "list" if "items_schema" in node:
                return self._list(node)
            case "dict" if "values_schema" in node:
                return self._dict(node)
            case "union":
                return self._union(node)
            case "typed-dict" if not _may_swallow_infinity(node):
                return self._typed_dict(node)
            case "model" if _is_plain_model(node):
                return self._model(node)
            case "definition-ref":
                return self._compile_reference(node["schema_ref"])
            case kind:
                raise Uncountable(kind)

    def _compile_reference(self, ref: str) -> Count | None:
        if ref not in self._counts:
            # Taken away while it is read: a type inside itself would be counted in frames of Python, up to 200 deep.
            definition = self._definitions.pop(ref, None)
            if definition is None:
                raise Uncountable(ref)
            self._counts[ref] = self._compile(definition)
        return self._counts[ref]

    def _nullable(self, node: Mapping[str, Any]) -> Count | None:
        inner = self._compile(node["schema"])
        return inner and (lambda value: 0 if value is None else inner(value))

    def _list(self, node: Mapping[str, Any]) -> Count | None:
        inner = self._compile(node["items_schema"])
        return inner and (lambda value: sum(map(inner, value)))

    def _dict(self, node: Mapping[str, Any]) -> Count | None:
        if "keys_schema" in node and self._compile(node["keys_schema"]):  # "inf" for a key that is a float
            raise Uncountable("keys")
        inner = self._compile(node["values_schema"])
        if inner is None:
            return len
        return lambda value: len(value) + sum(map(inner, value.values()))

    def _union(self, node: Mapping[str, Any]) -> Count | None:
        choices = [choice[0] if isinstance(choice, tuple) else choice for choice in node["choices"]]
        if any(map(self._compile, choices)):  # which of them it became, the value does not say
            raise Uncountable("union")
        return None

    def _model(self, node: Mapping[str, Any]) -> Count | None:
        fields = node["schema"]["fields"]
        present = {name for name, field in fields.items() if field["schema"]["type"] != "default"}
        always, sometimes, floats = self._fields(
            {name: _without_default(field["schema"]) for name, field in fields.items()}, fields, present
        )

        def count(model: Any) -> int:
            given, values = model.__pydantic_fields_set__, model.__dict__
            total = len(given) - floats
            for name, counted in always:
                total += counted(values[name])
            for name, counted in sometimes:
                if name in given:  # a default has keys too, but none of them came from the text
                    total += counted(values[name])
            return total

        return count if always or sometimes else _count_given

    def _typed_dict(self, node: Mapping[str, Any]) -> Count | None:
        fields = node["fields"]
        present = {name for name, field in fields.items() if field.get("required", node.get("total", True))}
        always, sometimes, floats = self._fields(
            {name: field["schema"] for name, field in fields.items()}, fields, present
        )

        def count(values: dict[str, Any]) -> int:
            total = len(values) - floats
            for name, counted in always:
                total += counted(values[name])
            for name, counted in sometimes:
                if name in values:
                    total += counted(values[name])
            return total

        return count

    def _fields(
        self, schemas: Mapping[str, Mapping[str, Any]], fields: Mapping[str, Mapping[str, Any]], present: set[str]
    ) -> tuple[list[tuple[str, Count]], list[tuple[str, Count]], int]:
        """Return how to count the fields that are always there, the others, and how many floats are among the first."""
        _refuse_shared_keys(fields)
        compiled = {name: self._compile(schema) for name, schema in schemas.items()}
        counts = [(name, count) for name, count in compiled.items() if count is not None]
        sometimes = [(name, count) for name, count in counts if name not in present]
        floats = sum(name in present and count is _count_float for name, count in counts)
        # `isfinite` itself is 1 where `_count_float` is 0: taken off all at once, that is a third of the time
        always = [(name, isfinite if count is _count_float else count) for name, count in counts if name in present]
        return always, sometimes, floats


def _without_default(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    # Only of a model's field, where the value tells what was given. `on_error` replaces a value that was given.
    if schema["type"] != "default" or schema.get("on_error", "raise") != "raise":
        return schema
    inner: Mapping[str, Any] = schema["schema"]
    return inner


def _is_plain_model(node: Mapping[str, Any]) -> bool:
    # `model_post_init` and an own `__init__` may set fields, which then count as given
    is_plain = node["schema"]["type"] == "model-fields" and not (node.get("custom_init") or node.get("post_init"))
    return is_plain and not _may_swallow_infinity(node)


def _may_swallow_infinity(node: Mapping[str, Any]) -> bool:
    """Return whether 1e999 in the text may become something that is not a float."""
    match node["type"]:
        case "str":
            return bool(node.get("coerce_numbers_to_str"))
        case "literal":
            return not all(isinstance(value, str | int | None) for value in node["expected"])
        case "enum":
            return "missing" in node or not all(isinstance(member.value, str | int) for member in node["members"])
        case _:
            return bool(node.get("config", {}).get("coerce_numbers_to_str"))


def _refuse_shared_keys(fields: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse fields that one key of the text could fill together: {"a": 1, "a": 2} would count as two keys."""
    seen: set[str] = set()
    for name, field in fields.items():
        alias = field.get("validation_alias", name)
        if not isinstance(alias, str) or not seen.isdisjoint((name, alias)):
            raise Uncountable("aliases")
        seen |= {name, alias}


def _no_keys(_value: object) -> int:
    return 0


def _count_given(model: Any) -> int:
    return len(model.__pydantic_fields_set__)


def _count_float(value: float) -> int:
    return isfinite(value) - 1
