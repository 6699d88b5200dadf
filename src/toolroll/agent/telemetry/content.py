"""What was said, as an attribute: only where the application asks for it, and never with a secret that is known.

OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true
"""

import os
from collections.abc import Iterable
from typing import Final

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
from toolroll.safe.secrets.redact import redact

VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_YES: Final = {"true", "1", "span_only", "span_and_event"}


def is_captured() -> bool:
    """Whether the application wants to see what was said."""
    return os.environ.get(VARIABLE, "").strip().casefold() in _YES


def safe_text(text: str) -> str:
    """The text without secrets."""
    return redact(text, known=known_secrets(os.environ))


def messages_json(messages: Iterable[Message]) -> str:
    """Messages as the conventions write them: a role and parts each."""
    return safe_text(dump_json([_message(one) for one in messages]))


def system_json(text: str) -> str:
    """What the model is told before all else."""
    return safe_text(dump_json([{"type": "text", "content": text}]))


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
