"""Read the answers of OpenAI's Responses API: whole responses, and streams, which end with the same JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from toolroll.errors import ModelError, NetworkFailed, ProviderFailed
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
from toolroll.models.failures import ErrorBody, find_error
from toolroll.models.model import CallDelta, Delta, ModelResponse, ReasoningDelta, StopKind, TextDelta
from toolroll.models.parts import arguments_received
from toolroll.models.shape import (
    ShapeFault,
    count_of,
    index,
    items,
    items_of,
    mapping,
    mapping_of,
    nullable_items,
    nullable_text,
    read_json,
    text,
    text_of,
)

_INCOMPLETE: Final[Mapping[str, StopKind]] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_NOTHING: Final[Sequence[Delta]] = ()


def read_response(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """Read a whole answer, streamed or not."""
    dropped: list[str] = []
    blocks = items(body, "output", lambda item: _block(item, dropped))
    stop, detail = _stop(body, blocks)
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=stop,
        stop_detail=detail,
        usage=read_usage(body),
        response_id=text_of(body, "id"),
        dropped=tuple(dropped),
    )


def _stop(body: Mapping[str, Any], blocks: tuple[AssistantBlock, ...]) -> tuple[StopKind, str]:
    status = text_of(body, "status")
    match status:
        case "completed":
            refusal = next((said for item in body["output"] if (said := _refusal(item))), "")
            if refusal:
                return "refusal", refusal
            return ("tool_calls" if any(isinstance(block, CallBlock) for block in blocks) else "end"), status
        case "incomplete":
            reason = text_of(mapping_of(body, "incomplete_details"), "reason")
            return _INCOMPLETE.get(reason, "unknown"), reason or status
        case "failed":
            raise ProviderFailed("OpenAI: the response failed without a reason.")
        case _:
            return "unknown", status


def _refusal(item: Mapping[str, Any]) -> str:
    if item.get("type") != "message":
        return ""
    return "".join(items(item, "content", lambda part: text_of(part, "refusal")))


def _block(item: dict[str, Any], dropped: list[str]) -> AssistantBlock:
    match item.get("type"):
        case "message":
            return _message(item, dropped)
        case "function_call":
            return _call(item)
        case "reasoning":
            return ReasoningBlock(text=_thoughts(item), raw=item)
        case "web_search_call":
            return _search(item, dropped)
        case _:
            return UnknownBlock(raw=item)


def _call(item: dict[str, Any]) -> CallBlock:
    if "arguments" not in item:
        raise ShapeFault("arguments", "text", "missing")
    arguments = arguments_received(item["arguments"])
    return CallBlock(call=ToolCall(id=text(item, "call_id"), name=text(item, "name"), arguments=arguments), raw=item)


def _message(item: dict[str, Any], dropped: list[str]) -> TextBlock:
    """Read one message with all its parts into one block, because it is sent back as one."""
    bad: list[str] = []
    said = "".join(items(item, "content", _part_text))
    cited = items(item, "content", lambda part: items_of(part, "annotations", _citation, bad))
    dropped += bad
    # With a citation that cannot be read, the provider's own form of the message is worth nothing to it either.
    return TextBlock(text=said, citations=tuple(one for part in cited for one in part), raw=None if bad else item)


def _part_text(part: dict[str, Any]) -> str:
    return nullable_text(part, "text") or nullable_text(part, "refusal")


def _citation(note: dict[str, Any]) -> Citation | None:
    is_one = note.get("type") == "url_citation"
    return Citation(url=text(note, "url"), title=nullable_text(note, "title")) if is_one else None


def _thoughts(item: dict[str, Any]) -> str:
    parts = (nullable_items(item, key, lambda part: text_of(part, "text")) for key in ("summary", "content"))
    return "\n\n".join(one for part in parts for one in part)


def _search(item: dict[str, Any], dropped: list[str]) -> ServerBlock:
    action = mapping_of(item, "action")  # documented as always there, and reported missing
    sources = items_of(action, "sources", _source, dropped)
    lines = "".join(f"\n- {source.url}" for source in sources)
    return ServerBlock(
        kind="call",
        tool="web_search",
        summary=f"[{_describe_action(action)}]{lines}",
        sources=sources,
        queries=_queries(action),
        raw=item,
    )


def _source(one: dict[str, Any]) -> Citation | None:
    url = nullable_text(one, "url")
    return Citation(url=url) if url else None


def _describe_action(action: Mapping[str, Any]) -> str:
    match action.get("type"):
        case "open_page":
            return f"opened {text_of(action, 'url') or 'a page'}"
        case "find_in_page":
            return f"looked for {text_of(action, 'pattern')!r} in {text_of(action, 'url')}"
        case _:
            return f"searched the web: {'; '.join(_queries(action))}"


def _queries(action: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what an action searched for; nothing for one that opens a page or looks into it."""
    listed, query = action.get("queries"), text_of(action, "query")
    queries = tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
    return queries or ((query,) if query else ())


