"""Real traffic as a test: record what a model was asked and said, play it back without one, and say what changed.

A recording holds neutral data, no bytes of any wire: it can be made with one provider, read by a person, and replayed
by code that has learnt to speak to it differently since.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from operator import eq
from typing import Final, Literal, TypeAlias

from pydantic import ConfigDict, TypeAdapter, ValidationError

from toolroll.errors import ModelError, UsageError
from toolroll.kernel.data.messages import Message, Origin
from toolroll.kernel.define.tool import ToolDefinition
from toolroll.models.encode import compact
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse, WebSearch

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request said, as far as a model could tell."""

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    web_search: WebSearch | None = None
    tool_choice: Literal["auto", "none"] = "auto"
    max_output_tokens: int = 0
    output_schema: Mapping[str, object] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ModelRequest) -> "Asked":
        """A request as it is now: its messages may grow, what is recorded may not."""
        known = {one.name: getattr(request, one.name) for one in fields(cls)}
        return cls(**known | {"messages": tuple(request.messages)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An error instead of an answer, by its stable code."""

    code: str
    message: str
    status: int | None = None
    retry_after_s: float | None = None

    @classmethod
    def of(cls, error: ModelError) -> "Failed":
        """What is kept of an error."""
        return cls(code=error.code, message=error.message, status=error.status, retry_after_s=error.retry_after_s)

    def error(self) -> ModelError:
        """The error again."""
        kind = next((one for one in ModelError.__subclasses__() if one.code == self.code), ModelError)
        return kind(self.message, status=self.status, retry_after_s=self.retry_after_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it."""

    asked: Asked
    outcome: ModelResponse | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Everything one model was asked and said, in order."""

    origin: Origin
    """The model that was recorded."""
    exchanges: tuple[Exchange, ...] = ()
    """Each request with its answer."""

    def to_lines(self) -> str:
        """The recording as lines of JSON: one that says what it is, then one an exchange.

        Of each request only those messages are written that the one before it did not hold.
        """
        adapter = _adapter()
        lines: list[_Line] = [_Head(version=VERSION, origin=self.origin), *_shortened(self.exchanges)]
        return "".join(compact(adapter.dump_python(line, mode="json")).decode() + "\n" for line in lines)

    @classmethod
    def from_lines(cls, text: str) -> "Recording":
        """The recording behind the lines; one of a newer version is refused."""
        head, *rest = (_read(number, line) for number, line in enumerate(text.strip("\n").split("\n"), 1))
        exchanges = tuple(line for line in rest if isinstance(line, _Shortened))
        if not isinstance(head, _Head) or len(exchanges) != len(rest):
            raise UsageError("This is no recording: it does not begin with its version, or has more than one.")
        return cls(origin=head.origin, exchanges=tuple(_restored(exchanges)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    version: int
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shortened:
    same: int
    exchange: Exchange


_Line: TypeAlias = _Head | _Shortened


@cache
def _adapter() -> "TypeAdapter[_Line]":
    return TypeAdapter(_Line, config=ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", extra="forbid"))


def _read(number: int, line: str) -> _Line:
    try:
        read = _adapter().validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise UsageError(f"This is no recording: line {number}, {place}: {first['msg']}.") from None
    if isinstance(read, _Head) and read.version > VERSION:
        raise UsageError(f"The recording has version {read.version}; this toolroll reads {VERSION}. Update toolroll.")
    return read


def _shortened(exchanges: tuple[Exchange, ...]) -> Iterator[_Shortened]:
    before: tuple[Message, ...] = ()
    for exchange in exchanges:
        messages = exchange.asked.messages
        same = next(
            (n for n, alike in enumerate(map(eq, messages, before)) if not alike), min(len(messages), len(before))
        )
        asked = replace(exchange.asked, messages=messages[same:])
        yield _Shortened(same=same, exchange=replace(exchange, asked=asked))
        before = messages


def _restored(lines: tuple[_Shortened, ...]) -> Iterator[Exchange]:
    before: tuple[Message, ...] = ()
    for line in lines:
        before = before[: line.same] + line.exchange.asked.messages
        yield replace(line.exchange, asked=replace(line.exchange.asked, messages=before))


class RecordingModel:
    """Passes everything on to a model and keeps what it was asked and said, failures included."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner
        self._exchanges: list[Exchange] = []

    @property
    def origin(self) -> Origin:
        """The model behind it."""
        return self._inner.origin

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        return Recording(origin=self.origin, exchanges=tuple(self._exchanges))

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """The turn of the model behind it."""
        asked = Asked.of(request)
        try:
            async for piece in self._inner.respond(request, stream=stream):
                if isinstance(piece, ModelResponse):
                    self._exchanges.append(Exchange(asked=asked, outcome=piece))
                yield piece
        except ModelError as error:
            self._exchanges.append(Exchange(asked=asked, outcome=Failed.of(error)))
            raise
