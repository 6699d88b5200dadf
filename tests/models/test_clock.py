"""The clocks over an answer, and the limits on its size, over real sockets."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.models.asking import ask, ask_all, text_of, user
from tests.models.shapes import ALL, answer_of
from tests.models.test_retry import Waits, collect, rule_with
from tests.support.model_script import Fault, Turn, Use, fail
from tests.support.model_server import KEY, MODELS, NO_FAULT, WIRES, ModelServer, sse

from toolroll.errors import AnswerTooLarge, ModelError, ModelTimeout
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.chat.model import ChatModel
from toolroll.models.clock import Pauses
from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.exchange import WireModel
from toolroll.models.model import CallDelta, ModelRequest, ModelWait, TextDelta, Timeouts, Wire
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.retry import Retry
from toolroll.models.transport import HttpTransport

EACH = pytest.mark.parametrize("wire", ALL)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
KINDS = {"anthropic": AnthropicModel, "openai": OpenAIModel, "chat": ChatModel}

Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(wire: Wire, *talks: Talk) -> AsyncIterator[WireModel]:
    """A model whose server writes to each of its connections in turn what it likes."""
    waiting, busy = list(talks), set[asyncio.Task[None]]()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            await waiting.pop(0)(writer)
            await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            busy.discard(task)
            writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        model = KINDS[wire](MODELS[wire], transport=HttpTransport(f"http://127.0.0.1:{port}"), headers={"x-key": KEY})
        try:
            yield model
        finally:
            await model.aclose()
            for task in list(busy):
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)
            await asyncio.sleep(0)


def events_of(wire: Wire, turn: Turn) -> list[bytes]:
    return list(sse(WIRES[wire].events(answer_of(wire, turn), NO_FAULT)))


def repeats(piece: bytes, *, before: bytes = HEAD, every_s: float = 0.01) -> Talk:
    """Send the same bytes again and again, for ever."""

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every_s)

    return talk


def says(body: bytes) -> Talk:
    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + body)

    return talk


def stalls(body: bytes = b"") -> Talk:
    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(body)
        await writer.drain()
        await asyncio.Event().wait()

    return talk


LIMITS = Timeouts(first_byte_s=60, gap_s=60, content_s=60, turn_s=60)
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


@EACH
@pytest.mark.parametrize("before", [b"", b"HTTP/1.1 200 OK\r\nx-slow: ", HEAD], ids=["nothing", "half a head", "head"])
async def test_XL40_a_model_that_does_not_begin_is_given_up(wire: Wire, before: bytes) -> None:
    async with served(wire, stalls(before)) as model:
        model.timeouts = replace(LIMITS, first_byte_s=0.2)
        with pytest.raises(ModelTimeout, match=r"did not begin to answer within 0\.2 seconds.*first_byte_seconds"):
            await ask(model, stream=True)


@EACH
async def test_XL40_a_head_that_comes_byte_by_byte_is_no_answer(wire: Wire) -> None:
    async with served(wire, repeats(b"a", before=b"HTTP/1.1 200 OK\r\nx-slow: ")) as model:
        model.timeouts = replace(LIMITS, first_byte_s=0.3)
        with pytest.raises(ModelTimeout, match="did not begin"):
            await ask(model, stream=True)


@EACH
async def test_XL40_a_stream_that_stops_is_given_up_after_a_gap(wire: Wire) -> None:
    async with served(wire, stalls(HEAD + events_of(wire, Turn("hello"))[0])) as model:
        model.timeouts = replace(LIMITS, gap_s=0.2)
        with pytest.raises(ModelTimeout, match=r"sent nothing for 0\.2 seconds"):
            await ask(model, stream=True)


@EACH
@pytest.mark.parametrize("noise", [PING, b": comment\n\n", b":", b"x"], ids=["pings", "comments", "colons", "bytes"])
async def test_XL40_pings_comments_and_single_bytes_are_no_progress(wire: Wire, noise: bytes) -> None:
    first = events_of(wire, Turn("hello"))[0]
    async with served(wire, repeats(noise, before=HEAD + first)) as model:
        model.timeouts = replace(LIMITS, content_s=0.3)
        with pytest.raises(ModelTimeout, match=r"sent no content for 0\.3 seconds"):
            await ask(model, stream=True)


async def test_XL40_content_without_an_end_is_given_up() -> None:
    begun = b"".join(events_of("anthropic", Turn("hello"))[:2])
    delta = b'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}\n\n'
    async with served("anthropic", repeats(delta, before=HEAD + begun)) as model:
        model.timeouts = replace(LIMITS, content_s=30, turn_s=0.5)
        with pytest.raises(ModelTimeout, match=r"complete its answer within 0\.5 seconds"):
            await ask(model, stream=True)


@EACH
async def test_XL40_an_answer_in_one_piece_may_take_longer_to_begin(wire: Wire) -> None:
    """Its first byte comes when all of it is written."""
    whole = json.dumps(WIRES[wire].plain(answer_of(wire, Turn("hello")))).encode()

    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        writer.write(HEAD + whole)

    async with served(wire, late, stalls()) as model:
        model.timeouts = replace(LIMITS, first_byte_s=0.001)
        assert (await ask(model)).message.text == "hello"
        model.timeouts = replace(LIMITS, content_s=0.2)
        with pytest.raises(ModelTimeout, match="no content"):
            await ask(model)


@EACH
async def test_XL41_a_time_out_before_text_is_retried_and_after_it_is_not(wire: Wire) -> None:
    whole = events_of(wire, Turn("hello there"))
    shown = next(at for at in range(len(whole)) if b"hello" in whole[at]) + 1
    waits = Waits()
    async with served(wire, stalls(), says(b"".join(whole)), stalls(HEAD + b"".join(whole[:shown])), stalls()) as model:
        model.timeouts = replace(LIMITS, first_byte_s=0.3, gap_s=0.3)
        pieces = await collect(model, rule_with(waits))
        assert sum(isinstance(piece, Retry) for piece in pieces) == 1
        assert text_of(piece for piece in pieces if isinstance(piece, TextDelta)) == "hello there"
        with pytest.raises(ModelTimeout):
            await collect(model, rule_with(waits))
    assert len(waits) == 1


async def test_XL41_time_outs_have_a_budget_of_their_own() -> None:
    waits = Waits()
    async with served("chat", stalls(), stalls()) as model:
        model.timeouts = replace(LIMITS, first_byte_s=0.2)
        with pytest.raises(ModelTimeout):
            await collect(model, rule_with(waits, max_timeouts_s=0.5))
    assert len(waits) == 1


@EACH
async def test_XL41_a_call_that_breaks_off_before_any_text_is_asked_for_again(wire: Wire) -> None:
    """Nothing was shown, nothing was run."""
    turn = Turn(Use("add", {"a": 1, "b": 2}))
    whole = events_of(wire, turn)
    cut = next(at for at in range(len(whole)) if b"add" in whole[at]) + 2
    waits = Waits()
    async with ModelServer([Turn(turn.says, fault=Fault(cut_after_events=cut)), turn]) as server:
        pieces = await collect(server.model(wire), rule_with(waits))
        assert len(server.requests) == 2
    assert len(waits) == 1
    response = pieces[-1]
    assert [call.name for call in response.message.calls] == ["add"]  # type: ignore[union-attr]  # the last one


async def test_XL42_a_wait_is_told_with_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.models.clock.TELL_AFTER_S", 0.05)
    told: list[ModelWait] = []
    async with served("chat", stalls()) as model:
        request = ModelRequest(messages=[user()], on_wait=told.append, timeouts=replace(LIMITS, first_byte_s=0.5))
        with pytest.raises(ModelTimeout):
            await anext(model.respond(request, stream=True))
    assert 2 <= len(told) <= 4  # after 0.05, 0.1, 0.2 and 0.4 seconds, unless the machine is busy
    assert all(one.waited_s >= 0.05 and one.limit_s == pytest.approx(0.5) for one in told)
    assert told[1].waited_s >= 0.1


async def test_XL43_a_stream_without_an_end_is_given_up_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.models.exchange.MAX_BODY_BYTES", 10_000)
    begun = b"".join(events_of("anthropic", Turn("hello"))[:2])
    delta = b'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}\n\n'
    async with served("anthropic", repeats(delta * 20, before=HEAD + begun, every_s=0)) as model:
        with pytest.raises(AnswerTooLarge, match="more than 10,000 bytes") as caught:
            await ask(model, stream=True)
    assert (caught.value.code, caught.value.is_retriable) == ("answer_too_large", False)


@EACH
async def test_XL43_the_arguments_of_one_call_have_a_limit(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.models.exchange.MAX_CALL_CHARACTERS", 1_000)
    async with ModelServer([Turn(Use("add", {"a": "x" * 2_000}))]) as server:
        with pytest.raises(AnswerTooLarge, match="more than 1,000 characters"):
            await ask(server.model(wire), stream=True)


@EACH
@pytest.mark.parametrize("stream", [True, False])
async def test_XL43_the_parts_of_one_answer_have_a_limit(
    wire: Wire, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("exchange", "shape"):
        monkeypatch.setattr(f"toolroll.models.{place}.MAX_BLOCKS", 3, raising=True)
    async with ModelServer([Turn([Use("add", {"a": n}) for n in range(6)])]) as server:
        with pytest.raises(ModelError, match=r"more than 3 parts|up to 3"):  # by their number, or by a number of theirs
            await ask(server.model(wire), stream=stream)


@EACH
async def test_XL45_halves_of_a_character_are_no_broken_json(wire: Wire) -> None:
    """Some servers cut a text inside a character: a half in each of two deltas, or one half alone."""
    for said in ('"\\ud83d"', '"\\ude00"', '"a\\ud83d\\ude00b"'):
        body = b"".join(events_of(wire, Turn("HALF"))).replace(b'"HALF"', said.encode())
        async with served(wire, says(body)) as model:
            response, deltas = await ask_all(model)
            response.message.text.encode()
            assert response.message.text == text_of(deltas)
            assert response.message.text == ("a😀b" if "a" in said else "\ufffd")


def cut_smile(wire: Wire, turn: Turn, between: bytes = b"") -> bytes:
    """Return the stream of a turn with a smile for `QZ`, or for `Q Z`: half of it where the letters are apart."""
    found, ping = list[bytes](), between
    for event in events_of(wire, turn):
        is_cut = b"Q" in event and b"Z" not in event
        pair = event.replace(b"Q Z", b"QZ").replace(b" Z", b"Z").replace(b"Q ", b"Q")
        found += [pair.replace(b"Q", b"\\ud83d").replace(b"Z", b"\\ude00"), ping if is_cut else b""]
    return b"".join(found)


PING = b'data: {"type": "ping"}\n\n'


@EACH
@pytest.mark.parametrize("between", [b"", PING, PING * 2, PING * 3])
async def test_XL45_both_halves_of_a_character_are_joined(wire: Wire, between: bytes) -> None:
    is_joined = len(between) <= len(PING * 2)  # who sends three events between is not waited for
    async with served(wire, says(cut_smile(wire, Turn("aQ Zb"), between))) as model:
        response, deltas = await ask_all(model)
    assert text_of(deltas) == ("a😀b" if is_joined else "a\ufffd\ufffdb")
    if is_joined:
        assert response.message.text == "a😀b"


@EACH
async def test_XL45_the_arguments_of_a_call_are_joined(wire: Wire) -> None:
    turn = Turn(Use("add", {"a": "xxQZyy"}))
    async with served(wire, says(cut_smile(wire, turn))) as model:
        response, deltas = await ask_all(model)
    [call] = response.message.calls
    assert json.loads(call.arguments) == {"a": "xx😀yy"}
    assert "".join(one.arguments for one in deltas if isinstance(one, CallDelta)) == call.arguments


@EACH
async def test_XL45_half_a_character_at_the_end_of_a_stream_is_not_lost(wire: Wire) -> None:
    [*begin, end] = events_of(wire, Turn("HALF"))
    body = b"".join(begin).replace(b'"HALF"', b'"\\ud83d"') + end.replace(b'"HALF"', b'"\\ud83d"')
    async with served(wire, says(body)) as model:
        response, deltas = await ask_all(model)
    assert response.message.text == text_of(deltas) == "\ufffd"


def test_XL40_limits_of_a_named_model() -> None:
    keys = {"ANTHROPIC_API_KEY": "k" * 20}
    assert connect("sonnet", environment=keys).timeouts.first_byte == 120
    assert connect("ollama:x", environment={}).timeouts.first_byte == 600
    given = ConnectSettings(timeouts=Timeouts(gap_s=7))
    assert connect("ollama:x", environment={}, settings=given).timeouts == Timeouts(gap_s=7, first_byte_s=600)
    given = ConnectSettings(timeouts=Timeouts(first_byte_s=7))
    assert connect("ollama:x", environment={}, settings=given).timeouts.first_byte == 7


class Passing:
    """Time that passes only while somebody sleeps, and what happens then."""

    def __init__(self, then: Callable[[float], Awaitable[None]] | None = None) -> None:
        self.now_s, self._then = 1_000.0, then
        self.pauses = Pauses(now=lambda: self.now_s, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if self._then is not None:
            await self._then(self.now_s - 1_000.0)


LOADING = fail(503, "unavailable_error", "Loading model")


@EACH
@pytest.mark.parametrize("stream", [True, False])
async def test_A57_a_model_that_is_being_loaded_is_waited_for(wire: Wire, stream: bool) -> None:
    waits, time = list[ModelWait](), Passing()
    async with ModelServer([*[LOADING] * 30, Turn("hello")]) as server:
        model = server.model(wire)
        model.pauses = time.pauses
        response = await ask(model, stream=stream, on_wait=waits.append)
        assert len(server.requests) == 31
    assert response.message.text == "hello"
    assert all(one.is_starting and one.limit_s == 120 for one in waits)
    assert [round(one.waited_s) for one in waits] == [0, 6, 12, 22, 42]


@EACH
async def test_A57_a_server_that_is_started_meanwhile_is_waited_for(wire: Wire) -> None:
    """A57: nobody listens at first, so connections are refused."""
    servers = list[ModelServer]()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def start(waited_s: float) -> None:
        if waited_s > 30 and not servers:
            servers.append(ModelServer([Turn("hello")], port=port).__enter__())

    headers = {"x-api-key": KEY, "authorization": f"Bearer {KEY}"}
    address = f"http://127.0.0.1:{port}" + ("" if wire == "anthropic" else "/v1")
    model = KINDS[wire](MODELS[wire], transport=HttpTransport(address), headers=headers)
    model.pauses = Passing(start).pauses
    try:
        assert (await ask(model)).message.text == "hello"
    finally:
        await model.aclose()
        for server in servers:
            server.__exit__(None, None, None)


@EACH
@pytest.mark.parametrize("is_there", [True, False])
async def test_A57_after_two_minutes_it_is_given_up_once_and_not_retried(wire: Wire, is_there: bool) -> None:
    time, waits = Passing(), Waits()
    async with ModelServer(lambda _: LOADING) as server:
        model = server.model(wire)
        model.pauses = time.pauses
        if not is_there:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                model._transport = HttpTransport(f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(ModelError, match=r"within 120 seconds.*timeouts\.start_seconds") as caught:
            await collect(model, rule_with(waits))
    assert caught.value.code == ("overloaded" if is_there else "network")
    assert (time.now_s, waits) == (1_120.0, [])


@EACH
async def test_A57_other_failures_are_not_waited_for(wire: Wire) -> None:
    """A57: an overload has its own pauses, and so has a provider elsewhere."""
    async with ModelServer([fail(503, "overloaded_error"), LOADING]) as server:
        model = server.model(wire)
        model.pauses = Passing().pauses
        with pytest.raises(ModelError, match=r"\(503\)"):
            await ask(model)
        model._is_local = False
        with pytest.raises(ModelError, match=r"\(503\)"):
            await ask(model)


async def test_A57_the_usual_pause_really_passes() -> None:
    pauses = Pauses()
    before = pauses.now()
    await pauses.sleep(0.01)
    assert pauses.now() - before >= 0.009
