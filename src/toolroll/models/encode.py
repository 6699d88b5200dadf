"""Each message is encoded once. A request joins the kept pieces: its cost no longer grows with the history's."""

import json
from collections.abc import Callable, Mapping, Sequence

from toolroll.kernel.conversation import Message


class MessageBytes:
    """The encoded form of messages, by identity: messages never change, so their bytes do not either."""

    def __init__(self, to_json: Callable[[Message], Mapping[str, object]]) -> None:
        self._to_json = to_json
        self._kept: dict[int, tuple[Message, bytes]] = {}

    def all(self, messages: Sequence[Message]) -> list[bytes]:
        """The bytes of all messages; what is no longer among them is forgotten."""
        kept = {id(message): (message, self._bytes(message)) for message in messages}
        self._kept = kept
        return [kept[id(message)][1] for message in messages]

    def _bytes(self, message: Message) -> bytes:
        found = self._kept.get(id(message))
        return found[1] if found is not None else compact(self._to_json(message))


def compact(value: object) -> bytes:
    """JSON without blanks, as bytes; text stays readable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def join(head: bytes, key: str, pieces: Sequence[bytes]) -> bytes:
    """The body `{...head, key: [pieces]}` from encoded pieces."""
    return head[:-1] + b',"' + key.encode() + b'":[' + b",".join(pieces) + b"]}"
