"""A stream means what the unstreamed answer means, however it arrives; and a part of one means nothing."""

import contextlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.histories import model_of
from tests.models.shapes import ALL, CASES, SHAPES, assemble, events_in, meaning, parsed, stream_of, whole
from tests.support.model_script import Fault, Issued, Raw, Text, Turn, Use
from tests.support.model_server import NO_FAULT, WIRES, sse

from toolroll.errors import NetworkFailed, ProviderFailed
from toolroll.kernel.data.usage import Usage
from toolroll.models.clock import AnswerClock
from toolroll.models.exchange import StreamReader
from toolroll.models.model import CallDelta, ReasoningDelta, TextDelta, Timeouts, Wire


@pytest.mark.parametrize(("wire", "shape"), CASES)
def test_A31_A32_a_stream_is_read_as_the_same_turn(wire: Wire, shape: str) -> None:
    """A31, A32: all kinds of blocks, stop reasons and counts."""
    turn = SHAPES[shape]
    streamed, _ = assemble(wire, [stream_of(wire, turn)])
    assert meaning(whole(wire, turn)) == meaning(streamed)


@pytest.mark.parametrize(("wire", "shape"), CASES)
def test_deltas_join_to_the_turn(wire: Wire, shape: str) -> None:
    """A7: what is shown while it is written is what is there in the end, nothing more and nothing less."""
    response, deltas = assemble(wire, [stream_of(wire, SHAPES[shape])])
    assert response.message.text == "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    thoughts = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    assert "".join(block.text for block in response.message.blocks if block.type == "reasoning") == thoughts
    for call in response.message.calls:
        pieces = [one for one in deltas if isinstance(one, CallDelta) and one.call_id == call.id]
        assert {call.name} == {piece.name for piece in pieces}
        assert call.arguments == ("".join(piece.arguments for piece in pieces) or "{}")


FAULTS = st.builds(Fault, newline=st.sampled_from(["\n", "\r\n", "\r"]), noise=st.booleans())


@given(st.sampled_from(CASES), FAULTS, st.data())
@settings(max_examples=200)
def test_XL10_every_chunking_gives_the_same_turn(case: tuple[Wire, str], fault: Fault, data: st.DataObject) -> None:
    wire, shape = case
    turn = SHAPES[shape]
    stream = stream_of(wire, turn, fault)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert assemble(wire, [stream_of(wire, turn)]) == assemble(wire, chunks)


@pytest.mark.parametrize(("wire", "shape"), CASES)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_XL10_single_bytes_give_the_same_turn(wire: Wire, shape: str, newline: str) -> None:
    fault = Fault(newline=newline, noise=True)  # type: ignore[arg-type]  # one of the three
    stream = stream_of(wire, SHAPES[shape], fault)
    bytes_ = (stream[place : place + 1] for place in range(len(stream)))
    assert assemble(wire, [stream_of(wire, SHAPES[shape])]) == assemble(wire, bytes_)


def check_part(wire: Wire, turn: Turn, part: bytes) -> bool:
    """A part of a stream is a failure, or, for chat, all but the count of tokens; whether it was the latter."""
    try:
        response, _ = assemble(wire, [part])
    except NetworkFailed:
        return False
    full, _ = assemble(wire, [stream_of(wire, turn)])
    unmeasured = Usage(requests=1, measured=False)
    assert replace(full, usage=unmeasured) == replace(response, usage=unmeasured)
    return True


@pytest.mark.parametrize(("wire", "shape"), CASES)
def test_XL5_a_stream_cut_at_any_event_is_a_failure(wire: Wire, shape: str) -> None:
    """XL5: a call that is not complete never comes out, and nor does anything else of that turn."""
    turn = SHAPES[shape]
    total = events_in(wire, turn)
    ended = [check_part(wire, turn, stream_of(wire, turn, events=count)) for count in range(total)]
    # Chat says why it stopped two events before the end: what follows are the counts and the end mark.
    assert ([False] * (total - 2) + [True] * 2 if wire == "chat" else [False] * total) == ended


