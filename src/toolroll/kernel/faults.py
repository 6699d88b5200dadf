"""Validation errors in words that let a model repair its call: which field, what was wrong, what was expected."""

from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from toolroll.kernel.schema import JsonSchema
from toolroll.kernel.serialize import dump_json
from toolroll.safe.limits import MAX_VALIDATION_ERRORS_SHOWN

MAX_VALUE_CHARACTERS: Final = 80
"""How much of a wrong value is repeated to the model; it knows what it wrote."""

_EXTRA: Final = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING: Final = ("missing", "missing_argument", "missing_keyword_only_argument")


def describe_faults(tool: str, error: ValidationError, parameters: JsonSchema) -> str:
    """All faults of one call, a line each."""
    details = error.errors(include_url=False, include_context=False)
    lines = [f"- {_fault(detail, parameters)}" for detail in details[:MAX_VALIDATION_ERRORS_SHOWN]]
    if len(details) > len(lines):
        lines.append(f"- ...and {len(details) - len(lines)} more")
    return f"Invalid arguments for {tool}:\n" + "\n".join(lines)


def _fault(detail: ErrorDetails, parameters: JsonSchema) -> str:
    place = _place(detail["loc"])
    if detail["type"] in _EXTRA:
        return f"{place}: there is no such parameter{_known(detail['loc'], parameters)}"
    if detail["type"] in _MISSING:
        return f"{place}: missing, and required"
    return f"{place}: {detail['msg']} (got {_shown(detail['input'])})"


def _place(location: tuple[int | str, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return text.removeprefix(".") or "arguments"


def _known(location: tuple[int | str, ...], parameters: JsonSchema) -> str:
    names = parameters.get("properties")
    if len(location) != 1 or not isinstance(names, dict):
        return ""
    return f"; it takes: {', '.join(names)}" if names else "; it takes none"


def _shown(value: object) -> str:
    text = dump_json(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[:MAX_VALUE_CHARACTERS] + "…"
