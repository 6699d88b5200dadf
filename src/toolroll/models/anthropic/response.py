"""An Anthropic message as neutral data. Pure: the stream assembles the same JSON, so there is one reader for both."""

from collections.abc import Mapping
from typing import Any, Final

from toolroll.kernel.conversation import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Citation,
    Origin,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    UnknownBlock,
)
from toolroll.kernel.messages import ToolCall
from toolroll.kernel.serialize import dump_json
from toolroll.kernel.usage import Usage
from toolroll.models.model import ModelResponse, StopKind

_STOPS: Final[Mapping[str, StopKind]] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context_full",
}

ARGUMENTS: Final = "_arguments"
"""Where the stream leaves a call's arguments as they came; taken out again before the block is kept."""


def read_message(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """The response behind a whole message, streamed or not."""
    reason = body.get("stop_reason")
    blocks = tuple(_block(raw) for raw in body.get("content", ()))
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=_STOPS.get(reason, "unknown") if isinstance(reason, str) else "unknown",
        stop_detail=_stop_detail(body, reason),
        usage=read_usage(body.get("usage")),
        response_id=str(body.get("id", "")),
    )


def _stop_detail(body: Mapping[str, Any], reason: object) -> str:
    details = body.get("stop_details")
    words = details.get("explanation") or details.get("category") if isinstance(details, dict) else None
    return str(words or reason or "")


def _block(raw: dict[str, Any]) -> AssistantBlock:
    match raw.get("type"):
        case "text":
            return TextBlock(text=raw["text"], citations=_citations(raw), raw=raw)
        case "tool_use":
            return _call(raw)
        case "thinking":
            return ReasoningBlock(text=raw.get("thinking", ""), raw=raw)
        case "redacted_thinking":
            return ReasoningBlock(text="", raw=raw)
        case "server_tool_use":
            query = raw.get("input", {}).get("query", "")
            return ServerBlock(kind="call", tool=raw.get("name", ""), summary=_asked(raw, query), raw=raw)
        case "web_search_tool_result":
            return _search_result(raw)
        case _:
            return UnknownBlock(raw=raw)


def _call(raw: dict[str, Any]) -> CallBlock:
    written = raw.pop(ARGUMENTS, None)
    arguments = dump_json(raw["input"]) if written is None else written
    return CallBlock(call=ToolCall(id=raw["id"], name=raw["name"], arguments=arguments), raw=raw)


def _citations(raw: Mapping[str, Any]) -> tuple[Citation, ...]:
    found = raw.get("citations") or ()
    return tuple(
        Citation(url=one["url"], title=one.get("title") or "", cited_text=one.get("cited_text") or "")
        for one in found
        if one.get("url")
    )


def _asked(raw: Mapping[str, Any], query: str) -> str:
    return f"[searched the web: {query}]" if query else f"[used {raw.get('name', 'a server tool')}]"


def _search_result(raw: dict[str, Any]) -> ServerBlock:
    content = raw.get("content")
    if isinstance(content, dict):  # errors arrive inside a 200
        summary = f"[web search failed: {content.get('error_code', 'unknown')}]"
        return ServerBlock(kind="result", tool="web_search", summary=summary, raw=raw)
    sources = tuple(
        Citation(url=one.get("url", ""), title=one.get("title") or "") for one in content or () if one.get("url")
    )
    lines = "\n".join(f"- {source.title}: {source.url}" for source in sources)
    return ServerBlock(
        kind="result", tool="web_search", summary=f"[web search found]\n{lines}", sources=sources, raw=raw
    )


def read_usage(usage: Mapping[str, Any] | None) -> Usage:
    """The tokens of one call; cache writes by tier, searches counted."""
    if not usage:
        return Usage(requests=1, measured=False)
    written = usage.get("cache_creation_input_tokens") or 0
    tiers = usage.get("cache_creation") or {}
    hour = tiers.get("ephemeral_1h_input_tokens") or 0
    server = usage.get("server_tool_use") or {}
    return Usage(
        input_tokens=usage.get("input_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=usage.get("cache_read_input_tokens") or 0,
        # The tiers may both be 0 on search turns although tokens were written: then they count as the cheaper one.
        cache_write_5m_tokens=written - hour,
        cache_write_1h_tokens=hour,
        web_searches=server.get("web_search_requests") or 0,
        requests=1,
    )
