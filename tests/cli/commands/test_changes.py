"""`toolroll changes`, `undo` and `redo`: what is told, what is asked, and that later work stays."""

import json
import os
import shutil
import signal
import subprocess

import pytest
from tests.support.programs import environment, toolroll
from tests.support.project import Calling, Project, Told, snapshot

from toolroll.kernel.approval.request import content_hash
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.records import Entry, Intent

MAIN = "src/main.js"


def error_of(told: Told) -> tuple[int, str]:
    return told.code, json.loads(told.out)["error"]["code"]


def test_C31_changes_are_listed_latest_first(project: Project, call: Calling) -> None:
    first = project.change({MAIN: "one\n"}, description="make it\x1b[31m one")
    second = project.change({MAIN: "two\n", "new.js": "n\n"}, run_id="other-run")
    listed = call("changes")
    assert [line.split("  ")[0] for line in listed.out.splitlines()] == [second.id, first.id]
    assert listed.out.splitlines()[0].endswith("change  applied   src/main.js, new.js")
    assert listed.out.splitlines()[1].endswith("src/main.js  make it‹U+001B›[31m one")
    told = json.loads(call("changes", "--json", "--limit", "1").out)["changes"]
    assert [(one["id"], one["run_id"], one["kind"], one["state"]) for one in told] == [
        (second.id, "other-run", "change", "applied")
    ]
    assert told[0]["files"][1] == {
        "path": "new.js",
        "before": None,
        "after": content_hash(b"n\n"),
        "undone_by": None,
    }
    assert first.id not in call("changes", "--file", "new.js").out
    assert second.id not in call("changes", "--run", "run").out


def test_C31_without_changes_that_is_said(call: Calling, project: Project) -> None:
    told = call("changes")
    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("Nothing was changed here through tools, or it is no longer kept.\n")
    assert json.loads(call("changes", "--json").out) == {"changes": []}
    for what in ("undo", "redo"):
        assert call(what, "--yes") == (2, "", f"Error: There is nothing to {what}.\n")
    assert error_of(call("undo", "--json")) == (2, "usage")
    assert not any(project.root.rglob("*.sqlite3"))


def test_C31_without_changes_it_is_said_where_others_may_be(call: Calling, project: Project) -> None:
    project.change({MAIN: "one\n"})
    told = call("changes", "--root", "src")
    assert (told.code, told.out) == (0, "")
    assert f"Each folder has a history of its own, by its path; this is the one of '{project.root}/src'." in told.err
    assert "see it with --root DIR" in told.err
    assert "moved or renamed, its history is still that of the old path: move it back there to undo" in told.err
    assert call("changes", "--file", "none.js").err == (
        "Nothing was changed here through tools, or it is no longer kept.\n"
    )
    old = project.root.rename(project.root.with_name("moved"))
    assert call("changes", "--root", str(old)).out == ""
    old.rename(project.root)
    assert MAIN in call("changes", "--root", str(project.root)).out


def test_C31_undo_and_redo_of_the_latest(project: Project, call: Calling) -> None:
    before = project.text(MAIN)
    project.change({MAIN: "one\n"}, description="Make it one.")
    undone = call("undo", "--yes")
    assert undone == (0, "Undo: src/main.js.\n", "· 'src/main.js' gets back the content it had.\n")
    assert project.text(MAIN) == before
    assert "change  undone    src/main.js  Make it one." in call("changes").out
    assert "undo    applied   src/main.js  Make it one." in call("changes").out
    redone = call("redo", "--yes", "--json")
    told = json.loads(redone.out)
    assert (redone.code, told["done"], told["left"]) == (0, [{"path": MAIN, "action": "restore"}], [])
    assert project.text(MAIN) == "one\n"
    assert told["change"] in call("changes").out


def test_C31_redo_makes_a_file_that_was_gone_before_its_undo(project: Project, call: Calling) -> None:
    project.change({"d/e/f.txt": "tea\n"})
    shutil.rmtree(project.root / "d")
    assert call("undo", "--yes").code == 0
    redone = call("redo", "--yes")
    assert (redone.code, redone.out) == (0, "Redo: d/e/f.txt.\n")
    assert project.text("d/e/f.txt") == "tea\n"