@given(st.sampled_from(CASES), st.data())
@settings(max_examples=200)
def test_XL5_a_stream_cut_at_any_byte_is_a_failure(case: tuple[Wire, str], data: st.DataObject) -> None:
    wire, shape = case
    stream = stream_of(wire, SHAPES[shape])
    cut = data.draw(st.integers(0, len(stream) - 1))
    complete = check_part(wire, SHAPES[shape], stream[:cut])
    assert wire == "chat" or not complete


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(CASES), st.data())
@settings(max_examples=300)
def test_a_damaged_answer_is_the_providers_failure(case: tuple[Wire, str], data: st.DataObject) -> None:
    """A34: whatever JSON comes, nothing but our own errors gets out, and broken calls do not become others."""
    wire, shape = case
    module = WIRES[wire]
    answer = json.loads(json.dumps(module.plain(module.answer(SHAPES[shape], {"model": "m"}, Issued()))))
    damaged = _damaged(answer, data)
    with contextlib.suppress(ProviderFailed):
        model_of(wire)._response(damaged)


@given(st.sampled_from(CASES), st.data())
@settings(max_examples=200)
def test_a_damaged_event_is_the_providers_failure(case: tuple[Wire, str], data: st.DataObject) -> None:
    """A34: as above, in the middle of a stream."""
    wire, shape = case
    module = WIRES[wire]
    named = list(module.events(module.answer(SHAPES[shape], {"model": "m"}, Issued()), NO_FAULT))
    place = data.draw(st.integers(0, len(named) - 1))
    name, event = named[place]
    if event != "[DONE]":
        named[place] = (name, json.dumps(_damaged(json.loads(event), data)))
    model = model_of(wire)
    reader = StreamReader(model.assembly(), AnswerClock(Timeouts(), streamed=True))
    with contextlib.suppress(ProviderFailed, NetworkFailed):
        for chunk in sse(named):
            list(reader.feed(chunk))
        model._response(reader.assembly.finish())


def _damaged(value: object, data: st.DataObject) -> dict[str, object]:
    """The same with one value somewhere inside replaced or taken out."""
    assert isinstance(value, dict)
    place: object = value
    while True:
        keys: list[object] = list(place) if isinstance(place, dict) else list(range(len(place)))  # type: ignore[arg-type]
        if not keys:
            return value
        key = data.draw(st.sampled_from(keys))
        inner = place[key]  # type: ignore[index]
        if isinstance(inner, (dict, list)) and inner and data.draw(st.booleans()):
            place = inner
            continue
        if data.draw(st.booleans()):
            del place[key]  # type: ignore[attr-defined]
        else:
            place[key] = data.draw(JSON)  # type: ignore[index]
        return value


def test_XL9_every_stop_reason_has_its_kind() -> None:
    """XL9: what ends a turn, wire by wire; unknown words are unknown, not an end."""
    expected = {
        "text": ("end", "end", "end"),
        "call": ("tool_calls", "tool_calls", "tool_calls"),
        "cut": ("max_tokens", "max_tokens", "max_tokens"),
        "refusal": ("refusal", "refusal", "refusal"),
        "unknown stop": ("unknown", "unknown", "unknown"),
    }
    for shape, kinds in expected.items():
        assert kinds == tuple(whole(wire, SHAPES[shape]).stop for wire in ALL)
    assert whole("anthropic", SHAPES["pause"]).stop == "pause"
    assert whole("anthropic", Turn("x", stop="context_full")).stop == "context_full"
    assert whole("anthropic", Turn("x", stop="stop_sequence")).stop == "stop_sequence"
    assert _stop(whole("anthropic", SHAPES["refusal"])) == ("refusal", "I will not.")
    assert _stop(whole("openai", Turn("x", options=frozenset({"odd_status"})))) == ("unknown", "cancelled")
    assert _stop(whole("openai", Turn("No.", options=frozenset({"refusal_part"})))) == ("refusal", "No.")
    assert _stop(whole("chat", Turn("No.", options=frozenset({"refusal_field"})))) == ("refusal", "No.")
    assert _stop(whole("chat", Turn(Use("add", {}), options=frozenset({"no_finish"})))) == ("unknown", "")


def _stop(response: object) -> tuple[object, object]:
    return response.stop, response.stop_detail  # type: ignore[attr-defined]


@pytest.mark.parametrize("wire", ["openai", "chat"])
def test_a_refusal_is_streamed_as_text(wire: Wire) -> None:
    options = frozenset({"refusal_part", "refusal_field"})
    response, deltas = assemble(wire, [stream_of(wire, Turn("No, never.", options=options))])
    assert _stop(response) == ("refusal", "No, never.")
    assert "".join(one.text for one in deltas if isinstance(one, TextDelta)) == "No, never."


