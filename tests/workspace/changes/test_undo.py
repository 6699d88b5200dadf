"""Undo and redo lead back and forth, and never over anybody's later work."""

import os
import stat
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.workspace.changes.conftest import Applying

from toolroll.errors import StaleFile, UsageError
from toolroll.workspace.changes.apply import apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.changes.undo import UndoPlan, UndoResult, plan_redo, plan_undo, undo
from toolroll.workspace.workspace import Workspace

CONTENT = st.one_of(st.none(), st.binary(max_size=20), st.sampled_from([b"a\nb\nc\n", b"a\nX\nc\n", b"a\nb\nc\nd\n"]))
FILES = st.dictionaries(st.sampled_from(["a", "b", "d/c", "d/e/f"]), CONTENT, min_size=1)


class Desk:
    """Undo and redo of one workspace in few words."""

    def __init__(self, workspace: Workspace, history: History) -> None:
        self.workspace, self.history = workspace, history

    def plan(self, **which: str) -> UndoPlan:
        return plan_undo(self.workspace, self.history, **which)

    def undo(self, *, merges: bool = False, **which: str) -> UndoResult:
        return undo(self.workspace, self.history, self.plan(**which), run_id="by hand", merges=merges)

    def redo(self, **which: str) -> UndoResult:
        plan = plan_redo(self.workspace, self.history, **which)
        return undo(self.workspace, self.history, plan, run_id="by hand")


@pytest.fixture
def desk(workspace: Workspace, history: History) -> Desk:
    return Desk(workspace, history)


def tree(folder: Path) -> dict[str, tuple[bytes, int] | None]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


def files(folder: Path) -> dict[str, tuple[bytes, int] | None]:
    return {path: found for path, found in tree(folder).items() if found is not None}


def write(folder: Path, files: dict[str, bytes | None]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(data)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(FILES, FILES)
def test_C31_undo_is_the_identity_and_redo_the_edit(
    change: Applying, desk: Desk, folder: Path, before: dict[str, bytes | None], after: dict[str, bytes | None]
) -> None:
    write(folder, before)
    (folder / "a").touch()
    old = tree(folder)
    change({name: data for name, data in after.items() if data is not None or (folder / name).exists()} | {"z": b""})
    new = tree(folder)
    desk.undo()
    assert tree(folder) == old
    desk.redo()
    assert tree(folder) == new
    desk.undo()
    assert tree(folder) == old
    desk.redo()
    (folder / "z").unlink()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(FILES, FILES, st.booleans())
def test_C31_foreign_work_is_never_overwritten(
    change: Applying,
    desk: Desk,
    folder: Path,
    ours: dict[str, bytes | None],
    theirs: dict[str, bytes | None],
    merges: bool,
) -> None:
    before = {name: data for name in ours if (data := _read(folder, name)) is not None}
    change({name: data for name, data in ours.items() if data is not None or name in before} | {"z": b"ours"})
    made = {name: _read(folder, name) for name in ours}
    write(folder, theirs)
    done = desk.undo(merges=merges)
    steps = {step.path: step.action for step in (*done.done, *done.left)}
    for name, data in theirs.items():
        if name in steps and data not in (made[name], before.get(name)) and steps[name] != "merge":
            assert steps[name] == "conflict"
            assert _read(folder, name) == data
        elif name not in steps:
            assert _read(folder, name) == data
    assert "z" in steps


def _read(folder: Path, name: str) -> bytes | None:
    return (folder / name).read_bytes() if (folder / name).exists() else None


def test_C31_a_plan_says_what_would_happen_and_does_nothing(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"edited": b"1", "gone": b"2", "same": b"3", "merged": b"a\nb\nc\nd\n", "lost": b"4"})
    change({"edited": b"x", "gone": None, "made": b"new", "same": b"y", "merged": b"A\nb\nc\nd\n", "lost": b"5"})
    write(folder, {"same": b"3", "merged": b"A\nb\nc\nD\n", "lost": b"foreign"})
    before = tree(folder)
    plan = desk.plan()
    actions = {step.path: step.action for step in plan.steps}
    assert actions == {
        "edited": "restore",
        "gone": "recreate",
        "made": "remove",
        "same": "nothing",
        "merged": "merge",
        "lost": "conflict",
    }
    assert tree(folder) == before
    assert plan.description.startswith("undo: change edited")
    told = [plan.describe(step) for step in plan.steps]
    assert "'made' is removed: this change created it." in told
    [conflict] = plan.steps[5].conflicts
    assert (conflict.base, conflict.ours, conflict.theirs) == (b"5", b"foreign", b"4")


