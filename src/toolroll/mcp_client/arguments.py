"""Check arguments by the JSON Schema of a server: as it was written, with bounds on what the check may cost.

A server chooses the schema, so that it must not be able to make the check fetch something, run for ever or recurse
without end: references stay inside the schema, their number is limited, and patterns, which can take exponential time,
are left to the server.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import SchemaError, UndefinedTypeCheck
from jsonschema.validators import extend as _extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from toolroll.errors import ArgumentsRefused, DefinitionError
from toolroll.safe.limits import MAX_VALIDATION_ERRORS_SHOWN
from toolroll.safe.text import one_line

MAX_REFERENCES: Final = 2_000
"""That one check follows: a schema with definitions that double at each level would follow a billion."""
extend: Any = _extend  # untyped
_MAX_FAULT_CHARACTERS: Final = 300
_PATTERNS: Final = ("pattern", "patternProperties", "propertyNames")


class _TooManyReferences(Exception):
    pass


class SchemaCheck:
    """Checks arguments by one schema."""

    def __init__(self, tool: str, schema: Mapping[str, object]) -> None:
        self._tool = tool
        self._left = 0
        follow = Draft202012Validator.VALIDATORS["$ref"]

        def follow_counted(validator: Any, reference: Any, instance: Any, whole: Any) -> Iterator[ValidationError]:
            self._left -= 1
            if self._left < 0:
                raise _TooManyReferences
            found: Iterator[ValidationError] = follow(validator, reference, instance, whole) or iter(())
            return found

        # The second way to a definition is closed: `$dynamicRef` is for meta-schemas.
        kind: Any = extend(Draft202012Validator, {"$ref": follow_counted, "$dynamicRef": follow_counted})
        try:
            # An empty registry: the default one fetches what a reference names.
            self._validator: Any = kind(_without_patterns(schema), registry=Registry())
        except (SchemaError, RecursionError, TypeError) as error:
            raise DefinitionError(f"The schema of {tool} cannot be used: {type(error).__name__}.", tool=tool) from None

    def check(self, arguments: Mapping[str, object]) -> None:
        """Refuse arguments that the schema does not take; ArgumentsRefused says where."""
        self._left = MAX_REFERENCES
        try:
            faults = [
                fault
                for fault, _ in zip(self._validator.iter_errors(arguments), range(MAX_VALIDATION_ERRORS_SHOWN))  # noqa: B905 - the first few
            ]
        except (
            Unresolvable,
            UndefinedTypeCheck,
            RecursionError,
            _TooManyReferences,
            TypeError,
            AttributeError,
        ) as error:
            text = f"The schema that the server gave for {self._tool} cannot be checked ({type(error).__name__})."
            raise ArgumentsRefused(f"{text} Nothing was sent. Do without this tool.") from None
        if faults:
            lines = "\n".join(f"- {_describe(fault)}" for fault in faults)
            raise ArgumentsRefused(f"Invalid arguments for {self._tool}:\n{lines}")


def _describe(fault: ValidationError) -> str:
    place = ".".join(str(step) for step in fault.absolute_path) or "(arguments)"
    return f"{one_line(place, 100)}: {one_line(fault.message, _MAX_FAULT_CHARACTERS)}"


def _without_patterns(node: Any) -> Any:
    """Return the schema without regular expressions; where some name properties, others are not refused."""
    if isinstance(node, list):
        return [_without_patterns(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    has_names = "patternProperties" in node and isinstance(node["patternProperties"], Mapping)
    left_out = (*_PATTERNS, "additionalProperties", "unevaluatedProperties") if has_names else _PATTERNS
    return {
        key: _keep_properties(value) if key in ("properties", "$defs", "definitions") else _without_patterns(value)
        for key, value in node.items()
        if key not in left_out
    }


def _keep_properties(node: Any) -> Any:
    """Return a map of schemas by name: a property may be named like a keyword."""
    return {key: _without_patterns(value) for key, value in node.items()} if isinstance(node, Mapping) else node
