"""Requests and answers over real sockets, on all three wires, streamed and not."""

import asyncio
import gzip
import json
import socket
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from tests.models.asking import ADD, ask, ask_all, results, text_of, user
from tests.models.shapes import ALL, PAGES, SHAPES, events_in
from tests.support.model_script import Block, Fault, Json, Text, Thinking, Turn, Use
from tests.support.model_server import KEY, ModelServer

from toolroll.errors import AnswerTooLarge, ModelError, ModelTimeout, NetworkFailed, ProviderFailed, RequestRefused
from toolroll.kernel.data.messages import DocumentPart, ImagePart, Message, TextPart
from toolroll.models.chat.model import ChatModel
from toolroll.models.connections import Connections
from toolroll.models.exchange import WireModel
from toolroll.models.model import ModelRequest, Timeouts, WebSearch, Wire
from toolroll.models.transport import HttpTransport

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
EACH = pytest.mark.parametrize("wire", ALL)


@EACH
@BOTH
async def test_A31_A32_a_conversation_with_thought_and_parallel_calls(wire: Wire, stream: bool) -> None:
    """A31, A32: reasoning, text and calls go back unchanged, all results of a step together."""
    turns = [SHAPES["thinking"], SHAPES["parallel"], SHAPES["redacted"], Turn("Done.")]
    async with ModelServer(turns) as server:
        model = server.model(wire)
        messages: list[Message] = [user()]
        for _ in turns[:-1]:
            response = await ask(model, *messages, stream=stream, tools=(ADD,), system="Be good.")
            messages.append(response.message)
            messages.append(results(response.message) if response.message.calls else user("go on"))
        last, deltas = await ask_all(model, *messages, stream=stream, tools=(ADD,), system="Be good.")
        assert (last.message.text, last.stop) == ("Done.", "end")
        assert text_of(deltas) == ("Done." if stream else "")
        assert len(server.requests) == 4


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
@BOTH
async def test_A31_searches_go_back_with_their_encrypted_text(wire: Wire, stream: bool) -> None:
    """A31: sources and citations are read; what the provider encrypted is sent back as it came, or it would refuse."""
    async with ModelServer([SHAPES["search"], SHAPES["search failed"], "Yes."]) as server:
        model = server.model(wire)
        search = WebSearch(max_uses=2)
        first = await ask(model, user(), stream=stream, web_search=search)
        assert first.message.text == "Cats purr. They do."
        assert {one.url for block in first.message.blocks if block.type == "text" for one in block.citations} == {
            url for url, _ in PAGES
        }
        assert any(block.sources for block in first.message.blocks if block.type == "server")
        second = await ask(model, user(), first.message, user("and?"), stream=stream, web_search=search)
        third: list[Message] = [user(), first.message, user("and?"), second.message, user("sure?")]
        assert (await ask(model, *third, stream=stream, web_search=search)).message.text == "Yes."


@BOTH
async def test_A31_a_paused_turn_is_continued_with_what_there_is(stream: bool) -> None:
    """A31: the same request with the turn appended unchanged, and nothing of ours in between."""
    async with ModelServer([SHAPES["pause"], "the rest."]) as server:
        model = server.model("anthropic")
        paused = await ask(model, user(), stream=stream, web_search=WebSearch())
        assert paused.stop == "pause"
        assert (await ask(model, user(), paused.message, stream=stream, web_search=WebSearch())).stop == "end"
        assert server.requests[1].body["messages"][-1]["role"] == "assistant"


