"""Read the answers of the chat wire: whole completions, and streams, which become the same JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from toolroll.errors import ModelError, NetworkFailed
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
from toolroll.models.failures import ErrorBody, find_error
from toolroll.models.model import CallDelta, Delta, ModelResponse, ReasoningDelta, StopKind, TextDelta
from toolroll.models.parts import arguments_received, is_complete_object
from toolroll.models.shape import (
    ShapeFault,
    count_of,
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

_STOPS: Final[Mapping[str, StopKind]] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "content_filter": "refusal",
}

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
"""Where servers put what a model thought: DeepSeek's word, and OpenRouter's and vLLM's."""

_NOTHING: Final[Sequence[Delta]] = ()
_END: Final = "[DONE]"


def read_completion(body: Mapping[str, Any], *, origin: Origin) -> ModelResponse:
    """Read a whole completion, streamed or not."""
    choices = items(body, "choices", lambda choice: choice)
    if not choices:
        raise ShapeFault("choices", "a list with a choice", "empty")
    choice, dropped = choices[0], list[str]()
    message = mapping(choice, "message")
    blocks = tuple(_blocks(message, text_of(body, "id"), dropped))
    reason = text_of(choice, "finish_reason")
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=origin),
        stop=_stop(reason, message, blocks),
        stop_detail=text_of(message, "refusal") or reason,
        usage=read_usage(mapping_of(body, "usage")),
        response_id=text_of(body, "id"),
        dropped=tuple(dropped),
    )


def _stop(reason: str, message: Mapping[str, Any], blocks: tuple[AssistantBlock, ...]) -> StopKind:
    if text_of(message, "refusal"):
        return "refusal"
    stop = _STOPS.get(reason, "unknown")
    # Ollama ends a turn of calls like any other.
    calls = any(isinstance(block, CallBlock) for block in blocks)
    return "tool_calls" if stop == "end" and calls else stop


def _blocks(message: Mapping[str, Any], response_id: str, dropped: list[str]) -> Iterator[AssistantBlock]:
    yield from _reasoning(message)
    said = _content(message) or nullable_text(message, "refusal")
    if said:
        yield TextBlock(text=said, citations=items_of(message, "annotations", _citation, dropped))
    numbers = count()
    yield from nullable_items(message, "tool_calls", lambda raw: _call(raw, next(numbers), response_id))


def _reasoning(message: Mapping[str, Any]) -> Iterator[ReasoningBlock]:
    field = next((field for field in REASONING_FIELDS if text_of(message, field)), None)
    kept = {key: message[key] for key in (field, "reasoning_details") if key is not None and message.get(key)}
    if kept:  # without a text where OpenRouter hands on thoughts that are encrypted, such as Gemini's signatures
        yield ReasoningBlock(text="" if field is None else message[field], raw=kept)
    elif thought := _join_parts(message, _thought):  # Mistral's, which takes none back in a field of its own
        yield ReasoningBlock(text=thought)


def _content(message: Mapping[str, Any]) -> str:
    """Return the text of a message: mostly plain, from some servers in parts."""
    if isinstance(message.get("content"), list):
        return _join_parts(message, lambda part: text_of(part, "text"))
    return nullable_text(message, "content")


def _join_parts(message: Mapping[str, Any], read: Callable[[dict[str, Any]], str]) -> str:
    """Return what is read of the parts of a message, joined; nothing where its content has none."""
    return "".join(items(message, "content", read)) if isinstance(message.get("content"), list) else ""


def _thought(part: Mapping[str, Any]) -> str:
    """Return what a part with thoughts has, as Mistral writes it: `{"type": "thinking", "thinking": [...]}`."""
    if isinstance(part.get("thinking"), list):
        return "".join(items(part, "thinking", lambda piece: text_of(piece, "text")))
    return text_of(part, "thinking")


def _citation(note: dict[str, Any]) -> Citation | None:
    cited = mapping_of(note, "url_citation")
    url = nullable_text(cited, "url")
    return Citation(url=url, title=nullable_text(cited, "title")) if url else None


def _call(raw: dict[str, Any], number: int, response_id: str) -> CallBlock:
    function = mapping(raw, "function")
    call_id = text_of(raw, "id") or make_call_id(response_id, number)
    call = ToolCall(id=call_id, name=text(function, "name"), arguments=arguments_received(function.get("arguments")))
    return CallBlock(call=call, raw=raw)


