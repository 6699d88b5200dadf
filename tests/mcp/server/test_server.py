"""Tools for the models of other programs, in process: lists, calls, approvals, both eras of the protocol."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from pydantic import Field
from tests.mcp.server.clients import ERAS, NO, YES, Person, connect, text_of

from toolroll import Preview, ToolContext, tool
from toolroll.apps.client_questions import answer_question, list_questions
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, CallEnded, CallIntended, ModelTurn, RunEnded
from toolroll.mcp.server.run_record import MCP_KIND
from toolroll.mcp.server.server import ToolServer


@tool
def add(a: int, b: int = 0) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool
def list_items(kind: str | None = None) -> list[str]:
    """List items, of a kind or all."""
    return ["tea"] if kind is None else [kind]


@tool
async def slow(ctx: ToolContext) -> str:
    """Report three times how far it is."""
    for number in range(3):
        ctx.progress(f"step {number}", number / 3)
    return "done"


class Note:
    """A file, and the tool that writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_text("old")
        self.writes = 0

        def preview(arguments: Mapping[str, object], _ctx: ToolContext, _edited: str | None) -> Preview:
            return Preview.of_change(path.read_text(), str(arguments["text"]), path="note.txt")

        @tool(effect="writes", preview=preview)
        def write_note(text: Annotated[str, Field(description="What to write.")]) -> str:
            """Write the note."""
            self.writes += 1
            path.write_text(text)
            return "Written."

        self.tool = write_note


@pytest.fixture
def note(tmp_path: Path) -> Note:
    return Note(tmp_path / "note.txt")


@pytest.mark.parametrize("era", ERAS)
async def test_S30_tools_are_listed_by_name_with_hints_from_their_effect(era: str, note: Note) -> None:
    async with connect(ToolServer([slow, note.tool, add], instructions="Be kind."), era) as client:
        listed = (await client.list_tools()).tools
        assert client.instructions == "Be kind."
    assert [one.name for one in listed] == ["add", "slow", "write_note"]
    reads, writes = listed[0].annotations, listed[2].annotations
    assert reads is not None
    assert writes is not None
    assert (reads.read_only_hint, reads.destructive_hint) == (True, False)
    assert (writes.read_only_hint, writes.destructive_hint, writes.open_world_hint) == (False, True, False)
    assert listed[2].title == "Write note"


@pytest.mark.parametrize("era", ERAS)
async def test_S30_json_results_are_data_and_text(era: str) -> None:
    async with connect(ToolServer([add, list_items]), era) as client:
        summed = await client.call_tool("add", {"a": 1, "b": 2})
        assert (summed.structured_content, text_of(summed)) == ({"sum": 3}, '{"sum":3}')
        found = await client.call_tool("list_items", {})
        expected = {"result": ["tea"]} if era == "legacy" else ["tea"]
        assert (found.structured_content, text_of(found)) == (expected, '["tea"]')


@pytest.mark.parametrize("era", ERAS)
async def test_S30_wrong_calls_are_answered(era: str) -> None:
    async with connect(ToolServer([add]), era) as client:
        wrong = await client.call_tool("add", {"a": "x", "c": 1})
        assert wrong.is_error
        assert (wrong.meta or {})["toolroll/code"] == "invalid_arguments"
        assert "there is no such parameter" in text_of(wrong)
        with pytest.raises(MCPError, match="Did you mean add"):
            await client.call_tool("ad", {})


@pytest.mark.parametrize("era", ERAS)
async def test_S30_progress_reaches_the_client_before_the_result(era: str) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with connect(ToolServer([slow]), era) as client:
        assert text_of(await client.call_tool("slow", {}, progress_callback=on_progress)) == "done"
    assert [message for _, _, message in seen] == ["step 0", "step 1", "step 2"]
    assert sorted({done for done, _, _ in seen}) == [done for done, _, _ in seen], "each is more than the one before"


@pytest.mark.parametrize("era", ERAS)
async def test_S30_a_change_is_shown_to_the_person_and_made_after_a_yes(era: str, note: Note) -> None:
    person, journal = Person(YES), MemoryJournal()
    async with connect(ToolServer([note.tool], journal=journal), era, person) as client:
        assert text_of(await client.call_tool("write_note", {"text": "new"})) == "Written."
    assert note.path.read_text() == "new"
    [question] = person.questions
    assert "-old\n" in question
    assert "+new\n" in question
    [row] = await journal.runs()
    kinds = [type(record) for _, record in await journal.read(row.run_id)]
    assert kinds[2:] == [ModelTurn, ApprovalQuestion, ApprovalAnswer, CallIntended, CallEnded, RunEnded]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [NO, types.ElicitResult(action="decline"), types.ElicitResult(action="accept")])
async def test_S30_nothing_but_a_clear_yes_is_one(era: str, answer: types.ElicitResult, note: Note) -> None:
    async with connect(ToolServer([note.tool]), era, Person(answer)) as client:
        refused = await client.call_tool("write_note", {"text": "new"})
    assert refused.is_error
    assert (refused.meta or {})["toolroll/code"] == "rejected"
    assert note.writes == 0


@pytest.mark.parametrize("era", ERAS)
async def test_S30_a_client_that_cannot_ask_is_denied(era: str, note: Note) -> None:
    async with connect(ToolServer([note.tool]), era) as client:
        refused = await client.call_tool("write_note", {"text": "new"})
    assert (refused.is_error, note.writes) == (True, 0)
    assert (refused.meta or {})["toolroll/code"] == "needs_approval"
    assert "--yes" in text_of(refused)


