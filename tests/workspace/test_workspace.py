"""The only way to a file: what may be named, read, written and removed, and what is refused with which words."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest
from tests.workspace.conftest import Opening
from tests.workspace.nasty import MISSING_OR_OUTSIDE, TEXTS, write_nasty

from toolroll.errors import (
    FileExists,
    FileMissing,
    FileTooLarge,
    NotAFile,
    OutsideRoot,
    PathRefused,
    StaleFile,
    ToolrollError,
    UsageError,
)
from toolroll.kernel.approval.request import content_hash
from toolroll.workspace.changes.apply import count_missing_folders
from toolroll.workspace.limits import Limits
from toolroll.workspace.search.survey import Survey
from toolroll.workspace.suggestions import suggest_paths
from toolroll.workspace.workspace import Content, Workspace

TIGHT = Limits(file_bytes=10)


def refusal_of(workspace: Workspace, text: str) -> PathRefused:
    with pytest.raises(PathRefused) as caught:
        workspace.path(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "empty"),
        (".", "dot"),
        ("../x", "dot_dot"),
        ("a/../../b", "dot_dot"),
        ("/etc/passwd", "absolute"),
        ("C:/x", "absolute"),
        ("~/x", "home"),
        ("a//b", "double_slash"),
        ("a/", "trailing_slash"),
        ("a\\b", "backslash"),
        ("a\0b", "control"),
        ("a\x1bb", "control"),
        ("a" * 256, "component_too_long"),
    ],
)
def test_C1_XP1_each_rule_of_naming_has_its_own_message(workspace: Workspace, text: str, rule: str) -> None:
    assert refusal_of(workspace, text).rule == rule


def test_C1_an_absolute_path_inside_is_told_as_it_should_be(workspace: Workspace) -> None:
    assert "Here that is 'src/a.py'." in refusal_of(workspace, f"{workspace.root}/src/a.py").message
    for outside in (f"{workspace.root}-evil/f", str(workspace.root)):
        assert "Here that is" not in refusal_of(workspace, outside).message


def test_C1_only_a_folder_can_be_the_workspace_itself(workspace: Workspace) -> None:
    assert workspace.folder(" . ") is None
    assert workspace.folder("") is None
    assert workspace.folder("src") == workspace.path("src")
    with pytest.raises(PathRefused):
        workspace.folder("..")


def test_C1_a_file_is_read_with_its_hash(workspace: Workspace, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"hello")
    path = workspace.path("a.txt")
    assert workspace.read(path) == Content(path=path, data=b"hello", hash=content_hash(b"hello"))
    assert workspace.hash(path) == content_hash(b"hello")
    assert workspace.hash(workspace.path("none")) is None
    assert workspace.status(None).kind == "folder"


@pytest.mark.parametrize("name", MISSING_OR_OUTSIDE)
def test_C1_XP3_links_that_lead_out_are_refused_for_everything(workspace: Workspace, folder: Path, name: str) -> None:
    write_nasty(folder)
    path = workspace.path(name)
    for use in (workspace.read, workspace.status, workspace.open, workspace.entries, workspace.hash):
        with pytest.raises((OutsideRoot, NotAFile)):
            use(path)
    for base in (None, content_hash(b"")):
        with pytest.raises((OutsideRoot, NotAFile, FileExists)):
            workspace.write(path, b"x", base=base)
    assert (folder.parent / "outside.txt").read_bytes() == b"needle: a secret from outside\n"


def test_C1_every_nasty_text_is_read_to_the_byte(opened: Opening, folder: Path) -> None:
    workspace = opened(limits=Limits(file_bytes=10_000_000))
    write_nasty(folder)
    for name, data in TEXTS.items():
        assert workspace.read(workspace.path(name)).data == data


def test_XF1_pipes_and_sockets_are_refused_at_once(workspace: Workspace, folder: Path) -> None:
    write_nasty(folder)
    for name in ("pipe", "socket"):
        with pytest.raises(NotAFile):
            workspace.read(workspace.path(name))


@pytest.mark.parametrize(("size", "fits"), [(0, True), (9, True), (10, True), (11, False)])
def test_C2_XF2_the_limit_counts_bytes(opened: Opening, folder: Path, size: int, fits: bool) -> None:
    (folder / "a").write_bytes(b"x" * size)
    workspace = opened(limits=TIGHT)
    if fits:
        assert workspace.read(workspace.path("a")).data == b"x" * size
    else:
        with pytest.raises(FileTooLarge, match=r"holds 11 bytes, and the limit is 10\. Search it .*search_files"):
            workspace.read(workspace.path("a"))


@pytest.mark.parametrize("limits", [{"matches": 0}, {"file_bytes": -1}, {"search_seconds": 0.0}])
def test_C44_a_limit_is_above_zero(limits: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=next(iter(limits))):
        Limits(**limits)


def test_C10_a_near_miss_is_suggested(workspace: Workspace, folder: Path) -> None:
    for name in ("src/service.py", "src/.env", "lib/Other.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    for wrong, right in {
        "src/services.py": "'src/service.py'",
        "src/SERVICE.py": "'src/service.py'",
        "other.py": "'lib/Other.py'",
        "srv/service.py": "'src/service.py'",
    }.items():
        for use in (workspace.read, workspace.status, workspace.entries):
            with pytest.raises(FileMissing, match=f"There is no '{wrong}'. Did you mean {right}"):
                use(workspace.path(wrong))
    with pytest.raises(FileMissing, match=r"'src' holds service\.py\."):
        workspace.read(workspace.path("src/nothing-of-the-kind.zip"))
    assert suggest_paths(workspace, workspace.path("src/x.env")) == ()


def test_XE13_a_name_that_looks_like_the_one_asked_for_is_suggested_and_spelled(
    workspace: Workspace, folder: Path
) -> None:
    (folder / "\u0430\u0441\u0435.txt").write_text("")  # Cyrillic letters that look like ace
    with pytest.raises(FileMissing) as caught:
        workspace.read(workspace.path("ace.txt"))
    spelled = "‹U+0430›‹U+0441›‹U+0435›.txt"
    assert f"Did you mean '\u0430\u0441\u0435.txt' (spelled {spelled})?" in caught.value.message


def test_C10_XF8_where_no_walk_can_be_made_there_are_fewer_suggestions(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "main.py").touch()
    monkeypatch.setattr("toolroll.workspace.search.tree.survey", _too_many_files)
    assert suggest_paths(workspace, workspace.path("man.py")) == ("main.py",)
    assert suggest_paths(workspace, workspace.path("main.py/main.py")) == ()


def _too_many_files(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_C17_whether_something_exists_is_told_without_a_walk(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").mkdir()
    monkeypatch.setattr("toolroll.workspace.workspace.suggest_paths", _too_many_files)
    assert workspace.exists(workspace.path("a"))
    assert not workspace.exists(workspace.path("b"))
    assert count_missing_folders(workspace, workspace.path("a/b/c/d")) == 2


def test_C10_a_deep_path_of_which_nothing_is_there_is_looked_for_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks: list[object] = []

    def walk(*given: object, **_: object) -> Survey:
        walks.append(given)
        return Survey()

    monkeypatch.setattr("toolroll.workspace.search.tree.survey", walk)
    with pytest.raises(FileMissing):
        workspace.read(workspace.path("a/b/c/d/e.py"))
    assert len(walks) == 1


def test_looking_for_near_misses_ends_in_time(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "b").mkdir()
    for name in ("a.py", "b/x.py"):
        (folder / name).write_text("")
    monkeypatch.setattr("toolroll.workspace.suggestions.MAX_SECONDS", -1)
    assert len(suggest_paths(workspace, workspace.path("c/a.py"))) <= 1
    assert suggest_paths(workspace, workspace.path("c/a.py").parent.parent) == ()


def test_C4_a_write_is_compare_and_swap(workspace: Workspace, folder: Path) -> None:
    path = workspace.path("new/deep/a.txt")
    assert workspace.write(path, b"one", base=None).created
    with pytest.raises(FileExists):
        workspace.write(path, b"two", base=None)
    workspace.write(path, b"two", base=content_hash(b"one"))
    with pytest.raises(StaleFile, match="has changed since"):
        workspace.write(path, b"three", base=content_hash(b"one"))
    assert (folder / "new/deep/a.txt").read_bytes() == b"two"
    with pytest.raises(StaleFile):
        workspace.remove(path, base=content_hash(b"one"))
    workspace.remove(path, base=content_hash(b"two"))
    with pytest.raises(StaleFile, match="is gone"):
        workspace.write(path, b"three", base=content_hash(b"two"))
    assert list((folder / "new/deep").iterdir()) == []
    workspace.remove_folder(path.parent)
    assert not (folder / "new/deep").exists()


def test_C4_the_mode_stays_and_can_be_given(workspace: Workspace, folder: Path) -> None:
    (folder / "run").write_bytes(b"one")
    (folder / "run").chmod(0o755)
    workspace.write(workspace.path("run"), b"two", base=content_hash(b"one"))
    assert (folder / "run").stat().st_mode & 0o777 == 0o755
    workspace.write(workspace.path("made"), b"", base=None, mode=0o640)
    assert (folder / "made").stat().st_mode & 0o777 == 0o640


def test_C4_XP6_a_hard_link_is_split_and_reported(workspace: Workspace, folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.write_bytes(b"one")
    (folder / "a").hardlink_to(outside)
    report = workspace.write(workspace.path("a"), b"two", base=content_hash(b"one"))
    assert report.hard_linked
    assert (outside.read_bytes(), (folder / "a").read_bytes()) == (b"one", b"two")


def test_C4_through_a_link_inside_the_file_is_written_and_the_link_stays(workspace: Workspace, folder: Path) -> None:
    (folder / "a").write_bytes(b"one")
    (folder / "link").symlink_to("a")
    workspace.write(workspace.path("link"), b"two", base=content_hash(b"one"))
    assert (folder / "link").is_symlink()
    assert (folder / "a").read_bytes() == b"two"


def test_XP4_nothing_is_made_below_a_linked_folder(workspace: Workspace, folder: Path) -> None:
    (folder.parent / "outside").mkdir()
    (folder / "link").symlink_to("../outside")
    for name in ("link/x", "link/deep/x"):
        with pytest.raises(OutsideRoot):
            workspace.write(workspace.path(name), b"", base=None)
    assert list((folder.parent / "outside").iterdir()) == []


@pytest.mark.parametrize(
    "name", [".git/config", ".GIT/hooks/x", "a/.toolroll/policy.json", ".env", ".vscode/tasks.json", ".envrc", "k.pem"]
)
def test_XA9_XP8_protected_names_are_not_written_also_when_absent(
    workspace: Workspace, folder: Path, name: str
) -> None:
    with pytest.raises(PathRefused, match="is protected against"):
        workspace.write(workspace.path(name), b"", base=None)
    with pytest.raises(PathRefused, match="is protected against"):
        workspace.remove(workspace.path(name), base="")
    assert list(folder.iterdir()) == []


def test_C2_what_holds_keys_is_not_read_and_what_runs_code_is(workspace: Workspace, folder: Path) -> None:
    for name in (".env", ".gitattributes", ".env.example"):
        (folder / name).write_text("x")
    with pytest.raises(PathRefused, match="is protected against reading"):
        workspace.read(workspace.path(".env"))
    assert workspace.read(workspace.path(".gitattributes")).data == b"x"
    assert workspace.read(workspace.path(".env.example")).data == b"x"
    assert workspace.why_denied(workspace.path(".gitattributes"), "write") is not None


def test_C2_XP3_denied_paths_are_refused_in_any_spelling_and_through_links(opened: Opening, folder: Path) -> None:
    workspace = opened("secrets/**", "**/*.key2")
    (folder / "secrets").mkdir()
    (folder / "secrets/a").write_text("canary")
    (folder / "link").symlink_to("secrets/a")
    for name in ("secrets", "secrets/a", "Secrets/A", "SECRETS/none", "x/y.KEY2", "link"):
        with pytest.raises(PathRefused, match="denied by the rule") as caught:
            workspace.status(workspace.path(name))
        assert caught.value.rule == "denied"
        with pytest.raises(PathRefused):
            workspace.write(workspace.path(name), b"", base=None)
    assert workspace.is_denied(workspace.path("secrets/a"))
    assert not workspace.is_denied(workspace.path("secret"))
    assert [entry.name for entry in workspace.entries()[0]] == ["link"]
    assert workspace.entries()[1] == 1


def test_C2_a_rule_that_makes_no_sense_is_an_error_at_the_start(opened: Opening) -> None:
    for rule in ("", "a//b", "../x", "secrets/"):
        with pytest.raises(UsageError):
            opened(rule)


def test_a_denied_folder_takes_all_in_it_along(opened: Opening) -> None:
    workspace = opened("private", "**", "a**z")
    assert "'private'" in (workspace.why_denied(workspace.path("private/deep/file")) or "")
    assert "'**'" in (workspace.why_denied(workspace.path("anything")) or "")


def test_rules_with_odd_pieces_still_fit(opened: Opening) -> None:
    workspace = opened("a**z/x", "[b]", "c/\u200b", " d ")
    for name in ("a/b/cz/x", "[b]", "[B]/x", "c", "d/y", "D"):
        assert workspace.is_denied(workspace.path(name)), name
    assert not workspace.is_denied(workspace.path("b"))


@pytest.mark.parametrize("name", [" lead.txt", "lead.txt.", "lead.txt "])
def test_C42_a_file_that_cannot_be_named_is_not_suggested(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).write_text("needle")
    with Workspace(folder, state=tmp_path / "state") as workspace, pytest.raises(FileMissing) as refused:
        workspace.read(workspace.path(" lead.txt"))
    assert refused.value.message.startswith(f"There is no 'lead.txt'. There is '{name}', which cannot be named here: ")
    assert "Did you mean" not in refused.value.message


def test_XF9_where_no_state_can_be_made_none_is(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    with Workspace(folder, state=tmp_path / "none") as workspace:
        assert workspace.state == (tmp_path / "none").resolve()
    assert not (tmp_path / "none").exists()


def test_XF9_the_state_is_private_and_outside(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    with Workspace(folder) as one, Workspace.of_user(folder, environment=os.environ) as other:
        assert one.state == other.state
        assert one.state.parent == tmp_path / "home/data/workspaces"
        assert one.state.stat().st_mode & 0o777 == 0o700
        one.write(one.path("a"), b"", base=None)
        [lock] = (one.state / "locks").iterdir()
        assert lock.stat().st_mode & 0o777 == 0o600
    with (
        Workspace(folder, state=folder / "state") as inside,
        pytest.raises(UsageError, match="inside of the workspace"),
    ):
        _ = inside.state


def test_a_root_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("none", "file"):
        with pytest.raises(ToolrollError):
            Workspace(tmp_path / name)


def test_what_killed_writers_left_is_swept(workspace: Workspace, folder: Path) -> None:
    (folder / f".toolroll-{'0' * 32}.tmp").write_bytes(b"half")
    assert workspace.remove_leftovers() == 1
    assert list(folder.iterdir()) == []


def test_a_lock_is_shared_by_threads_and_held_once_by_its_own(workspace: Workspace) -> None:
    first, second = workspace.path("a"), workspace.path("b")
    order: list[str] = []

    def other() -> None:
        workspace.write(first, b"x", base=None)
        order.append("other")

    with workspace.locked(second, first):
        thread = threading.Thread(target=other)
        thread.start()
        workspace.write(second, b"y", base=None)  # would wait for itself otherwise
        order.append("holder")
    thread.join(10)
    assert order == ["holder", "other"]


INCREMENT = """
import sys
from pathlib import Path
from toolroll.errors import StaleFile
from toolroll.workspace.workspace import Workspace
with Workspace(sys.argv[1], state=Path(sys.argv[2])) as workspace:
    path, done = workspace.path("count"), 0
    while done < 25:
        content = workspace.read(path)
        try: workspace.write(path, b"%d" % (int(content.data) + 1), base=content.hash)
        except StaleFile: continue
        done += 1
"""


def test_C4_processes_that_write_at_once_lose_nothing(workspace: Workspace, folder: Path) -> None:
    (folder / "count").write_bytes(b"0")
    command = [sys.executable, "-c", INCREMENT, str(folder), str(workspace.state)]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(200) for process in running] == [0, 0, 0]
    assert (folder / "count").read_bytes() == b"75"