def test_C31_a_merge_needs_a_yes(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"1\n2\n3\n4\n"})
    change({"a": b"one\n2\n3\n4\n"})
    write(folder, {"a": b"one\n2\n3\nfour\n"})
    done = desk.undo()
    assert done.applied is None
    assert [step.action for step in done.left] == ["merge"]
    assert desk.plan().proposal(merges=False) is None
    assert _read(folder, "a") == b"one\n2\n3\nfour\n"
    assert desk.undo(merges=True).left == ()
    assert _read(folder, "a") == b"1\n2\n3\nfour\n"
    desk.redo()
    assert _read(folder, "a") == b"one\n2\n3\nfour\n"


def test_C31_conflicts_leave_the_file_and_the_rest_is_done(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"1", "b": b"2"})
    id_ = change({"a": b"x", "b": b"y"}).id
    write(folder, {"a": b"foreign"})
    done = desk.undo()
    assert [step.path for step in done.done] == ["b"]
    assert [step.path for step in done.left] == ["a"]
    assert (_read(folder, "a"), _read(folder, "b")) == (b"foreign", b"2")
    write(folder, {"a": b"x"})
    assert [step.path for step in desk.undo(change=id_).done] == ["a"]
    assert _read(folder, "a") == b"1"


def test_C31_a_removed_or_new_file_in_the_way_is_a_conflict(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"1", "b": b"2"})
    change({"a": b"x", "b": None})
    write(folder, {"a": None, "b": b"somebody's"})
    assert [step.action for step in desk.plan().steps] == ["conflict", "conflict"]


def test_XE1_C31_what_changes_after_the_plan_stops_it(
    change: Applying, desk: Desk, workspace: Workspace, history: History, folder: Path
) -> None:
    write(folder, {"a": b"1", "b": b"2"})
    change({"a": b"x", "b": b"y"})
    plan = desk.plan()
    write(folder, {"b": b"later"})
    with pytest.raises(StaleFile):
        undo(workspace, history, plan, run_id="r")
    assert (_read(folder, "a"), _read(folder, "b")) == (b"x", b"later")


def test_C31_undo_by_change_file_and_run(change: Applying, desk: Desk, folder: Path) -> None:
    first = change({"a": b"1", "b": b"1"}, run_id="one").id
    change({"a": b"2"}, run_id="one")
    change({"b": b"3"}, run_id="two")
    desk.undo(path="a")
    assert (_read(folder, "a"), _read(folder, "b")) == (b"1", b"3")
    desk.redo(path="a")
    assert _read(folder, "a") == b"2"
    assert [step.action for step in desk.plan(change=first).steps] == ["conflict", "conflict"]
    desk.undo(run_id="two")
    assert _read(folder, "b") == b"1"
    plan = desk.plan(run_id="one")
    assert plan.description == "undo: 2 changes"
    desk.undo(run_id="one")
    assert tree(folder) == {}
    desk.redo()
    assert (_read(folder, "a"), _read(folder, "b")) == (b"2", b"1")


@pytest.mark.parametrize("singly", [0, 1, 2, 3])
def test_C31_redo_of_a_run_however_it_was_undone(singly: int, change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"0"})
    change({"a": b"1", "d/b": b"1"}, run_id="one")
    change({"a": b"2"}, run_id="one")
    change({"a": None, "d/b": b"3"}, run_id="one")
    change({"c": b"other"}, run_id="two")
    made = tree(folder)
    desk.undo(run_id="two")
    for _ in range(singly):
        desk.undo()
    if singly < 3:
        desk.undo(run_id="one")
    assert tree(folder).keys() == {"a"}
    plan = plan_redo(desk.workspace, desk.history, run_id="one")
    assert {step.path: (step.action, len(step.targets)) for step in plan.steps}["a"] == ("remove", min(3, singly + 1))
    desk.redo(run_id="one")
    assert tree(folder) == {path: what for path, what in made.items() if path != "c"}
    with pytest.raises(UsageError, match="There is nothing to redo"):
        desk.redo(run_id="one")
    desk.undo(run_id="one")
    assert tree(folder).keys() == {"a"}
    assert _read(folder, "a") == b"0"
    desk.redo(run_id="one")
    desk.redo(run_id="two")
    assert tree(folder) == made