HABITS = [
    {"no_ids"},
    {"no_index"},
    {"no_index", "no_ids"},
    {"index_zero"},
    {"index_zero", "whole_calls"},
    {"index_zero", "no_ids", "whole_calls"},
    {"repeat_ids"},
    {"repeat_ids", "no_ids"},
    {"repeat_ids", "no_index"},
    {"repeat_ids", "no_index", "no_ids"},
    {"whole_calls"},
    {"whole_calls", "no_index"},
    {"whole_calls", "no_index", "no_ids"},
    {"stop_for_calls"},
    {"object_arguments"},
    {"object_arguments", "index_zero"},
    {"no_done"},
]


@pytest.mark.parametrize("habits", HABITS, ids=lambda habits: "+".join(sorted(habits)))
def test_A32_calls_survive_the_habits_of_chat_servers(habits: set[str]) -> None:
    """A32: ids that are missing or repeated, an index that is missing or always 0, arguments as an object."""
    calls = [Use("add", {"a": 1}), Use("add", {"a": 22, "b": 3}), Use("sub", {"text": "x"}), Use("add", {"a": 1})]
    turn = Turn(["Let me see.", *calls], options=frozenset(habits))
    streamed, deltas = assemble("chat", [stream_of("chat", turn)])
    assert meaning(whole("chat", turn)) == meaning(streamed)
    found = streamed.message.calls
    assert [(call.name, call.arguments) for call in calls] == [(call.name, parsed(call.arguments)) for call in found]
    assert len(calls) == len({call.id for call in found})
    assert streamed.stop == "tool_calls"
    for call in found:
        assert call.arguments == "".join(
            one.arguments for one in deltas if isinstance(one, CallDelta) and one.call_id == call.id
        )


@pytest.mark.parametrize("habit", ["empty_arguments", "none"])
def test_A32_no_arguments_are_an_empty_object(habit: str) -> None:
    turn = Turn(Use("now"), options=frozenset({habit}))
    streamed, _ = assemble("chat", [stream_of("chat", turn)])
    assert [call.arguments for call in whole("chat", turn).message.calls] == ["{}"]
    assert [call.arguments for call in streamed.message.calls] == ["{}"]


def test_A32_a_late_id_does_not_split_a_call() -> None:
    chunks: list[dict[str, object]] = [
        {"tool_calls": [{"index": 0, "function": {"name": "add", "arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 0, "id": "call_9", "function": {"arguments": ": 1}"}}]},
        {"tool_calls": [{"index": 0, "function": None}]},
    ]
    streamed, _ = assemble("chat", [_chat_stream(*chunks)])
    assert [call.arguments for call in streamed.message.calls] == ['{"a": 1}']


def _chat_stream(*deltas: dict[str, object]) -> bytes:
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"id": "c", "choices": [{"index": 0, "delta": None, "finish_reason": "tool_calls"}]}
    return b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in [*chunks, end])


def test_A32_reasoning_of_chat_servers_is_kept_under_the_name_it_came() -> None:
    for habit, field in (("none", "reasoning_content"), ("reasoning", "reasoning")):
        turn = replace(SHAPES["thinking"], options=frozenset({habit}))
        for response in (whole("chat", turn), assemble("chat", [stream_of("chat", turn)])[0]):
            block = response.message.blocks[0]
            assert ("reasoning", {field: "I should add. Yes, add."}) == (block.type, block.raw)


def test_A32_a_stream_that_ends_without_a_reason_is_an_unknown_end() -> None:
    turn = Turn(Use("add", {"a": 1}), options=frozenset({"no_finish"}))
    response, _ = assemble("chat", [stream_of("chat", turn)])
    assert response.stop == "unknown"


@pytest.mark.parametrize("wire", ALL)
def test_usage_that_nobody_counts_is_unknown(wire: Wire) -> None:
    for turn in (Turn("x", no_usage=True), Turn("x", usage={"input": 0, "output": 0})):
        response, _ = assemble(wire, [stream_of(wire, turn)])
        assert not response.usage.measured
        assert not whole(wire, turn).usage.measured


def test_usage_counts_cache_tiers_and_searches() -> None:
    counted = whole("anthropic", SHAPES["cached"]).usage
    assert (
        counted.input_tokens,
        counted.output_tokens,
        counted.cache_read_tokens,
        counted.cache_write_5m_tokens,
        counted.cache_write_1h_tokens,
    ) == (100, 20, 5_000, 300, 40)
    openai = whole("openai", SHAPES["cached"]).usage
    assert (
        openai.input_tokens,
        openai.cache_read_tokens,
        openai.cache_write_tokens,
        openai.input_total,
    ) == (100, 5_000, 300, 5_400)
    chat = whole("chat", SHAPES["cached"]).usage
    assert (chat.input_tokens, chat.cache_read_tokens) == (100, 5_000)
    assert [whole(wire, SHAPES["search"]).usage.web_searches for wire in ("anthropic", "openai")] == [1, 1]


def test_a_stream_that_makes_no_sense_is_the_providers_failure() -> None:
    begun = b'data: {"type":"message_start","message":{}}\n\n'
    for data in (
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}',
        b"not json",
        b"[1]",
    ):
        with pytest.raises(ProviderFailed):
            assemble("anthropic", [begun, b"data: " + data + b"\n\n"])
    with pytest.raises(ProviderFailed, match="never began"):
        assemble("anthropic", [b'data: {"type":"message_delta","delta":{}}\n\n'])


