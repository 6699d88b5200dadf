"""Trees made to hang, to exhaust or to mislead whoever walks through them: each tool answers, and tells nothing."""

import asyncio
import os
import subprocess
import time
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.safe.paths.test_races import app, swapping
from tests.workspace.conftest import Opening

from toolroll.errors import RootGone, ToolFailure, ToolrollError
from toolroll.safe.paths import scan
from toolroll.safe.programs.ripgrep import RipgrepEnd, collect_ripgrep
from toolroll.workspace.limits import Limits
from toolroll.workspace.search import matching, survey
from toolroll.workspace.search.find import find_files
from toolroll.workspace.search.listing import list_folder
from toolroll.workspace.search.search import SearchResult, search
from toolroll.workspace.search.tree import tracked_paths
from toolroll.workspace.search.walk import Skipped
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.symbols.source_files import find_files_with
from toolroll.workspace.workspace import Workspace

__all__ = ["app"]

MOST_BYTES_A_NAME = 1_000
LOOKS = 11


async def looked_through(workspace: Workspace) -> dict[str, object]:
    """What each way to look around finds."""
    return {
        "list": [str(one.path) for one in (await list_folder(workspace)).entries],
        "list below": [str(one.path) for one in (await list_folder(workspace, recursive=True)).entries],
        "find": [str(path) for path in (await find_files(workspace, "*.py")).paths],
        "search": [str(file.path) for file in (await search(workspace, "tea")).files],
        "symbols": [str(path) for path in find_files_with(workspace, ["--regexp=tea"], 9)[0]],
        "tracked": sorted(map(str, tracked_paths(workspace))),
    }


def link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link_outside(path: Path) -> None:
    (path.parent.parent / "outside").write_text("a.py\n")
    path.symlink_to("../outside")


def huge(path: Path) -> None:
    path.write_text("a.py\n" + "x" * 6_000_000)


def too_many_patterns(path: Path) -> None:
    path.write_text("a.py\n" + "b\n" * 5_000)


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".rgignore"])
@pytest.mark.parametrize("make", [os.mkfifo, link_to_zeros, link_outside, huge, too_many_patterns])
async def test_XF10_XF11_an_ignore_file_that_is_none_costs_nothing_and_tells_nothing(
    workspace: Workspace, folder: Path, name: str, make: Callable[[Path], None]
) -> None:
    (folder / "a.py").write_text("tea")
    make(folder / name)
    found = await looked_through(workspace)
    for way in ("find", "search", "symbols"):
        assert found[way] == ["a.py"], way
    assert set(found["list"]) == {"a.py", name}  # type: ignore[call-overload]  # a list of names
    assert (await list_folder(workspace, recursive=True)).skipped == Skipped(unread_ignores=1)
    assert [one.ignored for one in (await list_folder(workspace)).entries] == [False, False]


