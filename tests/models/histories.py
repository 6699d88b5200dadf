"""Conversations of every kind, as hypothesis makes them: what a person, three providers and any tool may have said."""

from dataclasses import replace

from hypothesis import strategies as st
from tests.support.model_script import Block, Issued, Raw, Search, Text, Thinking, Turn, Use
from tests.support.model_server import MODELS, WIRES

from toolroll.kernel.data.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.chat.model import ChatModel
from toolroll.models.exchange import WireModel
from toolroll.models.model import Wire
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.transport import HttpTransport

NOWHERE = HttpTransport("http://127.0.0.1:1")


def model_of(wire: Wire, name: str | None = None) -> WireModel:
    """A model that is never asked: what it would send is enough."""
    kinds: dict[Wire, type[AnthropicModel | OpenAIModel | ChatModel]] = {
        "anthropic": AnthropicModel,
        "openai": OpenAIModel,
        "chat": ChatModel,
    }
    return kinds[wire](name or MODELS[wire], transport=NOWHERE)


TEXTS = st.sampled_from(["", " ", "\n\n", "hello", "Привіт 😀", "Error: no", "a\u2028b", "x" * 300, "\ud800"])
# A provider's text came as JSON: it holds no half of a surrogate pair, as a person's or a tool's may.
SAID = TEXTS.filter(lambda text: text != "\ud800")
NAMES = st.sampled_from(["add", "find_it", "multi_tool_use.parallel", "", "x" * 80, "имя"])
IDS = st.sampled_from([None, None, None, "functions.add:0", "x" * 70, "toolu_é"])
ARGUMENTS = st.sampled_from([{}, {"a": 1}, {"text": "é\n\"'"}, "{broken", "[1]", "", '{"a":1,"a":2}'])
MEDIA = st.sampled_from(["image/png", "image/svg+xml", "image/webp"])
DOCUMENTS = st.sampled_from(["text/plain", "text/markdown", "application/pdf", "application/zip", "application/json"])

PARTS = st.one_of(
    st.builds(TextPart, text=TEXTS),
    st.builds(ImagePart, data=st.binary(min_size=1, max_size=8), media_type=MEDIA),
    st.builds(
        DocumentPart, data=st.binary(min_size=1, max_size=8), media_type=DOCUMENTS, title=st.sampled_from([None, "a.b"])
    ),
)
CONTENTS = st.lists(PARTS, max_size=3).map(tuple)

PAGES = st.sampled_from([(), (("https://a.example/x", "A page"),), "max_uses_exceeded"])
BLOCKS = st.one_of(
    st.builds(Text, SAID),
    st.builds(Text, SAID, st.just((("https://a.example/x", "A page"),))),
    st.builds(Thinking, SAID, st.booleans()),
    st.builds(Use, NAMES, ARGUMENTS, IDS),
    st.builds(Search, st.just("cats"), PAGES),
)
ORIGINS: list[tuple[Wire, str]] = [
    *MODELS.items(),
    ("anthropic", "claude-opus-5-5"),
    ("openai", "gpt-5.5"),
    ("openai", "gpt-4o"),
    ("chat", "another"),
]


@st.composite
def turns(draw: st.DrawFn, issued: Issued) -> AssistantMessage:
    """A turn as some provider wrote it and we read it; sometimes without anybody's raw form, as one that was loaded."""
    wire, name = draw(st.sampled_from(ORIGINS))
    blocks: list[Block] = draw(st.lists(BLOCKS, min_size=1, max_size=4))
    if wire != "chat" and draw(st.booleans()):
        blocks.append(Raw({"type": "hologram", "id": issued.id("holo_"), "light": "x"}))
    asked = {"model": name, "include": ["web_search_call.action.sources"]}
    if draw(st.booleans()):
        asked["include"].append("reasoning.encrypted_content")  # type: ignore[attr-defined]  # a list
    module = WIRES[wire]
    whole = module.plain(module.answer(Turn(blocks), asked, issued))
    message = model_of(wire, name).read(whole).message
    if draw(st.integers(0, 5)) == 0:
        bare = tuple(replace(block, raw=None) for block in message.blocks if block.type != "unknown")
        message = replace(message, origin=None, blocks=bare)
    return message


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Message], Issued]:
    """A legal conversation: each call has one result, right after its turn, and ids are unique."""
    issued = Issued()
    messages: list[Message] = [UserMessage(content=draw(CONTENTS))]
    seen: set[str] = set()
    for _ in range(draw(st.integers(0, 4))):
        turn = draw(turns(issued))
        fresh = {call.id for call in turn.calls}
        if len(fresh) < len(turn.calls) or fresh & seen:
            continue
        seen |= fresh
        messages.append(turn)
        if turn.calls:
            messages.append(ToolResults(results=tuple(draw(_result(call.id, call.name)) for call in turn.calls)))
        if not turn.calls or draw(st.booleans()):
            messages.append(UserMessage(content=draw(CONTENTS)))
    return messages, issued


@st.composite
def _result(draw: st.DrawFn, call_id: str, name: str) -> ToolMessage:
    content: str | tuple[Part, ...] = draw(st.one_of(TEXTS, CONTENTS))
    return ToolMessage(call_id=call_id, name=name, content=content, is_error=draw(st.booleans()))
