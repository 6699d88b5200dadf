"""Models behind servers that speak Chat Completions: Ollama, LM Studio, vLLM, llama.cpp, OpenRouter and many more."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from toolroll.errors import ModelError
from toolroll.kernel.data.messages import Message
from toolroll.models.catalog import ModelLimits
from toolroll.models.chat.request import ChatOptions, head, join, message_json
from toolroll.models.chat.response import CompletionAssembly, read_completion
from toolroll.models.exchange import WireModel
from toolroll.models.failures import ErrorBody
from toolroll.models.model import DEFAULT_MAX_OUTPUT_TOKENS, ModelRequest, ModelResponse, Wire
from toolroll.models.openai.model import classify_error
from toolroll.models.settings import SettingRules
from toolroll.models.transport import Transport
from toolroll.models.wire_json import Json

UNKNOWN_OUTPUT_TOKENS: Final = 4_096
"""For one answer of a model on this machine of which nothing is known."""


class ChatModel(WireModel):
    """A model behind `POST /chat/completions`."""

    wire: ClassVar[Wire] = "chat"
    path: ClassVar[str] = "/chat/completions"
    has_web_search: ClassVar[bool] = False

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        limits: ModelLimits | None = None,
        options: ChatOptions | None = None,
    ) -> None:
        super().__init__(model, transport=transport, headers=headers, limits=limits)
        self._options = options or ChatOptions()

    def setting_rules(self) -> SettingRules:
        """Return what the server takes."""
        return self._options.rules

    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as in the base
        """Return everything of a request but its messages."""
        tokens = self._max_tokens(request)
        return head(request, model=self.model, stream=stream, max_tokens=tokens, options=self._options)

    def _max_tokens(self, request: ModelRequest) -> int | None:
        """Return the limit for the answer; None for an unknown model of another machine, which has limits of its own.

        A model on this machine may write for ever where nobody sets a limit. vLLM refuses to be asked for too much.
        """
        if self.limits is None and request.max_output_tokens == DEFAULT_MAX_OUTPUT_TOKENS:
            return UNKNOWN_OUTPUT_TOKENS if self._is_local else None
        return self.max_output_tokens(request)

    def message_json(self, message: Message, /) -> Iterable[Json]:
        """Return one JSON message for each message, and one for each result."""
        return message_json(message, to=self.origin, options=self._options)

    def join(self, head: bytes, pieces: list[bytes], request: ModelRequest) -> bytes:  # noqa: ARG002 - as in the base
        """Return the body; servers cache prefixes without being asked."""
        return join(head, pieces)

    def assembly(self) -> CompletionAssembly:
        """Return an object that puts the chunks of one stream together."""
        return CompletionAssembly(self.fail)

    def read(self, answer: dict[str, Any]) -> ModelResponse:
        """Read a whole completion."""
        return read_completion(answer, origin=self.origin)

    def failure(self, status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
        """Return the error that the server's answer stands for."""
        return classify_error(status, headers, error, provider="The model server")
