"""OpenAI's models over the Responses API."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

from toolroll.errors import ModelError
from toolroll.kernel.data.messages import Message
from toolroll.models.catalog import ModelLimits
from toolroll.models.encode import Json, join
from toolroll.models.exchange import WireModel
from toolroll.models.failures import ErrorBody
from toolroll.models.model import ModelRequest, ModelResponse, Wire
from toolroll.models.openai.failure import failure
from toolroll.models.openai.request import head, message_items
from toolroll.models.openai.response import read_response
from toolroll.models.openai.stream import ResponseAssembly
from toolroll.models.transport import Transport

_WITHOUT_REASONING: Final = ("gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-3", "ft:gpt-4")
"""Models that refuse to be asked for their encrypted reasoning, having none."""


class OpenAIModel(WireModel):
    """A model behind `POST /responses`."""

    wire: ClassVar[Wire] = "openai"
    path: ClassVar[str] = "/responses"

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        limits: ModelLimits | None = None,
        strict: Literal["prefer", "off"] = "prefer",
    ) -> None:
        super().__init__(model, transport=transport, headers=headers, limits=limits)
        self._strict: Literal["prefer", "off"] = strict

    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as in the base
        """Everything of a request but its messages."""
        return head(
            request,
            model=self.model,
            stream=stream,
            max_tokens=self.max_output_tokens(request),
            strict=self._strict,
            reasons=not self.model.startswith(_WITHOUT_REASONING),
        )

    def message_json(self, message: Message, /) -> Iterable[Json]:
        """One message is one item or several here."""
        return message_items(message, to=self.origin)

    def join(self, head: bytes, pieces: list[bytes], request: ModelRequest) -> bytes:  # noqa: ARG002 - as in the base
        """The body; prefixes are cached without being asked for."""
        return join(head, "input", pieces)

    def assembly(self) -> ResponseAssembly:
        """What puts a stream together."""
        return ResponseAssembly(self.fail)

    def read(self, answer: dict[str, Any]) -> ModelResponse:
        """The response behind a whole answer."""
        return read_response(answer, origin=self.origin)

    def failure(self, status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
        """The error behind an answer that was none."""
        return failure(status, headers, error)
