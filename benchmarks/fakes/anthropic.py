"""A model on this machine that costs nothing: Anthropic's Messages API, its answers written beforehand.

    POST /STEPS/CALLS/WORDS/v1/messages

Each of the first STEPS turns says WORDS words and calls `add(a, b)` CALLS times; the turn after them is the answer. The
server keeps nothing: how far a conversation is, it sees by the results that come with the request. It prints its port,
and serves until its input ends.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

MODEL = "claude-sonnet-5-5"
USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}


def blocks_of(turn: int, steps: int, calls: int, words: int) -> list[dict[str, Any]]:
    """What the model says in one turn."""
    if turn >= steps:
        return [{"type": "text", "text": "All is added."}]
    text = [{"type": "text", "text": "".join(f"word{number} " for number in range(words))}] if words else []
    uses = [
        {"type": "tool_use", "id": f"toolu_{turn}_{number}", "name": "add", "input": {"a": turn, "b": number}}
        for number in range(calls)
    ]
    return text + uses


def message(turn: int, content: list[dict[str, Any]]) -> dict[str, Any]:
    stop = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
    who = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": MODEL}
    return who | {"content": content, "stop_reason": stop, "stop_sequence": None, "usage": USAGE}


def events(turn: int, content: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same as a stream: text word by word, arguments in three pieces."""
    whole = message(turn, content)
    yield {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}}
    for index, block in enumerate(content):
        is_text = block["type"] == "text"
        start = {"type": "text", "text": ""} if is_text else block | {"input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in text_deltas(block) if is_text else argument_deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": USAGE}
    yield {"type": "message_stop"}


def text_deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    for word in block["text"].split():
        yield {"type": "text_delta", "text": f"{word} "}


def argument_deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    written = json.dumps(block["input"])
    for piece in ("", written[:5], written[5:]):
        yield {"type": "input_json_delta", "partial_json": piece}


@cache
def answer(script: tuple[int, int, int], turn: int, stream: bool) -> bytes:
    """The whole HTTP answer, made once."""
    content = blocks_of(turn, *script)
    if not stream:
        return whole(message(turn, content))
    return streamed([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events(turn, content)])


def whole(value: dict[str, Any]) -> bytes:
    body = json.dumps(value).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    return head + body


def streamed(chunks: list[bytes]) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


@cache
def script_of(target: bytes) -> tuple[int, int, int]:
    _, steps, calls, words, *_ = target.decode().split("/")
    return int(steps), int(calls), int(words)


class Connection(asyncio.Protocol):
    """HTTP/1.1, as far as clients of one endpoint need it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = bytearray()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._next_request()) is not None:
            target, body = request
            script = script_of(target)
            stream = b'"stream":true' in body or b'"stream": true' in body
            self._transport.write(self.reply(script, body, stream))

    def reply(self, script: tuple[int, int, int], body: bytes, stream: bool) -> bytes:
        """The answer, by the results that have come so far."""
        return answer(script, body.count(b'"tool_use_id"') // max(script[1], 1), stream)

    def _next_request(self) -> tuple[bytes, bytes] | None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = bytes(self._received[:end])
        found = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        size = end + 4 + int(found or 0)
        if len(self._received) < size:
            return None
        body = bytes(self._received[end + 4 : size])
        del self._received[:size]
        return head.split(b" ", 2)[1], body


async def serve(protocol: type[Connection] = Connection) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
