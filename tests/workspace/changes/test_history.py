"""The history keeps what it is given, lets go of the oldest, and finds damage."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tests.workspace.changes.conftest import Applying

from toolroll.errors import JournalRefused, OutsideRoot
from toolroll.kernel.approval.request import content_hash
from toolroll.workspace.changes.history import FILE_NAME, History
from toolroll.workspace.changes.records import HISTORY, Entry, Intent, Quota
from toolroll.workspace.workspace import Workspace


def begin(history: History, id_: str, *contents: bytes, done: bool = True) -> None:
    entries = tuple(
        Entry(path=f"f{number}", before=None, after=content_hash(data)) for number, data in enumerate(contents)
    )
    history.begin(Intent(id=id_, run_id="r", description="", kind="change", entries=entries, contents=contents))
    if done:
        history.finish(id_, "applied")


def test_C31_nothing_is_made_by_looking(tmp_path: Path) -> None:
    history = History(tmp_path / "state")
    assert history.changes() == history.unfinished() == ()
    assert history.get("x") is None
    assert history.redone() == {}
    assert not (tmp_path / "state").exists()
    history.close()


def test_C31_changes_are_listed_the_latest_first(change: Applying, history: History) -> None:
    one = change({"a": b"1"}, run_id="first").id
    two = change({"a": b"2", "b": b"3"}, run_id="second").id
    assert [record.id for record in history.changes()] == [two, one]
    assert [record.id for record in history.changes(run_id="first")] == [one]
    assert [record.id for record in history.changes(path="b")] == [two]
    assert [record.id for record in history.changes(path="a", run_id="first")] == [one]
    assert [record.id for record in history.changes(limit=1)] == [two]
    [record] = history.changes(path="b")
    assert [entry.path for entry in record.entries] == ["a", "b"]
    assert record.entries[0] == Entry(
        path="a", before=content_hash(b"1"), after=content_hash(b"2"), before_mode=record.entries[0].before_mode
    )
    assert history.content(content_hash(b"3")) == b"3"


def test_C31_a_history_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with History(tmp_path / "state") as history:
        begin(history, "one", b"1")
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    with History(tmp_path / "state") as history:
        assert [record.id for record in history.changes()] == ["one"]
        with pytest.raises(JournalRefused, match="readonly"):
            begin(history, "two", b"2")


def test_C31_what_is_kept_is_private(change: Applying, history: History, workspace: Workspace) -> None:
    change({"a": b"1"})
    assert not history.path.is_relative_to(workspace.root)
    for file in history.path.parent.glob(f"{FILE_NAME}*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.path.parent.stat().st_mode) == 0o700


def test_C31_the_oldest_go_first(tmp_path: Path) -> None:
    now = [0.0]
    history = History(tmp_path, quota=Quota(max_bytes=1000, max_age_s=100, min_changes=0), clock=lambda: now[0])
    begin(history, "a", os.urandom(400))
    now[0] = 50
    begin(history, "b", os.urandom(400))
    assert history.drop_oldest().ids == ()
    now[0] = 120
    dropped = history.drop_oldest()
    assert dropped.ids == ("a",)
    assert dropped.freed_bytes >= 400
    begin(history, "c", os.urandom(400))
    begin(history, "d", os.urandom(400))
    assert history.drop_oldest().ids == ("b",)
    assert [record.id for record in history.changes()] == ["d", "c"]
    now[0] = 1000
    assert history.drop_oldest().ids == ("c",)
    history.close()


def test_XE11_an_edit_at_a_clock_that_is_far_ahead_or_back_drops_no_history(tmp_path: Path) -> None:
    now = [1e9]
    history = History(tmp_path, clock=lambda: now[0])
    for name, days in (("a", 0), ("b", 100), ("c", -400), ("d", 4_000)):
        now[0] = 1e9 + days * 86_400
        begin(history, name, b"1")
        assert history.drop_oldest().ids == ()
    assert [record.id for record in history.changes()] == ["d", "c", "b", "a"]
    history.close()


def test_C31_of_what_is_too_old_the_latest_changes_stay(tmp_path: Path) -> None:
    history = History(tmp_path, quota=Quota(max_age_s=-1, min_changes=2))
    for name in "abcde":
        begin(history, name, name.encode())
    assert history.drop_oldest().ids == ("a", "b", "c")
    history.close()


def test_C31_the_newest_undoable_change_and_intents_are_never_collected(tmp_path: Path) -> None:
    history = History(tmp_path, quota=Quota(max_bytes=100))
    begin(history, "intent", os.urandom(400), done=False)
    begin(history, "newest", os.urandom(400))
    dropped = history.drop_oldest()
    assert dropped.ids == ()
    assert dropped.is_over
    assert [record.id for record in history.unfinished()] == ["intent"]
    history.close()


def test_C31_a_content_of_several_changes_is_stored_once_and_kept(tmp_path: Path) -> None:
    data = os.urandom(400)
    history = History(tmp_path, quota=Quota(max_bytes=600))
    begin(history, "a", data)
    begin(history, "b", data)
    assert history.drop_oldest().ids == ()
    begin(history, "c", os.urandom(400))
    assert history.drop_oldest().ids == ("a", "b")
    with pytest.raises(JournalRefused, match="is missing"):
        history.content(content_hash(data))
    history.close()


@pytest.mark.parametrize("body", [b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_C31_damage_is_found(tmp_path: Path, body: bytes) -> None:
    history = History(tmp_path)
    begin(history, "a", b"data")
    with closing(sqlite3.connect(history.path)) as db, db:
        db.execute("update contents set body = ?", (body,))
    with pytest.raises(JournalRefused, match="is damaged"):
        history.content(content_hash(b"data"))
    history.close()


def test_C31_a_newer_history_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as db:
        db.execute(f"pragma user_version = {HISTORY.version + 1}")
    with pytest.raises(JournalRefused, match="newer version"):
        History(tmp_path).changes()


def test_C31_a_file_that_is_no_history_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
    with pytest.raises(JournalRefused, match=r"not a database\. Move that file away"):
        History(tmp_path).changes()
    (tmp_path / FILE_NAME).unlink()
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "other")
    (tmp_path / "other").touch()
    with pytest.raises(OutsideRoot, match="link"):
        History(tmp_path).changes()


def test_C31_a_history_with_a_torn_page_says_to_move_it_away_and_what_is_lost(tmp_path: Path) -> None:
    with History(tmp_path) as history:
        begin(history, "a", b"1")
    data = history.path.read_bytes()
    history.path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with pytest.raises(JournalRefused, match=r"malformed\. Move that file away") as torn:
        history.changes()
    assert torn.value.message.endswith(
        "The project stays as it is, but what was changed until now can no longer be undone."
    )
    for name in (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    assert History(tmp_path).changes() == ()


def test_C31_a_history_that_is_busy_or_full_is_not_told_to_be_moved_away(tmp_path: Path) -> None:
    with pytest.raises(JournalRefused) as busy, HISTORY.errors(tmp_path / FILE_NAME):
        raise sqlite3.OperationalError("database is locked")
    assert busy.value.message == f"The history '{tmp_path / FILE_NAME}' cannot be used: database is locked."


def test_C31_a_history_is_opened_again(tmp_path: Path) -> None:
    with History(tmp_path) as history:
        begin(history, "a", b"1")
        history.close()
        begin(history, "b", b"2")
    assert [record.id for record in History(tmp_path).changes()] == ["b", "a"]


def test_C31_what_fails_halfway_is_not_there(tmp_path: Path) -> None:
    history = History(tmp_path)
    begin(history, "a", b"1")
    with pytest.raises(JournalRefused, match="cannot be used"):
        begin(history, "a", b"2")
    assert [record.id for record in history.changes()] == ["a"]
    with pytest.raises(JournalRefused, match="is missing"):
        history.content(content_hash(b"2"))
    history.close()
