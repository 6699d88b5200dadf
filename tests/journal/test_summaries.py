"""Runs in a list: read from raw rows, and the same as what the decoded records say."""

import asyncio
import sqlite3
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.journal.samples import EVERY_KIND

from toolroll.cli.actions.runs.listing import format_summary, summary_fields
from toolroll.errors import JournalRefused
from toolroll.journal.codec import LONG_CHARACTERS
from toolroll.journal.journal import Recording
from toolroll.journal.records import MessageAdded, ModelTurn, Record, RunBegan, RunEnded, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.summaries import RunSummary, read_summaries
from toolroll.kernel.data.messages import AssistantMessage, ImagePart, TextBlock, TextPart, UserMessage
from toolroll.kernel.data.usage import Usage

LONG = "long " * LONG_CHARACTERS
REPLY = AssistantMessage(blocks=(TextBlock(text="Earlier."),))
EARLIER = MessageAdded(message=REPLY)
ANSWERED = ModelTurn(message=REPLY, stop="end", stop_detail="", usage=Usage(), cost=None, duration_s=0.0)
BEGAN = RunBegan(model="m", system="", tools={}, settings={"chat": "3f9cabcd"})
ENDED, SAVED = RunEnded(stop_reason="answer", stop_detail="", text=""), StateSet(name="saved", value={})


def said(*parts: str | ImagePart) -> MessageAdded:
    return MessageAdded(message=UserMessage.of([TextPart(text=one) if isinstance(one, str) else one for one in parts]))


RECORDS = [*EVERY_KIND, said(LONG), said("\0a"), said("a", "b"), EARLIER]


def write(path: Path, run_id: str, *records: Record) -> None:
    async def work() -> None:
        await journal.append(run_id, *records)

    journal = SqliteJournal(path)
    asyncio.run(work())
    journal.close()


def decoded(path: Path, run_id: str) -> Recording:
    journal = SqliteJournal(path)
    try:
        return asyncio.run(journal.read(run_id))
    finally:
        journal.close()


def only(path: Path) -> RunSummary:
    [found], total = read_summaries(path, limit=5)
    assert total == 1
    return found


def change(path: Path, statement: str, *values: object) -> None:
    db = sqlite3.connect(path)
    with db:
        db.execute(statement, values)
    db.close()


def words(message: object) -> str:
    match message:
        case UserMessage():
            return "".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in message.content)
        case AssistantMessage():
            return message.text
        case _:
            return f"[{len(message.results)} results]"  # type: ignore[attr-defined]  # what is left


def expected(records: Sequence[Record]) -> tuple[object, ...]:
    """What the records themselves say of the run."""
    began = next((one for one in records if isinstance(one, RunBegan)), None)
    last = next((one for one in reversed(records) if not isinstance(one, StateSet)), None)
    before = takewhile(lambda one: not isinstance(one, ModelTurn), records)
    messages = [one.message for one in before if isinstance(one, MessageAdded) and one.about is None]
    by_user = [one for one in messages if isinstance(one, UserMessage)]
    return (
        last.stop_reason if isinstance(last, RunEnded) else None,
        sum(isinstance(one, ModelTurn) for one in records),
        began.model if began else "",
        began.forked_from if began else None,
        began.at if began else None,
        next(map(words, reversed(by_user or messages)), ""),
    )


def shown(run: RunSummary) -> tuple[object, ...]:
    return run.stop_reason, run.steps, run.model, run.forked_from, run.at, run.prompt


@given(
    st.lists(st.sampled_from([*EVERY_KIND, said(LONG), said("\0a"), said("a", "b"), EARLIER]), min_size=1, max_size=12)
)
def test_S4_a_summary_is_what_the_decoded_records_say(records: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "runs.db")
        write(path, "r", *records)
        recording = decoded(path, "r")
        found = only(path)
    assert shown(found) == expected([record for _, record in recording])
    assert not found.is_damaged


def test_S4_a_run_with_nothing_to_tell_is_still_listed(tmp_path: Path) -> None:
    write(tmp_path / "runs.db", "r", SAVED)
    found = only(tmp_path / "runs.db")
    assert (found.model, found.prompt, found.stop_reason) == ("", "", None)
    assert summary_fields(found)["state"] == "unfinished"
    assert format_summary(found).startswith("r             ")


def test_S4_the_prompt_is_the_runs_own_message_not_an_earlier_one_of_its_chat(tmp_path: Path) -> None:
    write(tmp_path / "runs.db", "r", BEGAN, said("First."), EARLIER, said("Second."), ANSWERED, said("First."))
    found = only(tmp_path / "runs.db")
    assert (found.settings["chat"], found.prompt) == ("3f9cabcd", "Second.")
    assert format_summary(found).endswith("  1 step   Second.")


def test_S4_what_is_stored_with_a_run_that_is_over_does_not_begin_it_anew(tmp_path: Path) -> None:
    write(tmp_path / "over.db", "r", ENDED, SAVED)
    write(tmp_path / "goes_on.db", "r", ENDED, EARLIER, SAVED)
    assert only(tmp_path / "over.db").stop_reason == "answer"
    assert only(tmp_path / "goes_on.db").stop_reason is None


def test_S4_the_latest_runs_come_first_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    assert read_summaries(path, limit=2) == ([], 0)
    assert not path.exists()
    for name in "abc":
        write(path, name, BEGAN)
    found, total = read_summaries(path, limit=2)
    assert ([run.run_id for run in found], total) == (["c", "b"], 3)
    found, total = read_summaries(path, limit=2, only={"a", "b"})
    assert ([run.run_id for run in found], total) == (["b", "a"], 2)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
    "damage",
    [
        "update records set body = x'7b7d' where number = ?",
        "update records set chain = 'x' where number = ?",
        "delete from records where number = ?",
    ],
)
def test_XD4_a_damaged_run_is_listed_as_opening_it_shows_it(tmp_path: Path, damage: str, number: int) -> None:
    path = tmp_path / "runs.db"
    write(path, "r", BEGAN, said("Go."), ANSWERED)
    change(path, damage, number)
    recording, found = decoded(path, "r"), only(path)
    assert found.is_damaged == recording.is_damaged
    assert shown(found) == expected([record for _, record in recording])


@pytest.mark.parametrize("damage", ["delete from contents", "update contents set body = x'7b7d'"])
def test_XD4_a_run_whose_long_text_is_lost_is_damaged(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "runs.db"
    write(path, "r", BEGAN, said(LONG), ANSWERED)
    assert only(path).prompt == LONG
    change(path, damage)
    assert (only(path).is_damaged, only(path).model) == (True, "m")
    assert decoded(path, "r").is_damaged


def test_S4_a_run_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    write(path, "r", BEGAN)
    change(path, "update runs set format = 99")
    with pytest.raises(JournalRefused, match="newer version"):
        read_summaries(path, limit=5)
