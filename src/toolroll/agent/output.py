"""The form of a typed answer: what the model is told, and how its text becomes a value, also while it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final, Union

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from typing_extensions import TypedDict

from toolroll.errors import UsageError
from toolroll.kernel.define.decorator import UNUSABLE, pydantic_reason
from toolroll.kernel.define.schema import OpenObject, to_draft07

RESPONSE: Final = "response"
"""The field that holds an answer whose type is no object: providers take objects only."""
NOTHING: Final = object()
"""Stands for a text in which there is no value so far."""
PARTIAL_EVERY_CHARACTERS: Final = 24
"""How often a text that grows is read again: each time all of it is parsed."""
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputForm:
    """A type for answers. `wrapped` reads `{"response": ...}`, where the type itself is no object."""

    adapter: TypeAdapter[Any]
    wrapped: TypeAdapter[Any] | None
    schema: Mapping[str, object]
    is_text: bool = False
    """Whether the answer is any text: then what is no JSON is an answer, too."""

    def parse(self, text: str) -> object:
        """Return the value in a text; raise `ValidationError`. Fields that the schema does not have are refused."""
        text = strip_fence(text)
        if self.wrapped is None:
            return self.adapter.validate_json(text, extra="forbid")
        try:
            return self.wrapped.validate_json(text, extra="forbid")[RESPONSE]
        except ValidationError as error:
            try:  # models leave the wrapping out, and a tool that ends the run knows nothing of it
                return self.adapter.validate_json(text, extra="forbid")
            except ValidationError as bare:
                if self.is_text:
                    return text.strip()
                raise (error if _is_wrapped(text) else bare) from None

    def parse_partial(self, text: str) -> object:
        """Return the valid beginning of a value in a text that is still being written; `NOTHING` without one."""
        try:
            value = from_json(_open_fence(text), allow_partial="trailing-strings")
            if self.wrapped is not None and isinstance(value, dict) and RESPONSE in value:
                value = value[RESPONSE]
            return self.adapter.validate_python(value, experimental_allow_partial="trailing-strings")
        except ValueError:  # no JSON, or nothing of it is valid yet
            return NOTHING


def make_output(shape: object) -> OutputForm:
    """Return the form of a type, or of one of several; raise `UsageError` for what is no type."""
    if isinstance(shape, list | tuple):
        if not shape:
            raise UsageError("output takes a type or several, not an empty list.")
        shape = reduce(or_, shape) if all(isinstance(one, type) for one in shape) else Union[tuple(shape)]  # noqa: UP007
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(shape)  # type: ignore[arg-type]  # whatever pydantic takes
        schema = to_draft07(adapter)
        if schema.get("type") == "object":
            return OutputForm(adapter=adapter, wrapped=None, schema=schema)
        fields: dict[str, Any] = {RESPONSE: shape}
        wrapped = TypeAdapter(TypedDict("Answer", fields))  # type: ignore[operator]  # the type is known only here
        return OutputForm(adapter=adapter, wrapped=wrapped, schema=to_draft07(wrapped), is_text=shape is str)
    except OpenObject as error:
        raise UsageError(
            f'output: {error.where or "it"} takes fields it does not name (extra="allow"). Declare them, or use '
            "dict[str, ...] for a free-form map."
        ) from None
    except UNUSABLE as error:
        raise UsageError(
            f"output is a type, such as a pydantic model, not {shape!r} ({pydantic_reason(error)})."
        ) from None


def strip_fence(text: str) -> str:
    """Return what stands in the first block of code, if there is one. No pattern: many blank lines take it hours."""
    _, fence, rest = text.partition(_FENCE)
    first_line, _, block = rest.partition("\n")
    inside, end, _ = block.partition(_FENCE)
    return inside if fence and end and first_line.strip() in ("", "json") else text


def _open_fence(text: str) -> str:
    """Return the text without the beginning of a block of code, whose end may not be written yet."""
    start = text.lstrip()
    return start.partition("\n")[2].partition(_FENCE)[0] if start.startswith(_FENCE) else text


def _is_wrapped(text: str) -> bool:
    try:
        value = from_json(text)
    except ValueError:
        return False
    return isinstance(value, dict) and list(value) == [RESPONSE]


class PartialReader:
    """Reads the typed value out of a text while it grows; only what differs from the last one is new."""

    def __init__(self, form: OutputForm) -> None:
        self._form = form
        self._read_at = 0
        self._last: object = NOTHING

    def read(self, written: Sequence[str]) -> object:
        """Return the value so far; `NOTHING` if there is none, or no other than before."""
        characters = sum(map(len, written))
        if characters < self._read_at:  # another turn has begun
            self._read_at = 0
        if characters - self._read_at < PARTIAL_EVERY_CHARACTERS:
            return NOTHING
        self._read_at = characters
        value = self._form.parse_partial("".join(written))
        if value is NOTHING or value == self._last:
            return NOTHING
        self._last = value
        return value