def test_C31_undo_of_one_change_of_a_file_or_of_a_run(project: Project, call: Calling) -> None:
    before = project.text(MAIN)
    first = project.change({MAIN: "one\n" + before}, run_id="4cb9e3ac803b0000")
    project.change({"a.js": "a\n", "b.js": "b\n"}, run_id="4cb9e3ac803b0000")
    project.change({"c.js": "c\n"}, run_id="4cb9e3ac803bffff")
    assert call("undo", first.id, "--yes").code == 0
    assert project.text(MAIN) == before
    again = call("undo", first.id, "--yes")
    assert (again.code, "It is undone already" in again.err) == (2, True)
    assert call("undo", "--file", "a.js", "--yes").code == 0
    assert [(project.root / name).exists() for name in ("a.js", "b.js", "c.js")] == [False, True, True]
    several = call("undo", "--run", "4cb9e3ac803b", "--yes")
    assert (several.code, several.err) == (
        2,
        "Error: 2 runs begin with '4cb9e3ac803b': 4cb9e3ac803bffff, 4cb9e3ac803b0000. Write more of the id.\n",
    )
    assert call("redo", first.id, "--yes").code == 0
    assert call("undo", "--run", "4CB9E3AC803B0", "--yes").code == 0
    assert project.text(MAIN) == before
    assert [(project.root / name).exists() for name in ("a.js", "b.js", "c.js")] == [False, False, True]


def test_C31_redo_of_a_run(project: Project, call: Calling) -> None:
    before = project.text(MAIN)
    project.change({MAIN: "one\n"}, run_id="4cb9e3ac803b0000")
    project.change({MAIN: "two\n", "a.js": "a\n"}, run_id="4cb9e3ac803b0000")
    project.change({"c.js": "c\n"}, run_id="77f0e3ac803b0000")
    for _ in range(3):
        assert call("undo", "--yes").code == 0
    assert (project.text(MAIN), (project.root / "a.js").exists()) == (before, False)
    asked = call("redo", "--run", "4cb9")
    assert (asked.code, "Add --yes" in asked.err, project.text(MAIN)) == (3, True, before)
    redone = call("redo", "--run", "4cb9", "--yes")
    assert (redone.code, redone.out) == (0, "Redo: src/main.js, a.js.\n")
    assert (project.text(MAIN), project.text("a.js"), (project.root / "c.js").exists()) == ("two\n", "a\n", False)
    again = call("redo", "--run", "4cb9", "--yes", "--json")
    assert error_of(again) == (2, "usage")
    assert call("redo", "--run", "77f", "--yes").err == (
        "Error: There is no run '77f'. Give at least 4 characters of the id.\n"
    )


def test_C31_undo_after_a_redo_takes_back_the_redo(project: Project, call: Calling) -> None:
    first = project.change({"a.js": "a\n"})
    project.change({"b.js": "b\n"})
    assert call("undo", first.id, "--yes").code == 0
    assert call("redo", first.id, "--yes").code == 0
    assert call("undo", "--yes").out == "Undo: a.js.\n"
    assert call("undo", "--yes").out == "Undo: b.js.\n"
    assert call("undo", "--yes").code == 2


def test_C31_the_beginning_of_an_id_is_enough(project: Project, call: Calling) -> None:
    first = project.change({"a.js": "a\n"})
    project.change({"b.js": "b\n"})
    assert call("undo", first.id[:6].upper(), "--yes").out == "Undo: a.js.\n"
    assert call("redo", first.id[:6], "--yes").out == "Redo: a.js.\n"


@pytest.mark.parametrize(("count", "more"), [(2, ""), (7, " and 2 more")])
def test_C31_of_ids_that_begin_alike_the_candidates_are_told(
    project: Project, call: Calling, count: int, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"abcd0000000{number}" for number in range(count)]
    coming = iter(ids)
    with monkeypatch.context() as patched:
        patched.setattr("toolroll.workspace.changes.apply.new_id", lambda: next(coming))
        for number in range(count):
            project.change({f"{number}.js": "x\n"})
    before = snapshot(project.root)
    named = ", ".join(ids[::-1][:5]) + more
    for what in ("undo", "redo"):
        told = call(what, "ABCD", "--yes")
        assert told == (2, "", f"Error: {count} changes begin with 'ABCD': {named}. Write more of the id.\n")
    assert snapshot(project.root) == before
    assert call("undo", "abcd00000000", "--yes").out == "Undo: 0.js.\n"


