"""An OpenAI response as neutral data. Pure: the stream ends with the same JSON, so there is one reader for both."""

from collections.abc import Mapping
from typing import Any, Final

from toolroll.errors import ProviderFailed
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
from toolroll.models.calls import arguments_received
from toolroll.models.model import ModelResponse, StopKind

_INCOMPLETE: Final[Mapping[str, StopKind]] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}


def read_response(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """The response behind a whole answer, streamed or not."""
    blocks = tuple(_block(item) for item in body["output"])
    stop, detail = _stop(body, blocks)
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=stop,
        stop_detail=detail,
        usage=read_usage(body),
        response_id=text_of(body, "id"),
    )


def _stop(body: Mapping[str, Any], blocks: tuple[AssistantBlock, ...]) -> tuple[StopKind, str]:
    status = text_of(body, "status")
    match status:
        case "completed":
            refusal = next((text for item in body["output"] if (text := _refusal(item))), "")
            if refusal:
                return "refusal", refusal
            return ("tool_calls" if any(isinstance(block, CallBlock) for block in blocks) else "end"), status
        case "incomplete":
            reason = text_of(body.get("incomplete_details") or {}, "reason")
            return _INCOMPLETE.get(reason, "unknown"), reason or status
        case "failed":
            raise ProviderFailed("OpenAI: the response failed without a reason.")
        case _:
            return "unknown", status


def _refusal(item: Mapping[str, Any]) -> str:
    if item.get("type") != "message":
        return ""
    return "".join(text_of(part, "refusal") for part in item.get("content") or ())


def _block(item: dict[str, Any]) -> AssistantBlock:
    match item.get("type"):
        case "message":
            return _message(item)
        case "function_call":
            arguments = arguments_received(item["arguments"])
            return CallBlock(call=ToolCall(id=item["call_id"], name=item["name"], arguments=arguments), raw=item)
        case "reasoning":
            return ReasoningBlock(text=_thoughts(item), raw=item)
        case "web_search_call":
            return _search(item)
        case _:
            return UnknownBlock(raw=item)


def _message(item: dict[str, Any]) -> TextBlock:
    """One message with all its parts: it goes back as one."""
    parts = item["content"]
    text = "".join(text_of(part, "text") or text_of(part, "refusal") for part in parts)
    citations = tuple(
        Citation(url=note["url"], title=text_of(note, "title"))
        for part in parts
        for note in part.get("annotations") or ()
        if note.get("type") == "url_citation"
    )
    return TextBlock(text=text, citations=citations, raw=item)


def _thoughts(item: Mapping[str, Any]) -> str:
    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    return "\n\n".join(text_of(part, "text") for part in parts)


def _search(item: dict[str, Any]) -> ServerBlock:
    action = item.get("action") or {}  # documented as always there, and reported missing
    sources = tuple(Citation(url=one["url"]) for one in action.get("sources") or () if one.get("url"))
    lines = "".join(f"\n- {source.url}" for source in sources)
    return ServerBlock(kind="call", tool="web_search", summary=f"[{_did(action)}]{lines}", sources=sources, raw=item)


def _did(action: Mapping[str, Any]) -> str:
    match action.get("type"):
        case "open_page":
            return f"opened {text_of(action, 'url') or 'a page'}"
        case "find_in_page":
            return f"looked for {text_of(action, 'pattern')!r} in {text_of(action, 'url')}"
        case _:
            queries = action.get("queries") or [text_of(action, "query")]
            return f"searched the web: {'; '.join(map(str, queries))}"


def read_usage(body: Mapping[str, Any]) -> Usage:
    """The tokens of one call; the provider counts what it had in its cache into the input, we apart from it."""
    usage = body.get("usage") or {}
    details = usage.get("input_tokens_details") or {}
    total, read, written = (
        count_of(usage, "input_tokens"),
        count_of(details, "cached_tokens"),
        count_of(details, "cache_write_tokens"),
    )
    output = count_of(usage, "output_tokens")
    return Usage(
        input_tokens=max(0, total - read - written),
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_5m_tokens=written,
        web_searches=_searches(body),
        requests=1,
        measured=bool(total or output),
    )


def _searches(body: Mapping[str, Any]) -> int:
    """What is billed, where the provider says it; else the searches it made."""
    counted = (body.get("tool_usage") or {}).get("web_search")
    if isinstance(counted, dict):
        return count_of(counted, "num_requests")
    calls = (item.get("action") or {} for item in body["output"] if item.get("type") == "web_search_call")
    return sum(action.get("type", "search") == "search" for action in calls)
