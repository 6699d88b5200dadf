"""An Anthropic message as neutral data. Pure: the stream assembles the same JSON, so there is one reader for both."""

from collections.abc import Mapping
from typing import Any, Final

from toolroll.kernel.data.messages import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Citation,
    Origin,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    ToolCall,
    UnknownBlock,
)
from toolroll.kernel.data.usage import Usage
from toolroll.models.body import count_of, text_of
from toolroll.models.encode import compact
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
    blocks = tuple(_block(raw) for raw in body["content"])
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=_STOPS.get(reason, "unknown") if isinstance(reason, str) else "unknown",
        stop_detail=_stop_detail(body, reason),
        usage=read_usage(body.get("usage")),
        response_id=text_of(body, "id"),
    )


def _stop_detail(body: Mapping[str, Any], reason: object) -> str:
    details = body.get("stop_details")
    words = details.get("explanation") or details.get("category") if isinstance(details, dict) else None
    return str(words or reason or "")


def _block(raw: dict[str, Any]) -> AssistantBlock:
    match raw.get("type"):
        case "text":
            return TextBlock(text=raw["text"] or "", citations=_citations(raw), raw=raw)
        case "tool_use":
            return _call(raw)
        case "thinking":
            return ReasoningBlock(text=text_of(raw, "thinking"), raw=raw)
        case "redacted_thinking":
            return ReasoningBlock(text="", raw=raw)
        case "server_tool_use":
            return ServerBlock(kind="call", tool=text_of(raw, "name"), summary=_asked(raw), raw=raw)
        case "web_search_tool_result":
            return _search_result(raw)
        case _:
            return UnknownBlock(raw=raw)


def _call(raw: dict[str, Any]) -> CallBlock:
    written = raw.pop(ARGUMENTS, None)
    arguments = compact(raw["input"]).decode() if written is None else written
    return CallBlock(call=ToolCall(id=raw["id"], name=raw["name"], arguments=arguments), raw=raw)


def _citations(raw: Mapping[str, Any]) -> tuple[Citation, ...]:
    found = raw.get("citations") or ()
    return tuple(
        Citation(url=one["url"], title=one.get("title") or "", cited_text=one.get("cited_text") or "")
        for one in found
        if one.get("url")
    )


def _asked(raw: Mapping[str, Any]) -> str:
    asked = raw.get("input")
    query = text_of(asked, "query") if isinstance(asked, dict) else ""
    return f"[searched the web: {query}]" if query else f"[used {text_of(raw, 'name') or 'a server tool'}]"


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
    usage = usage or {}
    written = count_of(usage, "cache_creation_input_tokens")
    # The tiers may both be 0 on search turns although tokens were written: then they count as the cheaper one.
    hour = min(written, count_of(usage.get("cache_creation") or {}, "ephemeral_1h_input_tokens"))
    fresh, output = count_of(usage, "input_tokens"), count_of(usage, "output_tokens")
    return Usage(
        input_tokens=fresh,
        output_tokens=output,
        cache_read_tokens=count_of(usage, "cache_read_input_tokens"),
        cache_write_5m_tokens=written - hour,
        cache_write_1h_tokens=hour,
        web_searches=count_of(usage.get("server_tool_use") or {}, "web_search_requests"),
        requests=1,
        measured=bool(fresh or output),
    )
