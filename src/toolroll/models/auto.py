"""A chat model whose calls are asked for as the server makes them, and read from the text where they are there.

Servers offer calls for models that never learned to make them, and templates lose those of models that did. Then the
call stands in the text. It is run like any other, after every check and approval, and the run goes on in the JSON form
of `SmallModel`, which such models do better.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Final, cast

from toolroll.errors import RequestRefused
from toolroll.kernel.data.messages import AssistantMessage, CallBlock
from toolroll.models.catalog import SMALL_WINDOW_TOKENS, ModelLimits
from toolroll.models.chat.model import ChatModel
from toolroll.models.chat.request import ChatOptions
from toolroll.models.held_text import HeldText
from toolroll.models.model import Delta, HeldDelta, ModelRequest, ModelResponse, TextDelta
from toolroll.models.settings import SettingRules
from toolroll.models.small import SmallModel, offers_tools, small_rules, with_calls
from toolroll.models.text_calls import choose_calls, is_raw_call, words_before
from toolroll.models.transport import Transport

_AS_JSON: Final = "calls as json"
"""The name under which a run remembers in which form it goes on."""


class AutoModel(ChatModel):
    """A chat model for which calls in its text are calls."""

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        limits: ModelLimits | None = None,
        options: ChatOptions | None = None,
    ) -> None:
        super().__init__(model, transport=transport, headers=headers, limits=limits, options=options)
        self._as_json = SmallModel(model, transport=transport, headers=headers, limits=limits, options=options)

    def setting_rules(self) -> SettingRules:
        """Return what the server takes in the form that is used first."""
        return small_rules(self._options.rules) if self._is_small else self._options.rules

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the turn: as JSON where an earlier one of the run has shown that this is needed."""
        form = self._as_json
        form.timeouts, form.pauses, form.limits = self.timeouts, self.pauses, self.limits
        asked = self._respond_as_json if self._needs_json(request) else self._respond_natively
        pieces = cast("AsyncGenerator[Delta | ModelResponse, None]", asked(request, stream=stream))
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    def _needs_json(self, request: ModelRequest) -> bool:
        """Return whether a call of this model was read from its text, here or before the run was resumed."""
        if not request.tools:
            return False
        if _AS_JSON in request.memo or self._is_small:
            return True
        return any(block.raw is None for block in self._own_calls(request))

    @property
    def _is_small(self) -> bool:
        """Return whether the model is a small one on this machine: these do better as JSON from the first turn on.

        Measured with one of 1.5 billion parameters: natively it makes no call, and only part of its text is one.
        """
        limits = self.limits
        return self._is_local and limits is not None and limits.window_tokens <= SMALL_WINDOW_TOKENS

    def _own_calls(self, request: ModelRequest) -> list[CallBlock]:
        own = (one for one in request.messages if isinstance(one, AssistantMessage) and one.origin == self.origin)
        return [block for message in own for block in message.blocks if isinstance(block, CallBlock)]

    def _respond_as_json(self, request: ModelRequest, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        return self._as_json.respond(request, stream=stream)

    async def _respond_natively(self, request: ModelRequest, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        held, is_begun = HeldText(), False
        pieces = cast("AsyncGenerator[Delta | ModelResponse, None]", super().respond(request, stream=stream))
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    is_begun = True
                    for shown in self._show(piece, held, request, stream=stream) if request.tools else (piece,):
                        yield shown
        except RequestRefused:
            # Servers on this machine refuse tools that their model has no template for.
            if is_begun or not request.tools or not self._is_local or self._own_calls(request):
                raise
            request.memo[_AS_JSON] = True
        else:
            return
        pieces = cast("AsyncGenerator[Delta | ModelResponse, None]", self._respond_as_json(request, stream=stream))
        async with aclosing(pieces):
            async for piece in pieces:
                yield replace(piece, has_text_calls=True) if isinstance(piece, ModelResponse) else piece

    def _show(
        self, piece: Delta | ModelResponse, held: HeldText, request: ModelRequest, *, stream: bool
    ) -> list[Delta | ModelResponse]:
        """Return what is passed on of a piece; text that may be a call waits for the end."""
        if isinstance(piece, TextDelta):
            shown = held.feed(piece.text)
            return [TextDelta(text=shown)] if shown == piece.text else _split(shown, piece.text)
        if not isinstance(piece, ModelResponse):
            return [piece]
        response, rest = self._read(piece, request), held.flush()
        is_text = stream and rest and response.message.text == piece.message.text
        return [TextDelta(text=rest), response] if is_text else [response]

    def _read(self, response: ModelResponse, request: ModelRequest) -> ModelResponse:
        """Return the response with the calls that stand in its text; a closing turn without them."""
        message = response.message
        if message.calls or response.stop not in ("end", "tool_calls", "stop_sequence"):
            return response
        if not offers_tools(request):
            return with_calls(response, "", ()) if is_raw_call(message.text) else response
        names = {tool.name for tool in request.tools}
        # A model that has made calls as it should may well write one down because it was asked to.
        calls = choose_calls(message.text, names, only_whole=bool(self._own_calls(request)))
        if not calls or (request.output_schema is not None and calls[0].name not in names):
            return response
        request.memo[_AS_JSON] = True
        words = words_before(message.text, calls)
        read = with_calls(response, words, [(one.name, one.arguments) for one in calls])
        return replace(read, has_text_calls=True, stop="tool_calls")


def _split(shown: str, piece: str) -> list[Delta | ModelResponse]:
    """Return what is shown, and that something else was written, which is not."""
    held: list[Delta | ModelResponse] = [HeldDelta(text=piece)]
    return [TextDelta(text=shown), *held] if shown else held
