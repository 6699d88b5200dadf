"""Record the requests and answers of a model, replay them without it, and find where a new request differs.

A recording holds neutral data, no bytes of any wire: it can be made with one provider, read by a person, and replayed
by code that has learnt to speak to it differently since.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from operator import eq
from typing import Final, TypeAlias, TypeGuard

from pydantic import ConfigDict, TypeAdapter, ValidationError

from toolroll.errors import ModelError, RequestRefused, UsageError
from toolroll.kernel.data.messages import Message, Origin
from toolroll.kernel.define.tool import ToolDefinition
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse, WebSearch
from toolroll.models.scripted import split_into_deltas
from toolroll.models.settings import ModelSettings, check_settings
from toolroll.models.wire_json import compact
from toolroll.safe.text import one_line

VERSION: Final = 1
MAX_DIFFERENCES_SHOWN: Final = 3
_SHOWN_CHARACTERS: Final = 80
_MISSING: Final = "(nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """What a request said, as far as a model could tell."""

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    web_search: WebSearch | None = None
    tool_choice: str = "auto"
    settings: ModelSettings | None = None
    max_output_tokens: int = 0
    output_schema: Mapping[str, object] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def from_request(cls, request: ModelRequest) -> "RecordedRequest":
        """Copy a request as it is now: its list of messages may grow later."""
        known = {one.name: getattr(request, one.name) for one in fields(cls)}
        return cls(**known | {"messages": tuple(request.messages)})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFailure:
    """An error instead of an answer, by its stable code."""

    code: str
    message: str
    status: int | None = None
    retry_after_s: float | None = None

    @classmethod
    def from_error(cls, error: ModelError) -> "RecordedFailure":
        """Record an error."""
        return cls(code=error.code, message=error.message, status=error.status, retry_after_s=error.retry_after_s)

    def to_error(self) -> ModelError:
        """Return the error again."""
        kind = next((one for one in ModelError.__subclasses__() if one.code == self.code), ModelError)
        return kind(self.message, status=self.status, retry_after_s=self.retry_after_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it."""

    asked: RecordedRequest
    outcome: ModelResponse | RecordedFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Everything one model was asked and said, in order."""

    origin: Origin
    """Return the model that was recorded."""
    exchanges: tuple[Exchange, ...] = ()
    """Each request with its answer."""

    def to_lines(self) -> str:
        """Return the recording as lines of JSON: one that says what it is, then one for each exchange.

        Of each request only those messages are written that the one before it did not hold.
        """
        adapter = _adapter()
        lines: list[_Line] = [_Head(version=VERSION, origin=self.origin), *_shorten(self.exchanges)]
        return "".join(compact(adapter.dump_python(line, mode="json")).decode() + "\n" for line in lines)

    @classmethod
    def from_lines(cls, text: str) -> "Recording":
        """Read a recording from its lines; one of a newer version is refused."""
        head, *rest = (_read(number, line) for number, line in enumerate(text.strip("\n").split("\n"), 1))
        exchanges = tuple(line for line in rest if isinstance(line, _Shortened))
        if not isinstance(head, _Head) or len(exchanges) != len(rest):
            raise UsageError("This is no recording: it does not begin with its version, or has more than one.")
        return cls(origin=head.origin, exchanges=tuple(_restore(exchanges)))


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


def _shorten(exchanges: tuple[Exchange, ...]) -> Iterator[_Shortened]:
    before: tuple[Message, ...] = ()
    for exchange in exchanges:
        messages = exchange.asked.messages
        same = next(
            (n for n, alike in enumerate(map(eq, messages, before)) if not alike), min(len(messages), len(before))
        )
        asked = replace(exchange.asked, messages=messages[same:])
        yield _Shortened(same=same, exchange=replace(exchange, asked=asked))
        before = messages


def _restore(lines: tuple[_Shortened, ...]) -> Iterator[Exchange]:
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
        """Return the model behind it."""
        return self._inner.origin

    @property
    def recording(self) -> Recording:
        """Return what was recorded so far."""
        return Recording(origin=self.origin, exchanges=tuple(self._exchanges))

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Take what the model behind it takes."""
        check_settings(self._inner, settings, self.origin.model)

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the turn of the model behind it, and record it."""
        asked = RecordedRequest.from_request(request)
        try:
            async for piece in self._inner.respond(request, stream=stream):
                if isinstance(piece, ModelResponse):
                    self._exchanges.append(Exchange(asked=asked, outcome=piece))
                yield piece
        except ModelError as error:
            self._exchanges.append(Exchange(asked=asked, outcome=RecordedFailure.from_error(error)))
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where a request is not the recorded one."""

    exchange: int
    place: str
    recorded: object
    now: object

    def __str__(self) -> str:
        recorded, now = (one_line(repr(value), _SHOWN_CHARACTERS) for value in (self.recorded, self.now))
        return f"request {self.exchange}, {self.place}: recorded {recorded}, now {now}"


class ReplayModel:
    """Gives the recorded answers in their order.

    A request that differs is refused, with the places; with `strict=False` it is answered all the same, and
    `differences` lists them.
    """

    def __init__(self, recording: Recording, *, strict: bool = True) -> None:
        self._recording = recording
        self._strict = strict
        self._next = 0
        self.differences: list[Difference] = []

    @property
    def origin(self) -> Origin:
        """Return the model that was recorded."""
        return self._recording.origin

    @property
    def unused(self) -> int:
        """Return how many recorded exchanges nobody has asked for yet."""
        return len(self._recording.exchanges) - self._next

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Take any: a request with other settings than the recorded ones is a difference."""

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the recorded turn."""
        if not self.unused:
            raise RequestRefused(f"The recording has ended: it has {self._next} exchanges, and one more is asked for.")
        exchange = self._recording.exchanges[self._next]
        self._next += 1
        self._compare(exchange.asked, RecordedRequest.from_request(request))
        if isinstance(exchange.outcome, RecordedFailure):
            raise exchange.outcome.to_error()
        if stream:
            for delta in split_into_deltas(exchange.outcome.message):
                yield delta
        yield exchange.outcome

    def _compare(self, recorded: RecordedRequest, now: RecordedRequest) -> None:
        found = [
            Difference(exchange=self._next, place=place, recorded=before, now=after)
            for place, before, after in find_differences(recorded, now)
        ]
        self.differences += found
        if found and self._strict:
            shown = "\n".join(map(str, found[:MAX_DIFFERENCES_SHOWN]))
            more = f"\nand {len(found) - MAX_DIFFERENCES_SHOWN} more" if len(found) > MAX_DIFFERENCES_SHOWN else ""
            raise RequestRefused(f"The request is not the recorded one:\n{shown}{more}")


def find_differences(recorded: object, now: object, place: str = "") -> Iterator[tuple[str, object, object]]:
    """Find where two values differ, as deep inside as possible: `messages[3].results[0].content`."""
    if is_dataclass(recorded) and type(recorded) is type(now):
        for one in fields(recorded):
            name = f"{place}.{one.name}" if place else one.name
            yield from find_differences(getattr(recorded, one.name), getattr(now, one.name), name)
    elif isinstance(recorded, Mapping) and isinstance(now, Mapping):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            yield from find_differences(recorded.get(key, _MISSING), now.get(key, _MISSING), f"{place}[{key!r}]")
    elif _is_list(recorded) and _is_list(now):
        for number in range(max(len(recorded), len(now))):
            before, after = (one[number] if number < len(one) else _MISSING for one in (recorded, now))
            yield from find_differences(before, after, f"{place}[{number}]")
    elif recorded != now:
        yield place, recorded, now


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (list, tuple))