@BOTH
async def test_A31_a_search_without_its_result_stays_open_beside_a_call(stream: bool) -> None:
    """A31: the provider finishes it later; a made-up result would be refused."""
    async with ModelServer([SHAPES["mixed"], "Yes."]) as server:
        model = server.model("anthropic")
        mixed = await ask(model, user(), stream=stream, tools=(ADD,), web_search=WebSearch())
        assert mixed.stop == "tool_calls"
        await ask(model, user(), mixed.message, results(mixed.message), tools=(ADD,), web_search=WebSearch())
        sent = server.requests[1].body["messages"][1]["content"]
        assert [block["type"] for block in sent] == ["server_tool_use", "tool_use"]


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
@BOTH
async def test_A31_unknown_blocks_go_back_untouched(wire: Wire, stream: bool) -> None:
    """A31: the server refuses one that changed."""
    async with ModelServer([SHAPES["unknown block"], "Yes."]) as server:
        model = server.model(wire)
        odd = await ask(model, user(), stream=stream)
        assert [block.type for block in odd.message.blocks] == ["text", "unknown", "text"]
        assert (await ask(model, user(), odd.message, user(), stream=stream)).message.text == "Yes."


@EACH
@BOTH
async def test_A31_a_cut_turn_can_be_continued(wire: Wire, stream: bool) -> None:
    """A31, XL9: calls of a turn that ran out of tokens are marked by its stop, and their history is legal."""
    async with ModelServer([SHAPES["cut"], "Yes."]) as server:
        model = server.model(wire)
        cut = await ask(model, user(), stream=stream, tools=(ADD,))
        assert cut.stop == "max_tokens"
        not_run = results(cut.message, "not run: the turn was cut off", is_error=True)
        assert (await ask(model, user(), cut.message, not_run, stream=stream, tools=(ADD,))).message.text == "Yes."


PARTS = (
    TextPart(text="look"),
    ImagePart(data=b"\x89PNG", media_type="image/png"),
    ImagePart(data=b"<svg>", media_type="image/svg+xml"),
    DocumentPart(data="текст".encode(), media_type="text/markdown", title="notes.md"),
    DocumentPart(data=b"%PDF", media_type="application/pdf"),
    DocumentPart(data=b"PK", media_type="application/zip", title="a.zip"),
)


def kinds_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["type"]] if isinstance(value.get("type"), str) else []
        for inner in value.values():
            yield from kinds_in(inner)
    if isinstance(value, list):
        for inner in value:
            yield from kinds_in(inner)


@EACH
async def test_images_and_documents_of_people_and_tools(wire: Wire) -> None:
    """A31, A32: shown where the wire can show them, read out where they are text, named where it can do neither."""
    async with ModelServer([Turn(Use("add", {"a": 1})), "Seen."]) as server:
        model = server.model(wire)
        first = await ask(model, user(), tools=(ADD,))
        messages: list[Message] = [user(), first.message, results(first.message, PARTS)]
        await ask(model, *messages, tools=(ADD,))
        body = server.requests[1].body
        sent = json.dumps(body, ensure_ascii=False)
        shown = list(kinds_in(body.get("messages") or body.get("input")))
        assert "текст" in sent
        assert "notes.md" in sent
        assert "[document a.zip (application/zip, 2 bytes): this model cannot be shown it]" in sent
        assert "[image (image/svg+xml, 5 bytes): this model cannot be shown it]" in sent
        image = {"anthropic": "image", "openai": "input_image", "chat": "image_url"}[wire]
        assert shown.count(image) == 1
        pdf = {"anthropic": "document", "openai": "input_file"}.get(wire)
        assert pdf is None or pdf in shown
        assert (pdf is None) == ("(application/pdf, 4 bytes)" in sent)


async def test_A32_images_of_results_follow_the_tool_messages_of_a_chat() -> None:
    async with ModelServer([SHAPES["parallel"], "Seen."]) as server:
        model = server.model("chat")
        first = await ask(model, user(), tools=(ADD,))
        await ask(model, user(), first.message, results(first.message, PARTS[:2]), tools=(ADD,))
        sent = server.requests[1].body["messages"]
        assert [one["role"] for one in sent] == ["user", "assistant", "tool", "tool", "tool", "tool", "user"]
        assert sent[2]["content"] == "look\n[an image, in the next message]"
        assert [part["type"] for part in sent[-1]["content"]] == ["text", *["image_url"] * 4]


