"""Send one request and read its answer: the part that all wires have in common."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, ClassVar, Final, Protocol

from toolroll.errors import AnswerTooLarge, ModelError
from toolroll.kernel.data.messages import Message, Origin
from toolroll.messages import MODEL_ANSWER_TOO_LARGE, MODEL_CALL_TOO_LARGE, MODEL_TOO_MANY_BLOCKS
from toolroll.models.catalog import ModelLimits
from toolroll.models.clock import AnswerClock, Pauses, StartWait
from toolroll.models.event_stream import EventDecoder, HalfJoiner
from toolroll.models.failures import REDIRECTS, ErrorBody, find_error, foreign_answer, read_error
from toolroll.models.model import (
    LOCAL_FIRST_BYTE_S,
    CallDelta,
    Delta,
    ModelRequest,
    ModelResponse,
    Timeouts,
    Wire,
)
from toolroll.models.reply import MAX_BODY_BYTES, Reply
from toolroll.models.settings import ModelSettings, SettingRules, check_by_rules, refuse_setting
from toolroll.models.shape import MAX_BLOCKS, read_json, without_infinities
from toolroll.models.transport import Transport
from toolroll.models.wire_json import Json, RequestBytes, same_head
from toolroll.safe.secrets.redact import redact_shown

OK: Final = 200
"""The one good status of all these endpoints."""

MAX_CALL_CHARACTERS: Final = 4 * 1024 * 1024
"""Of the arguments of one call: eight times what a tool accepts, and more than a model can write in one turn."""

_HEADS_KEPT: Final = 8
"""A few agents may share a model, each with and without its tools."""

NO_HEADERS: Final[Mapping[str, str]] = {}
_LOADING: Final = (503, "unavailable_error")
"""What llama.cpp answers while it loads its model."""
_SECRET_HEADERS: Final = ("x-api-key", "api-key", "authorization")


class Assembly(Protocol):
    """Puts the events of one stream together."""

    @property
    def blocks(self) -> int:
        """Return how many blocks have begun; it only grows."""
        ...

    def feed(self, data: str) -> Sequence[Delta]:
        """Take the data of one event; returns what a person could be shown of it."""
        ...

    def finish(self) -> dict[str, Any]:
        """Return the whole answer, as it would have come unstreamed; raise `NetworkFailed` if its end is missing."""
        ...


class WireModel(ABC):
    """A model behind one HTTP endpoint. One instance serves any number of runs at once.

    A wire adds pure functions over plain data: what a request looks like, and what an answer means.
    """

    wire: ClassVar[Wire]
    path: ClassVar[str]
    has_web_search: ClassVar[bool] = True
    memo_key: ClassVar[str] = ""
    """Tells apart two ways in which one model is asked within a run."""

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        limits: ModelLimits | None = None,
    ) -> None:
        self.model = model
        self.limits = limits
        self._transport = transport
        self._headers = {"content-type": "application/json", **(headers or {})}
        self._heads: deque[tuple[ModelRequest, tuple[object, ...], Json]] = deque(maxlen=_HEADS_KEPT)
        self._origin = Origin(wire=self.wire, model=model)
        self._is_local = bool(getattr(transport, "is_local", False))
        self.timeouts: Timeouts = Timeouts(first_byte_s=LOCAL_FIRST_BYTE_S if self._is_local else None)
        self.pauses: Pauses = Pauses()
        # Providers quote the key that they refuse; what looks like one is redacted, and this is one for sure.
        self._secrets = tuple(self._headers[name].split()[-1] for name in _SECRET_HEADERS if name in self._headers)

    @property
    def origin(self) -> Origin:
        """Return this model and this wire."""
        return self._origin

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield deltas while the turn is written (with `stream`), then the whole response."""
        body = self.encode(request, stream=stream)
        stack, reply, clock = await self._open(request, body, stream=stream)
        async with stack:
            # Servers that cannot stream answer with plain JSON whatever was asked for.
            if stream and not _is_json(reply):
                pieces = StreamReader(self.assembly(), clock)
                while (chunk := await clock.next(reply.chunks)) is not None:
                    for delta in pieces.feed(chunk):
                        yield delta
                for delta in pieces.end():
                    yield delta
                answer = pieces.assembly.finish()
            else:
                answer = read_json(await clock.wait(reply.body()))
        yield self._response(answer)

    async def _open(
        self, request: ModelRequest, body: bytes, *, stream: bool
    ) -> tuple[AsyncExitStack, Reply, AnswerClock]:
        """Send the request and return the good answer that begins; a server that is not ready yet is waited for."""
        limits = self._timeouts(request)
        start = StartWait(limits.start_s, pauses=self.pauses, on_wait=request.on_wait)
        while True:
            try:
                return await self._send(request, body, AnswerClock(limits, streamed=stream, on_wait=request.on_wait))
            except ModelError as error:
                error.is_starting = error.is_starting and limits.start_s > 0
                if not error.is_starting:
                    raise
                await start.wait(error)

    async def _send(
        self, request: ModelRequest, body: bytes, clock: AnswerClock
    ) -> tuple[AsyncExitStack, Reply, AnswerClock]:
        async with AsyncExitStack() as stack:
            stack.callback(clock.close)
            sending = self._transport.post(self.path, headers=self._headers_of(request), body=body)
            reply = await clock.wait(stack.enter_async_context(sending))
            if reply.status in REDIRECTS or (reply.status == OK and _is_page(reply)):
                raise foreign_answer(reply.status)
            if reply.status != OK:
                said = read_error(await clock.wait(reply.body()))
                failed = self.fail(said, reply.status, reply.headers)
                failed.is_starting = self._is_local and (reply.status, said.kind) == _LOADING
                raise failed
            return stack.pop_all(), reply, clock

    def _timeouts(self, request: ModelRequest) -> Timeouts:
        return self.timeouts if request.timeouts is None else request.timeouts.filled_from(self.timeouts)

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Raise `UsageError` for a setting that the model would not follow, before it is asked."""
        check_by_rules(settings, self.setting_rules(), self.model)
        asked = settings.max_output_tokens
        if asked is not None and self.limits is not None and asked > self.limits.max_output_tokens:
            reason = f"it writes up to {self.limits.max_output_tokens:,}; ConnectSettings(limits=...) changes that"
            raise refuse_setting(self.model, settings, "max_output_tokens", reason)

    def _headers_of(self, request: ModelRequest) -> Mapping[str, str]:
        settings = request.settings
        return self._headers if settings is None else {**self._headers, **settings.extra_headers}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    def encode(self, request: ModelRequest, *, stream: bool) -> bytes:
        """Return the body of a request; what was encoded for an earlier request of the run comes from its memo."""
        key = f"{self.wire} {self.model} {self.memo_key}"
        kept = request.memo.get(key)
        if not isinstance(kept, RequestBytes):
            kept = request.memo[key] = RequestBytes(head=self._known_head, messages=self.message_json)
        head = kept.head.encode(request, stream=stream)
        return self.join(head, kept.messages.encode(request.messages), request)

    def _known_head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as `head`
        """Reuse the head of an earlier run with the same tools: strict forms of schemas cost as much as ten steps."""
        said = (stream, request.tool_choice, self.limits)
        for kept, of, head in self._heads:
            if of == said and same_head(kept, request):
                return head
        head = self.head(request, stream)
        # Not the messages, which a finished run no longer needs.
        self._heads.append((replace(request, messages=(), memo={}, on_wait=None), said, head))
        return head

    def _response(self, answer: dict[str, Any]) -> ModelResponse:
        error = find_error(answer)
        if error is not None:  # inside a 200, as gateways like to do
            raise self.fail(error)
        return self.read(without_infinities(answer))

    def fail(self, error: ErrorBody, status: int | None = None, headers: Mapping[str, str] = NO_HEADERS) -> ModelError:
        """Return the error of a bad answer, with keys redacted; `status` is None for an error inside a good answer."""
        # Of the request, too, something may be quoted, and so a key of another service that a tool has read.
        said = replace(error, message=redact_shown(error.message, known=self._secrets))
        return self.failure(status, headers, said)

    def max_output_tokens(self, request: ModelRequest) -> int:
        """Return the limit that the request asks for, lowered to what the model allows."""
        asked = request.max_output_tokens
        return asked if self.limits is None else min(asked, self.limits.max_output_tokens)

    @abstractmethod
    def setting_rules(self) -> SettingRules:
        """Return which settings the model takes."""

    @abstractmethod
    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - called in one place, by position
        """Return everything of a request but its messages."""

    @abstractmethod
    def message_json(self, message: Message, /) -> Iterable[Json]:
        """Return the JSON objects of one message on this wire."""

    @abstractmethod
    def join(self, head: bytes, pieces: list[bytes], request: ModelRequest) -> bytes:
        """Join the encoded parts to the whole body; `pieces` may be changed."""

    @abstractmethod
    def assembly(self) -> Assembly:
        """Return an object that puts the events of one stream together."""

    @abstractmethod
    def read(self, answer: dict[str, Any]) -> ModelResponse:
        """Read a whole answer."""

    @abstractmethod
    def failure(self, status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
        """Return the error that the provider's answer stands for."""


