"""A stream of chat completion chunks put together to the completion it stands for. Pure.

Calls arrive in fragments, by index. Servers disagree about the details: some repeat id and name in every fragment, some
leave out the index, some the id, and Ollama gave every call the index 0.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from toolroll.errors import ModelError, NetworkFailed
from toolroll.models.body import read_json, text_of
from toolroll.models.calls import arguments_received, is_complete_object
from toolroll.models.chat.response import REASONING_FIELDS, minted
from toolroll.models.failures import ErrorBody, error_in
from toolroll.models.model import CallDelta, Delta, ReasoningDelta, TextDelta

_NOTHING: Final[Sequence[Delta]] = ()
_END: Final = "[DONE]"


@dataclass(slots=True, kw_only=True)
class _Call:
    """A call on its way."""

    id: str
    given_id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    kept: dict[str, Any]

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
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._reason: str | None = None
        self._usage: object = None
        self._ended = False

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        if data.strip() == _END:
            self._ended = True
            return _NOTHING
        chunk = read_json(data)
        error = error_in(chunk)
        if error is not None:
            raise self._fail(error)
        self._head = self._head or {"id": chunk.get("id")}
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices")
        if not choices:  # the last one, with nothing but the usage
            return _NOTHING
        choice = choices[0]
        if choice.get("finish_reason"):
            self._reason = choice["finish_reason"]
            self._ended = True
        return list(self._deltas(choice.get("delta") or {}))

    def finish(self) -> dict[str, Any]:
        """The whole completion; a stream without an end is a broken connection, whatever arrived of it."""
        if not self._ended:
            raise NetworkFailed("The model server's stream ended before its message did.")
        message: dict[str, Any] = {key: "".join(pieces) for key, pieces in self._texts.items()} | self._lists
        if self._calls:
            message["tool_calls"] = [call.json() for call in self._calls]
        choice = {"message": message, "finish_reason": self._reason}
        return self._head | {"choices": [choice], "usage": self._usage}

    def _deltas(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        for key in REASONING_FIELDS:
            if text_of(delta, key):
                self._texts.setdefault(key, []).append(delta[key])
                yield ReasoningDelta(text=delta[key])
                break
        for key in ("content", "refusal"):
            if text_of(delta, key):
                self._texts.setdefault(key, []).append(delta[key])
                yield TextDelta(text=delta[key])
        for key in ("annotations", "reasoning_details"):
            if delta.get(key):
                self._lists.setdefault(key, []).extend(delta[key])
        for fragment in delta.get("tool_calls") or ():
            yield self._fragment(fragment)

    def _fragment(self, fragment: Mapping[str, Any]) -> CallDelta:
        function = fragment.get("function") or {}
        written = function.get("arguments")
        piece = written if isinstance(written, str) else arguments_received(written) if written is not None else ""
        call = self._call_of(fragment, function, piece)
        call.pieces.append(piece)
        return CallDelta(call_id=call.id, name=call.name, arguments=piece)

    def _call_of(self, fragment: Mapping[str, Any], function: Mapping[str, Any], piece: str) -> _Call:
        index, call_id, name = fragment.get("index"), text_of(fragment, "id"), text_of(function, "name")
        call = self._known(index, call_id)
        # A call with an index of its own may have its name repeated beside nothing at all.
        starts = bool(name) and (bool(piece) or index is None)
        if call is None or _begins_another(call, call_id, starts=starts):
            kept = {key: value for key, value in fragment.items() if key not in {"index", "id", "type", "function"}}
            own_id = call_id or minted(text_of(self._head, "id"), len(self._calls))
            call = _Call(id=own_id, given_id=call_id, name=name, kept=kept)
            self._calls.append(call)
        call.name = call.name or name
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def _known(self, index: object, call_id: str) -> _Call | None:
        """The call that a fragment may continue: by its index, else by its id, else the last one."""
        if isinstance(index, int):
            return self._by_index.get(index)
        same = next((call for call in self._calls if call_id and call.given_id == call_id), None)
        return same or (self._calls[-1] if self._calls else None)


def _begins_another(call: _Call, call_id: str, *, starts: bool) -> bool:
    """Whether a fragment with the place of a call belongs to a new one all the same."""
    if call_id and call.given_id:
        return call_id != call.given_id
    return starts and is_complete_object("".join(call.pieces))
