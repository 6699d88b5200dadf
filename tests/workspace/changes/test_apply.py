"""What was approved is written: all of it or none, and never over anything else."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from toolroll.errors import (
    EditRefused,
    FileExists,
    FileProblem,
    FileSystemRefused,
    JournalRefused,
    PathRefused,
    StaleFile,
    ToolrollError,
)
from toolroll.safe.paths import exchange
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import WriteReport
from toolroll.workspace.changes.apply import apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.changes.records import Quota, State
from toolroll.workspace.workspace import Workspace


def changed(workspace: Workspace, *changes: tuple[str, bytes | None, bytes | None]) -> Proposal:
    return Proposal(
        changes=tuple(Change(path=workspace.path(path), before=old, after=new) for path, old, new in changes),
        description="why",
    )


@pytest.fixture
def history(workspace: Workspace) -> History:
    return History(workspace.state)


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_C30_what_is_shown_is_what_is_written(workspace: Workspace, folder: Path, history: History) -> None:
    (folder / "a").write_bytes(b"old\r\n")
    (folder / "a").chmod(0o640)
    applied = apply(workspace, changed(workspace, ("a", b"old\r\n", b"new\r\n")), history, run_id="r")
    assert tree(folder) == {"a": b"new\r\n"}
    assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o640
    assert applied.paths == ("a",)
    assert applied.notes == ()
    record = history.get(applied.id)
    assert record is not None
    assert (record.run_id, record.description, record.kind, record.state) == ("r", "why", "change", "applied")


def test_C32_files_are_changed_made_and_removed_together(workspace: Workspace, folder: Path, history: History) -> None:
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"2")
    proposal = changed(workspace, ("a", b"1", b"one"), ("b", b"2", None), ("new/deep/c", None, b"3"))
    assert apply(workspace, proposal, history, run_id="r").paths == ("a", "b", "new/deep/c")
    assert tree(folder) == {"a": b"one", "new/deep/c": b"3"}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([("a", b"1", b"x"), ("b", b"other", b"y")], StaleFile),
        ([("a", b"1", b"x"), ("gone", b"2", b"y")], StaleFile),
        ([("a", b"1", b"x"), ("gone", b"2", None)], StaleFile),
        ([("a", b"1", b"x"), ("b", None, b"y")], FileExists),
        ([("a", b"1", b"x"), (".git/config", None, b"y")], PathRefused),
        ([("a", b"1", b"x"), ("new/a", None, b"x"), ("b/c", None, b"y")], FileProblem),
    ],
)
def test_XE1_C32_nothing_is_written_where_one_file_is_not_as_shown(
    workspace: Workspace,
    folder: Path,
    history: History,
    changes: list[tuple[str, bytes | None, bytes | None]],
    error: type[ToolrollError],
) -> None:
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"2")
    with pytest.raises(error):
        apply(workspace, changed(workspace, *changes), history, run_id="r")
    assert tree(folder) == {"a": b"1", "b": b"2"}
    assert not (folder / "new").exists()
    assert [record.state for record in history.changes()] in ([], ["failed"])


class Failing(Workspace):
    """A workspace in which writing one file fails, and whatever else a test puts in between."""

    fails_at = "b"
    error: BaseException = FileSystemRefused("full", path="b", errno_name="ENOSPC")
    meanwhile: tuple[str, bytes] | None = None

    def write(self, path: RelativePath, data: bytes, *, base: str | None, mode: int | None = None) -> WriteReport:
        if str(path) == self.fails_at:
            if self.meanwhile is not None:
                (self.root / self.meanwhile[0]).write_bytes(self.meanwhile[1])
            raise self.error
        return super().write(path, data, base=base, mode=mode)


@pytest.fixture
def failing(folder: Path, tmp_path: Path) -> Failing:
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"2")
    return Failing(folder, state=tmp_path / "state")


@pytest.mark.parametrize("error", [FileSystemRefused("full", path="b", errno_name="ENOSPC"), KeyboardInterrupt()])
def test_C32_what_was_written_is_taken_back(failing: Failing, folder: Path, error: BaseException) -> None:
    failing.error = error
    history = History(failing.state)
    proposal = changed(failing, ("a", b"1", b"x"), ("new/c", None, b"3"), ("b", b"2", b"y"), ("d", None, b"4"))
    with pytest.raises(type(error)):
        apply(failing, proposal, history, run_id="r")
    assert tree(folder) == {"a": b"1", "b": b"2"}
    assert not (folder / "new").exists()
    [record] = history.changes()
    assert record.state == "failed"
    assert record.is_undone


def test_C32_a_foreign_change_is_not_overwritten_on_the_way_back(failing: Failing, folder: Path) -> None:
    failing.meanwhile = ("a", b"foreign")
    history = History(failing.state)
    proposal = changed(failing, ("a", b"1", b"x"), ("c", None, b"3"), ("b", b"2", b"y"))
    with pytest.raises(EditRefused, match="could not all be taken back: look at 'a'") as caught:
        apply(failing, proposal, history, run_id="r")
    assert caught.value.rule == "partial"
    assert tree(folder) == {"a": b"foreign", "b": b"2"}
    [record] = history.changes()
    assert record.state == "partial"
    assert {entry.path: entry.undone_by for entry in record.entries} == {"a": None, "b": record.id, "c": record.id}


class Unclosed(History):
    """A history whose file cannot be written when the change has been made."""

    def finish(self, change: str, state: State, **options: object) -> None:
        raise JournalRefused("disk full")


def test_C32_a_change_that_was_made_is_never_told_as_failed(workspace: Workspace, folder: Path) -> None:
    applied = apply(workspace, changed(workspace, ("a", None, b"1")), Unclosed(workspace.state), run_id="r")
    assert tree(folder) == {"a": b"1"}
    assert applied.notes == ("The change was made, but its record could not be closed yet: disk full",)


def test_XP6_hard_links_keep_the_old_content_and_it_is_told(
    workspace: Workspace, folder: Path, tmp_path: Path, history: History
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"1")
    for name in ("a", "b"):
        os.link(outside, folder / name)
    proposal = changed(workspace, ("a", b"1", b"2"), ("b", b"1", None))
    applied = apply(workspace, proposal, history, run_id="r")
    assert outside.read_bytes() == b"1"
    assert tree(folder) == {"a": b"2"}
    assert applied.hard_linked == ("a", "b")
    assert "'a' had other names (hard links)" in applied.notes[0]
    record = history.get(applied.id)
    assert record is not None
    assert all(entry.hard_linked for entry in record.entries)


def test_XE12_what_a_file_loses_with_its_content_is_said(workspace: Workspace, folder: Path, history: History) -> None:
    (folder / "a").write_bytes(b"1")
    (folder / "a").chmod(0o4755)
    applied = apply(workspace, changed(workspace, ("a", b"1", b"2")), history, run_id="r")
    assert (applied.lost, (folder / "a").stat().st_mode & 0o7777) == ((("a", "set-user-id"),), 0o755)
    assert applied.notes == ("'a' has lost set-user-id with the old content.",)


def test_C31_what_the_history_lets_go_is_told(workspace: Workspace, folder: Path) -> None:
    history = History(workspace.state, quota=Quota(max_bytes=10))
    first = os.urandom(100)
    assert apply(workspace, changed(workspace, ("a", None, first)), history, run_id="r").notes == (
        "This change alone is more than the history should hold. It is kept.",
    )
    notes = apply(workspace, changed(workspace, ("b", None, os.urandom(100))), history, run_id="r").notes
    assert notes[0] == "1 of the oldest changes can no longer be undone: the history was full."


WRITER = """
import sys
from pathlib import Path
from toolroll.errors import StaleFile
from toolroll.workspace.changes.apply import apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.workspace import Workspace
root, state, own = sys.argv[1:]
workspace = Workspace(root, state=Path(state))
names = ("a", "b") if own == "one" else ("b", "a")
changes = [Change(path=workspace.path(name), before=b"old", after=own.encode()) for name in names]
print("ready", flush=True)
sys.stdin.readline()
try:
    apply(workspace, Proposal(changes=tuple(changes)), History(workspace.state), run_id=own)
    print("won")
