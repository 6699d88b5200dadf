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
from toolroll.models.wire_json import count_of, read_json, text_of

_INCOMPLETE: Final[Mapping[str, StopKind]] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_NOTHING: Final[Sequence[Delta]] = ()


def read_response(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """Read a whole answer, streamed or not."""
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
    """Read one message with all its parts into one block, because it is sent back as one."""
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
    return ServerBlock(
        kind="call", tool="web_search", summary=f"[{_describe_action(action)}]{lines}", sources=sources, raw=item
    )


def _describe_action(action: Mapping[str, Any]) -> str:
    match action.get("type"):
        case "open_page":
            return f"opened {text_of(action, 'url') or 'a page'}"
        case "find_in_page":
            return f"looked for {text_of(action, 'pattern')!r} in {text_of(action, 'url')}"
        case _:
            queries = action.get("queries") or [text_of(action, "query")]
            return f"searched the web: {'; '.join(map(str, queries))}"


def read_usage(body: Mapping[str, Any]) -> Usage:
    """Read the tokens of one call; the provider counts cached tokens as input, we count them apart."""
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
    """Count the searches that are billed, where the provider says it; else those it made."""
    counted = (body.get("tool_usage") or {}).get("web_search")
    if isinstance(counted, dict):
        return count_of(counted, "num_requests")
    calls = (item.get("action") or {} for item in body["output"] if item.get("type") == "web_search_call")
    return sum(action.get("type", "search") == "search" for action in calls)


class ResponseAssembly:
    """Waits for the end of one response, which the last event brings whole, and shows what comes before it."""

    def __init__(self, fail: Callable[[ErrorBody], ModelError]) -> None:
        self._fail = fail
        self._calls: dict[int, tuple[str, str]] = {}
        self._done: dict[int, dict[str, Any]] = {}
        self._response: dict[str, Any] | None = None

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        event = read_json(data)
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return (TextDelta(text=event["delta"]),)
            case "response.function_call_arguments.delta":
                call_id, name = self._calls[event["output_index"]]
                return (CallDelta(call_id=call_id, name=name, arguments=event["delta"]),)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return (ReasoningDelta(text=event["delta"]),)
            case "response.reasoning_summary_part.added" if event["summary_index"]:
                return (ReasoningDelta(text="\n\n"),)
            case "response.output_item.added":
                return self._add_item(event["output_index"], event.get("item") or {})
            case "response.output_item.done":
                self._done[event["output_index"]] = event["item"]
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = dict(event["response"].items())  # anything but an object fails here, as unreadable
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
        return self._response | {"output": [self._done[index] for index in sorted(self._done)]}

    def _add_item(self, index: int, item: Mapping[str, Any]) -> Sequence[Delta]:
        if item.get("type") != "function_call":
            return _NOTHING
        call_id, name = self._calls[index] = (item["call_id"], item["name"])
        return (CallDelta(call_id=call_id, name=name, arguments=""),)


def _error(event: Mapping[str, Any]) -> ErrorBody:
    return find_error(event) or ErrorBody(code=text_of(event, "code"), message=text_of(event, "message"))
