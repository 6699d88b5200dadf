"""The tracer of the application, if it has configured one: its runs and requests become spans.

Without a configured provider this costs one lookup in a table (S42).
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from toolroll._version import __version__
from toolroll.lazy import load
from toolroll.models.model import Model

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from toolroll.agent.loop.state import RunState


def current_tracer() -> "Tracer | None":
    """Return the tracer of the application's provider; None where it has not configured one.

    OpenTelemetry is never imported for it: who has configured it has imported it.
    """
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        return None
    tracer: Tracer = provider.get_tracer("toolroll", __version__)
    return tracer


def trace_model(model: Model) -> Model:
    """Return the model, each request of which is a span where somebody traces; else the model itself."""
    tracer = current_tracer()
    if tracer is None:
        return model
    traced: Model = load("toolroll.agent.telemetry.model_spans:TracedModel")(model, tracer)
    return traced


def trace_run(state: "RunState") -> AbstractContextManager[None]:
    """Make the run a span inside, where somebody traces."""
    tracer = current_tracer()
    if tracer is None:
        return nullcontext()
    span: AbstractContextManager[None] = load("toolroll.agent.telemetry.run_spans:open_run_span")(state, tracer)
    return span
