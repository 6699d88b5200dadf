"""A chat completion as neutral data. Pure: the stream assembles the same JSON, so there is one reader for both."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolroll.kernel.data.messages import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Citation,
    Origin,
    ReasoningBlock,
    TextBlock,
    ToolCall,
)
from toolroll.kernel.data.usage import Usage
from toolroll.models.body import count_of, text_of
from toolroll.models.calls import arguments_received
from toolroll.models.model import ModelResponse, StopKind

_STOPS: Final[Mapping[str, StopKind]] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "content_filter": "refusal",
}

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
"""Where servers put what a model thought: DeepSeek's word, and OpenRouter's and vLLM's."""


def read_completion(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """The response behind a whole completion, streamed or not."""
    choice = body["choices"][0]
    message = choice["message"]
    blocks = tuple(_blocks(message, text_of(body, "id")))
    reason = text_of(choice, "finish_reason")
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=_stop(reason, message, blocks),
        stop_detail=text_of(message, "refusal") or reason,
        usage=read_usage(body.get("usage")),
        response_id=text_of(body, "id"),
    )


def _stop(reason: str, message: Mapping[str, Any], blocks: tuple[AssistantBlock, ...]) -> StopKind:
    if text_of(message, "refusal"):
        return "refusal"
    stop = _STOPS.get(reason, "unknown")
    # Ollama ends a turn of calls like any other.
    calls = any(isinstance(block, CallBlock) for block in blocks)
    return "tool_calls" if stop == "end" and calls else stop


def _blocks(message: Mapping[str, Any], response_id: str) -> Iterator[AssistantBlock]:
    yield from _reasoning(message)
    text = _text(message.get("content")) or text_of(message, "refusal")
    if text:
        yield TextBlock(text=text, citations=_citations(message))
    for number, raw in enumerate(message.get("tool_calls") or ()):
        yield _call(raw, number, response_id)


def _reasoning(message: Mapping[str, Any]) -> Iterator[ReasoningBlock]:
    field = next((field for field in REASONING_FIELDS if text_of(message, field)), None)
    if field is not None:
        kept = {key: message[key] for key in (field, "reasoning_details") if message.get(key)}
        yield ReasoningBlock(text=message[field], raw=kept)


def _text(content: object) -> str:
    """The text of a message: mostly plain, from some servers in parts."""
    if isinstance(content, list):
        return "".join(text_of(part, "text") for part in content)
    return content if isinstance(content, str) else ""


def _citations(message: Mapping[str, Any]) -> tuple[Citation, ...]:
    notes = [note.get("url_citation") or {} for note in message.get("annotations") or ()]
    return tuple(Citation(url=note["url"], title=text_of(note, "title")) for note in notes if note.get("url"))


def _call(raw: dict[str, Any], number: int, response_id: str) -> CallBlock:
    function = raw["function"]
    call_id = text_of(raw, "id") or minted(response_id, number)
    call = ToolCall(id=call_id, name=function["name"], arguments=arguments_received(function.get("arguments")))
    return CallBlock(call=call, raw=raw)


def minted(response_id: str, number: int) -> str:
    """An id for a call that came without one."""
    return f"{response_id or 'call'}_{number}"


def read_usage(usage: Mapping[str, Any] | None) -> Usage:
    """The tokens of one call; unmeasured where the server does not count."""
    usage = usage or {}
    details = usage.get("prompt_tokens_details") or {}
    total, output = count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")
    read, written = count_of(details, "cached_tokens"), count_of(details, "cache_write_tokens")
    return Usage(
        input_tokens=max(0, total - read - written),
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_5m_tokens=written,
        requests=1,
        measured=bool(total or output),
    )
