"""What a search passed over, from its own log: the same as by walking through everything again."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workspace.conftest import Opening
from tests.workspace.nasty import write_nasty

from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.protected import PROTECTED_NAMES, is_protected
from toolroll.workspace.limits import Limits
from toolroll.workspace.search import search as searching
from toolroll.workspace.search.search import SearchResult, search
from toolroll.workspace.search.skipped import MAX_LOG_BYTES, SkipLog, count_skipped, parse_log
from toolroll.workspace.search.tree import PROTECTED_IGNORES, walk_arguments
from toolroll.workspace.search.walk import Deadline, Skipped
from toolroll.workspace.workspace import Workspace

NAMES = st.sampled_from(
    ["a.py", "b.log", "c.bin", "d", "big", ".env", ".env.prod", ".env.sample", "id_rsa", "x.pem", "o\nd: d"]
)
FOLDERS = st.sampled_from(["src", "node_modules", "secret", ".aws", "build", "__pycache__", ".git"])
PATHS = st.builds(lambda folders, name: "/".join([*folders, name]), st.lists(FOLDERS, max_size=3), NAMES)


def ignored(name: str, rule: str) -> str:
    return f"rg: DEBUG|ignore::walk|crates/ignore/src/walk.rs:2011: ignoring ./{name}: Ignore(IgnoreMatch({rule}))\n"


def test_C2_a_log_is_read_by_reason_whatever_the_names() -> None:
    lines = [
        "rg: DEBUG|globset|lib.rs:515: built glob set; 6 literals\n",
        ignored("node_modules", 'Gitignore(Glob { from: Some("./.gitignore"), original: "x" })'),
        ignored("we\nird: one", 'Gitignore(Glob { from: Some("./.gitignore"), original: "x" })'),
        ignored(".env", f'Gitignore(Glob {{ from: Some("{PROTECTED_IGNORES}"), original: ".env" }})'),
        ignored("secret", "Override(Glob(Matched(Glob { from: None })))"),
        "DEBUG|ignore::walk|walk.rs:1998: ignoring ./big: 1001 bytes\n",
        "rg: DEBUG|grep_printer::summary|summary.rs:686: ignoring ./c.bin: found binary data at offset 1\n",
        "rg: DEBUG|ignore::walk|walk.rs:2014: whitelisting ./x: Whitelist(IgnoreMatch(Gitignore(Glob {})))\n",
        "rg: ./closed: Permission denied (os error 13)\n",
    ]
    assert parse_log("".join(lines)) == SkipLog(
        ignored=("node_modules", "we\nird: one"), denied=(".env", "secret"), binary=("c.bin",), too_large=("big",)
    )
    assert parse_log("") == SkipLog()
    assert not parse_log("x" * MAX_LOG_BYTES).is_complete


@given(st.text(max_size=300))
def test_C2_no_log_fails(text: str) -> None:
    assert parse_log(text).is_complete


def test_C2_protected_names_are_passed_over_by_the_search_itself(opened: Opening, folder: Path) -> None:
    lines = [line for line in PROTECTED_IGNORES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    named = {line for line in lines if line.startswith(".env.")}
    assert set(lines) - named == {name for name in PROTECTED_NAMES if not name.strip("!").startswith(".env.")}
    assert ".env.local" in named
    assert all(is_protected(RelativePath(parts=(name,))) for name in named)
    assert f"--ignore-file={PROTECTED_IGNORES}" in walk_arguments(opened())
    with Workspace(folder, protected=()) as other:
        assert f"--ignore-file={PROTECTED_IGNORES}" not in walk_arguments(other)


async def both_ways(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> tuple[SearchResult, SearchResult]:
    """The answer as for a small project, and as for a large one."""
    small = await search(workspace, "xyzzy")
    with monkeypatch.context() as patch:
        patch.setattr(searching, "MAX_ACCOUNTED_FILES", -1)
        return small, await search(workspace, "xyzzy")


async def test_C2_in_the_nasty_corpus_the_log_says_what_a_walk_says(
    opened: Opening, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_nasty(folder)
    small, large = await both_ways(opened("secret/**", "*.deny"), monkeypatch)
    assert small == large
    assert small.searched > 10
    assert small.skipped.binary > 0


@settings(max_examples=15, deadline=None)
@given(paths=st.sets(PATHS, max_size=12))
def test_C2_in_any_project_the_log_says_what_a_walk_says(paths: set[str]) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        root = Path(name) / "app"
        for path in sorted(paths):
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"\0" if path.endswith("bin") else b"x" * (200 if path.endswith("big") else 1))
        root.mkdir(exist_ok=True)
        (root / ".gitignore").write_text("*.log\nbuild/\n")
        limits = Limits(search_file_bytes=100)
        with Workspace(root, state=Path(name) / "state", deny=["secret/**"], limits=limits) as workspace:
            small, large = asyncio.run(both_ways(workspace, patch))
    # What is denied and ignored as well is denied for the search, and nothing at all for the walk.
    assert small.skipped.denied <= large.skipped.denied
    assert small == replace(large, skipped=replace(large.skipped, denied=small.skipped.denied))


async def test_C2_XP3_an_ignored_link_is_not_followed_to_count(opened: Opening, folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "a").write_text("x")
    (folder / "node_modules").symlink_to(outside)
    log = SkipLog(ignored=("node_modules",), denied=("node_modules",))
    assert await count_skipped(opened(), log, Deadline(seconds=9)) == Skipped()


async def test_C2_more_than_can_be_counted_is_at_least_so_many(
    opened: Opening, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened()
    for number in range(5):
        (folder / f"n{number}").write_text("x")
    log = SkipLog(ignored=tuple(f"n{number}" for number in range(5)), binary=("b",))
    monkeypatch.setattr("toolroll.workspace.search.skipped._PATHS_AT_ONCE", 2)
    assert await count_skipped(workspace, log, Deadline(seconds=9)) == Skipped(ignored=5, binary=1)
    assert await count_skipped(workspace, log, Deadline(seconds=0)) == Skipped(binary=1, at_least=True)
    gone = SkipLog(ignored=("n0", "gone"))
    assert await count_skipped(workspace, gone, Deadline(seconds=9)) == Skipped(ignored=1, at_least=True)
    cut = SkipLog(ignored=("n0",), is_complete=False)
    assert await count_skipped(workspace, cut, Deadline(seconds=9)) == Skipped(ignored=1, at_least=True)
    monkeypatch.setattr("toolroll.workspace.search.skipped._NAMES_BYTES", 3)
    assert (await count_skipped(workspace, log, Deadline(seconds=9))).at_least
