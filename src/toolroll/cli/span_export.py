"""Where spans are sent. Loaded only when tracing, as it needs OpenTelemetry."""

import os
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider, export

_OTLP: Final = frozenset({"otlp_proto_http", "otlp_proto_grpc"})
_TIMEOUTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")

EXPORT_SECONDS: Final = 3.0
"""How long the end of a command waits for a collector that is not there; the exporter's own ten are for servers."""


def export_spans(entries: Iterable[EntryPoint], *, console: bool) -> None:
    """Send spans to these exporters, and to stderr with `console`, until the process ends."""
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": "toolroll"}))
    if console:
        # To stderr: what stands on stdout is the answer, and nothing else.
        provider.add_span_processor(export.SimpleSpanProcessor(export.ConsoleSpanExporter(out=sys.stderr)))
    for entry in entries:
        provider.add_span_processor(export.BatchSpanProcessor(make_exporter(entry)))
    trace.set_tracer_provider(provider)


def make_exporter(entry: EntryPoint) -> export.SpanExporter:
    """Make the exporter; one for OTLP gets a short timeout where the variables name none."""
    is_ours_to_say = entry.name in _OTLP and not any(map(os.environ.get, _TIMEOUTS))
    options = {"timeout": EXPORT_SECONDS} if is_ours_to_say else {}
    exporter: export.SpanExporter = entry.load()(**options)
    return exporter
