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
from toolroll.models.shape import (
    ShapeFault,
    count_of,
    index,
    items,
    items_of,
    mapping,
    mapping_of,
    nullable_text,
    read_json,
    text,
    text_of,
)
from toolroll.models.wire_json import compact

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
    reason = text_of(body, "stop_reason")
    dropped: list[str] = []
    blocks = items(body, "content", lambda raw: _block(raw, dropped))
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=_STOPS.get(reason, "unknown"),
        stop_detail=_stop_detail(body, reason),
        usage=read_usage(mapping_of(body, "usage")),
        response_id=text_of(body, "id"),
        dropped=tuple(dropped),
    )


def _stop_detail(body: Mapping[str, Any], reason: str) -> str:
    details = mapping_of(body, "stop_details")
    return text_of(details, "explanation") or text_of(details, "category") or reason


def _block(raw: dict[str, Any], dropped: list[str]) -> AssistantBlock:
    match raw.get("type"):
        case "text":
            return _text(raw, dropped)
        case "tool_use":
            return _call(raw)
        case "thinking":
            return ReasoningBlock(text=text_of(raw, "thinking"), raw=raw)
        case "redacted_thinking":
            return ReasoningBlock(text="", raw=raw)
        case "server_tool_use":
            return _server_use(raw)
        case "web_search_tool_result":
            return _search_result(raw, dropped)
        case _:
            return UnknownBlock(raw=raw)


def _text(raw: dict[str, Any], dropped: list[str]) -> TextBlock:
    bad: list[str] = []
    citations = items_of(raw, "citations", _citation, bad)
    dropped += bad
    # With a citation that cannot be read, the provider's own form of the block is worth nothing to it either.
    return TextBlock(text=nullable_text(raw, "text"), citations=citations, raw=None if bad else raw)


def _call(raw: dict[str, Any]) -> CallBlock:
    written = raw.pop(ARGUMENTS, None)
    if written is None and "input" not in raw:
        raise ShapeFault("input", "an object", "missing")
    arguments = written if isinstance(written, str) else compact(raw["input"]).decode()
    return CallBlock(call=ToolCall(id=text(raw, "id"), name=text(raw, "name"), arguments=arguments), raw=raw)


def _citation(one: dict[str, Any]) -> Citation | None:
    """Return where a statement comes from; None for a place in a document, which has no address."""
    url = nullable_text(one, "url")
    if not url:
        return None
    return Citation(url=url, title=nullable_text(one, "title"), cited_text=nullable_text(one, "cited_text"))


def _server_use(raw: dict[str, Any]) -> ServerBlock:
    query, name = text_of(mapping_of(raw, "input"), "query"), text_of(raw, "name")
    summary = f"[searched the web: {query}]" if query else f"[used {name or 'a server tool'}]"
    return ServerBlock(kind="call", tool=name, summary=summary, queries=(query,) if query else (), raw=raw)


def _search_result(raw: dict[str, Any], dropped: list[str]) -> ServerBlock:
    if isinstance(raw.get("content"), dict):  # errors arrive inside a 200
        summary = f"[web search failed: {text_of(raw['content'], 'error_code') or 'unknown'}]"
        return ServerBlock(kind="result", tool="web_search", summary=summary, raw=raw)
    sources = items_of(raw, "content", _source, dropped)
    lines = "\n".join(f"- {source.title}: {source.url}" for source in sources)
    return ServerBlock(
        kind="result", tool="web_search", summary=f"[web search found]\n{lines}", sources=sources, raw=raw
    )


