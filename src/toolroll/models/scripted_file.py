"""A script of turns in a JSON file, played by the name `scripted:FILE`: a model for tests, demos and bug reports.

The file holds a list. A turn is a text, or an object with what it has of `text`, `calls` (each with `name`,
`arguments`, `id`), `stop` and `usage`, or `error` with a `code` and a `message` instead. Which turn comes next is
decided by the conversation, not by the process: a run that is resumed elsewhere goes on where it was.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from toolroll.errors import ModelError, RequestRefused, UsageError
from toolroll.kernel.data.messages import AssistantBlock, AssistantMessage, CallBlock, Origin, TextBlock, ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.data.usage import Usage
from toolroll.messages import SCRIPT_CODE_UNKNOWN, SCRIPT_INVALID, SCRIPT_TOO_LARGE, WHOLE_FILE
from toolroll.models.model import ModelRequest, ModelResponse, StopKind
from toolroll.models.scripted import Line, ScriptedModel
from toolroll.safe.paths.os_errors import os_errors

PREFIX: Final = "scripted:"
MAX_SCRIPT_BYTES: Final = 16 * 1024 * 1024
"""More than any conversation that fits a model."""


def scripted_file(path: Path) -> ScriptedModel:
    """Return the model that plays the file; raise a `UsageError` that says what is wrong with it, and where."""
    with os_errors(str(path)), path.open("rb") as file:
        data = file.read(MAX_SCRIPT_BYTES + 1)
    if len(data) > MAX_SCRIPT_BYTES:
        raise UsageError(SCRIPT_TOO_LARGE(path=path, limit=f"{MAX_SCRIPT_BYTES:,}"))
    origin = Origin(wire="chat", model=f"{PREFIX}{path.name}")
    return ScriptedModel(_Player(_read(path, data), origin), origin=origin)


class _Player:
    def __init__(self, turns: Sequence[Any], origin: Origin) -> None:
        self._turns = turns
        self._origin = origin

    def __call__(self, request: ModelRequest) -> Line:
        made = sum(isinstance(message, AssistantMessage) for message in request.messages)
        if made >= len(self._turns):
            raise RequestRefused(f"The script has ended: it has {len(self._turns)} turns, and one more was asked for.")
        turn = self._turns[made]
        return self._response(made, turn) if turn.error is None else _error(turn.error.code, turn.error.message)

    def _response(self, made: int, turn: Any) -> ModelResponse:
        blocks: list[AssistantBlock] = [TextBlock(text=turn.text)] if turn.text else []
        for number, call in enumerate(turn.calls, 1):
            arguments = call.arguments if isinstance(call.arguments, str) else dump_json(call.arguments)
            call_id = call.id or f"call_{made + 1}_{number}"
            blocks.append(CallBlock(call=ToolCall(id=call_id, name=call.name, arguments=arguments)))
        return ModelResponse(
            message=AssistantMessage(blocks=tuple(blocks), origin=self._origin),
            stop=turn.stop or ("tool_calls" if turn.calls else "end"),
            usage=turn.usage or Usage(input_tokens=10, output_tokens=5, requests=1),
        )


def _error(code: str, message: str) -> ModelError:
    kind = next((one for one in ModelError.__subclasses__() if one.code == code), None)
    if kind is None:
        known = ", ".join(one.code for one in ModelError.__subclasses__())
        raise UsageError(SCRIPT_CODE_UNKNOWN(code=repr(code), known=known))
    return kind(message)


def _read(path: Path, data: bytes) -> Sequence[Any]:
    try:
        return _adapter().validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or WHOLE_FILE
        raise UsageError(SCRIPT_INVALID(path=path, place=place, reason=first["msg"])) from None


@cache
def _adapter() -> "TypeAdapter[list[Any]]":
    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")

    class CallLine(Strict):
        name: str
        arguments: dict[str, Any] | str = Field(default_factory=dict)
        id: str | None = None

    class ErrorLine(Strict):
        code: str
        message: str

    class TurnLine(Strict):
        text: str = ""
        calls: list[CallLine] = Field(default_factory=list)
        stop: StopKind | None = None
        usage: Usage | None = None
        error: ErrorLine | None = None

    def of_text(turn: object) -> object:
        return {"text": turn} if isinstance(turn, str) else turn

    return TypeAdapter(list[Annotated[TurnLine, BeforeValidator(of_text)]])