def read_usage(body: Mapping[str, Any]) -> Usage:
    """Read the tokens of one call; the provider counts cached tokens as input, we count them apart."""
    usage = mapping_of(body, "usage")
    details = mapping_of(usage, "input_tokens_details")
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
    """Count the searches that are billed, where the provider says it; else those it made."""
    counted = mapping_of(body, "tool_usage").get("web_search")
    if isinstance(counted, dict):
        return count_of(counted, "num_requests")
    calls = (mapping_of(item, "action") for item in body["output"] if item.get("type") == "web_search_call")
    return sum(action.get("type", "search") == "search" for action in calls)


class ResponseAssembly:
    """Waits for the end of one response, which the last event brings whole, and shows what comes before it."""

    def __init__(self, fail: Callable[[ErrorBody], ModelError]) -> None:
        self._fail = fail
        self._calls: dict[int, tuple[str, str]] = {}
        self._begun: set[int] = set()
        self._done: dict[int, dict[str, Any]] = {}
        self._response: dict[str, Any] | None = None

    @property
    def blocks(self) -> int:
        """Return how many items have begun."""
        return len(self._begun)

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        event = read_json(data)
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return (TextDelta(text=text(event, "delta")),)
            case "response.function_call_arguments.delta":
                return (self._argument(index(event, "output_index"), text(event, "delta")),)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return (ReasoningDelta(text=text(event, "delta")),)
            case "response.reasoning_summary_part.added" if index(event, "summary_index"):
                return (ReasoningDelta(text="\n\n"),)
            case "response.output_item.added":
                return self._add_item(index(event, "output_index"), mapping_of(event, "item"))
            case "response.output_item.done":
                self._done[index(event, "output_index")] = mapping(event, "item")
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = mapping(event, "response")
            case "error":
                raise self._fail(_error(event))
            case _:
                pass
        return _NOTHING

    def finish(self) -> dict[str, Any]:
        """Return the whole response; raise `NetworkFailed` if the stream broke off before its last event."""
        if self._response is None:
            raise NetworkFailed("The provider's stream ended before its response did.")
        if self._response.get("output"):
            return self._response
        return self._response | {"output": [self._done[place] for place in sorted(self._done)]}

    def _add_item(self, place: int, item: Mapping[str, Any]) -> Sequence[Delta]:
        self._begun.add(place)
        if item.get("type") != "function_call":
            return _NOTHING
        call_id, name = self._calls[place] = (text(item, "call_id"), text(item, "name"))
        return (CallDelta(call_id=call_id, name=name, arguments=""),)

    def _argument(self, place: int, piece: str) -> CallDelta:
        if place not in self._calls:
            raise ProviderFailed("The provider's stream continues a call that it never began.")
        call_id, name = self._calls[place]
        return CallDelta(call_id=call_id, name=name, arguments=piece)


def _error(event: Mapping[str, Any]) -> ErrorBody:
    return find_error(event) or ErrorBody(code=text_of(event, "code"), message=text_of(event, "message"))