def test_C31_undo_after_a_redo_takes_the_redo_back(change: Applying, desk: Desk, folder: Path) -> None:
    first = change({"a": b"A"}).id
    change({"b": b"B"})
    desk.undo(change=first)
    desk.redo(change=first)
    assert [step.path for step in desk.undo().done] == ["a"]
    assert tree(folder).keys() == {"b"}
    assert [step.path for step in desk.undo().done] == ["b"]
    desk.redo()
    desk.redo()
    change({"c": b"C"})
    assert [[step.path for step in desk.undo().done] for _ in range(3)] == [["c"], ["a"], ["b"]]
    with pytest.raises(UsageError, match="There is nothing to undo"):
        desk.undo()


def test_C31_undo_after_the_redo_of_a_run_takes_all_of_it_back(change: Applying, desk: Desk, folder: Path) -> None:
    change({"a": b"1"}, run_id="one")
    change({"a": b"2", "b": b"2"}, run_id="one")
    change({"c": b"3"}, run_id="two")
    desk.undo(run_id="one")
    desk.redo()
    assert [step.path for step in desk.plan(path="b").steps] == ["b"]
    assert desk.plan(path="a").more == 0
    assert {step.path for step in desk.undo().done} == {"a", "b"}
    assert tree(folder).keys() == {"c"}


def test_C31_undo_after_the_redo_of_one_file_leaves_the_others(change: Applying, desk: Desk, folder: Path) -> None:
    change({"a": b"1", "b": b"1"})
    change({"c": b"2"})
    desk.undo(path="a")
    desk.redo()
    assert [[step.path for step in desk.undo().done] for _ in range(3)] == [["a"], ["c"], ["b"]]
    assert tree(folder) == {}


MARKS = count()
WHICH = st.sampled_from([{}, {}, {"path": "a"}, {"path": "d/c"}, {"run_id": "one"}, {"run_id": "two"}, {"change": "0"}])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["one", "two"]), FILES),
        st.tuples(st.sampled_from(["undo", "redo"]), WHICH),
    ),
    min_size=2,
    max_size=8,
)


def _tried(desk: Desk, what: str, which: dict[str, str], made: list[str]) -> bool:
    """Undo or redo, if there is something to do; whether something was done, and nothing was left."""
    named = {name: made[len(made) // 2] if name == "change" and made else one for name, one in which.items()}
    try:
        done = desk.undo(merges=False, **named) if what == "undo" else desk.redo(**named)
    except UsageError:
        return False
    return done.applied is not None and not done.left


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6, deadline=None)
@given(STEPS)
def test_C31_undo_takes_back_what_was_done_last(
    change: Applying, desk: Desk, folder: Path, steps: list[tuple[str, dict[str, Any]]]
) -> None:
    """Whatever was changed, undone and redone before: undo leads to before a change or a redo, and redo back again."""
    made: list[str] = []
    for what, how in steps:
        old = files(folder)
        if what in ("undo", "redo"):
            if not _tried(desk, what, how, made) or what == "undo":
                continue
        else:
            # No content comes twice: one that did would be taken for a file that was put back by hand.
            mark = b"%d" % next(MARKS)
            wanted = {name: data + mark for name, data in how.items() if data is not None}
            gone = {name: None for name, data in how.items() if data is None and (folder / name).exists()}
            made.append(change({**wanted, **gone, "z": mark}, run_id=what).id)
        new = files(folder)
        desk.undo()
        assert files(folder) == old
        desk.redo()
        assert files(folder) == new


def test_C31_redo_of_a_part_of_a_run(change: Applying, desk: Desk, folder: Path) -> None:
    first = change({"a": b"1", "b": b"1"}, run_id="one").id
    change({"a": b"2"}, run_id="one")
    other = change({"c": b"1"}, run_id="two").id
    for _ in range(3):
        desk.undo()
    with pytest.raises(UsageError, match="There is nothing to redo of"):
        desk.redo(run_id="one", change=other)
    desk.redo(run_id="one", path="b")
    assert tree(folder).keys() == {"b"}
    desk.redo(run_id="one", change=first)
    assert (_read(folder, "a"), _read(folder, "b")) == (b"1", b"1")
    desk.redo(run_id="one")
    assert tree(folder).keys() == {"a", "b"}
    assert _read(folder, "a") == b"2"


def test_C31_a_run_is_redone_around_later_work(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"1\n2\n3\n4\n5\n", "b": b"1"})
    change({"a": b"one\n2\n3\n4\n5\n"})
    change({"a": b"one\n2\n3\n4\nfive\n", "b": b"2"})
    desk.undo()
    desk.undo()
    write(folder, {"a": b"1\n2\nTHREE\n4\n5\n", "b": b"theirs"})
    assert {step.path: step.action for step in plan_redo(desk.workspace, desk.history, run_id="run").steps} == {
        "a": "merge",
        "b": "conflict",
    }
    plan = plan_redo(desk.workspace, desk.history, run_id="run")
    undo(desk.workspace, desk.history, plan, run_id="by hand", merges=True)
    assert (_read(folder, "a"), _read(folder, "b")) == (b"one\n2\nTHREE\n4\nfive\n", b"theirs")


