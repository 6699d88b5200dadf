"""OpenTelemetry at the command line, by its standard variables such as OTEL_EXPORTER_OTLP_ENDPOINT (S42).

Nothing is imported unless one of them is set. What cannot be used is told in a line; the command does its work anyway.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Final

from toolroll.cli.render.prose import notify
from toolroll.lazy import load
from toolroll.safe.text import terminal_safe

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_GROUP: Final = "opentelemetry_traces_exporter"
CONSOLE: Final = "console"
_OTLP: Final = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}


def requested_exporters(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return which exporters the variables name: none where tracing is not configured, or switched off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().casefold() == "true":
        return ()
    named = [name.strip() for name in environment.get(_EXPORTER, "").split(",") if name.strip()]
    if not named and any(environment.get(name, "").strip() for name in ENDPOINTS):
        return ("otlp",)
    return tuple(name for name in named if name != "none")


def set_up_tracing() -> None:
    """Configure OpenTelemetry as the variables say, if they do; spans are sent until the process ends."""
    asked = requested_exporters(os.environ)
    if not asked:
        return
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        _warn("Nothing is traced: OpenTelemetry is not installed. Install it: pip install 'toolroll[otel]'.")
        return
    _report_failures_once()
    found = {name: _find_exporter(name) for name in asked if name != CONSOLE}
    entries = [entry for entry in found.values() if entry is not None]
    if entries or CONSOLE in asked:
        load("toolroll.cli.span_export:export_spans")(entries, console=CONSOLE in asked)


def missing_exporters(asked: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return those of the exporters that are not there."""
    found = _installed()
    return tuple(
        name for name in asked if name != CONSOLE and not any(one in found for one in _names(name, environment))
    )


def install_hint(environment: Mapping[str, str]) -> str:
    """Return how to get an exporter for OTLP, by the protocol that is asked for."""
    kind = "grpc" if "otlp_proto_http" not in _names("otlp", environment) else "http"
    return f"pip install opentelemetry-exporter-otlp-proto-{kind}"


def _report_failures_once() -> None:
    """Say once that spans are lost: the library would say it several times, in many words, and with the address."""

    class Once(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - its words are not ours
            logger.removeHandler(self)
            logger.addHandler(logging.NullHandler())
            _warn("The spans could not be sent where the OTEL_ variables say. The command itself is not affected.")

    logger = logging.getLogger("opentelemetry")
    logger.propagate = False
    logger.addHandler(Once(logging.ERROR))


def _find_exporter(name: str) -> EntryPoint | None:
    found = _installed()
    chosen = next((one for one in _names(name, os.environ) if one in found), None)
    if chosen is None:
        hint = f" Install one: {install_hint(os.environ)}." if name == "otlp" else ""
        _warn(f"Nothing is traced to '{name}': there is no such exporter installed.{hint}")
        return None
    return found[chosen]


def _installed() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=_GROUP)}


def _names(name: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """What the exporter may be called; for OTLP by the protocol that is asked for, or the first that is there."""
    if name != "otlp":
        return (name,)
    protocol = next((value for one in _PROTOCOLS if (value := environment.get(one, "").strip())), "")
    return (_OTLP.get(protocol, protocol),) if protocol else tuple(_OTLP.values())


def _warn(text: str) -> None:
    notify(f"Warning: {terminal_safe(text)}")
