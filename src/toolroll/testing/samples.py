"""Arguments made up from a schema: what a model that keeps to it may send.

hypothesis-jsonschema makes the single values. Objects, lists and alternatives are put together here: it takes no schema
that refers to itself, and its objects stand on internals that hypothesis has changed since.

Like everything that needs the extra `testing`, this module is imported by `check_tool` alone.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from hypothesis import HealthCheck, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, HypothesisException

from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.strict.flatten import target
from toolroll.testing.formats import OURS, formats
from toolroll.testing.report import Finding
from toolroll.testing.schema import fits

Strategy: TypeAlias = st.SearchStrategy[Any]
Schema: TypeAlias = Mapping[str, Any]

MAX_RECURSION: Final = 2
"""How many levels deep a definition may stand inside itself in made-up arguments."""


class Counterexample(Exception):
    """Raised by whoever looks at a sample, to say what is wrong with it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


class NoSamples(Exception):
    """No arguments can be made up from this schema; the message says why."""


class Shortest:
    """Keeps the finding with the shortest example of those it is offered."""

    def __init__(self) -> None:
        self.findings: tuple[Finding, ...] = ()

    def offer(self, finding: Finding) -> None:
        """Keep it, if it is the first or shorter than what was kept so far."""
        self.findings = (min((*self.findings, finding), key=lambda one: len(one.example or "")),)


def look_at_samples(schema: JsonSchema, count: int, look: Callable[[str], None]) -> Finding | None:
    """Call `look` with made-up arguments as JSON, the same in every run; the smallest that it raised on, if any."""

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(_Maker(schema).make(schema))
    def run(sample: object) -> None:
        look(json.dumps(sample, ensure_ascii=False))

    try:
        run()
    except Counterexample as found:
        return found.finding
    except Flaky:
        text = "the same arguments are taken once and refused once: something else than they decides."
        return Finding(check="arguments", text=text)
    except HypothesisException as error:
        raise NoSamples(str(error).partition("\n")[0]) from error
    return None


class _Maker:
    """Makes strategies out of the schemas within one schema; `left` says how many references may still be followed."""

    def __init__(self, root: JsonSchema) -> None:
        definitions = root.get("definitions", {})
        assert isinstance(definitions, dict)
        self._root = root
        self._definitions = definitions
        self._referred = lru_cache(self._follow)

    def make(self, node: Schema, left: int | None = None) -> Strategy:
        """A strategy for what the schema takes."""
        left = len(self._definitions) + MAX_RECURSION if left is None else left
        if "$ref" in node:
            return self._referred(node["$ref"], left)
        if "allOf" in node:
            return self._all(node, left)
        if branches := node.get("anyOf") or node.get("oneOf"):
            values = st.one_of([self.make(branch, left) for branch in branches])
            return values if "anyOf" in node else values.filter(lambda value: fits(value, self._alone(node)))
        match node.get("type"):
            case "object":
                return self._object(node, left)
            case "array":
                return self._array(node, left)
            case _:
                return _single(node)

    def _follow(self, ref: str, left: int) -> Strategy:
        # Nothing: an optional property stays away, a list stays empty, a union takes another branch.
        return self.make(target(self._root, ref) or {}, left - 1) if left else st.nothing()

    def _all(self, node: Schema, left: int) -> Strategy:
        first, *others = node["allOf"]
        return self.make(first, left).filter(lambda value: all(fits(value, self._alone(other)) for other in others))

    def _object(self, node: Schema, left: int) -> Strategy:
        properties, required = node.get("properties", {}), node.get("required", ())
        if not properties and node.get("additionalProperties"):
            return self._map(node, left)
        made = {name: self.make(inner, left) for name, inner in properties.items()}
        if any(made[name].is_empty for name in required):
            return st.nothing()
        return st.fixed_dictionaries(
            {name: one for name, one in made.items() if name in required},
            optional={name: one for name, one in made.items() if name not in required and not one.is_empty},
        )

    def _map(self, node: Schema, left: int) -> Strategy:
        keys = _single({"type": "string", **node.get("propertyNames", {})})
        values = {} if node["additionalProperties"] is True else node["additionalProperties"]
        smallest, largest = node.get("minProperties", 0), node.get("maxProperties")
        return st.dictionaries(keys, self.make(values, left), min_size=smallest, max_size=largest)

    def _array(self, node: Schema, left: int) -> Strategy:
        items = node.get("items", {})
        if isinstance(items, list):
            return st.tuples(*(self.make(item, left) for item in items)).map(list)
        unique = json.dumps if node.get("uniqueItems") else None
        smallest, largest = node.get("minItems", 0), node.get("maxItems")
        one = self.make(items, left)
        if one.is_empty:
            return st.nothing() if smallest else st.just([])
        return st.lists(one, min_size=smallest, max_size=largest, unique_by=unique)

    def _alone(self, node: Schema) -> Schema:
        return {**node, "definitions": self._definitions}


def _single(node: Schema) -> Strategy:
    from hypothesis_jsonschema import from_schema  # noqa: PLC0415 - importing it reads and writes tables of characters

    own = {"format": OURS + node["format"]} if "format" in node else {}
    strategy: Strategy = from_schema({**node, **own}, custom_formats=formats())
    return strategy
