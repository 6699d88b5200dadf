"""Send one request and read its answer: the part that all wires have in common."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Protocol

from toolroll.errors import ModelError
from toolroll.kernel.data.messages import Message, Origin
from toolroll.models.catalog import ModelLimits
from toolroll.models.event_stream import EventDecoder, ServerEvent
from toolroll.models.failures import ErrorBody, find_error, read_error
from toolroll.models.model import Delta, ModelRequest, ModelResponse, Wire
from toolroll.models.shape import read_json, without_infinities
from toolroll.models.transport import Reply, Transport
from toolroll.models.wire_json import Json, RequestBytes, same_head
from toolroll.safe.secrets.redact import redact_shown

OK: Final = 200
"""The one good status of all these endpoints."""

_HEADS_KEPT: Final = 8
"""A few agents may share a model, each with and without its tools."""

NO_HEADERS: Final[Mapping[str, str]] = {}
_SECRET_HEADERS: Final = ("x-api-key", "authorization")


class Assembly(Protocol):
    """Puts the events of one stream together."""

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
        # Providers quote the key that they refuse; what looks like one is redacted, and this is one for sure.
        self._secrets = tuple(self._headers[name].split()[-1] for name in _SECRET_HEADERS if name in self._headers)

    @property
    def origin(self) -> Origin:
        """Return this model and this wire."""
        return self._origin

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield deltas while the turn is written (with `stream`), then the whole response."""
        body = self.encode(request, stream=stream)
        async with self._transport.post(self.path, headers=self._headers, body=body) as reply:
            if reply.status != OK:
                raise self.fail(read_error(await reply.body()), reply.status, reply.headers)
            # Servers that cannot stream answer with plain JSON whatever was asked for.
            if stream and not _is_json(reply):
                assembly, decoder = self.assembly(), EventDecoder()
                async for chunk in reply.chunks:
                    for delta in _deltas(assembly, decoder.feed(chunk)):
                        yield delta
                answer = assembly.finish()
            else:
                answer = read_json(await reply.body())
        yield self._response(answer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    def encode(self, request: ModelRequest, *, stream: bool) -> bytes:
        """Return the body of a request; what was encoded for an earlier request of the run comes from its memo."""
        key = f"{self.wire} {self.model}"
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
        self._heads.append((replace(request, messages=(), memo={}), said, head))
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


def _is_json(reply: Reply) -> bool:
    return reply.headers.get("content-type", "").startswith("application/json")


def _deltas(assembly: Assembly, events: Iterable[ServerEvent]) -> Iterator[Delta]:
    """Yield deltas one by one: those before an event that fails are shown, however the stream was cut (XL10)."""
    for event in events:
        yield from assembly.feed(event.data)
