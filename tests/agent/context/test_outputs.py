"""Outputs are kept as calls end, cut for the context, and read back by the tools that the agent adds itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.agent.context.counted import results_in
from tests.agent.stage import Call, add, agent_of

from toolroll import Agent, ScriptedModel, tool
from toolroll.agent.context.outputs import IN_A_THREAD_CHARACTERS, store_result
from toolroll.agent.context.rules import ContextRules
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ImagePart, Message, OutputRef, TextPart, ToolMessage, UserMessage
from toolroll.models.model import ModelRequest
from toolroll.outputs.format import SHORT_CHARACTERS
from toolroll.outputs.store import OutputStore

TOOLS = ["tool_output_cache", "tool_output_cache_grep"]


@tool
async def read(lines: int) -> str:
    """Read some lines."""
    return "".join(f"line {number:06d} of the file\n" for number in range(lines))


@tool
async def draw() -> ImagePart:
    """Draw a picture."""
    return ImagePart(data=b"\x89PNG", media_type="image/png")


def refs_of(messages: tuple[Message, ...]) -> list[OutputRef | None]:
    return [one.output_ref for one in results_in(messages)]


async def test_K51_a_large_output_is_kept_whole_and_cut_at_a_line(tmp_path: Path) -> None:
    model = ScriptedModel([Call("read", {"lines": 4_000}), "Read."])
    result = await Agent(model=model, tools=[read], outputs=tmp_path).run("go")
    [message] = results_in(result.messages)
    assert isinstance(message.content, str)
    assert message.output_ref is not None
    assert (message.output_ref.byte_size, message.output_ref.line_count) == (96_000, 4_000)
    assert message.content.endswith(f"[tool output truncated; ref={message.output_ref.id}]")
    whole = "".join(f"line {number:06d} of the file\n" for number in range(4_000))
    head, _, _ = message.content.partition("[")
    assert whole.startswith(head)
    assert head.endswith("\n")
    assert whole == OutputStore(tmp_path, run_id=result.run_id).open(message.output_ref.id).content()


async def test_K50_every_output_is_kept_as_it_happens_however_short(tmp_path: Path) -> None:
    turns = (Call("add", {"a": 1, "b": 2}), Call("draw"), Call("read", {"lines": 1_000}))
    result = await agent_of(*turns, "Done.", tools=[add, draw, read], outputs=str(tmp_path)).run("go")
    short, picture, text = refs_of(result.messages)
    assert short is not None
    assert picture is not None
    assert text is not None
    store = OutputStore(tmp_path, run_id=result.run_id)
    assert store.open(short.id).content() == results_in(result.messages)[0].content == "3"
    assert (short.byte_size, short.line_count) == (1, 1)
    assert (ImagePart(data=b"\x89PNG", media_type="image/png"),) == store.open(picture.id).content()


async def test_K50_parts_are_cut_like_texts(tmp_path: Path) -> None:
    parts = (TextPart(text="row\n" * 20_000), ImagePart(data=b"x", media_type="image/png"))
    with OutputStore(tmp_path, run_id="run") as store:
        message = await store_result(store, ToolMessage(call_id="c", name="t", content=parts), 51_200)
        assert message.output_ref is not None
        assert parts == store.open(message.output_ref.id).content()
    assert not isinstance(message.content, str)
    text, image = message.content
    assert isinstance(text, TextPart)
    assert len(text.text) < 52_000
    assert parts[1] == image


@tool
async def search(lines: int) -> ToolResult:
    """Search for lines, and show the first two."""
    rows = [f"row {number}" for number in range(lines)]
    return replace(ToolResult.of_text("\n".join([*rows[:2], f"...and {lines - 2} more"])), whole="\n".join(rows))


@pytest.mark.parametrize("lines", [5, IN_A_THREAD_CHARACTERS // 4])
async def test_C12_K50_a_result_that_is_the_beginning_of_more_is_kept_whole(lines: int, tmp_path: Path) -> None:
    result = await agent_of(Call("search", {"lines": lines}), "Done.", tools=[search], outputs=tmp_path).run("go")
    [message] = results_in(result.messages)
    assert message.output_ref is not None
    whole = OutputStore(tmp_path, run_id=result.run_id).open(message.output_ref.id).content()
    assert whole == "\n".join(f"row {number}" for number in range(lines))
    ref = message.output_ref.id
    onward = f'Next: tool_output_cache {{"ref_id": "{ref}", "offset": 2}}'
    assert str(message.content).splitlines() == [
        "row 0",
        "row 1",
        f"...and {lines - 2} more",
        f"[12 of {len(whole):,} bytes, line 2 of {lines:,}. {onward}]",
        f"[tool output truncated; ref={ref}]",
    ]


async def test_C12_K57_where_nothing_is_kept_the_beginning_is_all_there_is(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way")
    for outputs in (None, tmp_path / "a file" / "outputs"):
        result = await agent_of(Call("search", {"lines": 9}), "Done.", tools=[search], outputs=outputs).run("go")
        [message] = results_in(result.messages)
        assert (message.content, message.output_ref) == ("row 0\nrow 1\n...and 7 more", None)


@pytest.mark.parametrize("size", [0, SHORT_CHARACTERS - 1, SHORT_CHARACTERS, IN_A_THREAD_CHARACTERS])
async def test_K50_an_output_of_any_size_is_kept_whole(size: int, tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="run") as store:
        message = await store_result(store, ToolMessage(call_id="c", name="t", content="x" * size), 51_200)
        assert message.output_ref is not None
        assert "x" * size == store.open(message.output_ref.id).content()


async def test_K57_an_output_that_cannot_be_kept_costs_the_reference_only(tmp_path: Path) -> None:
    taken = tmp_path / "a file"
    taken.write_text("in the way")
    result = await agent_of(Call("read", {"lines": 4_000}), "Read.", tools=[read], outputs=taken / "outputs").run("go")
    [message] = results_in(result.messages)
    assert (result.text, message.output_ref) == ("Read.", None)
    assert str(message.content).endswith("[tool output truncated; the rest could not be kept]")


def offered(names: list[str]) -> ScriptedModel:
    def turn(request: ModelRequest) -> str:
        names.extend(one.name for one in request.tools)
        return "Done."

    return ScriptedModel(turn)


async def test_K62_the_agent_adds_the_tools_where_outputs_are_kept(tmp_path: Path) -> None:
    beside: list[str] = []
    journal = SqliteJournal(tmp_path / "runs.db")
    await Agent(model=offered(beside), tools=[add], journal=journal).run("go")
    assert ["add", *TOOLS] == beside
    given: list[str] = []
    await Agent(model=offered(given), tools=[add], outputs=tmp_path / "o").run("go")
    assert ["add", *TOOLS] == given
    journal.close()


async def test_K62_without_a_folder_or_when_turned_off_there_are_none(tmp_path: Path) -> None:
    names: list[str] = []
    journal = SqliteJournal(tmp_path / "runs.db")
    await Agent(model=offered(names), tools=[add], journal=journal, outputs=None).run("go")
    await Agent(model=offered(names), tools=[add], journal=MemoryJournal()).run("go")
    await Agent(model=offered(names), tools=[add]).run("go")
    assert names == ["add"] * 3
    assert not (tmp_path / "outputs").exists()
    journal.close()


async def test_K62_tools_of_these_names_are_the_agents_own(tmp_path: Path) -> None:
    @tool(name="tool_output_cache")
    async def mine() -> str:
        """My own."""
        return "mine"

    names: list[str] = []
    await Agent(model=offered(names), tools=[mine], outputs=tmp_path).run("go")
    assert names == ["tool_output_cache"]


async def test_K55_what_is_read_back_is_neither_cut_nor_kept_again(tmp_path: Path) -> None:
    """The page is longer than what an output may bring into this small window."""

    def turn(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        if not results:
            return Call("read", {"lines": 1_000})
        if len(results) == 1:
            ref = results[0].output_ref
            assert ref is not None
            return Call("tool_output_cache", {"ref_id": ref.id, "limit": 500})
        return "Read."

    rules = ContextRules(window_tokens=4_000, compact_at=None)
    result = await Agent(model=ScriptedModel(turn), tools=[read], outputs=tmp_path, context=rules).run("go")
    first, back = results_in(result.messages)
    assert "tool output truncated" in str(first.content)
    assert back.output_ref is None
    assert len(str(back.content)) > 8_000
    assert "tool output truncated" not in str(back.content)
    assert "line 000499 of the file" in str(back.content)


async def test_K50_a_sub_agent_keeps_its_outputs_with_its_callers(tmp_path: Path) -> None:
    """What it hands up by reference, the caller can read."""
    refs: list[str] = []

    def part(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        if not results:
            return Call("read", {"lines": 1_000})
        assert results[0].output_ref is not None
        return f"See {results[0].output_ref.id}"

    def whole(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        if not results:
            return Call("helper", {"task": "Read."})
        if len(results) == 1:
            refs.append(str(results[0].content).split()[-1])
            return Call("tool_output_cache", {"ref_id": refs[0], "offset": 998})
        return str(results[1].content)

    helper = Agent(model=ScriptedModel(part), tools=[read]).as_tool(name="helper", description="Helps.")
    result = await Agent(model=ScriptedModel(whole), tools=[helper], outputs=tmp_path).run("go")
    assert "line 000999 of the file" in result.text


async def test_K50_references_of_an_earlier_run_are_left_behind(tmp_path: Path) -> None:
    """They lead nowhere here; the outputs themselves come along."""
    first = await agent_of(Call("read", {"lines": 400}), "Read.", tools=[read], outputs=tmp_path).run("go")
    assert refs_of(first.messages) != [None]
    second = await agent_of("Again.", outputs=tmp_path).run("once more", messages=first.messages)
    assert refs_of(second.messages) == [None]
    assert results_in(first.messages)[0].content == results_in(second.messages)[0].content
    plain = UserMessage.of("hello")
    third = await agent_of("Hello.").run(messages=[plain])
    assert plain is third.messages[0]
