"""Streams of the shapes that real ones have, for all three wires."""

import json
from collections.abc import Iterable, Mapping

from tests.models.histories import model_of
from tests.support.model_script import Fault, Issued, Raw, Search, Text, Thinking, Turn, Use
from tests.support.model_server import NO_FAULT, WIRES, sse

from toolroll.kernel.data.messages import ReasoningBlock, ServerBlock, TextBlock
from toolroll.models.event_stream import EventDecoder
from toolroll.models.model import Delta, ModelResponse, Wire

ALL: tuple[Wire, ...] = ("anthropic", "openai", "chat")
PAGES = (("https://a.example/1", "First"), ("https://b.example/2", "Друга"))

SHAPES: Mapping[str, Turn] = {
    "text": Turn("Hello, dear reader: Привіт 😀 ends\n\nhere."),
    "nothing": Turn(()),
    "call": Turn(Use("add", {"a": 1, "b": 2})),
    "no arguments": Turn(Use("now", {})),
    "parallel": Turn(["Let me see.", *(Use("add", {"a": n, "text": 'é"\\ 😀'}) for n in range(4))]),
    "thinking": Turn([Thinking("I should add. Yes, add."), "Adding.", Use("add", {"a": 1})]),
    "redacted": Turn([Thinking("", redacted=True), "Done."]),
    "search": Turn([Thinking("look it up"), Search("cats", PAGES), Text("Cats purr.", PAGES), Text(" They do.")]),
    "search failed": Turn([Search("cats", "max_uses_exceeded"), "I could not look it up."]),
    "mixed": Turn([Search("cats", None), Use("add", {"a": 1})]),
    "pause": Turn([Search("cats", PAGES), "and"], stop="pause"),
    "cut": Turn(["Let me", Use("add", '{"a": 1, "te')], stop="max_tokens"),
    "refusal": Turn("I will not.", stop="refusal"),
    "unknown stop": Turn("Well.", stop="something_new"),
    "unknown block": Turn(["Before.", Raw({"type": "hologram", "id": "h_1", "data": {"x": [1]}}), "After."]),
    "cached": Turn("Hi.", usage={"cache_read": 5_000, "cache_write": 300, "cache_write_1h": 40}),
}

CASES = [(wire, shape) for wire in ALL for shape in SHAPES if not (wire == "chat" and shape == "unknown block")]


def answer_of(wire: Wire, turn: Turn) -> dict[str, object]:
    include = ["reasoning.encrypted_content", "web_search_call.action.sources"]
    asked = {"model": model_of(wire).model, "include": include, "stream_options": {"include_usage": True}}
    answer: dict[str, object] = WIRES[wire].answer(turn, asked, Issued())
    return answer


def whole(wire: Wire, turn: Turn) -> ModelResponse:
    """The turn, as it comes unstreamed."""
    # Through JSON: readers take the data apart.
    plain = json.loads(json.dumps(WIRES[wire].plain(answer_of(wire, turn))))
    return model_of(wire).read(plain)


def stream_of(wire: Wire, turn: Turn, fault: Fault = NO_FAULT, *, events: int | None = None) -> bytes:
    """The turn as a stream, or its first events."""
    named = list(WIRES[wire].events(answer_of(wire, turn), fault))
    return b"".join(sse(named[:events], fault))


def events_in(wire: Wire, turn: Turn) -> int:
    return len(list(WIRES[wire].events(answer_of(wire, turn), NO_FAULT)))


def assemble(wire: Wire, chunks: Iterable[bytes]) -> tuple[ModelResponse, list[Delta]]:
    """What a stream comes to."""
    model, decoder = model_of(wire), EventDecoder()
    assembly = model.assembly()
    deltas = [delta for chunk in chunks for event in decoder.feed(chunk) for delta in assembly.feed(event.data)]
    return model.read(assembly.finish()), deltas


def meaning(response: ModelResponse) -> dict[str, object]:
    """All that a response says, without the wire's own words for it."""
    blocks = response.message.blocks
    return {
        "text": response.message.text,
        "calls": [(call.id, call.name, parsed(call.arguments)) for call in response.message.calls],
        "thoughts": [block.text for block in blocks if isinstance(block, ReasoningBlock)],
        "citations": [block.citations for block in blocks if isinstance(block, TextBlock)],
        "server": [(block.summary, block.sources) for block in blocks if isinstance(block, ServerBlock)],
        "kinds": [block.type for block in blocks],
        "stop": (response.stop, response.stop_detail),
        "usage": response.usage,
        "id": response.response_id,
    }


def parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return {}
