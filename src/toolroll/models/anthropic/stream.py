"""An Anthropic event stream put together to the message it stands for. Pure: events in, deltas and a message out."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolroll.errors import JsonRefused, NetworkFailed, ProviderFailed
from toolroll.kernel.parse import parse_json
from toolroll.models.anthropic.failure import failure
from toolroll.models.anthropic.response import ARGUMENTS
from toolroll.models.model import CallDelta, Delta, ReasoningDelta, TextDelta


class Assembly:
    """Collects the events of one message. `message()` is its JSON, as an unstreamed call would have brought it."""

    def __init__(self) -> None:
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._ended = False

    def feed(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one event; yields what a person could be shown of it."""
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
                self._pieces[event["index"]] = []
                yield from _first_delta(event["content_block"])
            case "content_block_delta":
                yield from self._delta(event["index"], event["delta"])
            case "content_block_stop":
                self._finish_block(event["index"])
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                self._ended = True
            case "error":
                error = event.get("error") or {}
                raise failure(None, {}, str(error.get("type", "")), str(error.get("message", "")), error)
            case _:  # ping, and whatever comes after us
                return

    def message(self) -> dict[str, Any]:
        """The whole message; a stream without an end is a broken connection, whatever arrived of it."""
        if self._message is None or not (self._ended and self._message.get("stop_reason")):
            raise NetworkFailed("The provider's stream ended before its message did.")
        content = [self._blocks[index] for index in sorted(self._blocks)]
        return self._message | {"content": content}

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[Delta]:
        if index not in self._blocks:
            raise ProviderFailed("The provider's stream continues a block that it never began.")
        block, pieces = self._blocks[index], self._pieces[index]
        match delta.get("type"):
            case "text_delta":
                pieces.append(delta["text"])
                yield TextDelta(text=delta["text"])
            case "input_json_delta":
                pieces.append(delta["partial_json"])
                if block.get("type") == "tool_use":
                    yield CallDelta(call_id=block["id"], name=block["name"], arguments=delta["partial_json"])
            case "thinking_delta":
                pieces.append(delta["thinking"])
                yield ReasoningDelta(text=delta["thinking"])
            case "signature_delta":
                block["signature"] = block.get("signature", "") + delta["signature"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
            case _:
                return

    def _finish_block(self, index: int) -> None:
        block = self._blocks[index]
        whole = "".join(self._pieces.pop(index))
        match block.get("type"):
            case "text":
                block["text"] = block.get("text", "") + whole
            case "thinking":
                block["thinking"] = block.get("thinking", "") + whole
            case "tool_use":
                self._finish_call(block, whole)
            case "server_tool_use" if whole:
                block["input"] = _parsed(whole)
            case _:
                return

    def _finish_call(self, block: dict[str, Any], written: str) -> None:
        if written:
            block["input"] = _parsed(written)
            block[ARGUMENTS] = written

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        if self._message is None:
            raise ProviderFailed("The provider's stream ends a message that it never began.")
        self._message |= {key: value for key, value in event["delta"].items() if value is not None}
        usage = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
        self._message["usage"] = (self._message.get("usage") or {}) | usage


def _first_delta(block: Mapping[str, Any]) -> Iterator[Delta]:
    if block.get("type") == "tool_use":
        yield CallDelta(call_id=block["id"], name=block["name"], arguments="")
    elif block.get("type") == "text" and block.get("text"):
        yield TextDelta(text=block["text"])


def _parsed(written: str) -> object:
    """The arguments as sent back to the provider. Broken ones become {}: they are never run, only repaired."""
    try:
        return parse_json(written)
    except JsonRefused:
        return {}
