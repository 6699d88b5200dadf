"""Anthropic's models over the Messages API."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, Literal

from toolroll.errors import JsonRefused, ModelError
from toolroll.kernel.conversation import Origin
from toolroll.kernel.parse import parse_json
from toolroll.kernel.strict.plan import StrictPlan, ToolShape, plan_strict
from toolroll.kernel.strict.rules import ANTHROPIC
from toolroll.models.anthropic.failure import failure
from toolroll.models.anthropic.request import head, last_user, message_json, with_breakpoint
from toolroll.models.anthropic.response import read_message
from toolroll.models.anthropic.stream import Assembly
from toolroll.models.body import read_json
from toolroll.models.encode import MessageBytes, compact, join
from toolroll.models.model import Delta, ModelRequest, ModelResponse
from toolroll.models.sse import EventDecoder
from toolroll.models.transport import Reply, Transport

API_VERSION: Final = "2023-06-01"


class AnthropicModel:
    """A model behind `POST /v1/messages`. One instance serves any number of runs at once."""

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        strict: Literal["prefer", "off"] = "prefer",
    ) -> None:
        self._model = model
        self._transport = transport
        self._headers = {"content-type": "application/json", "anthropic-version": API_VERSION, **(headers or {})}
        self._strict: Literal["prefer", "off"] = strict

    @property
    def origin(self) -> Origin:
        """This model, over this wire."""
        return Origin(wire="anthropic", model=self._model)

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """The turn: deltas while it is written (with `stream`), then the whole of it."""
        body = self._body(request, stream=stream)
        async with self._transport.post("/v1/messages", headers=self._headers, body=body) as reply:
            if reply.status != 200:  # noqa: PLR2004 - the one good status of this endpoint
                raise await _failed(reply)
            if stream:
                async for piece in self._streamed(reply):
                    yield piece
            else:
                yield read_message(read_json(await reply.body()), origin=self.origin)

    async def _streamed(self, reply: Reply) -> AsyncIterator[Delta | ModelResponse]:
        assembly, decoder = Assembly(), EventDecoder()
        async for chunk in reply.chunks:
            for event in decoder.feed(chunk):
                for delta in assembly.feed(read_json(event.data)):
                    yield delta
        yield read_message(assembly.message(), origin=self.origin)

    def _body(self, request: ModelRequest, *, stream: bool) -> bytes:
        origin = self.origin
        kept = request.memo.get("anthropic")
        if not isinstance(kept, MessageBytes):
            kept = request.memo["anthropic"] = MessageBytes(lambda message: message_json(message, to=origin))
        pieces = kept.all(request.messages)
        marked = last_user(request.messages)
        pieces[marked] = with_breakpoint(pieces[marked])
        return join(self._head(request, stream=stream), "messages", pieces)

    def _head(self, request: ModelRequest, *, stream: bool) -> bytes:
        key = ("anthropic head", stream, request.tool_choice, request.max_output_tokens, id(request.tools))
        found = request.memo.get(repr(key))
        if not isinstance(found, bytes):
            found = compact(head(request, model=self._model, stream=stream, plan=self._plan(request)))
            request.memo[repr(key)] = found
        return found

    def _plan(self, request: ModelRequest) -> StrictPlan | None:
        if self._strict == "off":
            return None
        shapes = [ToolShape(name=tool.name, schema=tool.parameters) for tool in request.tools]
        return plan_strict(shapes, ANTHROPIC)


async def _failed(reply: Reply) -> ModelError:
    try:
        body: Any = parse_json((await reply.body()).decode("utf-8", "replace"))
        error = body["error"]
        return failure(reply.status, reply.headers, str(error.get("type", "")), str(error.get("message", "")), error)
    except (JsonRefused, KeyError, TypeError, AttributeError):  # a proxy's page instead of the provider's answer
        return failure(reply.status, reply.headers, "", "an answer that is not the provider's", {})
