"""Models that are driven by one JSON object a turn, behind any server that speaks Chat Completions."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from typing import cast

from toolroll.kernel.data.messages import Message
from toolroll.models.chat.model import ChatModel
from toolroll.models.encode import Json
from toolroll.models.model import Delta, ModelRequest, ModelResponse, ReasoningDelta
from toolroll.models.scripted import deltas_of
from toolroll.models.small.request import offers, small_head, small_message_json
from toolroll.models.small.response import read_turn


class SmallModel(ChatModel):
    """A chat model whose calls are JSON in its text. What it writes is shown when it is whole."""

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """The turn: what it thinks while it does, then the call or the answer."""
        pieces = cast("AsyncGenerator[Delta | ModelResponse, None]", super().respond(request, stream=stream))
        has_tools = offers(request)
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, ModelResponse):
                    response = read_turn(piece, as_json=request.output_schema is not None) if has_tools else piece
                    for delta in _unshown(response) if has_tools and stream else ():
                        yield delta
                    yield response
                elif not has_tools or isinstance(piece, ReasoningDelta):
                    yield piece

    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as in the base
        """Everything of a request but its messages."""
        tokens = self._max_tokens(request)
        return small_head(request, model=self.model, stream=stream, max_tokens=tokens, options=self._options)

    def message_json(self, message: Message, /) -> Iterable[Json]:
        """One message is one message here, results too."""
        return small_message_json(message, to=self.origin, options=self._options)


def _unshown(response: ModelResponse) -> list[Delta]:
    """What of a turn was not shown while it was written: all but the thinking."""
    return [delta for delta in deltas_of(response.message) if not isinstance(delta, ReasoningDelta)]
