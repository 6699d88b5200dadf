"""Sample arguments for a schema: what a model that follows the schema may send.

hypothesis-jsonschema generates the single values. Objects, lists and alternatives are built here, because it accepts no
schema that refers to itself, and its objects depend on internals that hypothesis has changed since.

This module needs the extra `testing`; only `check_tool` imports it.
"""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

from hypothesis import HealthCheck, Verbosity, given, provisional, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, HypothesisException

from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.strict.flatten import resolve_reference
from toolroll.testing.report import Finding
from toolroll.testing.schema import matches_schema

FORMAT_PREFIX: Final = "toolroll:"
"""What stands before each name: hypothesis-jsonschema warns of everybody who replaces a format it knows."""


@cache
def format_strategies() -> dict[str, st.SearchStrategy[str]]:
    """Return a strategy for each format that pydantic writes into schemas."""
    zone = st.just(UTC)  # RFC 3339 has no times without a zone
    known = {
        "date": st.dates().map(str),
        "date-time": st.datetimes(timezones=zone).map(datetime.isoformat),
        "time": st.times(timezones=zone).map(time.isoformat),
        "duration": st.integers(0, 10**6).map("PT{}S".format),
        "uuid": st.uuids().map(str),
        "email": st.from_regex(r"[a-z]{1,9}\.[a-z]{1,9}@example\.(com|org)", fullmatch=True),
        "uri": provisional.urls(),
        "ipv4": st.ip_addresses(v=4).map(str),
        "ipv6": st.ip_addresses(v=6).map(str),
        "ipvanyaddress": st.ip_addresses().map(str),
        "base64": st.binary().map(b64encode).map(bytes.decode),
        "base64url": st.binary().map(urlsafe_b64encode).map(bytes.decode),
        "regex": st.text().map(re.escape),
    }
    return {FORMAT_PREFIX + name: strategy for name, strategy in known.items()}


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


class ShortestFinding:
    """Keeps the finding with the shortest example of those it is offered."""

    def __init__(self) -> None:
        self.findings: tuple[Finding, ...] = ()

    def offer(self, finding: Finding) -> None:
        """Keep it, if it is the first or shorter than what was kept so far."""
        self.findings = (min((*self.findings, finding), key=lambda one: len(one.example or "")),)


def check_samples(schema: JsonSchema, count: int, look: Callable[[str], None]) -> Finding | None:
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
    @given(_StrategyBuilder(schema).make(schema))
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


class _StrategyBuilder:
    """Makes strategies out of the schemas within one schema; `left` says how many references may still be followed."""

    def __init__(self, root: JsonSchema) -> None:
        definitions = root.get("definitions", {})
        assert isinstance(definitions, dict)
        self._root = root
        self._definitions = definitions
        self._referred = lru_cache(self._follow)

    def make(self, node: Schema, left: int | None = None) -> Strategy:
        """Return a strategy for the values that the schema accepts."""
        left = len(self._definitions) + MAX_RECURSION if left is None else left
        if "$ref" in node:
            return self._referred(node["$ref"], left)
        if "allOf" in node:
            return self._all(node, left)
        if branches := node.get("anyOf") or node.get("oneOf"):
            values = st.one_of([self.make(branch, left) for branch in branches])
            return values if "anyOf" in node else values.filter(lambda value: matches_schema(value, self._alone(node)))
        if "enum" in node or "const" in node:
            return _leaf_strategy(node)
        match node.get("type"):
            case list() as types:
                return st.one_of([self.make({**node, "type": one}, left) for one in types])
            case "object":
                return self._object(node, left)
            case "array":
                return self._array(node, left)
            case _:
                return _leaf_strategy(node)

    def _follow(self, ref: str, left: int) -> Strategy:
        # Nothing: an optional property stays away, a list stays empty, a union takes another branch.
        return self.make(resolve_reference(self._root, ref) or {}, left - 1) if left else st.nothing()

    def _all(self, node: Schema, left: int) -> Strategy:
        first, *others = node["allOf"]
        return self.make(first, left).filter(
            lambda value: all(matches_schema(value, self._alone(other)) for other in others)
        )

    def _object(self, node: Schema, left: int) -> Strategy:
        properties, required = node.get("properties", {}), node.get("required", ())
        if not properties and node.get("additionalProperties"):
            return self._map(node, left)
        made = {name: self.make(inner, left) for name, inner in properties.items()}
        if any(made[name].is_empty for name in required):
            return st.nothing()
        values = st.fixed_dictionaries(
            {name: one for name, one in made.items() if name in required},
            optional={name: one for name, one in made.items() if name not in required and not one.is_empty},
        )
        smallest, largest = node.get("minProperties", 0), node.get("maxProperties", len(made))
        return values.filter(lambda value: smallest <= len(value) <= largest)

    def _map(self, node: Schema, left: int) -> Strategy:
        keys = _leaf_strategy({"type": "string", **node.get("propertyNames", {})})
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


def _leaf_strategy(node: Schema) -> Strategy:
    from hypothesis_jsonschema import from_schema  # noqa: PLC0415 - importing it reads and writes tables of characters

    own = {"format": FORMAT_PREFIX + node["format"]} if "format" in node else {}
    strategy: Strategy = from_schema({**node, **own}, custom_formats=format_strategies())
    return strategy
