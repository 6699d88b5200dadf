"""The question about a finished post is on record with the run that wrote it, and so is its answer (XD2)."""

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import RunBegan, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, Reject
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.packs.writing.profiles.feedback import category_name
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.tool_calls import describe_call, describe_feedback_count, record_approvals

NOW = datetime(2026, 2, 9, 10, tzinfo=UTC)
KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2n" * 6
BEGAN = RunBegan(model="scripted", system="", tools={})


def request(text: str = "Tea.") -> ApprovalRequest:
    return ApprovalRequest(
        run_id="own",
        call_id="own_1",
        tool="save_to_file",
        effect="writes",
        arguments={"content": text},
        why="It writes.",
        preview=Preview.of_text(text),
        paths=(),
        fingerprint="f",
    )


class Person:
    """Answers with what is written down, and looks what is on record when they are asked."""

    def __init__(self, journal: MemoryJournal, decision: Decision) -> None:
        self._journal, self._decision = journal, decision
        self.known: list[object] = []

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        self.known = await kept(self._journal)
        assert not await self._journal.is_held("r"), "others can go on with the run while somebody thinks"
        return [self._decision for _ in requests]


async def kept(journal: MemoryJournal | SqliteJournal) -> list[object]:
    return [(record.name, record.value) for _, record in await journal.read("r") if isinstance(record, StateSet)]


async def asked(place: WritingContext, one: ApprovalRequest) -> list[Decision]:
    approver = record_approvals(place, "r", who="the person", clock=lambda: NOW).approver
    assert approver is not None
    answer = approver.decide([one])
    return [*(await answer if not isinstance(answer, Sequence) else answer)]


@pytest.mark.parametrize(
    ("decision", "fields"),
    [
        (Approve(), {"answer": "approve"}),
        (Approve(edited="Coffee."), {"answer": "approve", "edited": "Coffee."}),
        (Reject(), {"answer": "reject"}),
        (Reject("not yet"), {"answer": "reject", "reason": "not yet"}),
    ],
    ids=["yes", "edited", "no", "no_with_a_reason"],
)
async def test_XD2_the_question_is_on_record_before_it_is_seen_and_the_answer_before_it_counts(
    tmp_path: Path, decision: Decision, fields: dict[str, object]
) -> None:
    journal = MemoryJournal()
    await journal.append("r", BEGAN)
    await journal.release("r")
    person, one = Person(journal, decision), request()
    assert await asked(WritingContext(data=tmp_path, approver=person, journal=journal), one) == [decision]
    question = {
        "who": "the person",
        "at": "2026-02-09T10:00:00Z",
        "asked": "Tea.",
        "why": "It writes.",
        "call_id": "own_1",
        "digest": one.digest,
    }
    assert person.known == [("approval:save_to_file", {"answer": None, **question})]
    assert await kept(journal) == [*person.known, ("approval:save_to_file", {**fields, **question})]
    assert not await journal.is_held("r")


