"""Models without a provider: they say what a script tells them. For tests, demos, and trying things out."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolroll.errors import ModelError, RequestRefused, UsageError
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    Origin,
    ReasoningBlock,
    TextBlock,
    ToolCall,
)
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import CallDelta, Delta, ModelRequest, ModelResponse, ReasoningDelta, StopKind, TextDelta
from toolroll.models.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Call:
    """A scripted call: `Call("add", {"a": 1})`. A string goes out as it is, so that broken JSON can be scripted too."""

    name: str
    """The name of the tool."""
    arguments: object = None
    """The arguments, as a value or as JSON text."""
    id: str | None = None
    """The id of the call; by default a new one."""


Line: TypeAlias = "str | Call | Sequence[str | Call] | ModelResponse | ModelError"
"""One turn: a text, a call, several of both, a whole response, or an error to raise."""


class ScriptedModel:
    """Plays a list of turns, or asks a function for each."""

    def __init__(
        self, script: Iterable[Line] | Callable[[ModelRequest], Line], *, origin: Origin | None = None
    ) -> None:
        if isinstance(script, str | Call) or not (callable(script) or isinstance(script, Iterable)):
            raise UsageError(f"A script is a list of turns, also of one: ScriptedModel([{script!r}]).")
        self._next = script if callable(script) else _player(list(script))
        self._origin = origin or Origin(wire="chat", model="scripted")
        self._count = 0
        self.requests: list[tuple[Message, ...]] = []

    @property
    def origin(self) -> Origin:
        """Return the name of this model."""
        return self._origin

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Take any: a script says the same whatever is set."""

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the next turn of the script."""
        self.requests.append(tuple(request.messages))
        line = self._next(request)
        if isinstance(line, ModelError):
            raise line
        response = line if isinstance(line, ModelResponse) else self._response(line)
        if stream:
            for delta in split_into_deltas(response.message):
                yield delta
        yield response

    def _response(self, line: "str | Call | Sequence[str | Call]") -> ModelResponse:
        parts = [line] if isinstance(line, (str, Call)) else line
        blocks = tuple(TextBlock(text=part) if isinstance(part, str) else self._call(part) for part in parts)
        stop: StopKind = "tool_calls" if any(isinstance(block, CallBlock) for block in blocks) else "end"
        message = AssistantMessage(blocks=blocks, origin=self._origin)
        return ModelResponse(message=message, stop=stop, usage=Usage(input_tokens=10, output_tokens=5, requests=1))

    def _call(self, call: Call) -> CallBlock:
        self._count += 1
        arguments = call.arguments if isinstance(call.arguments, str) else dump_json(call.arguments or {})
        return CallBlock(call=ToolCall(id=call.id or f"call_{self._count}", name=call.name, arguments=arguments))


def _player(lines: list[Line]) -> Callable[[ModelRequest], Line]:
    remaining = iter(lines)

    def play(_request: ModelRequest) -> Line:
        line = next(remaining, None)
        if line is None:
            # Of a kind that is not tried again: there will be no more turns later.
            raise RequestRefused(f"The script has ended: it has {len(lines)} turns, and one more was asked for.")
        return line

    return play


def split_into_deltas(message: AssistantMessage) -> Iterable[Delta]:
    """Split a finished message into the pieces of a stream: words, and arguments in two halves."""
    for block in message.blocks:
        if isinstance(block, TextBlock):
            yield from (TextDelta(text=word) for word in _words(block.text))
        elif isinstance(block, ReasoningBlock):
            yield from (ReasoningDelta(text=word) for word in _words(block.text))
        elif isinstance(block, CallBlock):
            call, half = block.call, len(block.call.arguments) // 2
            yield CallDelta(call_id=call.id, name=call.name, arguments=call.arguments[:half])
            yield CallDelta(call_id=call.id, name=call.name, arguments=call.arguments[half:])


def _words(text: str) -> Iterable[str]:
    start = 0
    for end, character in enumerate(text, start=1):
        if character == " ":
            yield text[start:end]
            start = end
    if start < len(text):
        yield text[start:]
