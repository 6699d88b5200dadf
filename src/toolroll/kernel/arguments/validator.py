"""Validate the arguments of a tool, from JSON text to a checked value; refuse duplicate keys and infinite numbers."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from toolroll.errors import ArgumentsRefused
from toolroll.kernel.arguments.infinite import find_infinite, may_be_infinite
from toolroll.kernel.arguments.key_count import KeyCounter
from toolroll.kernel.arguments.parse import BLANKS, parse_object
from toolroll.kernel.arguments.validation_errors import describe_errors, describe_infinite, find_refused_nulls
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES

if TYPE_CHECKING:
    from toolroll.kernel.define.schema import JsonSchema


class ArgumentValidator:
    """Validates the arguments of one tool; `parameters` is the plain schema that its model was given."""

    def __init__(self, tool: str, adapter: TypeAdapter[Any], parameters: "JsonSchema") -> None:
        self._tool = tool
        self._parameters = parameters
        self._validate_json = adapter.validator.validate_json
        self._keys = KeyCounter(adapter.core_schema)
        self._may_be_infinite = may_be_infinite(adapter.core_schema)

    def validate(self, raw: str) -> object:
        """Return the checked value; raise `JsonRefused` or `ArgumentsRefused`."""
        if not raw or (raw.isspace() and not raw.strip(BLANKS)):
            raw = "{}"  # no text at all counts as no arguments: some servers send that
        elif len(raw) * 4 > MAX_ARGUMENTS_BYTES:  # a character is up to four bytes
            parse_object(raw)
        try:
            # From the text, not from parsed values: a date in a strict field is a string in JSON, and only there.
            value: object = self._validate_json(raw, extra="forbid")
        except ValidationError as error:
            value = self._validate_without_nulls(raw, error)
        if not self._keys.proves_unambiguous(raw, value):
            parse_object(raw)
            if self._may_be_infinite and (found := find_infinite(value)):
                raise ArgumentsRefused(describe_infinite(self._tool, *found))
        return value

    def _validate_without_nulls(self, raw: str, first: ValidationError) -> object:
        from toolroll.kernel.arguments.nulls import drop_left_out_nulls, drop_nulls_at  # noqa: PLC0415 - most programs that import toolroll never need it

        # A strict provider makes a model write every parameter, and null for those it means to leave out. Where the
        # validator points at them they are dropped at once; walking the schema costs ten times as much.
        parsed = parse_object(raw)
        pointed_at = drop_nulls_at(parsed, find_refused_nulls(first))
        if pointed_at != parsed:
            with suppress(ValidationError):
                return self._validate_json(to_json(pointed_at), extra="forbid")
        without_nulls = drop_left_out_nulls(parsed, self._parameters)
        if without_nulls != parsed:
            try:
                return self._validate_json(to_json(without_nulls), extra="forbid")
            except ValidationError as second:
                first = second
        raise ArgumentsRefused(describe_errors(self._tool, first, self._parameters))
