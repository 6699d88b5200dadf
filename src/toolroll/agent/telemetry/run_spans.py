"""The spans of one run: `invoke_agent`, and in it `execute_tool NAME` for each call; those of sub-agents in theirs.

Loaded only where somebody traces.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context
from opentelemetry.trace import Span, Tracer, set_span_in_context, use_span

from toolroll.agent.telemetry.attributes import (
    PROVIDERS,
    error_type,
    is_captured,
    mark_failed,
    safe_text,
    usage_attributes,
)
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.safe.secrets.redact import redact_line

if TYPE_CHECKING:
    from toolroll.agent.loop.state import RunState


_NAME_CHARACTERS: Final = 200


class Spans:
    """The calls of a run that are going on, each with its span."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._open: dict[str, tuple[Span, Any]] = {}

    def begin(self, call: ToolCall) -> None:
        """Begin the span of a call: what happens in its task belongs to it."""
        span = self._start_span(call)
        self._open[call.id] = (span, context.attach(set_span_in_context(span)))

    def end(self, call: ToolCall, result: ToolResult) -> None:
        """End the span of a call; one that never ran gets a span without length."""
        known = self._open.pop(call.id, None)
        span, token = (self._start_span(call), None) if known is None else known
        if token is not None:
            context.detach(token)  # in the task where it was attached
        if result.is_error:
            mark_failed(span, result.code or "tool_error")
        if is_captured() and span.is_recording():
            span.set_attribute("gen_ai.tool.call.result", safe_text(result.text))
        span.end()

    def close(self) -> None:
        """End the spans of calls that were cut off: they have no result, and their tasks are gone."""
        for span, _ in self._open.values():
            mark_failed(span, "cancelled")
            span.end()
        self._open.clear()

    def _start_span(self, call: ToolCall) -> Span:
        # The model wrote both, also names that no tool has.
        name = redact_line(call.name, _NAME_CHARACTERS)
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": redact_line(call.id, _NAME_CHARACTERS),
            "gen_ai.tool.type": "function",
        }
        span = self._tracer.start_span(f"execute_tool {name}", attributes=attributes)
        if is_captured() and span.is_recording():
            span.set_attribute("gen_ai.tool.call.arguments", safe_text(call.arguments))
        return span


@contextmanager
def open_run_span(state: "RunState", tracer: Tracer) -> Iterator[None]:
    """Make the run a span, and its calls spans inside."""
    origin = state.setup.model.origin
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": PROVIDERS.get(origin.wire, origin.wire),
        "gen_ai.request.model": origin.model,
        "gen_ai.conversation.id": str((state.setup.record or {}).get("chat") or state.run.run_id),
        "toolroll.run.id": state.run.run_id,
    }
    span = tracer.start_span("invoke_agent", attributes=attributes)
    state.spans = Spans(tracer)
    try:
        with use_span(span, record_exception=False, set_status_on_exception=False):
            yield
    except BaseException as error:
        mark_failed(span, error_type(error))
        raise
    finally:
        state.spans.close()
        _sum_up(span, state)
        span.end()


def _sum_up(span: Span, state: "RunState") -> None:
    result = state.result
    assert result is not None  # every end of a run, good or bad, leaves one
    span.set_attributes({"toolroll.run.stop_reason": result.stop_reason, "toolroll.run.steps": len(result.steps)})
    span.set_attributes(usage_attributes(result.usage))