@EACH
async def test_failed_calls_are_told_as_such(wire: Wire) -> None:
    """A31: by a flag where there is one, else in words."""
    async with ModelServer([Turn(Use("add", {"a": 1})), "Oh.", "Oh."]) as server:
        model = server.model(wire)
        first = await ask(model, user(), tools=(ADD,))
        failed = results(first.message, "User rejected changes", is_error=True)
        await ask(model, user(), first.message, failed, tools=(ADD,))
        sent = json.dumps(server.requests[1].body)
        assert ('"is_error": true' if wire == "anthropic" else "[error] User rejected changes") in sent
        failed = results(first.message, (TextPart(text="no"),), is_error=True)
        await ask(model, user(), first.message, failed, tools=(ADD,))
        assert ('"is_error": true' if wire == "anthropic" else "[error]") in json.dumps(server.requests[2].body)


@EACH
async def test_switching_models_in_mid_run(wire: Wire) -> None:
    """A31, A32: every wire reads what all three wrote, through its own checks."""
    said: list[str | Block] = [Thinking("so"), Text("Cats purr.", PAGES), Use("add", {"a": 1})]
    async with ModelServer(lambda _: Turn(said)) as server:
        messages: list[Message] = [user()]
        for other in (*ALL, wire):
            search = None if other == "chat" else WebSearch()
            response = await ask(server.model(other), *messages, tools=(ADD,), web_search=search)
            messages += [response.message, results(response.message)]
        await ask(server.model(wire), *messages, tools=(ADD,))


@EACH
@pytest.mark.parametrize("fault", [Fault(chunk_bytes=1, noise=True), Fault(newline="\r\n", chunk_bytes=7)])
async def test_XL10_chunks_of_any_size_over_a_socket(wire: Wire, fault: Fault) -> None:
    turn = SHAPES["thinking"]
    async with ModelServer([turn, Turn(turn.says, fault=fault)]) as server:
        model = server.model(wire)
        plain, other = await ask(model, stream=True), await ask(model, stream=True)
        assert plain.message.text == other.message.text
        assert [call.arguments for call in plain.message.calls] == [call.arguments for call in other.message.calls]


@EACH
@pytest.mark.parametrize("clean", [False, True], ids=["broken", "ended"])
async def test_XL5_a_connection_cut_at_every_event(wire: Wire, clean: bool) -> None:
    """XL5: no response comes of it, whatever was shown; the connection breaking or ending in good order."""
    turn = SHAPES["parallel"]
    total = events_in(wire, turn) - (2 if wire == "chat" else 0)
    faults = [Fault(cut_after_events=count, clean_cut=clean) for count in range(total)]
    async with ModelServer([Turn(turn.says, fault=fault) for fault in faults]) as server:
        model = server.model(wire)
        for _ in faults:
            with pytest.raises(NetworkFailed):
                await ask(model, stream=True)


@EACH
@BOTH
async def test_XL5_a_connection_cut_inside_an_answer(wire: Wire, stream: bool) -> None:
    cuts = (0, 1, 60, 200)
    async with ModelServer([Turn("hello " * 50, fault=Fault(cut_after_bytes=cut)) for cut in cuts]) as server:
        model = server.model(wire)
        for _ in cuts:
            with pytest.raises(NetworkFailed):
                await ask(model, stream=stream)


@EACH
async def test_XL3_an_error_inside_a_stream(wire: Wire) -> None:
    """XL3: before the first content and after it, it is an error of its kind; what was shown came out before."""
    turn = Turn("hello there", fault=Fault(error_after_events=1, kind="overloaded_error", code="slow_down"))
    late = Turn("hello there", fault=Fault(error_after_events=6, kind="overloaded_error", code="slow_down"))
    async with ModelServer([turn, late]) as server:
        model = server.model(wire)
        for expected in (False, True):
            shown: list[object] = []
            with pytest.raises(ModelError, match="scripted failure") as caught:
                await _watch(model, shown)
            assert caught.value.code == "overloaded"
            assert bool(shown) == expected


async def _watch(model: WireModel, shown: list[object]) -> None:
    async for piece in model.respond(ModelRequest(messages=[user()]), stream=True):
        shown.append(piece)  # noqa: PERF401 - what came before the error must be in it