def _is_page(reply: Reply) -> bool:
    return reply.headers.get("content-type", "").strip().lower().startswith("text/html")


def _is_json(reply: Reply) -> bool:
    return reply.headers.get("content-type", "").startswith("application/json")


class StreamReader:
    """Reads the bytes of one stream within limits on their number, and tells the clock what is content."""

    def __init__(self, assembly: Assembly, clock: AnswerClock) -> None:
        self.assembly = assembly
        self._clock = clock
        self._decoder = EventDecoder()
        self._halves = HalfJoiner()
        self._bytes = 0
        self._blocks = 0
        self._arguments: dict[str, int] = {}

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """Yield deltas one by one: those before an event that fails are shown, however the stream was cut (XL10)."""
        self._bytes += len(chunk)
        if self._bytes > MAX_BODY_BYTES:
            raise AnswerTooLarge(MODEL_ANSWER_TOO_LARGE(limit=f"{MAX_BODY_BYTES:,}"))
        for event in self._decoder.feed(chunk):
            for data in self._halves.feed(event.data):
                yield from self._read(data)

    def end(self) -> Iterator[Delta]:
        """Yield the deltas of events that waited for half of a character."""
        for data in self._halves.flush():
            yield from self._read(data)

    def _read(self, data: str) -> Iterator[Delta]:
        for delta in self.assembly.feed(data):
            self._note(delta)
            yield delta
        self._note_blocks()

    def _note(self, delta: Delta) -> None:
        if not isinstance(delta, CallDelta):
            if delta.text:
                self._clock.note_content()
        elif delta.arguments:
            self._clock.note_content()
            size = self._arguments[delta.call_id] = self._arguments.get(delta.call_id, 0) + len(delta.arguments)
            if size > MAX_CALL_CHARACTERS:
                raise AnswerTooLarge(MODEL_CALL_TOO_LARGE(limit=f"{MAX_CALL_CHARACTERS:,}"))

    def _note_blocks(self) -> None:
        """A block that begins or ends is content, also where nobody is shown it, as of a search of the provider's."""
        blocks = self.assembly.blocks
        if blocks != self._blocks:
            self._blocks = blocks
            self._clock.note_content()
            if blocks > MAX_BLOCKS:
                raise AnswerTooLarge(MODEL_TOO_MANY_BLOCKS(limit=f"{MAX_BLOCKS:,}"))