class Yes:
    """Says yes."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return [Approve() for _ in requests]


async def test_D6_XD2_no_secret_of_a_post_is_on_record(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path / "runs.db")) as journal:
        await journal.append("r", BEGAN)
        place = WritingContext(data=tmp_path, approver=Yes(), journal=journal)
        assert await asked(place, request(f"My key is {KEY}.")) == [Approve()]
        found = await kept(journal)
    assert len(found) == 2
    assert "My key is " in str(found)
    assert KEY not in str(found)
    assert KEY.encode() not in (tmp_path / "runs.db").read_bytes()


async def test_XD2_a_log_that_takes_nothing_costs_no_post(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(SqliteJournal(tmp_path / "runs.db")) as broken:
        (tmp_path / "runs.db").mkdir()
        assert await asked(WritingContext(data=tmp_path, approver=Yes(), journal=broken), request()) == [Approve()]
    assert caplog.text.count("is not in the record of run r") == 2


@pytest.mark.parametrize("has", ["nobody to ask", "no run log"])
def test_XD2_where_nothing_can_be_asked_or_kept_the_place_stays(tmp_path: Path, has: str) -> None:
    place = WritingContext(data=tmp_path, journal=MemoryJournal())
    if has == "no run log":
        place = WritingContext(data=tmp_path, approver=Yes())
    assert record_approvals(place, "r", who="the person") is place


def told(name: str, result: ToolResult, arguments: str = "{}") -> str | None:
    return describe_call(ToolCall(id="1", name=name, arguments=arguments), result, "en")


def failed(code: str, **content: object) -> ToolResult:
    return ToolResult.failure({"success": False, "error": code, **content}, code=code)


def done(**content: object) -> ToolResult:
    return ToolResult.of_json({"success": True, **content})


@pytest.mark.parametrize(
    ("name", "result", "words"),
    [
        ("update_style_profile", done(version=4), "Profile 'default' is now at version 4."),
        ("save_to_file", done(file_path="a.md"), "Saved: a.md"),
        ("write_to_notion", done(notion_url="https://n"), "Saved to Notion as a draft: https://n"),
        ("read_notion_page", done(title="Tea"), "Read the Notion page 'Tea'."),
        ("read_past_posts", done(total_found=2), "Found 2 past posts."),
        ("read_style_profile", done(profile={}), None),
        ("track_feedback", done(count=1), None),
        ("search_web", done(results=[]), None),
    ],
)
def test_W34_what_went_well(name: str, result: ToolResult, words: str | None) -> None:
    assert told(name, result) == words


@pytest.mark.parametrize(
    ("name", "result", "words"),
    [
        ("read_style_profile", failed("profile_not_found", message="Profile 'a' not found."), "Profile 'a' not found."),
        ("search_web", failed("search_failed", message="no"), "Search is not available"),
        (
            "search_web",
            ToolResult.failure("nobody", code="needs_approval"),
            "Not searched, because nobody was there to allow it.",
        ),
        ("read_notion_page", failed("page_not_found", message="Gone."), "Gone."),
        ("save_to_file", failed("disk_error", message="Full.", content="Tea."), "Full.\n\nTea."),
        (
            "write_to_notion",
            failed("notion_error", message="Notion failed.", save_to_file={"success": True, "file_path": "a.md"}),
            "Notion failed.\nSaved: a.md",
        ),
        (
            "write_to_notion",
            failed("notion_error", message="Notion failed.", save_to_file={"message": "Full.", "content": "Tea."}),
            "Notion failed.\nFull.\n\nTea.",
        ),
        ("list_profiles", ToolResult.failure("[1]", code="tool_failed"), "[1]"),
    ],
)
def test_W34_what_went_wrong(name: str, result: ToolResult, words: str) -> None:
    assert words in str(told(name, result))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("track_feedback", "disk_error"),
        ("search_web", "invalid_arguments"),
        ("save_to_file", "not_confirmed"),
        ("update_style_profile", "rejected"),
        ("write_to_notion", "asked_already"),
    ],
)
def test_W34_what_is_not_for_the_person(name: str, code: str) -> None:
    assert told(name, failed(code, message="hm")) is None


def test_W34_the_profile_is_the_one_that_was_named() -> None:
    arguments = json.dumps({"profile_name": "alex"})
    assert "'alex'" in str(told("update_style_profile", done(version=2), arguments))
    assert "'default'" in str(told("update_style_profile", done(version=2), "{"))


def test_W34_feedback_that_was_counted_is_told_in_words() -> None:
    once = done(category="too_formal", count=1, threshold_reached=False, suggestion=None)
    assert describe_feedback_count(once, "en") == "Noted: too formal (1 of 3)."
    assert describe_feedback_count(once, "uk") == "Занотовано: занадто формально (1 з 3)."
    assert describe_feedback_count(done(category="hook_weak", count=4), "en") == "Noted: weak hook (4 times so far)."
    for result in (failed("disk_full", message="No."), done(category="odd", count=1), done(), ToolResult.of_text("x")):
        assert describe_feedback_count(result, "en") is None


def test_W34_a_category_that_nobody_knows_is_its_own_name() -> None:
    assert category_name("odd", "uk") == "odd"
