"""A span for every request to a model: `chat MODEL`. Loaded only where somebody traces."""

from collections.abc import AsyncIterator
from typing import Final

from opentelemetry.trace import Span, SpanKind, Tracer, use_span

from toolroll.agent.telemetry.attributes import (
    PROVIDERS,
    error_type,
    is_captured,
    mark_failed,
    messages_json,
    system_json,
    usage_attributes,
)
from toolroll.kernel.data.messages import Origin
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse

_FINISH: Final = {
    "end": "stop",
    "tool_calls": "tool_call",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "refusal": "content_filter",
    "context_full": "length",
}
"""Our words for why a model stopped, as the conventions call them; the others stay ours."""


class TracedModel:
    """Forwards everything. The span is the current one while the model works, never while who asked does."""

    def __init__(self, model: Model, tracer: Tracer) -> None:
        self._model = model
        self._tracer = tracer

    @property
    def origin(self) -> Origin:
        """Return the origin of the model."""
        return self._model.origin

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Ask the model, inside a span."""
        span = self._begin_span(request, stream=stream)
        pieces = self._model.respond(request, stream=stream)
        try:
            while True:
                with use_span(span, record_exception=False, set_status_on_exception=False):
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                if isinstance(piece, ModelResponse):
                    _describe_response(span, piece)
                yield piece
        except GeneratorExit:
            span.set_attribute("toolroll.broken_off", True)  # noqa: FBT003 - the library's shape
            raise
        except BaseException as error:
            mark_failed(span, error_type(error))
            raise
        finally:
            span.end()
            if hasattr(pieces, "aclose"):
                await pieces.aclose()

    def _begin_span(self, request: ModelRequest, *, stream: bool) -> Span:
        origin = self.origin
        attributes: dict[str, str | int | bool] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(origin.wire, origin.wire),
            "gen_ai.request.model": origin.model,
            "gen_ai.request.max_tokens": request.max_output_tokens,
            "gen_ai.request.stream": stream,
            "gen_ai.output.type": "text" if request.output_schema is None else "json",
        }
        span = self._tracer.start_span(f"chat {origin.model}", kind=SpanKind.CLIENT, attributes=attributes)
        if is_captured() and span.is_recording():
            span.set_attribute("gen_ai.input.messages", messages_json(request.messages))
            if request.system:
                span.set_attribute("gen_ai.system_instructions", system_json(request.system))
        return span


def _describe_response(span: Span, response: ModelResponse) -> None:
    span.set_attribute("gen_ai.response.finish_reasons", [_FINISH.get(response.stop, response.stop)])
    span.set_attributes(usage_attributes(response.usage))
    if response.response_id:
        span.set_attribute("gen_ai.response.id", response.response_id)
    if is_captured() and span.is_recording():
        span.set_attribute("gen_ai.output.messages", messages_json([response.message]))
