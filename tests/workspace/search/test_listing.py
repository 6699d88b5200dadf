"""What is in a folder, and files by name."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.workspace.conftest import Opening
from tests.workspace.nasty import LINKS, ODD_NAMES, TEXTS, write_nasty

from toolroll.errors import ArgumentsRefused, FileMissing, NotAFile, PathRefused
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.limits import Limits
from toolroll.workspace.search.find import find_files
from toolroll.workspace.search.listing import ListedEntry, display_path, list_folder
from toolroll.workspace.search.survey import Deadline, Survey
from toolroll.workspace.search.tree import FileStamp, stamp_files, tracked_paths
from toolroll.workspace.search.walk import Skipped, walk
from toolroll.workspace.workspace import Workspace


def write(folder: Path, *names: str, content: str = "") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


async def names_in(workspace: Workspace, folder: str = "", *, recursive: bool = False) -> list[str]:
    listing = await list_folder(workspace, workspace.folder(folder), recursive=recursive)
    return [str(entry.path) for entry in listing.entries]


async def found(workspace: Workspace, pattern: str, folder: str = "") -> list[str]:
    return [str(path) for path in (await find_files(workspace, pattern, folder=workspace.folder(folder))).paths]


async def test_C11_type_size_and_date_folders_first(workspace: Workspace, folder: Path) -> None:
    write(folder, "b.txt", "z/c.txt", content="four")
    os.utime(folder / "b.txt", ns=(0, 5))
    listing = await list_folder(workspace)
    first, second = listing.entries
    assert (str(first.path), first.kind) == ("z", "folder")
    assert second == ListedEntry(path=workspace.path("b.txt"), kind="file", size=4, mtime_ns=5)
    assert (listing.total, listing.more, listing.next_offset, listing.skipped) == (2, 0, None, Skipped())
    assert await names_in(workspace, "z") == ["z/c.txt"]
    assert (await list_folder(workspace, recursive=True)).entries[0] == second


@pytest.mark.parametrize("recursive", [False, True])
async def test_C11_pages_of_a_hundred_join_to_the_whole(workspace: Workspace, folder: Path, recursive: bool) -> None:
    write(folder, *[f"{number:03}.txt" for number in range(250)])
    pages = [await list_folder(workspace, recursive=recursive, offset=offset) for offset in (0, 100, 200)]
    assert [(len(page.entries), page.more, page.next_offset) for page in pages] == [
        (100, 150, 100),
        (100, 50, 200),
        (50, 0, None),
    ]
    assert [str(entry.path) for page in pages for entry in page.entries] == sorted(os.listdir(folder))
    beyond = await list_folder(workspace, recursive=recursive, offset=300)
    assert (beyond.entries, beyond.more, beyond.total) == ((), 0, 250)


async def test_C11_what_is_wrong_is_told(workspace: Workspace, folder: Path) -> None:
    write(folder, "file.txt")
    os.mkfifo(folder / "pipe")
    for recursive in (False, True):
        with pytest.raises(NotAFile, match="is a file, and a folder is needed"):
            await list_folder(workspace, workspace.path("file.txt"), recursive=recursive)
        with pytest.raises(NotAFile):
            await list_folder(workspace, workspace.path("pipe"), recursive=recursive)
        with pytest.raises(FileMissing, match=r"Did you mean 'file\.txt'"):
            await list_folder(workspace, workspace.path("files.txt"), recursive=recursive)
        with pytest.raises(ArgumentsRefused):
            await list_folder(workspace, recursive=recursive, offset=-1)
        with pytest.raises(PathRefused):
            await list_folder(workspace, workspace.path(".git"), recursive=recursive)


async def test_C11_XF1_XP10_special_files_have_their_type_and_odd_names_are_escaped(
    workspace: Workspace, folder: Path
) -> None:
    write_nasty(folder)
    entries = {entry.path.name: entry for entry in (await list_folder(workspace)).entries}
    assert {name: entries[name].kind for name in ("pipe", "socket", *LINKS, "deep", "-e")} == {
        "pipe": "pipe",
        "socket": "socket",
        "deep": "folder",
        "-e": "file",
    } | dict.fromkeys(LINKS, "link")
    for odd in ODD_NAMES:
        shown = display_path(entries[os.fsdecode(odd)].path)
        assert shown.isprintable()
    assert display_path(entries["\x1b[31mred.txt"].path) == "‹U+001B›[31mred.txt"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sp.txt ", "sp.txt‹U+0020›"),
        ("  a b", "‹U+0020›‹U+0020›a b"),
        ("d / e/f", "d‹U+0020›/‹U+0020›e/f"),
        (" ", "‹U+0020›"),
        ("a\u2003", "a‹U+2003›"),
        ("a b/c", "a b/c"),
    ],
)
def test_C11_XP7_blanks_around_a_name_are_seen(name: str, shown: str) -> None:
    assert display_path(RelativePath(parts=tuple(name.split("/")))) == shown


async def test_C11_XF1_below_a_folder_are_all_nasty_files_and_the_rest_has_its_type(
    workspace: Workspace, folder: Path
) -> None:
    write_nasty(folder)
    kinds = {str(entry.path): entry.kind for entry in (await list_folder(workspace, recursive=True)).entries}
    files = set(TEXTS) | {os.fsdecode(name) for name in ODD_NAMES}
    assert {kinds[name] for name in files} == {"file"}
    rest = {name: kind for name, kind in kinds.items() if kind != "file"}
    assert rest == dict.fromkeys(LINKS, "link") | {"pipe": "pipe", "socket": "socket"}
    assert await names_in(workspace, "link-to-folder", recursive=True) == [
        next(n for n in TEXTS if n.startswith("deep"))
    ]


async def test_C11_XF1_both_forms_show_what_is_no_file(opened: Opening, folder: Path) -> None:
    workspace = opened("secret/**", "*.key")
    write(folder, ".gitignore", content="*.sock\nignored/\n")
    for name in ("empty", "deep/er", "ignored/below", "secret/below", "node_modules/p"):
        (folder / name).mkdir(parents=True)
    for name in ("pipe", "deep/pipe", "ignored/pipe", "a.sock", "b.key", "secret/pipe"):
        os.mkfifo(folder / name)
    (folder / "deep/out").symlink_to("/etc/passwd")
    listing = await list_folder(workspace, recursive=True)
    assert [(str(entry.path), entry.kind) for entry in listing.entries] == [
        (".gitignore", "file"),
        ("deep/er", "folder"),
        ("deep/out", "link"),
        ("deep/pipe", "pipe"),
        ("empty", "folder"),
        ("pipe", "pipe"),
    ]
    inner = await list_folder(workspace, workspace.path("deep"), recursive=True)
    assert [str(entry.path) for entry in inner.entries] == ["deep/er", "deep/out", "deep/pipe"]
    assert await names_in(workspace, "empty", recursive=True) == []


async def test_C11_what_was_removed_meanwhile_is_no_entry(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a", "b", "c", "d")
    monkeypatch.setattr("toolroll.workspace.search.listing.walk", removing(folder / "b"))
    listing = await list_folder(workspace, recursive=True)
    assert ([str(entry.path) for entry in listing.entries], listing.total, listing.more) == (["a", "c", "d"], 3, 0)
    monkeypatch.setattr("toolroll.workspace.search.find.walk", removing(folder / "c"))
    found = await find_files(workspace, "*")
    assert ([str(path) for path in found.paths], found.total, found.more) == (["a", "d"], 2, 0)


def removing(path: Path) -> Callable[..., Awaitable[Survey]]:
    """The walk, and a file that goes right after it."""

    async def walk_and_remove(workspace: Workspace, start: str, clock: Deadline) -> Survey:
        walked = await walk(workspace, start, clock)
        path.unlink()
        return walked

    return walk_and_remove


async def test_C2_ignore_files_count_nested_and_negated(workspace: Workspace, folder: Path) -> None:
    write(folder, "keep.log", "drop.log", "sub/drop.log", "sub/kept.txt", "sub/hidden.txt", "build/x.js", ".dotted")
    (folder / ".gitignore").write_text("*.log\n!keep.log\n")
    (folder / "sub/.ignore").write_text("hidden.txt\n")
    write(folder, "node_modules/p/index.js", "__pycache__/a.pyc", "lib/build/y.js")
    assert sorted(await names_in(workspace, recursive=True)) == [
        ".dotted",
        ".gitignore",
        "keep.log",
        "lib/build/y.js",
        "sub/.ignore",
        "sub/kept.txt",
    ]
    (folder / ".ignore").write_text("!build/\n")
    assert "build/x.js" in await names_in(workspace, recursive=True)


async def test_C2_a_single_folder_is_listed_whole_with_marks(workspace: Workspace, folder: Path) -> None:
    write(folder, "node_modules/p/index.js", "build/x", "src/build/x", "out")
    marks = {entry.path.name: entry.ignored for entry in (await list_folder(workspace)).entries}
    assert marks == {"node_modules": True, "build": True, "src": False, "out": False}
    [inner] = (await list_folder(workspace, workspace.path("src"))).entries
    assert not inner.ignored


async def test_C2_what_the_ignore_files_name_is_marked_file_or_folder(workspace: Workspace, folder: Path) -> None:
    write(folder, ".git/HEAD", "a.log", "b.txt", "build/x", "made/x", "sub/a.log", "sub/keep.log")
    (folder / ".gitignore").write_text("*.log\nmade/\n")
    (folder / ".ignore").write_text("!build/\n")
    (folder / "sub/.gitignore").write_text("!keep.log\n")
    marked = [str(entry.path) for entry in (await list_folder(workspace)).entries if entry.ignored]
    assert marked == ["made", "a.log"]
    [mark] = [entry for entry in (await list_folder(workspace, workspace.path("sub"))).entries if entry.ignored]
    assert str(mark.path) == "sub/a.log"
    assert (await list_folder(workspace, recursive=True)).skipped == Skipped(ignored=3)


async def test_C2_ignore_files_above_count_only_inside_a_repository(folder: Path, tmp_path: Path) -> None:
    write(folder, "a.log", "a.txt")
    (tmp_path / ".gitignore").write_text("*.log\n")
    with Workspace(folder, state=tmp_path / "state") as workspace:
        assert await names_in(workspace, recursive=True) == ["a.log", "a.txt"]
        (tmp_path / ".git").mkdir()
        assert await names_in(workspace, recursive=True) == ["a.txt"]


async def test_C2_the_ignore_files_of_the_workspace_count_below_its_folders_without_a_repository_too(
    workspace: Workspace, folder: Path
) -> None:
    write(folder, "sub/a.log", "sub/b.txt", "sub/only.txt", "sub/keep.log", "sub/build/x")
    (folder / ".gitignore").write_text("*.log\n/sub/only.txt\n")
    assert await names_in(workspace, "sub", recursive=True) == ["sub/b.txt", "sub/build/x"]
    (folder / ".ignore").write_text("!keep.log\n")
    assert await names_in(workspace, "sub", recursive=True) == ["sub/b.txt", "sub/build/x", "sub/keep.log"]
    (folder / ".gitignore").unlink()
    (folder / ".gitignore").mkdir()  # no file: nothing is read from it
    assert "sub/only.txt" in await names_in(workspace, "sub", recursive=True)


async def test_C2_an_empty_answer_says_why(opened: Opening, folder: Path) -> None:
    workspace = opened("secret/**")
    write(folder, "node_modules/a.js", "node_modules/b.js", "secret/c.js", ".git/config")
    assert (await list_folder(workspace, recursive=True)).skipped == Skipped(ignored=2, denied=1)
    nothing = await find_files(workspace, "b.js")
    assert (nothing.total, nothing.searched, nothing.skipped) == (0, 0, Skipped(ignored=1, denied=1))
    assert nothing.skipped.total == 2


async def test_C13_wildcards(workspace: Workspace, folder: Path) -> None:
    write(folder, "main.py", "src/app.py", "src/deep/app.test.ts", "src/deep/view.tsx", "README.md")
    assert await found(workspace, "*.py") == ["main.py", "src/app.py"]
    assert await found(workspace, "**/*.py") == ["main.py", "src/app.py"]
    assert await found(workspace, "src/*.py") == ["src/app.py"]
    assert await found(workspace, "src/**") == ["src/app.py", "src/deep/view.tsx", "src/deep/app.test.ts"]
    assert await found(workspace, "?ain.py") == ["main.py"]
    assert await found(workspace, "*.{ts,tsx}") == ["src/deep/view.tsx", "src/deep/app.test.ts"]
    assert await found(workspace, "*.py, *.md") == ["main.py", "README.md", "src/app.py"]
    assert await found(workspace, "deep/*", "src") == ["src/deep/view.tsx", "src/deep/app.test.ts"]
    assert await found(workspace, "readme*") == ["README.md"]
    assert await found(workspace, "DEEP/*.TS?", "src") == ["src/deep/view.tsx"]
    assert await found(workspace, "deep/*.t", "src") == []


async def test_C13_names_with_brackets_are_found_as_they_are(workspace: Workspace, folder: Path) -> None:
    write(folder, "app/[id]/page.tsx", "app/[...slug]/view.tsx", "app/i/page.tsx", "{a,b}.txt")
    assert await found(workspace, "app/[id]/page.tsx") == ["app/i/page.tsx", "app/[id]/page.tsx"]
    assert await found(workspace, "[...slug]/*", "app") == ["app/[...slug]/view.tsx"]
    assert await found(workspace, "app/[ID]/*") == ["app/i/page.tsx", "app/[id]/page.tsx"]
    assert await found(workspace, "[id]") == ["app/[id]/page.tsx"]
    assert await found(workspace, "{a,b}.txt") == ["{a,b}.txt"]
    assert await found(workspace, "[") == ["app/[id]/page.tsx", "app/[...slug]/view.tsx"]
    assert await found(workspace, "[x]") == []


async def test_C13_case_of_letters_matters_last(workspace: Workspace, folder: Path) -> None:
    write(folder, "a/Api.ts", "b/c/api.ts")
    assert await found(workspace, "api*") == ["b/c/api.ts", "a/Api.ts"]
    assert await found(workspace, "api.ts") == ["b/c/api.ts", "a/Api.ts"]


async def test_C13_a_part_of_a_name_most_relevant_first(workspace: Workspace, folder: Path) -> None:
    write(folder, "x/user", "user.py", "deep/er/users.py", "a/superuser.py", "user/other.py", "none.py", "b/User")
    assert await found(workspace, " user ") == [
        "x/user",
        "b/User",
        "user.py",
        "deep/er/users.py",
        "a/superuser.py",
        "user/other.py",
    ]
    assert await found(workspace, "er/users") == ["deep/er/users.py"]


async def test_C13_more_than_fit_are_counted(workspace: Workspace, folder: Path) -> None:
    write(folder, *[f"{number}.txt" for number in range(5)])
    result = await find_files(workspace, "*.txt", limit=2)
    assert (len(result.paths), result.total, result.more, result.searched) == (2, 5, 3, 5)
    with pytest.raises(ArgumentsRefused, match="empty"):
        await find_files(workspace, "  ")


async def test_C44_a_walk_has_an_end(opened: Opening, folder: Path) -> None:
    write(folder, *[f"{number}.txt" for number in range(9)])
    workspace = opened(limits=Limits(walk_files=3))
    result = await find_files(workspace, "*.txt")
    assert (result.total, result.skipped.timed_out) == (3, True)
    assert len(list(tracked_paths(workspace))) == 3
    out_of_time = await walk(workspace, "", Deadline(seconds=0))
    assert (out_of_time.names, out_of_time.is_complete) == ([], False)


def test_C2_the_files_that_count_have_stamps(opened: Opening, folder: Path) -> None:
    workspace = opened("secret.txt")
    write(folder, "a/x.py", "secret.txt", "node_modules/y.js", content="12345")
    os.utime(folder / "a/x.py", ns=(0, 7))
    assert [workspace.path("a/x.py")] == list(tracked_paths(workspace))
    assert list(tracked_paths(workspace, workspace.path("a"))) == list(tracked_paths(workspace))
    (folder / "folder").mkdir()
    stamped = stamp_files(workspace, ["gone", "folder", "a/x.py"])
    assert [FileStamp(name="a/x.py", size=5, mtime_ns=7)] == list(stamped)
