"""Remembered approvals: narrow, bound to a workspace, outside of it, and never lost to a broken file."""

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import DefinitionError, FileProblem, JsonRefused, UsageError
from toolroll.home.rules import MAX_RULES_BYTES, RememberedRule, RuleBook, path_problem, workspace_key
from toolroll.kernel.approval.policy import Policy, Rule

ADDED = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def remembered(
    tool: str = "write_note",
    path: str = "notes/*.txt",
    workspace: str = "/work/space",
    fingerprint: str = "f1",
    place: str = "/home/me/tools.py",
) -> RememberedRule:
    return RememberedRule(tool=tool, fingerprint=fingerprint, place=place, path=path, workspace=workspace, added=ADDED)


TOOL = remembered().identity


@pytest.fixture
def book(tmp_path: Path) -> RuleBook:
    return RuleBook(tmp_path / "home" / "config")


def stored(book: RuleBook, text: str | bytes, mode: int = 0o600) -> bytes:
    """Put a text where the rules are; returns its bytes, to compare with later."""
    data = text.encode() if isinstance(text, str) else text
    book.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    book.path.write_bytes(data)
    book.path.chmod(mode)
    return data


def document(**changes: object) -> str:
    rule = {"action": "allow", "tool": "t", "path": "a.txt", "workspace": "/w", "added": "2026-03-01T12:30:00Z"}
    return json.dumps({"version": 2, "rules": [rule | {"fingerprint": "f", "place": "pack p"} | changes]})


def test_K43_what_is_remembered_comes_back_and_is_private(book: RuleBook) -> None:
    assert book.rules() == ()
    assert not book.path.parent.exists(), "reading makes nothing"
    first, second = remembered(), remembered(path="notes/a b.txt")
    assert [book.add(first), book.add(second)] == [True, True]
    assert (first, second) == book.rules()
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.path.parent.stat().st_mode) == 0o700
    assert {"version", "rules"} == set(json.loads(book.path.read_text()))


def test_K43_remembering_twice_keeps_one_and_forgetting_takes_it_away(book: RuleBook) -> None:
    book.add(remembered())
    later = RememberedRule.for_tool(TOOL, path="notes/*.txt", workspace="/work/space", added=datetime.now(UTC))
    assert not book.add(later)
    assert (remembered(),) == book.rules()
    assert book.remove(later)
    assert not book.remove(later)
    assert book.rules() == ()


def test_K43_a_rule_counts_in_its_own_workspace_only(book: RuleBook) -> None:
    book.add(remembered(workspace="/work/one"))
    assert (Rule(action="allow", tool="write_note", path="notes/*.txt"),) == book.rules_for("/work/one", [TOOL])
    for other in ("/work", "/work/one/sub", "/work/one-evil", "/work/One"):
        assert book.rules_for(other, [TOOL]) == ()


def test_K43_a_rule_counts_for_the_code_it_was_given_for_only(book: RuleBook) -> None:
    """Another tool may bear the same name, and the same one may become another."""
    book.add(remembered())
    for other in (
        remembered(place="/home/me/other.py"),
        remembered(place="pack standard"),
        remembered(fingerprint="f2"),
        remembered(tool="write_notes"),
    ):
        assert book.rules_for("/work/space", [other.identity]) == ()
        assert book.add(other), "none of them is the same leave"
    assert len(book.rules_for("/work/space", [TOOL])) == 1
    assert book.rules_for("/work/space", []) == ()


@pytest.mark.parametrize("place", ["", " /a", "/a\nb", "/bad\udcff"])
def test_K43_a_rule_is_bound_to_a_place_that_can_be_seen(place: str) -> None:
    with pytest.raises(UsageError, match="no place in plain characters"):
        remembered(place=place)


def test_K43_rules_of_the_older_form_count_for_nothing_and_go_with_a_change(book: RuleBook) -> None:
    stored(book, document(fingerprint=None).replace('"version": 2', '"version": 1'))
    assert (book.rules(), book.count_outdated()) == ((), 1)
    book.add(remembered())
    assert (book.rules(), book.count_outdated()) == ((remembered(),), 0)
    assert json.loads(book.path.read_text())["version"] == 2


def test_K43_XA4_a_remembered_rule_never_beats_a_deny(book: RuleBook) -> None:
    book.add(remembered())
    allowed = Policy(book.rules_for("/work/space", [TOOL]))
    denied = allowed.plus([Rule(action="deny", path="notes/**")])
    assert allowed.judge("write_note", effect="writes", paths=["notes/a.txt"]).action == "allow"
    assert allowed.judge("write_note", effect="writes", paths=["notes/a.txt", "other.txt"]).action == "ask"
    assert allowed.judge("other_tool", effect="writes", paths=["notes/a.txt"]).action == "ask"
    assert denied.judge("write_note", effect="writes", paths=["notes/a.txt"]).action == "deny"