@EACH
@BOTH
async def test_bodies_that_are_no_answer(wire: Wire, stream: bool) -> None:
    """A34: pages of proxies, broken JSON and JSON of another kind are the provider's failure."""
    bodies = [b"", b"<html>", b'{"a"', b"[]", b"null", b"{}", b'{"content": 3, "output": 3, "choices": 3}']
    turns = [Turn(fault=Fault(body=body)) for body in bodies]
    async with ModelServer(turns) as server:
        model = server.model(wire)
        for _ in bodies:
            with pytest.raises(ProviderFailed):
                await ask(model, stream=stream)


@EACH
async def test_an_error_inside_a_good_answer(wire: Wire) -> None:
    """A34: gateways report errors with status 200."""
    turns = [
        Turn(fault=Fault(body=b'{"error": {"message": "no credit", "type": "overloaded_error"}}')),
        Turn(fault=Fault(body=b'{"error": "just words"}')),
    ]
    async with ModelServer(turns) as server:
        model = server.model(wire)
        with pytest.raises(ModelError, match="no credit") as caught:
            await ask(model)
        assert caught.value.code == "overloaded"
        with pytest.raises(ProviderFailed, match="just words"):
            await ask(model)


async def test_an_openai_response_that_failed() -> None:
    async with ModelServer([Turn("x", options=frozenset({"failed"}))] * 2) as server:
        model = server.model("openai")
        for stream in (False, True):
            with pytest.raises(ProviderFailed, match="The model has failed"):
                await ask(model, stream=stream)


async def test_a_server_that_cannot_stream_answers_whole() -> None:
    async with ModelServer([Turn("hello there", options=frozenset({"json_only"}))]) as server:
        response, deltas = await ask_all(server.model("chat"), stream=True)
        assert (response.message.text, deltas) == ("hello there", [])


@EACH
@BOTH
async def test_a_server_that_does_not_answer(wire: Wire, stream: bool) -> None:
    async with ModelServer([Turn(fault=Fault(stall=True))]) as server:
        with pytest.raises(ModelTimeout):
            await ask(server.model(wire, timeout_s=0.05), stream=stream)