def test_C31_a_run_is_undone_around_foreign_work_in_between(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"1\n2\n3\n4\n5\n"})
    change({"a": b"one\n2\n3\n4\n5\n"})
    write(folder, {"a": b"one\n2\nTHREE\n4\n5\n"})
    change({"a": b"one\n2\nTHREE\n4\nfive\n"})
    assert [step.action for step in desk.plan(run_id="run").steps] == ["merge"]
    desk.undo(run_id="run", merges=True)
    assert _read(folder, "a") == b"1\n2\nTHREE\n4\n5\n"


def test_C31_for_a_file_that_is_gone_nothing_is_walked_through(
    change: Applying, workspace: Workspace, history: History, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a file: for a change of many files in a large project that were minutes."""

    def walk(*_: object) -> NoReturn:
        raise AssertionError("a walk")

    monkeypatch.setattr("toolroll.workspace.workspace.suggest_paths", walk)
    change({"new/a": b"1", "new/b": b"2"})
    undo(workspace, history, plan_undo(workspace, history), run_id="r")
    assert not (folder / "new").exists()
    undo(workspace, history, plan_redo(workspace, history), run_id="r")
    assert (folder / "new/a").read_bytes() == b"1"


def test_C31_mode_bits_come_back(change: Applying, desk: Desk, folder: Path) -> None:
    write(folder, {"a": b"1", "b": b"2", "c": b"3"})
    for name in "abc":
        (folder / name).chmod(0o640)
    old = tree(folder)
    change({"a": b"x", "b": b"2"}, mode=0o755)
    change({"c": None})
    new = tree(folder)
    assert new["b"] == (b"2", 0o755)
    desk.undo()
    desk.undo()
    assert tree(folder) == old
    desk.redo()
    assert tree(folder)["a"] == (b"x", 0o755)
    (folder / "a").chmod(0o600)
    desk.undo()
    assert tree(folder)["a"] == (b"1", 0o600)


def test_XP6_undo_through_a_hard_link_leaves_the_other_name(
    change: Applying, desk: Desk, folder: Path, tmp_path: Path
) -> None:
    write(folder, {"a": b"1"})
    change({"a": b"2"})
    os.link(folder / "a", tmp_path / "outside")
    done = desk.undo()
    assert done.applied is not None
    assert done.applied.hard_linked == ("a",)
    assert (tmp_path / "outside").read_bytes() == b"2"
    assert _read(folder, "a") == b"1"


def test_C31_there_may_be_nothing_to_do(change: Applying, desk: Desk) -> None:
    with pytest.raises(UsageError, match="There is nothing to undo"):
        desk.undo()
    with pytest.raises(UsageError, match="There is nothing to redo"):
        desk.redo()
    id_ = change({"a": b"1"}).id
    with pytest.raises(UsageError, match="No change on record has that id"):
        desk.undo(change="unknown")
    with pytest.raises(UsageError, match="not undone"):
        desk.redo(change=id_)
    done = desk.undo()
    assert done.applied is not None
    with pytest.raises(UsageError, match="undone already"):
        desk.undo(change=id_)
    with pytest.raises(UsageError, match="an undo itself"):
        desk.undo(change=done.applied.id)
    redone = desk.redo(change=id_).applied
    assert redone is not None
    with pytest.raises(UsageError, match="It is a redo itself"):
        desk.undo(change=redone.id)


def test_C31_an_undo_and_a_redo_of_what_has_no_description_name_the_change(workspace: Workspace, desk: Desk) -> None:
    made = Change(path=workspace.path("a"), before=None, after=b"1")
    id_ = apply(workspace, Proposal(changes=(made,)), desk.history, run_id="run").id
    desk.undo()
    desk.redo()
    assert [one.description for one in desk.history.changes()] == [f"redo: change {id_}", f"undo: change {id_}", ""]


def test_C31_what_cannot_be_reached_is_left(change: Applying, desk: Desk, folder: Path) -> None:
    change({"a": b"1", "b": b"2"})
    (folder / "a").unlink()
    (folder / "a").mkdir()
    done = desk.undo()
    assert [(step.path, step.action) for step in done.left] == [("a", "unreachable")]
    assert not (folder / "b").exists()


def test_C31_folders_that_were_made_go_unless_they_are_used(change: Applying, desk: Desk, folder: Path) -> None:
    change({"x/y/a": b"1"})
    (folder / "x/other").write_bytes(b"theirs")
    desk.undo()
    assert tree(folder) == {"x": None, "x/other": (b"theirs", stat.S_IMODE((folder / "x/other").stat().st_mode))}


def test_C31_redo_makes_a_file_that_was_gone_before_its_undo(change: Applying, desk: Desk, folder: Path) -> None:
    change({"d/e/f": b"1", "kept": b"2"})
    new = tree(folder)
    write(folder, {"d/e/f": None})
    (folder / "d/e").rmdir()
    (folder / "d").rmdir()
    assert [(step.path, step.action) for step in desk.undo().done] == [("d/e/f", "nothing"), ("kept", "remove")]
    assert [(step.path, step.action) for step in desk.redo().done] == [("d/e/f", "recreate"), ("kept", "recreate")]
    assert tree(folder) == new
    desk.undo()
    assert tree(folder) == {}


def test_C31_redo_after_an_undo_by_hand_gives_the_change_with_its_mode(
    change: Applying, desk: Desk, folder: Path
) -> None:
    write(folder, {"a": b"1", "b": b"2"})
    for name in "ab":
        (folder / name).chmod(0o640)
    old = tree(folder)
    change({"a": b"y", "b": b"2"}, mode=0o755)
    new = tree(folder)
    write(folder, {"a": b"1"})
    for name in "ab":
        (folder / name).chmod(0o640)
    assert [step.action for step in desk.undo().done] == ["nothing", "nothing"]
    assert tree(folder) == old
    desk.redo()
    assert tree(folder) == new


def test_C31_redo_of_a_run_that_led_nowhere_leads_nowhere(change: Applying, desk: Desk, folder: Path) -> None:
    for data in (b"1", b"2", None):
        change({"a": data})
    assert [step.action for step in desk.undo(run_id="run").done] == ["nothing"]
    assert [step.action for step in desk.redo().done] == ["nothing"]
    assert tree(folder) == {}


def test_C31_redo_of_a_file_that_was_gone_leaves_what_came_after(change: Applying, desk: Desk, folder: Path) -> None:
    change({"a": b"1"})
    write(folder, {"a": None})
    desk.undo()
    write(folder, {"a": b"somebody's"})
    assert [step.action for step in desk.redo().left] == ["conflict"]
    assert _read(folder, "a") == b"somebody's"


def test_C31_an_undo_of_nothing_whose_change_is_no_longer_kept_is_nothing_to_redo(
    change: Applying, desk: Desk, workspace: Workspace, folder: Path
) -> None:
    change({"a": b"1"})
    write(folder, {"a": None})
    assert desk.undo().applied is not None
    with History(workspace.state) as history:
        [_, made] = history.changes()
        with history._writing() as db:
            db.execute("delete from changes where id = ?", (made.id,))
    with pytest.raises(UsageError, match="There is nothing to redo"):
        desk.redo()


def test_S12_what_was_allowed_together_is_undone_together(
    workspace: Workspace, history: History, desk: Desk, folder: Path
) -> None:
    for name, batch in (("a", None), ("b", "1"), ("c", "1"), ("d", "2")):
        proposal = Proposal(changes=(Change(path=workspace.path(name), before=None, after=b"x"),))
        apply(workspace, proposal, history, run_id="r", batch=batch)
    desk.undo()
    assert set(files(folder)) == {"a", "b", "c"}
    desk.undo()
    assert set(files(folder)) == {"a"}
    desk.redo()
    assert set(files(folder)) == {"a", "b", "c"}
    desk.undo(change=history.changes(path="b")[-1].id)
    assert set(files(folder)) == {"a", "c"}, "one that is named is undone alone"
