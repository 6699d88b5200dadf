"""The result of a call: text, JSON or parts, and whether it failed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

from pydantic import BaseModel

from toolroll.kernel.data.messages import DocumentPart, ImagePart, Part, TextPart, ToolMessage
from toolroll.kernel.data.serialize import (
    dump_json,
    dump_plain,
    is_model,
    is_stable_model,
    replace_surrogates,
    to_plain,
)


class Done(Exception):
    """Raise or return it in a tool to end the run with that message, or with a value: the typed answer of the run."""

    message: object = ""

    def __init__(self, message: object = "") -> None:
        super().__init__(message)
        self.message = message


class Answered(Exception):
    """Raise it in a preview to say that there is nothing to approve: the value is the answer, and nothing runs."""

    def __init__(self, value: object) -> None:
        super().__init__(value)
        self.value = value


class Unclean(Exception):
    """The tool has answered with `value`, and what one of its dependencies does after that failed with `error`."""

    def __init__(self, value: object, error: BaseException) -> None:
        super().__init__(value, error)
        self.value = value
        self.error = error


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What became of a call that was cut off, as the tool's own records say."""

    state: Literal["done", "not_done", "partly_done", "unknown"]
    """Partly done: some of it is there, and the call is not run again. Unknown: a person has to say."""
    text: str = ""
    """What the model reads about a call that is not run again."""


ResultType = Literal["text", "json", "parts"]

_SMALL: Final = 2**63
"""Below, a whole number is written the same everywhere."""


@dataclass(slots=True)  # one is made per call: frozen would triple what that costs
class ToolResult:
    """The outcome of one call. `text` is what a model reads of it, `value` what the tool returned.

    `is_error` is true for every call that failed; `code` is then a stable error code. `is_final`
    asks the run to end with this result. `whole` is for a text that is the beginning of more: a run that keeps outputs
    keeps this one, and tells the model how to read on.
    """

    type: ResultType
    """`text`, `json` or `parts`."""
    value: object
    """What the tool returned."""
    text: str
    """What a model reads."""
    is_error: bool = False
    """Whether the call failed."""
    code: str | None = None
    """A stable error code; None on success."""
    is_final: bool = False
    """Whether it asks the run to end."""
    whole: str | None = None
    """The whole text, if `text` was cut."""
    facts: Mapping[str, object] | None = None
    """Counts and names for people, such as `{"matches": 12}`: a surface writes them in its own words."""

    @property
    def content(self) -> str | tuple[Part, ...]:
        """Return what goes into a tool message: the text, or the parts."""
        return self.value if self.type == "parts" else self.text  # type: ignore[return-value]  # parts hold a tuple

    def to_message(self, *, call_id: str, name: str) -> ToolMessage:
        """Return the message that answers the call."""
        return ToolMessage(call_id=call_id, name=name, content=self.content, is_error=self.is_error)

    @classmethod
    def of_text(cls, text: str, facts: Mapping[str, object] | None = None) -> "ToolResult":
        """Make a text result."""
        return cls("text", text, replace_surrogates(text), facts=facts)

    @classmethod
    def of_json(cls, value: object) -> "ToolResult":
        """Make a JSON result; `{ok: false}`, `{success: false}` and `{error: true}` are failures everywhere."""
        if is_stable_model(type(value)):
            text, failed = dump_json(value), _model_reports_failure(value)
        else:
            found = to_plain(value)
            text, failed = dump_plain(found), reports_failure(found)
        return cls("json", value, text, failed, "tool_failed" if failed else None)

    @classmethod
    def of_parts(cls, parts: tuple[Part, ...]) -> "ToolResult":
        """Make a result of several parts; `text` joins those that are text."""
        parts = tuple(_encodable(part) for part in parts)
        return cls("parts", parts, "\n".join(part.text for part in parts if isinstance(part, TextPart)))

    @classmethod
    def failure(cls, content: object, *, code: str) -> "ToolResult":
        """Make a failure: what the model should read about it, and a stable code for programs."""
        if isinstance(content, str):
            return cls("text", content, replace_surrogates(content), is_error=True, code=code)
        return cls("json", content, dump_json(content), is_error=True, code=code)


def to_result(value: object) -> ToolResult:
    """Return the result that a tool's return value stands for."""
    if isinstance(value, str):
        return ToolResult.of_text(value)
    if type(value) is int and -_SMALL < value < _SMALL:  # nothing to walk through: a tenth of the time
        return ToolResult("json", value, str(value))
    if is_model(type(value)):
        return ToolResult.of_json(value)
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, _PARTS):
        return ToolResult.of_parts((value,))
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, _PARTS) for item in value):
        return ToolResult.of_parts(tuple(value))
    if isinstance(value, Done):
        return replace(to_result(value.message), is_final=True)
    return ToolResult.of_json(value)


_PARTS: Final = (TextPart, ImagePart, DocumentPart)


def _encodable(part: Part) -> Part:
    return replace(part, text=replace_surrogates(part.text)) if isinstance(part, TextPart) else part


_FAILED: Final[Mapping[str, bool]] = {"ok": False, "success": False, "error": True}


def reports_failure(value: object) -> bool:
    """Return whether what a model would read says that the call failed."""
    return isinstance(value, Mapping) and any(value.get(name) is failed for name, failed in _FAILED.items())


def _model_reports_failure(model: Any) -> bool:
    fields = _outcome_fields(type(model))
    return bool(fields) and any(model.__dict__.get(name) is failed for name, failed in fields)


def _find_outcome_fields(kind: type[BaseModel]) -> tuple[tuple[str, bool], ...]:
    """Return the fields that a model reads as `ok`, `success` or `error`, each with its value after a failure."""
    names = ((name, field.serialization_alias or name, field) for name, field in kind.model_fields.items())
    return tuple((name, _FAILED[read]) for name, read, field in names if read in _FAILED and not field.exclude)


# Remembered by class: looking through the fields of each result would cost more than writing it.
_outcome_fields: Callable[[type[BaseModel]], tuple[tuple[str, bool], ...]] = lru_cache(maxsize=1024)(
    _find_outcome_fields
)