async def test_XM10_what_changed_while_the_person_looked_is_asked_again_or_refused(note: Note) -> None:
    person = Person(YES, look=lambda: note.path.write_text(f"other {len(person.questions)}"[:7]))
    async with connect(ToolServer([note.tool]), "legacy", person) as client:
        refused = await client.call_tool("write_note", {"text": "new"})
    assert (refused.meta or {})["toolroll/code"] == "stale_approval"
    assert (note.writes, note.path.read_text()) == (0, "other 1")


async def test_XM10_a_stateless_client_is_asked_again_about_what_changed(note: Note) -> None:
    def change_once() -> None:
        if len(person.questions) == 1:
            note.path.write_text("other")

    person = Person(YES, look=change_once)
    async with connect(ToolServer([note.tool]), "auto", person) as client:
        assert text_of(await client.call_tool("write_note", {"text": "new"})) == "Written."
    assert ["-old\n" in person.questions[0], "-other\n" in person.questions[1]] == [True, True]


async def test_XM11_an_answer_counts_once(note: Note) -> None:
    server = ToolServer([note.tool])
    async with connect(server, "auto", Person(YES)) as client:
        session = client.session
        arguments = {"text": "new"}
        asked = await session.call_tool("write_note", arguments, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        again: dict[str, Any] = {"input_responses": {"approval": YES}, "request_state": asked.request_state}
        done = await session.call_tool("write_note", arguments, **again)
        assert text_of(done) == "Written."
        note.path.write_text("old")  # as it was when the person looked
        with pytest.raises(MCPError, match="used already"):
            await session.call_tool("write_note", arguments, **again)
        with pytest.raises(MCPError):
            await session.call_tool("write_note", {"text": "evil"}, **again)
    assert (note.writes, note.path.read_text()) == (1, "old")


async def test_XM12_a_client_that_never_answers_does_not_hang_for_ever(note: Note) -> None:
    async def never(_context: object, _params: object) -> types.ElicitResult:
        await asyncio.Event().wait()
        raise AssertionError

    person = Person(YES)
    person.__class__ = type("Silent", (Person,), {"__call__": staticmethod(never)})
    async with connect(ToolServer([note.tool], approval_seconds=0.05), "legacy", person) as client:
        refused = await client.call_tool("write_note", {"text": "new"})
    assert (refused.meta or {})["toolroll/code"] == "needs_approval"
    assert note.writes == 0


LONG = "".join(f"line {number}\n" for number in range(400))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("is_yes", [True, False])
async def test_XM17_what_is_too_long_for_a_form_is_answered_in_a_terminal(era: str, is_yes: bool, note: Note) -> None:
    journal = MemoryJournal()

    async def answer() -> None:
        [question] = await list_questions(journal)
        assert question.asked.call_id[:8] in person.questions[-1]
        assert "+line 399" in question.asked.preview, "all of it is shown"
        await answer_question(journal, question, is_yes=is_yes, reason="No." if not is_yes else None)

    person = Person(types.ElicitResult(action="accept", content={}), work=answer)
    async with connect(ToolServer([note.tool], journal=journal, record={"kind": MCP_KIND}), era, person) as client:
        done = await client.call_tool("write_note", {"text": LONG})
    assert "+line 3" not in person.questions[0]
    assert note.writes == is_yes
    assert (done.meta or {}).get("toolroll/code") == (None if is_yes else "rejected")
    [row] = await journal.runs()
    records = [record for _, record in await journal.read(row.run_id)]
    assert sum(isinstance(record, ApprovalAnswer) for record in records) == 1
    assert await list_questions(journal) == []


@pytest.mark.parametrize("era", ERAS)
async def test_XM17_a_form_that_cannot_show_all_is_no_yes(era: str, note: Note) -> None:
    declines = Person(types.ElicitResult(action="decline"))
    async with connect(ToolServer([note.tool], journal=MemoryJournal()), era, declines) as client:
        refused = await client.call_tool("write_note", {"text": LONG})
        assert (refused.meta or {})["toolroll/code"] == "rejected"
    async with connect(ToolServer([note.tool]), era, Person(YES)) as client:  # no record, so no terminal
        refused = await client.call_tool("write_note", {"text": LONG})
        assert (refused.meta or {})["toolroll/code"] == "needs_approval"
    assert note.writes == 0


@pytest.mark.parametrize("era", ERAS)
async def test_XM17_a_yes_in_the_form_alone_writes_nothing_and_is_asked_for_once(era: str, note: Note) -> None:
    person = Person(YES)
    async with connect(ToolServer([note.tool], journal=MemoryJournal()), era, person) as client:
        refused = await client.call_tool("write_note", {"text": LONG})
    assert len(person.questions) == 1
    assert (refused.meta or {})["toolroll/code"] == "needs_approval"
    assert "terminal" in text_of(refused)
    assert note.writes == 0


@pytest.mark.parametrize("era", ERAS)
async def test_XM10_what_changed_after_the_answer_in_the_terminal_is_not_written(era: str, note: Note) -> None:
    journal = MemoryJournal()

    async def answer_and_change() -> None:
        if len(person.questions) == 1:
            [question] = await list_questions(journal)
            await answer_question(journal, question, is_yes=True)
            note.path.write_text("other")

    person = Person(types.ElicitResult(action="accept"), types.ElicitResult(action="decline"), work=answer_and_change)
    server = ToolServer([note.tool], journal=journal, record={"kind": MCP_KIND})
    async with connect(server, era, person) as client:
        refused = await client.call_tool("write_note", {"text": LONG})
    assert (refused.meta or {})["toolroll/code"] == ("stale_approval" if era == "legacy" else "rejected")
    assert (note.writes, note.path.read_text()) == (0, "other")
