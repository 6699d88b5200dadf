"""The question about a finished post is on record with the run that wrote it, and so is its answer (XD2)."""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import RunBegan, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, Reject
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.tool_calls import record_approvals

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