@pytest.mark.parametrize("depth", [127, 130, 600])
async def test_XF13_a_deep_tree_disables_nothing(workspace: Workspace, folder: Path, depth: int) -> None:
    (folder / "a.py").write_text("tea")
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("deep.py", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    found = await looked_through(workspace)
    assert found["search"] == ["a.py"]
    listing = await list_folder(workspace, recursive=True)
    assert listing.skipped == Skipped(too_deep=int(depth > 127))
    assert len(listing.entries) == (2 if depth == 127 else 1)


async def test_XF15_a_root_that_was_replaced_is_gone_for_every_tool(workspace: Workspace, folder: Path) -> None:
    (folder / "a.py").write_text("tea")
    folder.rename(folder.parent / "old")
    folder.mkdir()
    (folder / "a.py").write_text("tea")
    uses: list[Callable[[], object]] = [
        lambda: asyncio.run(list_folder(workspace)),
        lambda: asyncio.run(list_folder(workspace, recursive=True)),
        lambda: asyncio.run(find_files(workspace, "*")),
        lambda: asyncio.run(search(workspace, "tea")),
        lambda: find_files_with(workspace, ["--regexp=tea"], 9),
        lambda: list(tracked_paths(workspace)),
        lambda: workspace.read(workspace.path("a.py")),
        lambda: workspace.find_status(workspace.path("a.py")),
    ]
    for use in uses:
        with pytest.raises(RootGone):
            await asyncio.to_thread(use)


async def test_XF14_a_search_that_breaks_down_is_no_answer(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.py").write_text("tea")
    end = RipgrepEnd(ended="exited", exit_code=-6, stderr="memory allocation failed\n")
    monkeypatch.setattr(matching, "collect_ripgrep", lambda *_, **__: (end, b""))
    with pytest.raises(ToolFailure, match="broke down"):
        await search(workspace, "tea")
    with pytest.raises(ToolFailure, match="broke down"):
        find_files_with(workspace, ["--regexp=tea"], 9)


async def test_XF16_a_folder_of_many_names_comes_in_pages(opened: Opening, folder: Path) -> None:
    for number in range(1_200):
        (folder / f"{number:04}").touch()
    workspace = opened(limits=Limits(page_entries=10, walk_files=1_000))
    listing = await list_folder(workspace)
    assert (len(listing.entries), listing.total, listing.more, listing.skipped.timed_out) == (10, 1_000, 990, True)
    assert (await list_folder(opened(), offset=1_100)).total == 1_200


@pytest.mark.slow
@pytest.mark.parametrize("recursive", [False, True])
async def test_XF16_many_names_take_bounded_memory(opened: Opening, folder: Path, recursive: bool) -> None:
    for number in range(10_000):
        os.mknod(folder / f"{number:05}")
    workspace = opened()
    tracemalloc.start()
    try:
        first = await list_folder(workspace, recursive=recursive)
        last = await list_folder(workspace, recursive=recursive, offset=9_990)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = workspace.limits.page_entries
    assert (len(first.entries), first.total, first.more) == (size, 10_000, 10_000 - size)
    assert ([str(one.path) for one in last.entries][-1], last.more) == ("09999", 0)
    assert peak < 10_000 * MOST_BYTES_A_NAME


def test_XF13_what_has_no_storage_is_not_walked_through() -> None:
    for path, expected in {"/proc": True, "/": False}.items():
        fd = os.open(path, os.O_RDONLY)
        assert scan.is_pseudo(fd) == expected
        os.close(fd)


def settle(folder: Path) -> None:
    """Wait until the clock of the file system has ticked since the last change."""
    while scan.mark_status(folder.stat()).is_fresh(time.time_ns()):
        time.sleep(0.001)


async def test_XF12_in_a_quiet_tree_files_are_searched_by_name_and_walks_are_kept(
    workspace: Workspace, folder: Path
) -> None:
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("tea")
    (folder / ".gitignore").write_text("*.log\n")
    settle(folder / "src")
    assert (await search(workspace, "tea")).total == 1
    kept = workspace.walks.get("")
    assert kept is not None
    assert (await search(workspace, "tea")).total == 1
    assert workspace.walks.get("") is kept
    (folder / ".gitignore").write_text("*.py\n")
    assert (await search(workspace, "tea")).total == 0
    (folder / "src/b.txt").write_text("tea")
    assert (await search(workspace, "tea")).total == 1


def test_XP16_what_changed_after_a_walk_is_searched_again_from_handles(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is a link to the outside exactly while ripgrep reads: neither a match nor a miss is believed."""
    outside = folder.parent / "outside"
    outside.mkdir()
    for place, content in {folder / "src": "tea", outside: "coffee"}.items():
        place.mkdir(exist_ok=True)
        (place / "a.py").write_text(content)
    settle(folder)
    collect = collect_ripgrep

    def swapped(*given: object, **named: object) -> object:
        if named["cwd"] is None:
            return collect(*given, **named)  # type: ignore[arg-type]  # passed on as they are
        (folder / "src").rename(folder.parent / "aside")
        (folder / "src").symlink_to(outside)
        try:
            return collect(*given, **named)  # type: ignore[arg-type]  # as above
        finally:
            (folder / "src").unlink()
            (folder.parent / "aside").rename(folder / "src")

    monkeypatch.setattr(matching, "collect_ripgrep", swapped)
    clock = survey.Deadline(seconds=60)
    for word, expected in {"tea": {"src/a.py": 1}, "coffee": {}}.items():
        seen = survey.settled_survey(workspace, "", clock)
        assert all(one.is_settled for one in seen.folders)
        query = matching.Query(pattern=[f"--regexp={word}"], limit_bytes=1_000)
        found = matching.match_files(workspace, seen, seen.names, query, clock)
        assert found.counts == expected
        settle(folder)
        survey.settled_survey(workspace, "", clock)
        assert workspace.walks.get("") is not None, "a walk that was kept is not believed either"
        assert matching.match_current_files(workspace, "", query, clock)[2].counts == expected
        settle(folder)


async def test_XF12_a_file_that_changed_shows_what_is_there_now(workspace: Workspace, folder: Path) -> None:
    (folder / "a.txt").write_text("tea\n")
    settle(folder)
    assert (await search(workspace, "tea")).total == 1
    (folder / "a.txt").write_text("coffee\ntea\ntea\n")  # in its place: no folder changes by it
    result = await search(workspace, "tea")
    assert [(line.number, line.text) for file in result.files for line in file.lines] == [(2, "tea"), (3, "tea")]
    (folder / "a.txt").write_bytes(b"tea\0")
    assert (await search(workspace, "tea")).total == 0
    (folder / "a.txt").unlink()
    (folder / "b.txt").write_text("tea\n")
    assert [str(file.path) for file in (await search(workspace, "tea")).files] == ["b.txt"]


async def test_C12_a_file_that_was_too_large_is_searched_once_it_is_not(opened: Opening, folder: Path) -> None:
    workspace = opened(limits=Limits(search_file_bytes=1_000))
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("tea" * 1_000)
    settle(folder)
    assert (await search(workspace, "tea")).skipped.too_large == 2
    (folder / "a.txt").write_text("tea")
    assert [str(file.path) for file in (await search(workspace, "tea")).files] == ["a.txt"]


ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "20"))
ANSWERS = 1 + ROUNDS // 100
"""Of each kind in a race, at least: one that is always refused proves nothing."""


async def looked_around(workspace: Workspace, index: Index) -> AsyncIterator[tuple[str, str]]:
    """Yield what each tool says of a word that is outside only, in words; not where it is refused."""
    inside = workspace.path("work/inside.py")
    looks: dict[str, Callable[[], object]] = {
        "search": lambda: search(workspace, "canary"),
        "search work": lambda: search(workspace, "canary", folder=workspace.path("work")),
        "list": lambda: list_folder(workspace, recursive=True),
        "list work": lambda: list_folder(workspace, workspace.path("work")),
        "find": lambda: find_files(workspace, "*.py"),
        "files": lambda: find_files_with(workspace, ["--regexp=canary"], 9),
        "refresh": index.refresh,
        "map": lambda: index.repo_map(1_000),
        "outline": lambda: index.outline(inside),
        "references": lambda: index.references("canary").found,
        "definitions": lambda: index.definitions("canary").found,
    }
    for name, look in looks.items():
        with suppress(ToolrollError):
            found = look()
            shown = await found if isinstance(found, Awaitable) else found
            if isinstance(shown, SearchResult):
                assert (shown.total, shown.matching_files) == (0, 0)
            yield name, str(shown)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
async def test_XP15_XP16_while_a_folder_is_swapped_no_answer_is_of_the_outside(app: Path, tmp_path: Path) -> None:
    (app / "work/inside.py").write_text("def inside(): pass\n")
    (tmp_path / "outside/inside.py").write_text("def canary(): pass\n")
    (tmp_path / "outside/only-outside.py").write_text("def canary(): pass\n")
    answers, rounds = Counter[str](), 0
    with (
        Workspace(app, state=tmp_path / "state") as workspace,
        Index.open(workspace) as index,
        swapping(app / "work", app / "trap"),
    ):
        while rounds < ROUNDS or min(answers.values(), default=0) < ANSWERS or len(answers) < LOOKS:
            rounds += 1
            async for name, shown in looked_around(workspace, index):
                answers[name] += 1
                assert "canary" not in shown, (name, shown)
                assert "only-outside" not in shown, (name, shown)


async def test_XF14_cancelling_a_search_ends_the_walk(workspace: Workspace, folder: Path) -> None:
    for number in range(200):
        (folder / f"d{number}").mkdir()
    task = asyncio.create_task(search(workspace, "tea"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_XF12_git_is_asked_for_nothing(workspace: Workspace, folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/exclude").write_text("b.py\n")
    for name in ("a.py", "b.py"):
        (folder / name).touch()
    assert sorted(map(str, tracked_paths(workspace))) == ["a.py"]
