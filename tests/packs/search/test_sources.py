"""The ledger of sources: what a run was shown and cites, through pause, cut and resume."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.search.services import Services
from tests.support.model_script import Search, Text, Turn
from tests.support.model_server import ModelServer

from toolroll import Agent, Policy, Rule, ScriptedModel
from toolroll.errors import Overloaded
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import StateChanged
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Citation, ServerBlock, TextBlock, ToolCall
from toolroll.models.model import WebSearch
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import Call
from toolroll.packs.search.chain import QUOTA_STATE as USED
from toolroll.packs.search.chain import SearchFailed
from toolroll.packs.search.sources import FAILURES_STATE as FAILURES
from toolroll.packs.search.sources import (
    MAX_FAILURES,
    MAX_SOURCES,
    SOURCES_STATE,
    Source,
    SourceLedger,
    cited_text,
    final_state,
    find_linked,
    footnotes,
    read_failures,
    read_sources,
    record_failures,
    record_sources,
)
from toolroll.packs.search.tool import make_search_tool
from toolroll.testing import make_run

A, B = ("https://example.com/a", "First"), ("https://example.org/b", "Second")


def source(number: int, **more: Any) -> Source:
    usual = {
        "title": f"Page {number}",
        "url": f"https://example.com/{number}",
        "found_at": "2026-11-16T02:00:00+00:00",
        "hash": "0",
        "by": "tavily",
    }
    return Source(number=number, **{**usual, **more})


async def test_R12_a_source_has_title_link_time_and_hash() -> None:
    async with make_run() as run:
        SourceLedger(run).add([("Title", "https://example.com/a#x", "Text.")], by="brave")
        [kept] = read_sources(run.state)
        assert kept == Source(
            number=1,
            title="Title",
            url="https://example.com/a",
            found_at=run.clock().isoformat(timespec="seconds"),
            hash=content_hash("https://example.com/a\nTitle\nText."),
            by="brave",
        )


async def test_R12_a_page_keeps_its_number_and_comes_to_be_cited_once() -> None:
    async with (run := make_run()):
        ledger = SourceLedger(run)
        ledger.add([("One", "https://example.com/1", ""), ("Two", "https://example.com/2", "")], by="tavily")
        ledger.add([("Two again", "https://example.com/2", "x")], by="openai", cited=True)
        changes = len(run.events)
        ledger.add([("Two again", "https://example.com/2", "x")], by="openai", cited=True)
        ledger.add([("One", "https://example.com/1", "")], by="brave")
        assert len(run.events) == changes
        assert [(one.number, one.title, one.by, one.cited) for one in read_sources(run.state)] == [
            (1, "One", "tavily", False),
            (2, "Two", "tavily", True),
        ]


async def test_R12_links_to_no_public_page_are_no_sources_and_there_is_an_end() -> None:
    run = Run()
    SourceLedger(run).add([("Inside", "http://10.0.0.1/", "")], by="x")
    SourceLedger(run).add([("t", f"https://example.com/{number}", "") for number in range(MAX_SOURCES)], by="x")
    SourceLedger(run).add([("late", "https://example.com/late", "")], by="x")
    assert len(SourceLedger(run)) == MAX_SOURCES
    assert "late" not in {one.title for one in read_sources(run.state)}


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
async def test_R12_what_the_provider_finds_and_cites_is_in_the_ledger(wire: Any) -> None:
    turn = Turn([Search("q", (A, B)), Text("It rose.", citations=(B,)), Text(" Much.\n")])
    journal = MemoryJournal()
    async with ModelServer([turn]) as server:
        agent = Agent(model=server.model(wire), tools=[WebSearch()], journal=journal, on_turn=record_sources)
        result = await agent.run("go")
    sources = read_sources(final_state(await journal.read(result.run_id)))
    assert [(one.number, one.url, one.by, one.cited) for one in sources] == [
        (1, A[0], wire, False),
        (2, B[0], wire, True),
    ]
    message = result.messages[-1]
    assert isinstance(message, AssistantMessage)
    document = cited_text(message, sources)
    assert document == "It rose.[^2] Much.\n"
    assert find_linked(document, sources) == (sources[1],)


async def test_R12_a_turn_that_was_paused_is_in_the_ledger_whole() -> None:
    script = [Turn([Search("one", (A,))], stop="pause"), Turn([Search("two", (B,)), Text("So.", citations=(A,))])]
    journal = MemoryJournal()
    async with ModelServer(script) as server:
        agent = Agent(model=server.model("anthropic"), tools=[WebSearch()], journal=journal, on_turn=record_sources)
        result = await agent.run("go")
    sources = read_sources(final_state(await journal.read(result.run_id)))
    assert [(one.url, one.cited) for one in sources] == [(A[0], True), (B[0], False)]


async def test_R12_the_ledger_the_quota_and_the_failures_go_on_with_a_run_that_is_resumed(
    services: Services, tmp_path: Path
) -> None:
    path = tmp_path / "runs.db"
    services.faults["tavily"] = "429"

    def agent(*script: Any) -> Agent[Any]:
        return Agent(
            model=ScriptedModel(script),
            tools=[make_search_tool(services.settings)],
            policy=Policy((Rule(action="allow", tool="web_search"),)),
            journal=SqliteJournal(path),
            retry=RetryRule(retries=0),
            make_id=lambda: "run_1",
            on_turn=record_sources,
        )

    with pytest.raises(Overloaded):
        await agent(Call("web_search", {"query": "one"}), Overloaded("busy")).run("go")
    services.found = [("Third", "https://example.net/3", "text"), *services.found]
    result = await agent(Call("web_search", {"query": "two"}), "Done.").resume("run_1")
    assert result.text == "Done."
    state = final_state(await SqliteJournal(path).read("run_1"))
    assert [(one.number, one.title) for one in read_sources(state)] == [
        (1, "Burnout in 2025"),
        (2, "A survey"),
        (3, "Third"),
    ]
    assert state[USED] == 2
    assert [(one.query, one.backend) for one in read_failures(state)] == [("one", "tavily"), ("two", "tavily")]


def test_R12_a_turn_without_an_origin_and_with_other_blocks_is_read_too() -> None:
    run = Run()
    blocks = (
        CallBlock(call=ToolCall(id="1", name="x", arguments="{}")),
        ServerBlock(kind="result", tool="web_search", summary="", sources=(Citation(url=A[0], title=A[1]),)),
    )
    record_sources(run, AssistantMessage(blocks=blocks))
    assert [(one.url, one.by) for one in read_sources(run.state)] == [(A[0], "model")]


def test_R12_what_is_damaged_is_left_out() -> None:
    state = {f"{SOURCES_STATE}:a": {"number": "x"}, f"{SOURCES_STATE}:b": None, "other": 1, FAILURES: [{"query": 1}]}
    assert read_sources(state) == ()
    assert read_failures(state) == ()
    assert read_failures({FAILURES: "x"}) == ()


def test_R12_so_many_failures_are_kept_and_no_more() -> None:
    run = Run()
    record_failures(run, "q", ())
    assert FAILURES not in run.state
    record_failures(run, "q", [SearchFailed(backend=f"b{number}", reason="down") for number in range(MAX_FAILURES + 5)])
    assert len(read_failures(run.state)) == MAX_FAILURES


def test_R12_footnotes_are_links_that_no_title_can_break() -> None:
    evil = source(2, title="](https://evil.example.com) <img src=x> `a` *b* \\")
    assert footnotes([source(1), evil]) == (
        "[^1]: [Page 1](<https://example.com/1>), found 2026-11-16\n"
        "[^2]: [\\]\\(https://evil.example.com\\) \\<img src=x\\> \\`a\\` \\*b\\* \\\\](<https://example.com/2>), "
        "found 2026-11-16"
    )


def test_R12_the_sources_of_a_document_are_found_by_link_and_by_mark() -> None:
    sources = [source(1), source(2), source(3), source(4)]
    text = "See [this](https://example.com/2) and that.[^3]\n\n[^1]: a definition is no reference"
    assert find_linked(text, sources) == (sources[1], sources[2])


def test_R12_marks_come_before_the_end_of_the_line_and_only_for_known_sources() -> None:
    known, unknown = Citation(url="https://example.com/1"), Citation(url="https://example.com/9")
    message = AssistantMessage(
        blocks=(
            TextBlock(text="Known.\n\n", citations=(known, unknown, known)),
            CallBlock(call=ToolCall(id="1", name="x", arguments="{}")),
            TextBlock(text="Unknown.", citations=(unknown,)),
        )
    )
    assert cited_text(message, [source(1)]) == "Known.[^1]\n\nUnknown."


@given(st.text(max_size=50))
def test_R12_any_title_stays_inside_its_brackets(title: str) -> None:
    line = footnotes([source(1, title=title)])
    inside = line.removeprefix("[^1]: [").removesuffix("](<https://example.com/1>), found 2026-11-16")
    assert inside.replace("\\\\", "").replace("\\]", "").replace("\\[", "").count("]") == 0


async def test_R12_a_ledger_on_disk_is_the_one_of_the_run(services: Services, tmp_path: Path) -> None:
    """Redaction takes nothing out of it that is no secret."""
    services.found = [("Commit 0123456789abcdef0123456789abcdef01234567", "https://example.com/p?id=7&token=abc", "x")]
    journal = SqliteJournal(tmp_path / "runs.db")
    agent = Agent(
        model=ScriptedModel([Call("web_search", {"query": "one"}), "Done."]),
        tools=[make_search_tool(services.settings)],
        policy=Policy((Rule(action="allow", tool="web_search"),)),
        journal=journal,
    )
    live = agent.stream("go")
    told = read_sources({event.name: event.value async for event in live if isinstance(event, StateChanged)})
    [kept] = read_sources(final_state(await journal.read(live.run_id)))
    assert (kept.title, kept.hash, kept.found_at) == (told[0].title, told[0].hash, told[0].found_at)
    assert kept.url.startswith("https://example.com/p?id=7&token=")