@EACH
async def test_nobody_at_the_address(wire: Wire) -> None:
    async with ModelServer([]) as server:
        model = server.model(wire)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            model._transport = HttpTransport(f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(NetworkFailed, match="connection to the provider failed"):
            await ask(model, timeouts=Timeouts(start_s=0))


async def test_an_answer_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.models.reply.MAX_BODY_BYTES", 100)
    async with ModelServer([Turn("long " * 100)]) as server:
        with pytest.raises(AnswerTooLarge, match="more than 100 bytes"):
            await ask(server.model("chat"))


async def test_leaving_a_stream_early_closes_its_connection() -> None:
    """A6: the next request gets its own answer, not the rest of the last one."""
    async with ModelServer([Turn("hello " * 50), Turn("other")]) as server:
        model = server.model("anthropic")
        pieces = model.respond(ModelRequest(messages=[user()]), stream=True)
        await anext(pieces)
        assert isinstance(pieces, AsyncIterator)
        await pieces.aclose()  # type: ignore[attr-defined]  # a generator
        assert (await ask(model)).message.text == "other"


async def test_keys_and_versions_travel_as_headers() -> None:
    async with ModelServer(["a", "b", "c"]) as server:
        for wire in ALL:
            await ask(server.model(wire))
        anthropic, openai, chat = (one.headers for one in server.requests)
        assert (anthropic["x-api-key"], anthropic["anthropic-version"]) == (KEY, "2023-06-01")
        assert openai["authorization"] == chat["authorization"] == f"Bearer {KEY}"
        assert {one.headers["content-type"] for one in server.requests} == {"application/json"}


async def test_connections_are_kept() -> None:
    async with ModelServer(lambda _: Turn("hi")) as server:
        model = server.model("anthropic")
        for stream in (True, False, True):
            await ask(model, stream=stream)
        transport = model._transport
        assert isinstance(transport, HttpTransport)
        assert transport._connections is not None
        send: Any = (
            await transport._connections._line()
        ).send  # of httpx2: there is no public way to see its connections
        assert len(send.__self__._pool.connections) == 1


def test_one_model_serves_several_event_loops() -> None:
    """A1: `run_sync` starts a loop for each run; connections of the last one are no use in the next."""
    with ModelServer(lambda _: Turn("hi")) as server:
        model = server.model("chat")

        async def once() -> str:
            response = await ask(model)
            await model.aclose()
            await model.aclose()
            return response.message.text

        assert [asyncio.run(once()) for _ in range(3)] == ["hi", "hi", "hi"]
        assert isinstance(model, ChatModel)


def test_each_event_loop_has_connections_of_its_own() -> None:
    connections = Connections("http://127.0.0.1:1", timeouts_s={"connect": 1.0}, is_local=True)

    async def line() -> object:
        assert await connections._line() is await connections._line()
        return await connections._line()

    first, second = asyncio.run(line()), asyncio.run(line())
    assert first is not second
    assert len(connections._lines) == 1  # that of the loop that has ended is forgotten


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not for what is on this machine: the server of the other tests is reached with the variable set, too."""
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append((await reader.readline()).decode())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
        await writer.drain()
        writer.close()

    proxy = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with proxy, ModelServer(["direct"]) as server:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        transport = HttpTransport("http://models.example/base")
        async with transport.post("/v1/messages", headers={"x-test": "1"}, body=b"{}") as reply:
            assert (reply.status, await reply.body()) == (200, b"hello")
        await transport.aclose()
        assert seen == ["POST http://models.example/base/v1/messages HTTP/1.1\r\n"]
        assert (await ask(server.model("chat"))).message.text == "direct"
        assert len(seen) == 1


@pytest.mark.parametrize(("encoding", "encode"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_an_answer_may_be_compressed(encoding: str, encode: Callable[[bytes], bytes]) -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        body = encode(b"hello " * 100)
        head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        transport = HttpTransport(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        async with transport.post("/x", headers={}, body=b"") as reply:
            assert await reply.body() == b"hello " * 100
        await transport.aclose()
    assert b"accept-encoding: gzip, deflate" in asked[0].lower()


async def test_headers_that_change_are_sent() -> None:
    """A key may be renewed between two requests."""
    async with ModelServer(["a", "b"]) as server:
        model = server.model("anthropic")
        await ask(model)
        model._headers = {**model._headers, "x-api-key": "another"}
        await ask(model)
        assert [one.headers["x-api-key"] for one in server.requests] == [KEY, "another"]


async def test_the_server_refuses_what_a_provider_would() -> None:
    """The judge must be able to say no: one broken rule each."""
    call: Json = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]}
    broken: list[Json] = [
        {"messages": [{"role": "user", "content": "x"}, call]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
        {"messages": [{"role": "assistant", "content": "x"}]},
        {"messages": [{"role": "system", "content": "x"}]},
        {"messages": []},
        {"messages": [{"role": "user", "content": "x"}], "max_tokens": 0},
        {"messages": [{"role": "user", "content": "x"}], "colour": "red"},
    ]
    server = ModelServer([], lenient=True)
    async with server:
        model = server.model("anthropic")
        for body in broken:
            whole = {"model": "m", "max_tokens": 5, **body}
            sent = json.dumps(whole).encode()
            async with model._transport.post("/v1/messages", headers=model._headers, body=sent) as reply:
                assert reply.status == 400
        with pytest.raises(RequestRefused, match="script has ended"):
            await ask(model)
    assert len(server.problems) >= len(broken)
    with pytest.raises(AssertionError, match="would refuse"):
        await _break_a_rule()


async def _break_a_rule() -> None:
    async with ModelServer(["x"]) as server:
        with pytest.raises(RequestRefused, match="nonsense"):
            await ask(server.model("chat"), extra={"nonsense": 1})
