"""What a kill left half done is finished or taken back; nobody's work is touched."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.workspace.changes.conftest import Applying

from toolroll.errors import FileSystemRefused, LockTimeout
from toolroll.kernel.approval.request import content_hash
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import WriteReport
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.records import Entry, Intent, Kind
from toolroll.workspace.changes.recovery import RecoveredChange, open_history, recover
from toolroll.workspace.changes.undo import plan_redo, plan_undo, undo
from toolroll.workspace.workspace import Workspace

OLD, NEW = b"old", b"new"


def entry(path: str, before: bytes | None, after: bytes | None, **options: int) -> Entry:
    hashes = [None if data is None else content_hash(data) for data in (before, after)]
    return Entry(path=path, before=hashes[0], after=hashes[1], **options)  # type: ignore[arg-type]


def begin(history: History, *entries: Entry, kind: Kind = "change", undoes: tuple[tuple[str, str], ...] = ()) -> None:
    history.begin(
        Intent(id="half", run_id="r", description="why", kind=kind, entries=entries, contents=(OLD, NEW), undoes=undoes)
    )


def state(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def recovered(history: History, workspace: Workspace) -> tuple[str, tuple[str, ...], str]:
    [found] = recover(workspace, history)
    record = history.get("half")
    assert record is not None
    assert found.id == "half"
    assert found.description == "why"
    return found.outcome, found.left, record.state


def test_C32_what_was_all_written_is_finished(workspace: Workspace, history: History, folder: Path) -> None:
    begin(history, entry("a", OLD, NEW), entry("b", None, NEW), entry("c", OLD, None), entry("d", OLD, OLD))
    for name, data in {"a": NEW, "b": NEW, "d": OLD}.items():
        (folder / name).write_bytes(data)
    before = state(folder)
    assert recovered(history, workspace) == ("finished", (), "applied")
    assert state(folder) == before
    assert recover(workspace, history) == ()


@pytest.mark.parametrize("written", range(3))
def test_C32_what_was_partly_written_is_taken_back(
    workspace: Workspace, history: History, folder: Path, written: int
) -> None:
    begin(
        history,
        entry("a", OLD, NEW),
        entry("new/b", None, NEW, made_folders=1),
        entry("c", OLD, None, before_mode=0o640),
        entry("d", OLD, OLD),
    )
    (folder / "new").mkdir()
    before = {"a": OLD, "c": OLD, "d": OLD}
    after = before | [{}, {"a": NEW}, {"a": NEW, "new/b": NEW}][written]
    for name, data in after.items():
        (folder / name).write_bytes(data)
    assert recovered(history, workspace) == ("taken back", (), "failed")
    assert state(folder) == before
    assert not (folder / "new").exists()


def test_C32_a_removed_file_comes_back_with_its_mode(workspace: Workspace, history: History, folder: Path) -> None:
    begin(history, entry("a", OLD, None, before_mode=0o640), entry("b", OLD, NEW))
    (folder / "b").write_bytes(OLD)
    assert recovered(history, workspace) == ("taken back", (), "failed")
    assert (folder / "a").read_bytes() == OLD
    assert (folder / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("mode", "outcome"), [(0o755, "finished"), (0o600, "taken back")])
def test_C32_modes_alone_are_told_apart(
    workspace: Workspace, history: History, folder: Path, mode: int, outcome: str
) -> None:
    begin(history, entry("a", OLD, OLD, before_mode=0o600, after_mode=0o755))
    (folder / "a").write_bytes(OLD)
    (folder / "a").chmod(mode)
    assert recovered(history, workspace)[0] == outcome
    assert (folder / "a").stat().st_mode & 0o777 == mode


def test_C31_foreign_content_is_never_overwritten(workspace: Workspace, history: History, folder: Path) -> None:
    begin(history, entry("a", OLD, NEW), entry("b", OLD, NEW), entry("c", OLD, NEW), entry("d", None, NEW))
    for name, data in {"a": NEW, "b": b"theirs", "d": b"theirs"}.items():
        (folder / name).write_bytes(data)
    (folder / "c").mkdir()
    assert recovered(history, workspace) == ("partial", ("d", "c", "b"), "partial")
    assert state(folder) == {"a": OLD, "b": b"theirs", "d": b"theirs"}


def test_C32_a_recovered_undo_counts_as_one(
    workspace: Workspace, history: History, folder: Path, change: Applying
) -> None:
    (folder / "a").write_bytes(OLD)
    done = change({"a": NEW})
    begin(history, entry("a", NEW, OLD), kind="undo", undoes=(("a", done.id),))
    (folder / "a").write_bytes(OLD)
    assert recovered(history, workspace)[0] == "finished"
    record = history.get(done.id)
    assert record is not None
    assert record.is_undone
    undo(workspace, history, plan_redo(workspace, history), run_id="r")
    assert (folder / "a").read_bytes() == NEW
    undo(workspace, history, plan_undo(workspace, history), run_id="r")
    assert (folder / "a").read_bytes() == OLD


def test_C32_what_is_denied_by_now_is_told_and_kept(
    workspace: Workspace, history: History, folder: Path, tmp_path: Path
) -> None:
    begin(history, entry("a", OLD, NEW))
    with Workspace(folder, state=tmp_path / "state", deny=["a"]) as stricter:
        assert recover(stricter, history) == (
            RecoveredChange(id="half", description="why", outcome="partial", left=("a",)),
        )
    assert [record.id for record in history.unfinished()] == ["half"]


class Busy(Workspace):
    """A workspace in which somebody else holds all locks."""

    def locked(self, *paths: RelativePath) -> None:  # type: ignore[override]
        raise LockTimeout("busy")


def test_C32_a_change_at_work_is_left_alone(history: History, folder: Path, tmp_path: Path) -> None:
    begin(history, entry("a", OLD, NEW))
    with Busy(folder, state=tmp_path / "state") as busy:
        assert recover(busy, history) == ()
    assert [record.id for record in history.unfinished()] == ["half"]


class Ending(Workspace):
    """A workspace in which the change at work ends while its locks are waited for."""

    ended: History

    @contextmanager
    def locked(self, *paths: RelativePath) -> Iterator[None]:
        self.ended.finish("half", "applied")
        with super().locked(*paths):
            yield


def test_C32_a_change_that_ends_meanwhile_is_left_alone(history: History, folder: Path, tmp_path: Path) -> None:
    begin(history, entry("a", OLD, NEW))
    (folder / "a").write_bytes(OLD)
    with Ending(folder, state=tmp_path / "state") as ending:
        ending.ended = history
        assert recover(ending, history) == ()
    assert state(folder) == {"a": OLD}


class Full(Workspace):
    """A workspace on a disk that takes nothing more; the last step may fail after the content is there."""

    too_late = False

    def write(self, path: RelativePath, data: bytes, *, base: str | None, mode: int | None = None) -> WriteReport:
        if self.too_late:
            super().write(path, data, base=base, mode=mode)
        raise FileSystemRefused("full", path=str(path), errno_name="ENOSPC")


@pytest.mark.parametrize(("too_late", "outcome"), [(False, "partial"), (True, "taken back")])
def test_C32_what_cannot_be_taken_back_is_told(
    history: History, folder: Path, tmp_path: Path, too_late: bool, outcome: str
) -> None:
    begin(history, entry("a", OLD, NEW), entry("b", OLD, NEW))
    (folder / "a").write_bytes(NEW)
    (folder / "b").write_bytes(OLD)
    with Full(folder, state=tmp_path / "state") as full:
        full.too_late = too_late
        [found] = recover(full, history)
    assert found.outcome == outcome
    assert state(folder) == {"a": OLD if too_late else NEW, "b": OLD}


def test_XE6_leftovers_are_swept(workspace: Workspace, history: History, folder: Path) -> None:
    begin(history, entry("d/a", OLD, NEW), entry("gone/b", None, NEW))
    (folder / "d").mkdir()
    (folder / "d/a").write_bytes(OLD)
    (folder / "d" / f".toolroll-{os.urandom(16).hex()}.tmp").write_bytes(b"part")
    assert recovered(history, workspace)[0] == "taken back"
    assert state(folder) == {"d/a": OLD}


def test_C31_opening_puts_right_what_was_left(workspace: Workspace, history: History, folder: Path) -> None:
    begin(history, entry("a", OLD, NEW), entry("b", OLD, NEW))
    (folder / "a").write_bytes(NEW)
    (folder / "b").write_bytes(OLD)
    opened, found = open_history(workspace)
    assert [one.outcome for one in found] == ["taken back"]
    assert [record.state for record in opened.changes()] == ["failed"]
    opened.close()
    assert state(folder) == {"a": OLD, "b": OLD}