def _source(one: dict[str, Any]) -> Citation | None:
    url = nullable_text(one, "url")
    return Citation(url=url, title=nullable_text(one, "title")) if url else None


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Read the tokens of one call, with cache writes by tier and the number of searches."""
    written = count_of(usage, "cache_creation_input_tokens")
    # The tiers may both be 0 on search turns although tokens were written: then they count as the cheaper one.
    hour = min(written, count_of(mapping_of(usage, "cache_creation"), "ephemeral_1h_input_tokens"))
    fresh, output = count_of(usage, "input_tokens"), count_of(usage, "output_tokens")
    return Usage(
        input_tokens=fresh,
        output_tokens=output,
        cache_read_tokens=count_of(usage, "cache_read_input_tokens"),
        cache_write_5m_tokens=written - hour,
        cache_write_1h_tokens=hour,
        web_searches=count_of(mapping_of(usage, "server_tool_use"), "web_search_requests"),
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

    @property
    def blocks(self) -> int:
        """Return how many blocks have begun."""
        return len(self._blocks)

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        event = read_json(data)
        match event.get("type"):
            case "content_block_delta":
                return self._delta(index(event, "index"), mapping(event, "delta"))
            case "content_block_start":
                return self._start(index(event, "index"), mapping(event, "content_block"))
            case "content_block_stop":
                self._stop(index(event, "index"))
            case "message_start":
                self._message = mapping(event, "message")
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

    def _start(self, place: int, block: dict[str, Any]) -> Sequence[Delta]:
        if place in self._blocks:
            raise ProviderFailed("The provider's stream begins the same block twice.")
        self._blocks[place] = block
        self._growing[place] = ("", [])
        match block.get("type"):
            case "tool_use":
                return (CallDelta(call_id=text(block, "id"), name=text(block, "name"), arguments=""),)
            case "text" if nullable_text(block, "text"):
                return (TextDelta(text=text(block, "text")),)
            case _:
                return _NOTHING

    def _delta(self, place: int, delta: Mapping[str, Any]) -> Sequence[Delta]:
        if place not in self._growing:
            raise ProviderFailed("The provider's stream continues a block that it never began.")
        match delta.get("type"):
            case "text_delta":
                return (TextDelta(text=self._grow(place, "text", text(delta, "text"))),)
            case "input_json_delta":
                block, piece = self._blocks[place], self._grow(place, "input", text(delta, "partial_json"))
                is_call = block.get("type") == "tool_use"
                return (CallDelta(call_id=block["id"], name=block["name"], arguments=piece),) if is_call else _NOTHING
            case "thinking_delta":
                return (ReasoningDelta(text=self._grow(place, "thinking", text(delta, "thinking"))),)
            case "signature_delta":
                self._blocks[place]["signature"] = text(delta, "signature")
            case "citations_delta":
                self._cite(self._blocks[place], delta.get("citation"))
            case _:  # of a block that we do not know: its texts grow, as those of all others do
                self._merge_unknown(self._blocks[place], delta)
        return _NOTHING

    def _grow(self, place: int, field: str, piece: str) -> str:
        known, pieces = self._growing[place]
        if known and known != field:
            raise ProviderFailed("The provider's stream continues a block with something of another kind.")
        if not known:
            self._growing[place] = (field, pieces)
        pieces.append(piece)
        return piece

    def _cite(self, block: dict[str, Any], citation: object) -> None:
        """Add a citation; whether it can be used is seen when the block is read."""
        if not isinstance(block.get("citations"), list):
            block["citations"] = []
        block["citations"].append(citation)

    def _merge_unknown(self, block: dict[str, Any], delta: Mapping[str, Any]) -> None:
        for key, value in delta.items():
            if key != "type":
                before = block.get(key)
                block[key] = before + value if isinstance(before, str) and isinstance(value, str) else value

    def _stop(self, place: int) -> None:
        if place not in self._growing:
            raise ProviderFailed("The provider's stream ends a block that it never began.")
        block = self._blocks[place]
        field, pieces = self._growing.pop(place)
        whole = "".join(pieces)
        if field == "input":
            if whole:  # a call without arguments may bring one empty piece
                block["input"] = _object(whole)
                if block.get("type") == "tool_use":
                    block[ARGUMENTS] = whole
        elif field:
            block[field] = nullable_text(block, field) + whole

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        if self._message is None:
            raise ProviderFailed("The provider's stream ends a message that it never began.")
        self._message |= {key: value for key, value in mapping(event, "delta").items() if value is not None}
        # Totals so far, not additions; what is left out stays as the start of the message had it.
        usage = {key: value for key, value in mapping_of(event, "usage").items() if value is not None}
        self._message["usage"] = mapping_of(self._message, "usage") | usage


def _object(written: str) -> dict[str, object]:
    """Return the arguments for sending back to the provider. Broken ones become {}: they were never run."""
    try:
        return parse_object(written)
    except JsonRefused:
        return {}