except StaleFile:
    print("lost")
"""


def test_XE1_C4_of_two_processes_exactly_one_wins(folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (folder / name).write_bytes(b"old")
    command = [sys.executable, "-c", WRITER, str(folder), str(tmp_path / "state")]
    writers = [
        subprocess.Popen([*command, own], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for own in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    ends = [writer.communicate(timeout=200)[0].strip() for writer in writers]
    assert sorted(ends) == ["lost", "won"]
    winner = ("one", "two")[ends.index("won")].encode()
    assert tree(folder) == {"a": winner, "b": winner}


def test_XA3_one_proposal_is_carried_out_once(workspace: Workspace, folder: Path, history: History) -> None:
    (folder / "a").write_bytes(b"1")
    proposal = changed(workspace, ("a", b"1", b"2"))
    ends: list[str] = []

    def run() -> None:
        try:
            apply(workspace, proposal, history, run_id="r")
            ends.append("done")
        except StaleFile:
            ends.append("stale")

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["done", "stale", "stale", "stale"]


def test_XE9_a_file_system_without_exchange_is_named(
    workspace: Workspace, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace.root / "a.txt").write_bytes(b"old")
    monkeypatch.setattr(exchange, "_raw_rename", lambda: lambda *_: -errno.ENOSYS)
    change = Change(path=workspace.path("a.txt"), before=b"old", after=b"new")
    applied = apply(workspace, Proposal(changes=(change,)), history, run_id="r")
    assert applied.uncompared == ("a.txt",)
    assert "'a.txt' cannot exchange" in applied.notes[0]
