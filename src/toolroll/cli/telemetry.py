"""OpenTelemetry at the command line, by its standard variables such as OTEL_EXPORTER_OTLP_ENDPOINT (S42).

Nothing is imported unless one of them is set. What cannot be used is told in a line; the command does its work anyway.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from toolroll.cli.prose import tell

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_GROUP: Final = "opentelemetry_traces_exporter"
_OTLP: Final = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
_INSTALL: Final = "pip install opentelemetry-exporter-otlp-proto-http"


def exporters_asked(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Which exporters the variables name: none where tracing is not configured, or switched off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().casefold() == "true":
        return ()
    named = [name.strip() for name in environment.get(_EXPORTER, "").split(",") if name.strip()]
    if not named and any(environment.get(name, "").strip() for name in ENDPOINTS):
        return ("otlp",)
    return tuple(name for name in named if name != "none")


def set_up_tracing() -> None:
    """Configure OpenTelemetry as the variables say, if they do; spans are sent until the process ends."""
    asked = exporters_asked(os.environ)
    if not asked:
        return
    from importlib.util import find_spec  # noqa: PLC0415 - only for who traces

    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        _warn("Nothing is traced: OpenTelemetry is not installed. Install it: pip install 'toolroll[otel]'.")
        return
    processors = [one for name in asked for one in _processors(name)]
    if processors:
        _provide(processors)


def _provide(processors: "list[SpanProcessor]") -> None:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - as above
    from opentelemetry.trace import set_tracer_provider  # noqa: PLC0415 - as above

    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": "toolroll"}))
    for processor in processors:
        provider.add_span_processor(processor)
    set_tracer_provider(provider)


def _processors(name: str) -> "Iterator[SpanProcessor]":
    from opentelemetry.sdk.trace import export  # noqa: PLC0415 - as above

    if name == "console":
        # To stderr: what stands on stdout is the answer, and nothing else.
        yield export.SimpleSpanProcessor(export.ConsoleSpanExporter(out=sys.stderr))
        return
    exporter = _exporter(name)
    if exporter is not None:
        yield export.BatchSpanProcessor(exporter)


def _exporter(name: str) -> "SpanExporter | None":
    from importlib.metadata import entry_points  # noqa: PLC0415 - as above

    found = {one.name: one for one in entry_points(group=_GROUP)}
    chosen = next((one for one in _names(name) if one in found), None)
    if chosen is None:
        hint = f" Install one: {_INSTALL}." if name == "otlp" else ""
        _warn(f"Nothing is traced to '{name}': there is no such exporter installed.{hint}")
        return None
    exporter: SpanExporter = found[chosen].load()()
    return exporter


def _names(name: str) -> tuple[str, ...]:
    """What the exporter may be called; for OTLP by the protocol that is asked for, or the first that is there."""
    if name != "otlp":
        return (name,)
    protocol = next((value for one in _PROTOCOLS if (value := os.environ.get(one, "").strip())), "")
    return (_OTLP.get(protocol, protocol),) if protocol else tuple(_OTLP.values())


def _warn(text: str) -> None:
    from toolroll.safe.text import terminal_safe  # noqa: PLC0415 - as above

    tell(f"Warning: {terminal_safe(text)}")