def test_C31_undo_of_a_file_is_of_its_latest_change_and_says_how_many_more_there_are(
    project: Project, call: Calling
) -> None:
    for text in ("1\n", "2\n", "3\n"):
        project.change({"a.js": text, "other.js": text})
    undone = call("undo", "--file", "a.js", "--yes")
    assert "Note: only the latest change of 'a.js'; 2 earlier ones stay. Repeat it for the next." in undone.err
    assert (project.text("a.js"), project.text("other.js")) == ("2\n", "3\n")
    assert json.loads(call("undo", "--file", "a.js", "--yes", "--json").out)["more"] == 1
    redone = call("redo", "--file", "a.js", "--yes")
    assert "Note: only the latest undo of 'a.js'; 1 earlier one stays. Repeat it for the next." in redone.err
    assert "Note" not in call("redo", "--file", "a.js", "--yes").err
    assert json.loads(call("undo", "--yes", "--json").out)["more"] == 0
    for what in ("undo", "redo"):
        assert "Only this file: its latest" in call(what, "--help").out


def test_C31_undo_of_a_file_in_one_change_or_run_leaves_nothing_to_tell(project: Project, call: Calling) -> None:
    first = project.change({"a.js": "1\n"}, run_id="one-run")
    project.change({"a.js": "2\n"}, run_id="one-run")
    assert json.loads(call("undo", "--run", "one-run", "--file", "a.js", "--yes", "--json").out)["more"] == 0
    assert json.loads(call("redo", first.id, "--file", "a.js", "--yes", "--json").out)["more"] == 0
    assert project.text("a.js") == "2\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("undo", "nothing"), "There is nothing to undo of 'nothing'. No change on record has that id. List the"),
        (("redo", "nothing"), "There is nothing to redo of 'nothing'. No change on record has that id. List the"),
        (("undo", "abc"), "There is no change 'abc'. Give at least 4 characters of the id."),
        (("redo", "abc"), "There is no change 'abc'. Give at least 4 characters of the id."),
        (("undo", "--run", "none"), "There is nothing to undo."),
        (("undo", "--run", "r"), "There is no run 'r'. Give at least 4 characters of the id."),
        (("undo", "--file", "none.js"), "There is nothing to undo."),
        (("undo", "--root", "nowhere"), "Directory 'nowhere' does not exist"),
        (("changes", "--root", "package.json"), "'package.json' is a file"),
        (("changes", "--limit", "0"), "0 is not in the range"),
    ],
)
def test_C31_what_is_not_there_is_told(project: Project, call: Calling, arguments: tuple[str, ...], told: str) -> None:
    project.change({MAIN: "one\n"})
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert project.text(MAIN) == "one\n"


def test_C31_later_work_in_the_same_place_is_never_overwritten(project: Project, call: Calling) -> None:
    project.change({"a.js": "1\n2\n3\n"})
    project.change({"a.js": "1\ntwo\n3\n"})
    (project.root / "a.js").write_text("1\nzwei\x1b[2J\n3\n")
    for more in ((), ("--merge",)):
        refused = call("undo", "--yes", *more)
        assert (refused.code, refused.out) == (1, "")
        assert "! 'a.js' has changed since, in the same place; it is left as it is." in refused.err
        assert "    line 2: now 'zwei‹U+001B›[2J', before the change '2'" in refused.err
    as_json = call("undo", "--yes", "--json")
    assert error_of(as_json) == (1, "nothing_done")
    assert "in the same place" in json.loads(as_json.out)["error"]["message"]
    assert as_json.err == ""
    assert project.text("a.js") == "1\nzwei\x1b[2J\n3\n"


def test_C31_a_file_that_is_gone_is_not_made_again(project: Project, call: Calling) -> None:
    project.change({"a.js": "1\n"})
    project.change({"a.js": "2\n"})
    (project.root / "a.js").unlink()
    refused = call("undo", "--yes")
    assert (refused.code, "now 'nothing', before the change '1" in refused.err) == (1, True)
    assert not (project.root / "a.js").exists()


