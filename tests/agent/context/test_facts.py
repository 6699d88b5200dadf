"""What is found in a conversation without asking a model."""

from pathlib import Path

from toolroll.agent.context.summary import (
    MAX_PATH_CHARACTERS,
    bundle_short_outputs,
    collect_facts,
    list_references,
    newest_within,
)
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    ImagePart,
    Message,
    OutputRef,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.outputs.store import OutputStore

REF = OutputRef(id="a" * 32, byte_size=60_000, line_count=1_200)


class Full:
    """A keeper whose disk is full."""

    def keep(self, _call_id: str, _tool: str, _content: object, /) -> None:
        return None


def step(number: int, arguments: str, ref: OutputRef | None = None, name: str = "read") -> list[Message]:
    call = ToolCall(id=f"c{number}", name=name, arguments=arguments)
    result = ToolMessage(call_id=call.id, name=name, content=f"output {number}", output_ref=ref)
    return [AssistantMessage(blocks=(CallBlock(call=call),)), ToolResults(results=(result,))]


def test_A21_references_name_their_calls_and_sizes() -> None:
    messages = [UserMessage.of("go"), *step(1, '{"path": "a.py"}', REF), *step(2, "{}"), *step(3, "{}")]
    assert (
        f'{REF.id}: read {{"path": "a.py"}}, 60,000 bytes, 1,200 lines',
        "late: read {}",
    ) == collect_facts(messages, {}, {"c3": "late"}).references


def test_A21_paths_are_the_arguments_that_are_named_so() -> None:
    long = "x" * (MAX_PATH_CHARACTERS + 1)
    messages = [
        *step(1, '{"path": "a.py", "text": "no/path"}'),
        *step(2, '{"files": ["b.py", 3, "a.py", ""]}'),
        *step(3, f'{{"file": "{long}"}}'),
        *step(4, "not json"),
    ]
    assert collect_facts(messages, {}, {}).paths == ("a.py", "b.py")


def test_A21_todos_are_those_that_are_kept_with_the_run() -> None:
    assert collect_facts([], {"todos": [{"content": "Write"}], "other": 1}, {}).todos == '[{"content":"Write"}]'


def test_A21_the_newest_lines_are_those_that_fit() -> None:
    assert newest_within(["aa", "bb", "cc"], 6) == ("bb", "cc")
    assert newest_within(["aa"], 2) == ()


def test_A21_references_that_do_not_fit_are_kept_behind_one_that_does(tmp_path: Path) -> None:
    lines = [f"{number:032x}: read" for number in range(50)]
    with OutputStore(tmp_path, run_id="run") as store:
        first, *shown = list_references(lines, 200, store)
        assert lines[-len(shown) :] == shown
        kept = store.open(first[:32]).content()
        assert "\n".join(lines[: -len(shown)]) + "\n" == kept
        assert "the list of 45 earlier references" in first


def test_A21_without_a_place_to_keep_them_the_newest_references_stay() -> None:
    lines = ["1: a", "2: b", "3: c"]
    assert list_references(lines, 5, None) == ("3: c",)
    assert list_references(lines, 5, Full()) == ("3: c",)
    assert list_references(lines, 100, Full()) == ("1: a", "2: b", "3: c")


def test_A21_short_outputs_are_kept_together(tmp_path: Path) -> None:
    image = ToolMessage(
        call_id="c5", name="draw", content=(TextPart(text="seen"), ImagePart(data=b"x", media_type="image/png"))
    )
    drawn = AssistantMessage(blocks=(CallBlock(call=ToolCall(id="c5", name="draw", arguments="{}")),))
    messages: list[Message] = [
        *step(1, '{"n": 1}'),
        *step(2, "{}", REF),
        *step(3, "{}"),
        *step(4, "{}", name="tool_output_cache"),
        drawn,
        ToolResults(results=(image,)),
    ]
    with OutputStore(tmp_path, run_id="run") as store:
        [line] = bundle_short_outputs(messages, {"c3": "late"}, store)
        assert "2 short outputs together" in line
        assert store.open(line[:32]).content() == '### read {"n": 1}\noutput 1\n### draw {}\nseen\n'
        assert bundle_short_outputs([UserMessage.of("go")], {}, store) == ()
    assert bundle_short_outputs(messages, {}, Full()) == ()
