"""Records to store: one of every kind, and any that hypothesis can think of."""

from hypothesis import strategies as st

from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    MessagesCompacted,
    ModelTurn,
    OutputsTrimmed,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
    StopDecided,
    UsageAdded,
)
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Citation,
    DocumentPart,
    ImagePart,
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
from toolroll.kernel.data.usage import Usage

CALL = ToolCall(id="call_1", name="write_file", arguments='{"path": "a.txt", "content": "Привіт"}')
ORIGIN = Origin(wire="anthropic", model="model-1")
EVERY_KIND: tuple[Record, ...] = (
    RunBegan(
        model="model-1",
        system="Be brief.",
        tools={"write_file": "a" * 64, "read_secret": "b" * 64},
        parent="run_0",
        settings={"model": "scripted:a.json", "max_steps": 5},
    ),
    MessageAdded(
        message=UserMessage(
            content=(
                TextPart(text="Look at this."),
                ImagePart(data=b"\x89PNG\xff\x00\xfb\xef", media_type="image/png"),
                DocumentPart(data=b"%PDF-\xff\xfe", media_type="application/pdf", title="A title"),
            )
        )
    ),
    ModelTurn(
        message=AssistantMessage(
            blocks=(
                ReasoningBlock(text="Hm.", raw={"type": "thinking", "thinking": "Hm.", "signature": "sig=="}),
                ServerBlock(
                    kind="result", tool="web_search", summary="1 page", sources=(Citation(url="https://a.example"),)
                ),
                TextBlock(text="I write it.", citations=(Citation(url="https://b.example", title="B"),)),
                CallBlock(call=CALL, raw={"type": "tool_use", "id": "call_1", "input": {"path": "a.txt"}}),
                UnknownBlock(raw={"type": "new", "nested": [1, 2.5, None, True]}),
            ),
            origin=ORIGIN,
        ),
        stop="tool_calls",
        stop_detail="",
        usage=Usage(input_tokens=10, output_tokens=5, cache_read_tokens=2, requests=1),
        cost=0.25,
        duration_s=1.5,
    ),
    ApprovalQuestion(call_id="call_1", tool="write_file", digest="d" * 64, preview="+Привіт", why="Write a file."),
    ApprovalAnswer(call_id="call_1", digest="d" * 64, decision="approve", edited=""),
    CallIntended(call=CALL, effect="writes", base="e" * 64, target="f" * 64),
    StateSet(name="todos", value={"todos": [{"id": "1", "content": "Write", "status": "pending"}], "made": 1}),
    CallEnded(
        result=ToolMessage(
            call_id="call_1",
            name="write_file",
            content=(TextPart(text="Written."), ImagePart(data=b"\x00\x01", media_type="image/png")),
            output_ref=OutputRef(id="ref", byte_size=3, line_count=1),
        ),
        code=None,
        duration_ms=2.5,
        note="Twice now.",
    ),
    MessageAdded(message=ToolResults(results=(ToolMessage(call_id="x", name="y", content="z", is_error=True),))),
    MessageAdded(message=UserMessage.of("Answer, please."), about="empty"),
    UsageAdded(
        name="helper",
        run_id="run.call_1",
        step=1,
        call_id="call_1",
        usage=Usage(output_tokens=7, requests=1),
        cost=None,
    ),
    StopDecided(stop_reason="condition", stop_detail="step_count_is(5)"),
    RunEnded(stop_reason="answer", stop_detail="", text="Done."),
)
NEW_IN_FORMAT_2: tuple[Record, ...] = (
    OutputsTrimmed(outputs=(("call_1", "0123456789abcdef" * 2), ("api_key_2", "fedcba9876543210" * 2))),
    MessagesCompacted(
        through=7,
        summary="[summary]\n- 0123456789abcdef0123456789abcdef: read",
        pinned=(0, 3),
        decisions=("Use metric units.",),
        references=("fedcba9876543210fedcba9876543210: 3 short outputs",),
    ),
)

# JSON has no surrogates, and `\x00` begins a reference to a stored text: both must be met.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["\0", "\0\0a", "\0" + "a" * 64]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
parts = (
    st.builds(TextPart, text=texts)
    | st.builds(ImagePart, data=st.binary(max_size=20), media_type=st.just("image/png"))
    | st.builds(
        DocumentPart, data=st.binary(max_size=20), media_type=st.just("application/pdf"), title=st.none() | texts
    )
)
raws = st.none() | st.dictionaries(texts, values, max_size=3)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=texts)
blocks = (
    st.builds(TextBlock, text=texts, citations=st.just(()), raw=raws)
    | st.builds(ReasoningBlock, text=texts, raw=raws)
    | st.builds(CallBlock, call=calls, raw=raws)
    | st.builds(UnknownBlock, raw=st.dictionaries(texts, values, max_size=3))
)
answers = st.builds(
    AssistantMessage, blocks=st.lists(blocks, max_size=4).map(tuple), origin=st.none() | st.just(ORIGIN)
)
results = st.builds(
    ToolMessage,
    call_id=texts,
    name=texts,
    content=texts | st.lists(parts, max_size=3).map(tuple),
    is_error=st.booleans(),
    output_ref=st.none(),
)
records: st.SearchStrategy[Record] = (
    st.builds(MessageAdded, message=st.builds(UserMessage, content=st.lists(parts, max_size=3).map(tuple)))
    | st.builds(
        ModelTurn,
        message=answers,
        stop=texts,
        stop_detail=texts,
        usage=st.just(Usage(input_tokens=1)),
        cost=st.none() | st.just(0.5),
        duration_s=st.just(1.0),
    )
    | st.builds(CallIntended, call=calls, effect=st.just("writes"), base=st.none() | texts, target=st.none())
    | st.builds(CallEnded, result=results, code=st.none() | texts, duration_ms=st.just(1.0), note=st.none() | texts)
    | st.builds(ApprovalQuestion, call_id=texts, tool=texts, digest=texts, preview=texts, why=texts)
    | st.builds(
        ApprovalAnswer,
        call_id=texts,
        digest=texts,
        decision=st.sampled_from(["approve", "reject"]),
        edited=st.none() | texts,
    )
    | st.builds(StateSet, name=texts, value=values)
    | st.builds(RunEnded, stop_reason=texts, stop_detail=texts, text=texts)
)
