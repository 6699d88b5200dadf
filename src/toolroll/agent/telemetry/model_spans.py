"""A span for every request to a model: `chat MODEL`."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

from toolroll.agent.telemetry.tracer import (
    PROVIDERS,
    current_tracer,
    error_type,
    is_captured,
    mark_failed,
    messages_json,
    system_json,
)
from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_FINISH: Final = {
    "end": "stop",
    "tool_calls": "tool_call",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "refusal": "content_filter",
    "context_full": "length",
}
"""Our words for why a model stopped, as the conventions call them; the others stay ours."""


def trace_model(model: Model) -> Model:
    """Return the model, each request of which is a span where somebody traces; else the model itself."""
    tracer = current_tracer()
    return model if tracer is None else _TracedModel(model, tracer)


def usage_attributes(usage: Usage) -> dict[str, int]:
    """Return tokens by the conventions: the input is all of it, cached or not."""
    if not usage.measured:
        return {}
    found = {"gen_ai.usage.input_tokens": usage.input_total, "gen_ai.usage.output_tokens": usage.output_tokens}
    if usage.cache_read_tokens:
        found["gen_ai.usage.cache_read.input_tokens"] = usage.cache_read_tokens
    if usage.cache_write_tokens:
        found["gen_ai.usage.cache_creation.input_tokens"] = usage.cache_write_tokens
    return found


class _TracedModel:
    """Forwards everything. The span is the current one while the model works, never while who asked does."""

    def __init__(self, model: Model, tracer: "Tracer") -> None:
        self._model = model
        self._tracer = tracer

    @property
    def origin(self) -> Origin:
        return self._model.origin

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        from opentelemetry.trace import use_span  # noqa: PLC0415 - here it is imported already

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

    def _begin_span(self, request: ModelRequest, *, stream: bool) -> "Span":
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - as above

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


def _describe_response(span: "Span", response: ModelResponse) -> None:
    span.set_attribute("gen_ai.response.finish_reasons", [_FINISH.get(response.stop, response.stop)])
    span.set_attributes(usage_attributes(response.usage))
    if response.response_id:
        span.set_attribute("gen_ai.response.id", response.response_id)
    if is_captured() and span.is_recording():
        span.set_attribute("gen_ai.output.messages", messages_json([response.message]))