def test_C31_later_work_elsewhere_is_kept_by_a_merge_that_was_asked_for(project: Project, call: Calling) -> None:
    text = "".join(f"{number}\n" for number in range(1, 20))
    project.change({"a.js": text})
    project.change({"a.js": text.replace("2\n", "two\n", 1)})
    (project.root / "a.js").write_text(project.text("a.js") + "mine\n")
    refused = call("undo", "--yes")
    assert (refused.code, "Add --merge to keep the later work" in refused.err) == (1, True)
    assert project.text("a.js").endswith("mine\n")
    assert call("undo", "--yes", "--merge").code == 0
    assert project.text("a.js") == text + "mine\n"


def test_C31_what_can_be_done_is_done_and_the_rest_is_a_failure(project: Project, call: Calling) -> None:
    project.change({"a.js": "a\n", "b.js": "b\n"})
    (project.root / "b.js").write_text("mine\n")
    done = call("undo", "--yes", "--json")
    told = json.loads(done.out)
    assert (done.code, told["left"]) == (1, [{"path": "b.js", "action": "conflict"}])
    assert told["done"] == [{"path": "a.js", "action": "remove"}]
    assert not (project.root / "a.js").exists()
    assert project.text("b.js") == "mine\n"


def test_C31_a_change_that_is_undone_in_part_is_listed_so(project: Project, call: Calling) -> None:
    project.change({"a.js": "a\n", "b.js": "b\n"}, description="Two.")
    (project.root / "b.js").write_text("mine\n")
    assert call("undo", "--yes").code == 1
    [undo, change] = call("changes").out.splitlines()
    assert undo.endswith("undo    applied   a.js  Two.")
    assert change.endswith("change  partly undone  a.js (undone), b.js  Two.")
    assert json.loads(call("changes", "--json").out)["changes"][1]["state"] == "partly undone"
    (project.root / "b.js").write_text("b\n")
    assert call("undo", "--yes").code == 0
    assert call("changes").out.splitlines()[-1].endswith("change  undone    a.js, b.js  Two.")


def test_C31_XA8_where_nobody_can_be_asked_nothing_is_done(project: Project, call: Calling) -> None:
    project.change({MAIN: "one\n"})
    asked = call("undo")
    assert (asked.code, asked.out) == (3, "")
    assert "Nobody could be asked, so nothing was done. Add --yes to do it." in asked.err
    assert error_of(call("undo", "--json")) == (3, "needs_approval")
    assert project.text(MAIN) == "one\n"


def test_C31_at_a_terminal_the_difference_is_shown_and_asked_about(project: Project) -> None:
    before = project.text(MAIN)
    project.change({MAIN: "// a\x1b[31m comment\n" + before})
    with project.terminal("undo") as terminal:
        terminal.wait_for("Do this? [y/n]")
        assert "'src/main.js' gets back the content it had." in terminal.text
        assert "- // a‹U+001B›[31m comment" in terminal.text
        terminal.press("perhaps", "Type y or n", "Do this? [y/n]")
        terminal.press("n", "Nothing was done.")
        assert terminal.end() == (1, "")
    assert project.text(MAIN) != before
    with project.terminal("undo") as terminal:
        terminal.wait_for("Do this? [y/n]")
        terminal.press("y")
        assert terminal.end() == (0, "Undo: src/main.js.\n")
    assert project.text(MAIN) == before


def test_C31_what_changes_while_the_question_is_open_is_not_overwritten(project: Project) -> None:
    project.change({MAIN: "one\n"})
    with project.terminal("undo") as terminal:
        terminal.wait_for("Do this? [y/n]")
        (project.root / MAIN).write_text("mine\n")
        terminal.press("y", "is no longer what the change was made from")
        assert terminal.end() == (1, "")
    assert project.text(MAIN) == "mine\n"


def test_C31_ctrl_c_at_the_question_does_nothing(project: Project) -> None:
    project.change({MAIN: "one\n"})
    with project.terminal("undo") as terminal:
        terminal.wait_for("Do this? [y/n]")
        terminal.send(b"\x03", "Interrupted.")
        assert terminal.end() == (130, "")
    assert project.text(MAIN) == "one\n"


