"""Conversations and events as data: every part survives, versions are checked, labels come along."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.context.counted import Counted

from toolroll import Agent, MemoryJournal, ScriptedModel, tool
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.conversation import VERSION, dump_messages, load_messages
from toolroll.agent.event_json import dump_event
from toolroll.agent.labels import labels_of_message
from toolroll.errors import ConversationRefused
from toolroll.kernel.data.labels import ALL_LABELS
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Citation,
    DocumentPart,
    ImagePart,
    Message,
    Origin,
    OutputRef,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UnknownBlock,
    UserMessage,
)
from toolroll.kernel.define.tool import Toolset
from toolroll.models import Call

TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
RAW = st.dictionaries(TEXT, JSON, max_size=3)
MAYBE_RAW = st.none() | RAW
PART = (
    st.builds(TextPart, text=TEXT)
    | st.builds(ImagePart, data=st.binary(max_size=40), media_type=TEXT)
    | st.builds(DocumentPart, data=st.binary(max_size=40), media_type=TEXT, title=st.none() | TEXT)
)
CITATION = st.builds(Citation, url=TEXT, title=TEXT, cited_text=TEXT)
CITATIONS = st.lists(CITATION, max_size=2).map(tuple)
CALL = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT)
BLOCK = (
    st.builds(TextBlock, text=TEXT, citations=CITATIONS, raw=MAYBE_RAW)
    | st.builds(ReasoningBlock, text=TEXT, raw=MAYBE_RAW)
    | st.builds(CallBlock, call=CALL, raw=MAYBE_RAW)
    | st.builds(
        ServerBlock,
        kind=st.sampled_from(["call", "result"]),
        tool=TEXT,
        summary=TEXT,
        sources=CITATIONS,
        raw=MAYBE_RAW,
    )
    | st.builds(UnknownBlock, raw=RAW)
)
RESULT = st.builds(
    ToolMessage,
    call_id=TEXT,
    name=TEXT,
    content=TEXT | st.lists(PART, max_size=3).map(tuple),
    is_error=st.booleans(),
    output_ref=st.none() | st.builds(OutputRef, id=TEXT, byte_size=st.integers(0), line_count=st.integers(0)),
)
MESSAGE: st.SearchStrategy[Message] = (
    st.builds(UserMessage, content=st.lists(PART, max_size=3).map(tuple), pinned=st.booleans())
    | st.builds(
        AssistantMessage,
        blocks=st.lists(BLOCK, max_size=4).map(tuple),
        origin=st.none() | st.builds(Origin, wire=TEXT, model=TEXT),
    )
    | st.builds(ToolResults, results=st.lists(RESULT, max_size=3).map(tuple))
)


@settings(max_examples=200, deadline=None)
@given(st.lists(MESSAGE, max_size=5))
def test_A44_any_conversation_comes_back_as_it_was(messages: list[Message]) -> None:
    text = dump_messages(messages)
    assert tuple(messages) == load_messages(text)
    assert tuple(messages) == load_messages(text.encode())
    assert text == dump_messages(load_messages(text))


def test_A44_the_form_has_a_version_and_is_plain_json() -> None:
    stored = json.loads(dump_messages([UserMessage.of([ImagePart(data=b"\xff\x00", media_type="image/png")])]))
    part = {"data": "_wA=", "media_type": "image/png", "type": "image"}
    message = {"content": [part], "pinned": False, "is_summary": False, "role": "user"}
    assert {"version": VERSION, "messages": [message]} == stored


def test_A44_a_summary_keeps_its_mark() -> None:
    message = UserMessage.of("s", is_summary=True)
    assert (message,) == load_messages(dump_messages([message]))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"version": 99, "messages": []}', "format 99"),
        ('{"version": 0, "messages": []}', "format 0"),
        ("[]", "no conversation"),
        ("", "no conversation"),
        ('{"version": 1}', "messages"),
        ('{"version": 1, "messages": [{"role": "king"}]}', "messages.0"),
    ],
)
def test_A44_a_text_that_is_no_conversation_is_refused(text: str, told: str) -> None:
    with pytest.raises(ConversationRefused) as refused:
        load_messages(text)
    assert told in refused.value.message


def test_A44_a_message_that_is_no_text_is_refused() -> None:
    with pytest.raises(ConversationRefused, match="cannot be written"):
        dump_messages([UserMessage.of("\ud800")])


@tool
def look(at: str) -> str:
    """Look."""
    return f"{at} is there. " * 40


async def test_A44_new_messages_are_those_of_this_run() -> None:
    first = await Agent(model=ScriptedModel(["Hello."])).run("Hi.")
    assert first.messages == first.new_messages
    model = ScriptedModel([Call("look", {"at": "tea"}), "It is."])
    agent = Agent(model=model, tools=[look], journal=MemoryJournal())
    second = await agent.run("Is there tea?", messages=load_messages(dump_messages(first.messages)))
    assert second.messages == (*first.messages, *second.new_messages)
    assert [one.role for one in second.new_messages] == ["user", "assistant", "tool", "assistant"]
    again = await agent.resume(second.run_id)
    assert second.new_messages == again.new_messages


async def test_A44_new_messages_are_whole_after_a_compaction() -> None:
    steps = 6
    counted = Counted(lambda number, _: Call("look", {"at": f"tea {number} " * 8}) if number <= steps else "All.")
    agent = Agent(model=counted.model, tools=[look], context=ContextRules(window_tokens=2_000))
    result = await agent.run("Tea?", messages=[UserMessage.of("Earlier.")])
    assert counted.asked_for_summary
    assert len(result.messages) < len(result.new_messages)
    assert ["user", *["assistant", "tool"] * steps, "assistant"] == [one.role for one in result.new_messages]


async def test_A44_every_event_is_plain_data() -> None:
    agent = Agent(model=ScriptedModel([Call("look", {"at": "x"}), "Yes."]), tools=[look])
    dumped = [dump_event(event) async for event in agent.stream("x?")]
    assert dumped == json.loads(json.dumps(dumped))
    assert dumped[0]["event"] == "run_started"
    assert dumped[-1]["event"] == "run_finished"
    assert dumped[-1]["text"] == "Yes."


@settings(max_examples=100, deadline=None)
@given(st.lists(MESSAGE, max_size=6))
def test_A46_labels_only_grow_with_each_message(messages: list[Message]) -> None:
    agent = Agent(model=ScriptedModel(["Fine."]), tools=[look])
    held: frozenset[str] = frozenset()
    for count in range(len(messages) + 1):
        run = agent.start("Go on.", messages=messages[:count]).run
        assert run is not None
        assert held <= run.labels
        held = run.labels


@settings(max_examples=100, deadline=None)
@given(RESULT)
def test_A46_a_result_of_an_unknown_tool_is_private_and_untrusted(result: ToolMessage) -> None:
    assert labels_of_message(ToolResults(results=(result,)), Toolset([])) == ALL_LABELS