def make_call_id(response_id: str, number: int) -> str:
    """Make an id for a call that came without one."""
    return f"{response_id or 'call'}_{number}"


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Read the tokens of one call; unmeasured where the server does not count."""
    details = mapping_of(usage, "prompt_tokens_details")
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


_OWN_FIELDS: Final = frozenset({"index", "id", "type", "function"})


@dataclass(slots=True, kw_only=True)
class _Call:
    """A call on its way."""

    id: str
    given_id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    """What the server keeps beside the call, such as a signature."""

    def json(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": "".join(self.pieces)}
        return self.kept | {"id": self.id, "type": "function", "function": function}


class CompletionAssembly:
    """Collects the chunks of one completion; what comes out is what an unstreamed call would have brought."""

    def __init__(self, fail: Callable[[ErrorBody], ModelError]) -> None:
        self._fail = fail
        self._head: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._thoughts: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._reason: str | None = None
        self._usage: object = None
        self._ended = False

    @property
    def blocks(self) -> int:
        """Return how many calls have begun."""
        return len(self._calls)

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        if data.strip() == _END:
            self._ended = True
            return _NOTHING
        chunk = read_json(data)
        error = find_error(chunk)
        if error is not None:
            raise self._fail(error)
        self._head = self._head or {"id": chunk.get("id")}
        self._usage = chunk.get("usage") or self._usage
        choices = nullable_items(chunk, "choices", lambda choice: choice)
        if not choices:  # the last one, with nothing but the usage
            return _NOTHING
        if choices[0].get("finish_reason"):
            self._reason = text(choices[0], "finish_reason")
            self._ended = True
        return self._deltas({} if choices[0].get("delta") is None else mapping(choices[0], "delta"))

    def finish(self) -> dict[str, Any]:
        """Return the whole completion; raise `NetworkFailed` if the stream broke off before its end."""
        if not self._ended:
            raise NetworkFailed("The model server's stream ended before its message did.")
        message: dict[str, Any] = {key: "".join(pieces) for key, pieces in self._texts.items()} | self._lists
        if self._thoughts:
            thinking = {"type": "thinking", "thinking": "".join(self._thoughts)}
            message["content"] = [thinking, {"type": "text", "text": message.get("content", "")}]
        if self._calls:
            message["tool_calls"] = [call.json() for call in self._calls]
        choice = {"message": message, "finish_reason": self._reason}
        return self._head | {"choices": [choice], "usage": self._usage}

    def _deltas(self, delta: dict[str, Any]) -> list[Delta]:
        found: list[Delta] = []
        for key in REASONING_FIELDS:
            if thought := text_of(delta, key):
                self._texts.setdefault(key, []).append(thought)
                found.append(ReasoningDelta(text=thought))
                break
        if thought := _join_parts(delta, _thought):
            self._thoughts.append(thought)
            found.append(ReasoningDelta(text=thought))
        for key, said in (("content", _content(delta)), ("refusal", nullable_text(delta, "refusal"))):
            if said:
                self._texts.setdefault(key, []).append(said)
                found.append(TextDelta(text=said))
        for key in ("annotations", "reasoning_details"):
            if isinstance(delta.get(key), list):
                self._lists.setdefault(key, []).extend(delta[key])
        return [*found, *nullable_items(delta, "tool_calls", self._fragment)]

    def _fragment(self, fragment: Mapping[str, Any]) -> CallDelta:
        function = {} if fragment.get("function") is None else mapping(fragment, "function")
        written = function.get("arguments")
        piece = written if isinstance(written, str) else arguments_received(written) if written is not None else ""
        call = self._continue_call(fragment, function, piece)
        call.pieces.append(piece)
        return CallDelta(call_id=call.id, name=call.name, arguments=piece)

    def _continue_call(self, fragment: Mapping[str, Any], function: Mapping[str, Any], piece: str) -> _Call:
        index, call_id, name = fragment.get("index"), text_of(fragment, "id"), nullable_text(function, "name")
        call = self._find_call(index, call_id)
        # A call with an index of its own may have its name repeated beside nothing at all.
        starts = bool(name) and (bool(piece) or index is None)
        if call is None or _begins_another(call, call_id, starts=starts):
            own_id = call_id or make_call_id(text_of(self._head, "id"), len(self._calls))
            call = _Call(id=own_id, given_id=call_id, name=name)
            self._calls.append(call)
        # Beside any piece of it: a signature may come with the last one.
        call.kept |= {key: value for key, value in fragment.items() if key not in _OWN_FIELDS and value is not None}
        call.name = call.name or name
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def _find_call(self, index: object, call_id: str) -> _Call | None:
        """Find the call that a fragment may continue: by its index, else by its id, else the last one."""
        if isinstance(index, int):
            return self._by_index.get(index)
        same = next((call for call in self._calls if call_id and call.given_id == call_id), None)
        return same or (self._calls[-1] if self._calls else None)


def _begins_another(call: _Call, call_id: str, *, starts: bool) -> bool:
    """Return whether a fragment with the index of a known call belongs to a new one all the same."""
    if call_id and call.given_id:
        return call_id != call.given_id
    return starts and is_complete_object("".join(call.pieces))