def test_blocks_of_tomorrow_grow_like_those_of_today() -> None:
    """A31: an unknown block with unknown deltas is put together and sent back."""
    events = [
        '{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"hologram","light":"a","n":1,"input":{}}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"light_delta","light":"b","n":2}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"x\\":1}"}}',
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
        '{"type":"message_stop"}',
    ]
    response, _ = assemble("anthropic", [f"data: {event}\n\n".encode() for event in events])
    assert response.message.blocks[0].raw == {"type": "hologram", "light": "ab", "n": 2, "input": {"x": 1}}


def test_an_openai_stream_may_end_without_repeating_its_items() -> None:
    module = WIRES["openai"]
    named = list(
        module.events(module.answer(Turn([Text("a"), Use("add", {"a": 1})]), {"model": "m"}, Issued()), NO_FAULT)
    )
    name, last = named[-1]
    data = json.loads(last)
    data["response"]["output"] = []
    response, _ = assemble("openai", sse([*named[:-1], (name, json.dumps(data))]))
    assert (response.message.text, response.stop, len(response.message.calls)) == ("a", "tool_calls", 1)


def test_openai_separates_the_parts_of_a_summary() -> None:
    events = [
        {"type": "response.reasoning_summary_part.added", "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "delta": "one"},
        {"type": "response.reasoning_summary_part.added", "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "delta": "two"},
    ]
    assembly = model_of("openai").assembly()
    deltas = [delta for event in events for delta in assembly.feed(json.dumps(event))]
    assert [delta.text for delta in deltas if isinstance(delta, ReasoningDelta)] == ["one", "\n\n", "two"]


def test_text_that_comes_with_the_beginning_of_its_block() -> None:
    events = [
        '{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hel"}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}',
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
        '{"type":"message_stop"}',
    ]
    response, deltas = assemble("anthropic", [f"data: {event}\n\n".encode() for event in events])
    assert response.message.text == "Hello" == "".join(one.text for one in deltas if isinstance(one, TextDelta))


def test_A32_chat_servers_cite_and_write_in_parts() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
    turn = Turn(["Hi.", Raw({"annotations": [note]})])
    for response in (whole("chat", turn), assemble("chat", [stream_of("chat", turn)])[0]):
        block = response.message.blocks[0]
        assert block.type == "text"
        assert [(one.url, one.title) for one in block.citations] == [("https://a.example", "A")]
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}
    assert model_of("chat").read(parts).message.text == "ab"


def openai_answer(**changes: object) -> dict[str, object]:
    return {"status": "completed", "output": [], **changes}


def test_A33_openai_says_what_it_did_on_the_web() -> None:
    actions: list[tuple[object, str]] = [
        ({"type": "open_page", "url": "https://a.example"}, "[opened https://a.example]"),
        ({"type": "open_page"}, "[opened a page]"),
        (
            {"type": "find_in_page", "pattern": "cat", "url": "https://a.example"},
            "[looked for 'cat' in https://a.example]",
        ),
        ({"type": "search", "queries": ["a", "b"]}, "[searched the web: a; b]"),
        (None, "[searched the web: ]"),
    ]
    items = [{"type": "web_search_call", "id": "w", "action": action} for action, _ in actions]
    response = model_of("openai").read(openai_answer(output=items))
    summaries = [block.summary for block in response.message.blocks if block.type == "server"]
    assert summaries == [summary for _, summary in actions]
    assert response.usage.web_searches == 2
    billed = openai_answer(output=items, tool_usage={"web_search": {"num_requests": 7}})
    assert model_of("openai").read(billed).usage.web_searches == 7


def test_an_openai_response_that_failed_without_a_word() -> None:
    with pytest.raises(ProviderFailed, match="without a reason"):
        model_of("openai").read(openai_answer(status="failed"))
