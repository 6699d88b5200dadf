"""What a tool's call comes to: text, JSON or parts, and whether it failed."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolroll.kernel.messages import DocumentPart, ImagePart, Part, TextPart, ToolMessage
from toolroll.kernel.serialize import dump_json, is_model, well_formed

ResultType = Literal["text", "json", "parts"]


@dataclass(slots=True)  # one is made per call: frozen would triple what that costs
class ToolResult:
    """The outcome of one call. `text` is what a model reads of it, `value` what the tool returned.

    `is_error` is true for every call that failed; `code` then says how, in a word that does not change. `is_final`
    asks the run to end with this result.
    """

    type: ResultType
    value: object
    text: str
    is_error: bool = False
    code: str | None = None
    is_final: bool = False

    @property
    def content(self) -> str | tuple[Part, ...]:
        """What goes into a tool message: the text, or the parts."""
        return self.value if self.type == "parts" else self.text  # type: ignore[return-value]  # parts hold a tuple

    def to_message(self, *, call_id: str, name: str) -> ToolMessage:
        """The message that answers the call."""
        return ToolMessage(call_id=call_id, name=name, content=self.content, is_error=self.is_error)

    @classmethod
    def of_text(cls, text: str) -> "ToolResult":
        """A text result."""
        return cls("text", text, well_formed(text))

    @classmethod
    def of_json(cls, value: object) -> "ToolResult":
        """A JSON result; `{ok: false}`, `{success: false}` and `{error: true}` are failures (one rule everywhere)."""
        failed = says_failed(value)
        return cls("json", value, dump_json(value), failed, "tool_failed" if failed else None)

    @classmethod
    def of_parts(cls, parts: tuple[Part, ...]) -> "ToolResult":
        """A result of several parts; `text` joins those that are text."""
        return cls("parts", parts, "\n".join(part.text for part in parts if isinstance(part, TextPart)))

    @classmethod
    def failure(cls, content: object, *, code: str) -> "ToolResult":
        """A failed call: what the model should read about it, and a stable word for programs."""
        if isinstance(content, str):
            return cls("text", content, well_formed(content), is_error=True, code=code)
        return cls("json", content, dump_json(content), is_error=True, code=code)


class Done(Exception):
    """Raise or return it in a tool to end the run with that message."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


def result_of(value: object) -> ToolResult:
    """The result that a tool's return value stands for."""
    if isinstance(value, str):
        return ToolResult.of_text(value)
    if is_model(type(value)):
        return ToolResult.of_json(value)
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, (TextPart, ImagePart, DocumentPart)):
        return ToolResult.of_parts((value,))
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, _PARTS) for item in value):
        return ToolResult.of_parts(tuple(value))
    if isinstance(value, Done):
        return ToolResult("text", value.message, well_formed(value.message), is_final=True)
    return ToolResult.of_json(value)


_PARTS = (TextPart, ImagePart, DocumentPart)


def says_failed(value: object) -> bool:
    """Whether a structured value says of itself that the call failed."""
    fields = _fields(value)
    if fields is None:
        return False
    return fields.get("ok") is False or fields.get("success") is False or fields.get("error") is True


def _fields(value: object) -> Mapping[Any, object] | None:
    if is_model(type(value)):
        return value.__dict__
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name, None) for name in ("ok", "success", "error")}
    return None
