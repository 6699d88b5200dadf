"""Read the answers of Anthropic's Messages API: whole messages, and streams, which become the same JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from toolroll.errors import JsonRefused, ModelError, NetworkFailed, ProviderFailed
from toolroll.kernel.arguments.parse import parse_object
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
from toolroll.models.wire_json import compact, count_of, read_json, text_of

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

_NOTHING: Final[Sequence[Delta]] = ()


def read_message(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """Read a whole message, streamed or not."""
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
            return ServerBlock(kind="call", tool=text_of(raw, "name"), summary=_describe_use(raw), raw=raw)
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


def _describe_use(raw: Mapping[str, Any]) -> str:
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
    """Read the tokens of one call, with cache writes by tier and the number of searches."""
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


class MessageAssembly:
    """Collects the events of one message; what comes out is what an unstreamed call would have brought."""

    def __init__(self, fail: Callable[[ErrorBody], ModelError]) -> None:
        self._fail = fail
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        # What the open blocks still grow by, and in which of their fields: joined once, at their end.
        self._growing: dict[int, tuple[str, list[str]]] = {}
        self._ended = False

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        event = read_json(data)
        match event.get("type"):
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "content_block_start":
                return self._start(event["index"], event["content_block"])
            case "content_block_stop":
                self._stop(event["index"])
            case "message_start":
                self._message = dict(event["message"])
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                self._ended = True
            case "error":
                raise self._fail(find_error(event) or ErrorBody())
            case _:  # ping, and whatever comes after us
                pass
        return _NOTHING

    def finish(self) -> dict[str, Any]:
        """Return the whole message; raise `NetworkFailed` if the stream broke off before its end."""
        message = self._message
        if message is None or self._growing or not (self._ended and message.get("stop_reason")):
            raise NetworkFailed("The provider's stream ended before its message did.")
        return message | {"content": [self._blocks[index] for index in sorted(self._blocks)]}

    def _start(self, index: int, block: dict[str, Any]) -> Sequence[Delta]:
        self._blocks[index] = block
        self._growing[index] = ("", [])
        match block.get("type"):
            case "tool_use":
                return (CallDelta(call_id=block["id"], name=block["name"], arguments=""),)
            case "text" if block["text"]:
                return (TextDelta(text=block["text"]),)
            case _:
                return _NOTHING

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Sequence[Delta]:
        if index not in self._growing:
            raise ProviderFailed("The provider's stream continues a block that it never began.")
        match delta.get("type"):
            case "text_delta":
                text = self._grow(index, "text", delta["text"])
                return (TextDelta(text=text),)
            case "input_json_delta":
                block, text = self._blocks[index], self._grow(index, "input", delta["partial_json"])
                is_call = block.get("type") == "tool_use"
                return (CallDelta(call_id=block["id"], name=block["name"], arguments=text),) if is_call else _NOTHING
            case "thinking_delta":
                text = self._grow(index, "thinking", delta["thinking"])
                return (ReasoningDelta(text=text),)
            case "signature_delta":
                self._blocks[index]["signature"] = delta["signature"]
            case "citations_delta":
                block = self._blocks[index]
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
            case _:  # of a block that we do not know: its texts grow, as those of all others do
                self._merge_unknown(self._blocks[index], delta)
        return _NOTHING

    def _grow(self, index: int, field: str, piece: str) -> str:
        known, pieces = self._growing[index]
        if not known:
            self._growing[index] = (field, pieces)
        pieces.append(piece)
        return piece

    def _merge_unknown(self, block: dict[str, Any], delta: Mapping[str, Any]) -> None:
        for key, value in delta.items():
            if key != "type":
                before = block.get(key)
                block[key] = before + value if isinstance(before, str) and isinstance(value, str) else value

    def _stop(self, index: int) -> None:
        block = self._blocks[index]
        field, pieces = self._growing.pop(index)
        whole = "".join(pieces)
        if field == "input":
            if whole:  # a call without arguments may bring one empty piece
                block["input"] = _object(whole)
                if block.get("type") == "tool_use":
                    block[ARGUMENTS] = whole
        elif field:
            block[field] = (block.get(field) or "") + whole

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        if self._message is None:
            raise ProviderFailed("The provider's stream ends a message that it never began.")
        self._message |= {key: value for key, value in event["delta"].items() if value is not None}
        # Totals so far, not additions; what is left out stays as the start of the message had it.
        usage = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
        self._message["usage"] = (self._message.get("usage") or {}) | usage


def _object(written: str) -> dict[str, object]:
    """Return the arguments for sending back to the provider. Broken ones become {}: they were never run."""
    try:
        return parse_object(written)
    except JsonRefused:
        return {}
