"""Whether anybody traces, and with what. Without a configured provider this costs one look into a table (S42)."""

import sys
from typing import TYPE_CHECKING, Any, Final

from toolroll._version import __version__

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

PROVIDERS: Final = {"anthropic": "anthropic", "openai": "openai", "chat": "openai_compatible"}
"""`gen_ai.provider.name` by wire; the last is none of the well-known ones, as anybody may be behind it."""


def current_tracer() -> "Tracer | None":
    """The tracer of the application's provider; None where it has not configured one.

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


def mark_failed(span: "Span", kind: str) -> None:
    """Say that what the span is about failed: by kind, without a message, as those quote what a model or tool said."""
    from opentelemetry.trace import StatusCode  # noqa: PLC0415 - here it is imported already

    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def kind_of(error: BaseException) -> str:
    """`error.type` of an exception: its stable code, or its class."""
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else type(error).__qualname__
