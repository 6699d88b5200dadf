"""An Anthropic event stream put together to the message it stands for. Pure: events in, deltas and a message out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from toolroll.errors import JsonRefused, ModelError, NetworkFailed, ProviderFailed
from toolroll.kernel.arguments.parse import parse_object
from toolroll.models.anthropic.response import ARGUMENTS
from toolroll.models.body import read_json
from toolroll.models.failures import ErrorBody, error_in
from toolroll.models.model import CallDelta, Delta, ReasoningDelta, TextDelta

_NOTHING: Final[Sequence[Delta]] = ()


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
                raise self._fail(error_in(event) or ErrorBody())
            case _:  # ping, and whatever comes after us
                pass
        return _NOTHING

    def finish(self) -> dict[str, Any]:
        """The whole message; a stream without an end is a broken connection, whatever arrived of it."""
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
                self._unknown(self._blocks[index], delta)
        return _NOTHING

    def _grow(self, index: int, field: str, piece: str) -> str:
        known, pieces = self._growing[index]
        if not known:
            self._growing[index] = (field, pieces)
        pieces.append(piece)
        return piece

    def _unknown(self, block: dict[str, Any], delta: Mapping[str, Any]) -> None:
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
    """The arguments as sent back to the provider. Broken ones become {}: they are never run, only repaired."""
    try:
        return parse_object(written)
    except JsonRefused:
        return {}
