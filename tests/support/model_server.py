"""A model server on loopback: Anthropic Messages, OpenAI Responses and Chat Completions, streaming and not.

    async with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), "3"]) as server:
        model = server.model("anthropic")            # or "openai", "chat"
        ...
        assert server.requests[1].body["messages"] ...

A plain `with` does as well; `async with` also closes the models that it was asked for.

It says what its script tells it, fails as scripted, and checks every request as the provider would: one that breaks a
rule is refused with 400, and `with` ends in an `AssertionError` that names the rule (unless `lenient`). A script is a
list of turns, or a function that is given each request; it may serve any number of clients at once.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Any, TypeAlias

from tests.models.wires import anthropic, chat, openai
from tests.support.model_script import Fault, Issued, Json, Turn, fail

from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.chat.model import ChatModel
from toolroll.models.exchange import WireModel
from toolroll.models.model import Wire
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.transport import HttpTransport

WIRES: Mapping[str, ModuleType] = {"anthropic": anthropic, "openai": openai, "chat": chat}
MODELS: Mapping[Wire, str] = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-5.6-terra", "chat": "some-model"}
KEY = "sk-test-0123456789abcdefghij"
NO_FAULT = Fault()


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request, as it came."""

    wire: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Json


Script: TypeAlias = Callable[[Received], Turn]


async def turns() -> None:
    """Let everything in the loop go on that need not wait."""
    for _ in range(10):
        await asyncio.sleep(0)


