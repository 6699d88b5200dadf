"""The attributes of spans: how they failed, tokens, and the text of messages.

Messages are attached only where the application sets OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, and known
secrets are removed from them first. Loaded only where somebody traces, as it needs OpenTelemetry.
"""

import os
from collections.abc import Iterable
from typing import Final

from opentelemetry.trace import Span, StatusCode

from toolroll.home.keys import known_secrets
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    Part,
    ReasoningBlock,
    TextBlock,
    TextPart,
    ToolMessage,
    UserMessage,
)
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.data.usage import Usage
from toolroll.safe.secrets.redact import redact

PROVIDERS: Final = {"anthropic": "anthropic", "openai": "openai", "chat": "openai_compatible"}
"""`gen_ai.provider.name` by wire; the last is none of the well-known ones, as anybody may be behind it."""
VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_YES: Final = {"true", "1", "span_only", "span_and_event"}


def mark_failed(span: Span, kind: str) -> None:
    """Say that what the span is about failed: by kind, without a message, as those quote what a model or tool said."""
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def error_type(error: BaseException) -> str:
    """Return `error.type` of an exception: its stable code, or its class."""
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else type(error).__qualname__


def is_captured() -> bool:
    """Return whether the application wants to see what was said."""
    return os.environ.get(VARIABLE, "").strip().casefold() in _YES


def safe_text(text: str) -> str:
    """Return the text without secrets."""
    return redact(text, known=known_secrets(os.environ))


def messages_json(messages: Iterable[Message]) -> str:
    """Return messages as the conventions write them: a role and parts each."""
    return safe_text(dump_json([_message(one) for one in messages]))


def system_json(text: str) -> str:
    """Return what the model is told before all else."""
    return safe_text(dump_json([{"type": "text", "content": text}]))


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


def _message(message: Message) -> dict[str, object]:
    if isinstance(message, UserMessage):
        return {"role": "user", "parts": [_part(part) for part in message.content]}
    if isinstance(message, AssistantMessage):
        return {"role": "assistant", "parts": [one for block in message.blocks if (one := _block(block))]}
    return {"role": "tool", "parts": [_result(result) for result in message.results]}


def _block(block: object) -> dict[str, object] | None:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "content": text}
        case ReasoningBlock(text=text):
            return {"type": "reasoning", "content": text}
        case CallBlock(call=call):
            return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        case _:
            return None  # what a provider did on its own side has no neutral form there


def _part(part: Part) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"type": "text", "content": part.text}
    return {"type": part.type, "mime_type": part.media_type, "bytes": len(part.data)}


def _result(result: ToolMessage) -> dict[str, object]:
    content = result.content if isinstance(result.content, str) else [_part(part) for part in result.content]
    return {"type": "tool_call_response", "id": result.call_id, "response": content}
