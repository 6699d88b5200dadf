"""Check that each provider's strict form of a schema keeps its rules and means the same as the plain one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from toolroll.kernel.define.tool import Tool
from toolroll.kernel.strict.convert import NotStrict, StrictSchema, convert_to_strict
from toolroll.kernel.strict.flatten import resolve_reference
from toolroll.kernel.strict.rules import StrictRules
from toolroll.models.strict import ANTHROPIC, OPENAI
from toolroll.testing.arguments import RefusedArguments, validate_arguments
from toolroll.testing.report import Finding, Outcome
from toolroll.testing.samples import Counterexample, ShortestFinding, check_samples
from toolroll.testing.schema import find_schema_error, matches_schema, walk_schema

PROVIDERS: Final = (OPENAI, ANTHROPIC)

_WORDS: Final = frozenset(
    {"$ref", "$defs", "additionalProperties", "anyOf", "const", "definitions", "description", "enum", "items"}
    | {"properties", "required", "type"}
)

Schema: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _StrictForm:
    rules: StrictRules
    schema: Schema

    @property
    def provider(self) -> str:
        return self.rules.name


def check_strict(tool: Tool, count: int) -> Outcome:
    """Check that the strict forms are right; a provider without one is worth knowing, not a problem."""
    made = [(rules, convert_to_strict(tool.parameters, rules)) for rules in _rule_variants()]
    forms = [_StrictForm(rules=rules, schema=form.schema) for rules, form in made if isinstance(form, StrictSchema)]
    missing = dict.fromkeys(_missing_form(rules, form) for rules, form in made if isinstance(form, NotStrict))
    comparing = _FormComparison(tool, forms)
    broken = [_finding(f"for {form.provider}: {text}") for form in forms for text in find_broken_rules(form)]
    differs = check_samples(tool.parameters, count, comparing.look) if forms and not broken else None
    names = " and ".join(dict.fromkeys(form.provider for form in forms))
    return Outcome(
        held=f"strict: the forms for {names} keep the rules and mean the same" if forms else "strict: no form to check",
        findings=(*missing, *comparing.other.findings),
        problems=(*broken, *([differs] if differs else [])),
    )


def _rule_variants() -> Iterator[StrictRules]:
    for rules in PROVIDERS:
        yield rules
        if rules.takes_absent:
            yield replace(rules, optional="absent")


def _missing_form(rules: StrictRules, form: NotStrict) -> Finding:
    return _finding(f"sent as it is to {rules.name}, not strict: {'; '.join(form.reasons)}.")


def find_broken_rules(form: _StrictForm) -> Iterator[str]:
    """Yield what strict mode would refuse in this form."""
    if broken := find_schema_error(form.schema):
        yield broken
        return
    for place, node in walk_schema(form.schema):
        if unknown := set(node) - _WORDS - form.rules.keywords:
            yield f"{place} says {', '.join(sorted(unknown))}, which strict mode does not take."
        if node.get("type") == "object":
            yield from _object_problems(place, node, form.rules)


def _object_problems(place: str, node: Schema, rules: StrictRules) -> Iterator[str]:
    if node.get("additionalProperties") is not False:
        yield f"{place} is not closed."
    left_out = sorted(set(node["properties"]) - set(node["required"]))
    if left_out and rules.optional == "nullable":
        yield f"{place} does not require {', '.join(left_out)}."


class _FormComparison:
    """Compares the forms with the plain schema by calls: the same one, once plain and once as strict mode has it."""

    def __init__(self, tool: Tool, forms: Sequence[_StrictForm]) -> None:
        self.other = ShortestFinding()
        self._tool = tool
        self._forms = forms

    def look(self, raw: str) -> None:
        plain = validate_arguments(self._tool, raw)
        if isinstance(plain, RefusedArguments):
            return  # the check of arguments has told
        for form in self._forms:
            self._compare(raw, plain, form)

    def _compare(self, raw: str, plain: object, form: _StrictForm) -> None:
        value = to_strict(json.loads(raw), form.schema, form.schema)
        strict = json.dumps(value, ensure_ascii=False)
        if not matches_schema(value, form.schema):
            raise Counterexample(_finding(f"the form for {form.provider} does not take what the schema takes.", raw))
        again = validate_arguments(self._tool, strict)
        if isinstance(again, RefusedArguments):
            text = f"null for what is left out, as {form.provider} has models write it, is refused: {again.text}"
            raise Counterexample(_finding(text, strict))
        if self._with_defaults(again) != self._with_defaults(plain):
            self.other.offer(_finding("null means something else here than leaving the parameter out.", strict))

    def _with_defaults(self, arguments: object) -> object:
        """Return the arguments of a function with its defaults; an input type has filled them in itself."""
        if not isinstance(arguments, dict):
            return arguments
        properties: Any = self._tool.parameters["properties"]
        return {name: node["default"] for name, node in properties.items() if "default" in node} | arguments


def to_strict(value: object, node: Schema, root: Schema) -> object:
    """Return the value as a model writes it under the strict form: with null for required fields that are left out."""
    if "$ref" in node:
        return to_strict(value, resolve_reference(root, node["$ref"]) or {}, root)
    if "anyOf" in node:
        written = [(to_strict(value, branch, root), branch) for branch in node["anyOf"]]
        return next((one for one, branch in written if matches_schema(one, _alone(branch, root))), value)
    if isinstance(value, list):
        return [to_strict(item, node.get("items", {}), root) for item in value]
    if isinstance(value, dict) and "properties" in node:
        return _object_to_strict(value, node, root)
    return value


def _object_to_strict(value: dict[str, object], node: Schema, root: Schema) -> dict[str, object]:
    properties, required = node["properties"], node["required"]
    given = {name: to_strict(item, properties.get(name, {}), root) for name, item in value.items()}
    # Where null is the default, the form without null says the same by leaving it out.
    nulls = [name for name, item in given.items() if item is None and name not in required]
    needless = [name for name in nulls if not matches_schema(None, _alone(properties.get(name, {}), root))]
    missing = [name for name in required if name not in given]
    return {name: item for name, item in given.items() if name not in needless} | dict.fromkeys(missing)


def _alone(node: Schema, root: Schema) -> Schema:
    return {**node, **{key: root[key] for key in ("$defs", "definitions") if key in root}}


def _finding(text: str, example: str | None = None) -> Finding:
    return Finding(check="strict", text=text, example=example)