@pytest.mark.parametrize(
    "path",
    [
        *("", "*", "**", "**/*", "*.*", "?", "/etc/passwd", "a//b", "a/", "../a", "a/../b", "./a"),
        *(" a", "a\n", "a\tb", "a\u202eb", "a\u200bb", "a\x1b[31mb", "a" + " " * 100 + "b"),
    ],
)
def test_K43_only_narrow_and_visible_leave_can_be_remembered(path: str) -> None:
    assert path_problem(path)
    with pytest.raises(UsageError, match="cannot be remembered") as refused:
        remembered(path=path)
    assert "\x1b" not in refused.value.message


@pytest.mark.parametrize("path", ["a", "*.py", "src/**", "**/test_*.py", "нотатки/*.md", "a b/c.txt"])
def test_K43_narrow_globs_can_be_remembered(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize("workspace", ["", "here", "/a\nb", "/bad\udcff"])
def test_K43_a_rule_is_bound_to_a_whole_path(workspace: str) -> None:
    with pytest.raises(UsageError, match="whole path"):
        remembered(workspace=workspace)


def test_K43_a_rule_is_for_one_tool() -> None:
    with pytest.raises(DefinitionError):
        remembered(tool="*")


def test_a_workspace_has_one_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert workspace_key(tmp_path / "real") == workspace_key(tmp_path / "link" / "." / ".." / "real")


BROKEN = {
    "empty": "",
    "cut off": document()[:-10],
    "array": "[]",
    "trailing": document() + "x",
    "byte order mark": "\ufeff" + document(),
    "duplicate key": '{"version": 2, "version": 2, "rules": []}',
    "no version": '{"rules": []}',
    "old version": '{"version": 0, "rules": []}',
    "newer version": '{"version": 3, "rules": [], "more": true}',
    "true as version": '{"version": true, "rules": []}',
    "extra field": '{"version": 2, "rules": [], "more": 1}',
    "deny": document(action="deny"),
    "every tool": document(tool="*"),
    "every path": document(path="**"),
    "no path": document(path=None),
    "relative workspace": document(workspace="w"),
    "no place in sight": document(place=" "),
    "no zone": document(added="2026-03-01T12:30:00"),
    "number as time": document(added=1),
    "too large": " " * (MAX_RULES_BYTES + 1),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_K43_a_broken_file_is_reported_and_never_overwritten(text: str, book: RuleBook) -> None:
    before = stored(book, text)
    for use in (book.rules, lambda: book.add(remembered()), lambda: book.remove(remembered())):
        with pytest.raises((JsonRefused, FileProblem)) as refused:
            use()
        assert "rules.json" in refused.value.message
    assert before == book.path.read_bytes()


def test_K43_a_file_that_is_not_text_is_reported(book: RuleBook) -> None:
    stored(book, b'{"version": 2, "rules": ["\xff"]}')
    with pytest.raises(JsonRefused, match="Repair the file or move it away"):
        book.rules()


def test_K43_a_file_that_others_can_write_grants_nothing(book: RuleBook) -> None:
    stored(book, document(), mode=0o666)
    with pytest.raises(JsonRefused, match="chmod 600"):
        book.rules()


def test_K43_a_link_in_its_place_is_refused(book: RuleBook, tmp_path: Path) -> None:
    """A workspace's file must not become the rules."""
    book.path.parent.mkdir(parents=True, mode=0o700)
    (tmp_path / "planted.json").write_text(document())
    book.path.symlink_to(tmp_path / "planted.json")
    with pytest.raises(FileProblem):
        book.rules()


def test_K43_processes_that_remember_at_once_lose_nothing(book: RuleBook) -> None:
    code = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from toolroll.home.rules import RememberedRule, RuleBook
for number in range(10):
    path, added = f"{sys.argv[2]}/{number}", datetime.now(UTC)
    rule = RememberedRule(tool="t", fingerprint="f", place="pack p", path=path, workspace="/w", added=added)
    RuleBook(Path(sys.argv[1])).add(rule)
"""
    command = [sys.executable, "-c", code, str(book.path.parent)]
    children = [subprocess.Popen([*command, str(number)]) for number in range(3)]
    assert [child.wait(timeout=200) for child in children] == [0, 0, 0]
    assert len(book.rules()) == 30


def test_the_users_own_book_is_in_the_configuration(tmp_path: Path) -> None:
    book = RuleBook.from_environment({"TOOLROLL_HOME": str(tmp_path)})
    assert tmp_path / "config" / "rules.json" == book.path


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=5))
def test_K43_whatever_can_be_made_survives_the_file(pairs: list[tuple[str, str]]) -> None:
    """What the constructor lets pass is written and read back unchanged."""
    import tempfile

    made = []
    for path, workspace in pairs:
        try:
            made.append(remembered(path=path, workspace="/" + workspace))
        except UsageError:
            continue
    with tempfile.TemporaryDirectory() as folder:
        book = RuleBook(Path(folder))
        os.chmod(folder, 0o700)
        new = [rule for rule in made if book.add(rule)]
        assert tuple(new) == book.rules()