class ModelServer:
    """The server, running between `with` and its end, in a thread of its own."""

    def __init__(self, script: Iterable[Turn | str] | Script, *, lenient: bool = False, port: int = 0) -> None:
        self._next = script if callable(script) else _player(script)
        self._lenient = lenient
        self._issued = Issued()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._models: list[WireModel] = []
        self.port = port
        self.requests: list[Received] = []
        self.problems: list[str] = []

    @property
    def url(self) -> str:
        """The base address for Anthropic; for the others, `url + "/v1"`."""
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, wire: Wire) -> str:
        return self.url if wire == "anthropic" else f"{self.url}/v1"

    def transport(self, wire: Wire, **options: Any) -> HttpTransport:
        return HttpTransport(self.base_url(wire), **options)

    def model(self, wire: Wire, name: str | None = None, *, timeout_s: float = 20.0, **options: Any) -> WireModel:
        """A model of ours that talks to this server."""
        made = self._model(wire, name or MODELS[wire], timeout_s, options)
        self._models.append(made)
        return made

    def _model(self, wire: Wire, name: str, timeout_s: float, options: dict[str, Any]) -> WireModel:
        transport = self.transport(wire, timeout_s=timeout_s)
        bearer = {"authorization": f"Bearer {KEY}"}
        match wire:
            case "anthropic":
                return AnthropicModel(name, transport=transport, headers={"x-api-key": KEY}, **options)
            case "openai":
                return OpenAIModel(name, transport=transport, headers=bearer, **options)
            case "chat":
                return ChatModel(name, transport=transport, headers=bearer, **options)

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self.problems and not self._lenient and kind is None:
            raise AssertionError("Requests that the provider would refuse:\n" + "\n".join(self.problems))

    async def __aenter__(self) -> "ModelServer":
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for model in self._models:
            await model.aclose()
        self.__exit__(kind, error, trace)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        clients: set[asyncio.Task[None]] = set()

        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            clients.add(task)
            try:
                await self._client(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                clients.discard(task)
                writer.close()

        server = await asyncio.start_server(client, "127.0.0.1", self.port, limit=2**20)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        for one in server.sockets:  # nobody is let in any more; a closed server would not close who is on the way in
            self._loop.remove_reader(one.fileno())
        await turns()  # whoever was let in a moment ago begins: one that is cancelled before would not be closed
        server.close()
        for task in list(clients):
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await turns()  # what was closed is closed at the next turn, and a warning in some other test if there is none

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            received = await _read(reader)
            if received is None:
                return
            if not await self._answer(received, reader, writer):
                return

    async def _answer(self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection can be used again."""
        wire = WIRES[received.wire]
        self.requests.append(received)
        problems = list(wire.faults_of(received.body, received.headers, self._issued))
        if problems:
            self.problems += [f"request {len(self.requests)} ({received.wire}): {one}" for one in problems]
            turn = Turn(fault=Fault(status=400, kind="invalid_request_error", message=problems[0]))
        else:
            turn = self._next(received)
        fault = turn.fault or NO_FAULT
        if fault.stall:
            await reader.read(1)
            return False
        if fault.status is not None or fault.body is not None:
            body = fault.body if fault.body is not None else _bytes(wire.error(fault, self._issued))
            return await _send(writer, fault.status or 200, fault.headers, body)
        whole = wire.answer(turn, received.body, self._issued)
        streams = received.body.get("stream") and "json_only" not in turn.options
        if not streams:
            return await _send(writer, 200, fault.headers, _bytes(wire.plain(whole)), fault)
        return await _stream(writer, fault, _events(wire, whole, fault, self._issued))


def _player(turns: Iterable[Turn | str]) -> Script:
    remaining = iter(list(turns))

    def play(_received: Received) -> Turn:
        turn = next(remaining, None)
        if turn is None:
            return fail(400, "invalid_request_error", "the server's script has ended")
        return Turn(turn) if isinstance(turn, str) else turn

    return play


def _events(wire: ModuleType, whole: Json, fault: Fault, issued: Issued) -> list[bytes]:
    named = list(wire.events(whole, fault))
    if fault.error_after_events is not None:
        named = [*named[: fault.error_after_events], wire.error_event(fault, issued)]
    if fault.cut_after_events is not None:
        named = named[: fault.cut_after_events]
    return list(sse(named, fault))


def sse(named: Iterable[tuple[str, str]], fault: Fault = NO_FAULT) -> Iterator[bytes]:
    """Events as bytes."""
    end = fault.newline
    if fault.noise:
        yield b"\xef\xbb\xbf" + f": a comment{end}retry: 10{end}{end}".encode()
    for name, data in named:
        head = f"event: {name}{end}" if name else ""
        noise = f"id: 7{end}:{end}x{end}" if fault.noise else ""
        yield f"{head}{noise}data: {data}{end}{end}".encode()


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    path = first.split(" ")[1]
    return Received(
        wire=_wire(path), path=path, headers=headers, raw=raw, body={"model": "in the address"} | json.loads(raw)
    )


def _wire(path: str) -> str:
    """Clouds have addresses of their own for the same messages."""
    if "/chat/completions" in path:
        return "chat"
    return "openai" if "/responses" in path else "anthropic"


def _bytes(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


async def _send(
    writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str], body: bytes, fault: Fault = NO_FAULT
) -> bool:
    head = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    writer.write(f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode())
    sent = body if fault.cut_after_bytes is None else body[: fault.cut_after_bytes]
    for piece in _pieces(sent, fault.chunk_bytes):
        writer.write(piece)
        await writer.drain()
    return len(sent) == len(body)


async def _stream(writer: asyncio.StreamWriter, fault: Fault, events: list[bytes]) -> bool:
    head = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked", **fault.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    writer.write(f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode())
    body = b"".join(events)
    cut = fault.cut_after_bytes is not None or fault.cut_after_events is not None
    sent = body if fault.cut_after_bytes is None else body[: fault.cut_after_bytes]
    parts = events if fault.chunk_bytes is None and fault.cut_after_bytes is None else _pieces(sent, fault.chunk_bytes)
    for piece in parts:
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    if cut and not fault.clean_cut:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _pieces(body: bytes, size: int | None) -> Iterator[bytes]:
    size = size or max(1, len(body))
    return (body[start : start + size] for start in range(0, len(body), size))