def half_done(project: Project, files: dict[str, tuple[str, str]], *, written: tuple[str, ...]) -> str:
    """What a kill in the middle leaves: the intent on record, and some of the files written."""
    entries = tuple(
        Entry(path=name, before=content_hash(old), after=content_hash(new)) for name, (old, new) in files.items()
    )
    contents = tuple(text.encode() for pair in files.values() for text in pair)
    intent = Intent(id="c0ffee", run_id="r", description="", kind="change", entries=entries, contents=contents)
    with project.workspace() as workspace, History(workspace.state) as history:
        history.begin(intent)
    for name, (old, new) in files.items():
        (project.root / name).write_text(new if name in written else old)
    return intent.id


@pytest.mark.parametrize(
    ("written", "told", "left"),
    [(("a", "b"), "is finished now", ("new a", "new b")), (("a",), "is taken back now", ("old a", "old b"))],
)
def test_C31_XE6_what_a_kill_left_half_done_is_put_right_and_told(
    project: Project, call: Calling, written: tuple[str, ...], told: str, left: tuple[str, str]
) -> None:
    half_done(project, {"a": ("old a", "new a"), "b": ("old b", "new b")}, written=written)
    assert call("redo").err.startswith(f"Note: change c0ffee was left half done, and {told}.\n")
    assert (project.text("a"), project.text("b")) == left
    failed = "· failed: it could not be made, or broke off; nothing of it is left in the files."
    then = "" if len(written) > 1 else f"{failed} Why was told in the run: r\n"
    assert call("changes").err == then


def test_C31_XE6_work_after_the_kill_stays_and_is_named(project: Project, call: Calling) -> None:
    half_done(project, {"a": ("old a", "new a"), "b": ("old b", "new b")}, written=("a",))
    (project.root / "b").write_text("mine")
    assert call("redo").err.startswith(
        "Note: change c0ffee was left half done. It was taken back, but for later work in 'b', which stays.\n"
    )
    assert json.loads(call("changes", "--json").out)["changes"][0]["state"] == "partial"
    assert (project.text("a"), project.text("b")) == ("old a", "mine")
    assert call("changes").err.startswith("· partial: it broke off, and later work in its files was left as it is.")


def test_XD11_a_list_only_reports_what_is_unfinished_and_writes_nothing(project: Project, call: Calling) -> None:
    half_done(project, {"a": ("old a", "new a"), "b": ("old b", "new b")}, written=("a",))
    (project.root / ".toolroll-0123456789abcdef0123456789abcdef.tmp").write_text("left by the kill")
    before = snapshot(project.root)
    for options in ((), ("--json",)):
        told = call("changes", *options)
        assert told.code == 0
        assert told.err.startswith("Note: change c0ffee of 'a', 'b' is not finished: it is being made, or was cut off.")
        assert "intended" in told.out
        assert snapshot(project.root) == before
    assert call("redo").code == 2
    assert (project.text("a"), project.text("b")) == ("old a", "old b")
    assert not list(project.root.glob(".toolroll-*"))


def test_C31_the_git_of_the_project_is_never_touched(project: Project, call: Calling) -> None:
    (project.root / ".git").mkdir()
    (project.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    before = os.stat(project.root / ".git").st_mtime_ns
    project.change({MAIN: "one\n"})
    assert call("undo", "--yes").code == 0
    assert (os.stat(project.root / ".git").st_mtime_ns, os.listdir(project.root / ".git")) == (before, ["HEAD"])


@pytest.mark.strace
def test_C31_XE6_C32_a_kill_between_two_files_leaves_both_as_they_were(project: Project) -> None:
    """The second of the renames that put the new files in their places never happens."""
    before = snapshot(project.root)
    changes = [{"path": name, "content": "new\n"} for name in (MAIN, "README.md")]
    given = json.dumps({"changes": changes, "description": "Make all new."})
    tracing = ("strace", "-f", "-o", os.devnull, "-e", "trace=renameat2", "-e", "inject=renameat2:signal=KILL:when=2")
    command = [*tracing, *toolroll("call", "apply_changes", given, "--yes")]
    killed = subprocess.run(
        command, env=environment(project.home), cwd=project.root, capture_output=True, check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    assert [project.text(name) == "new\n" for name in (MAIN, "README.md")] == [True, False]
    assert " was left half done, and is taken back now.\n" in project.call("redo").stderr
    told = project.call("changes")
    assert "· failed: it could not be made, or broke off;" in told.stderr
    assert "change  failed    src/main.js, README.md  Make all new." in told.stdout
    assert snapshot(project.root) == before
    assert project.call("undo", "--yes").returncode == 2
