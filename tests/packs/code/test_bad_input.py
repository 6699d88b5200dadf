"""Every tool with every kind of bad input: a clear failure with what to try next, nobody asked, nothing changed."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from tests.packs.code.conftest import BY_NAME, coding, files_of, refuse_data
from tests.packs.code.test_nasty import ASKED, WITH_PATH, snapshot, tried, without_rights
from tests.workspace.nasty import BINARY, LINKS, MISSING_OR_OUTSIDE, TEXTS, write_nasty

from toolroll.errors import FileSystemRefused, LockTimeout, ToolFailure
from toolroll.kernel.approval.request import Reject
from toolroll.messages import FILE_LOCKED
from toolroll.packs.code.failures import tool_errors
from toolroll.packs.code.keys import INDEX, WORKSPACE
from toolroll.safe.sqlite import DatabaseDamaged
from toolroll.workspace.symbols.store import Store

Arguments: TypeAlias = dict[str, object]

PASSAGE: Final[Arguments] = {"old_string": "x = 1", "new_string": "y"}
WHOLE: Final[Arguments] = {"content": "y\n"}
ON_FILES: Final[dict[str, Arguments]] = {
    "read_file": {},
    "outline": {},
    "edit": PASSAGE,
    "edit_file": {**WHOLE, "description": "d"},
    "apply_changes: passage": PASSAGE,
    "apply_changes: whole": WHOLE,
}
ON_FOLDERS: Final[dict[str, Arguments]] = {"list_files": {}, "find_files": {"pattern": "*"}}
MAKING: Final[dict[str, Arguments]] = {
    "create_file": {**WHOLE, "description": "d"},
    "apply_changes: new": {**WHOLE, "create": True},
}
SEARCHING: Final[dict[str, Arguments]] = {"search_files": {"pattern": "x"}}
EVERYWHERE: Final = {"../x": "path_validation", "/etc/passwd": "path_validation", "loop": "outside_root"}
OF_FILES: Final = {
    "man.py": "file_not_found",
    "dir": "not_a_file",
    "pipe": "not_a_file",
    "pic.png": "not_text",
    "big": "file_too_large",
    "out": "outside_root",
    "dangling": "outside_root",
}
CASES: Final = (
    *((tool, path, code) for tool in ON_FILES for path, code in (EVERYWHERE | OF_FILES).items()),
    *(
        (tool, path, code)
        for tool in ON_FOLDERS
        for path, code in (EVERYWHERE | {"nowhere": "file_not_found", "main.py": "not_a_file"}).items()
    ),
    *((tool, path, code) for tool in SEARCHING for path, code in (EVERYWHERE | {"nowhere": "file_not_found"}).items()),
    *(
        (tool, path, code)
        for tool in MAKING
        for path, code in (
            EVERYWHERE | {"main.py": "file_exists", "main.py/x": "not_a_file", "dir": "file_exists"}
        ).items()
    ),
)


def call_of(tool: str, path: str, **instead: object) -> tuple[str, Arguments]:
    """The name and the arguments of a call about that path."""
    more = {**(ON_FILES | ON_FOLDERS | MAKING | SEARCHING)[tool], **instead}
    name, _, form = tool.partition(": ")
    return name, {"changes": [{"path": path, **more}], "description": "d"} if form else {"path": path, **more}


@pytest.fixture
def spoiled(folder: Path) -> Path:
    """A folder with one of each that cannot be used."""
    (folder / "dir").mkdir()
    (folder / "main.py").write_text("x = 1\n")
    (folder / "pic.png").write_bytes(b"\x89PNG\0\0")
    (folder / "big").write_bytes(b"x = 1\n" * 400_000)
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nothing")
    (folder.parent / "outside.txt").write_text("x = 1\n")
    (folder / "out").symlink_to("../outside.txt")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(("tool", "path", "code"), CASES)
async def test_C42_every_tool_says_what_is_wrong_with_a_path(tool: str, path: str, code: str, spoiled: Path) -> None:
    before = snapshot(spoiled)
    name, arguments = call_of(tool, path)
    async with coding(spoiled) as coder:
        found, message = await coder.refused(name, **arguments)
        assert found == code, message
        assert len(message.split()) > 6, "what happened, and what to try"
        assert coder.asked == []
    assert snapshot(spoiled) == before


@pytest.mark.parametrize("tool", ON_FILES)
async def test_C42_every_tool_says_that_a_file_cannot_be_read(tool: str, spoiled: Path) -> None:
    for place in (spoiled, *list(spoiled.parents)[:2]):
        place.chmod(0o755)
    (spoiled / "main.py").chmod(0)
    name, arguments = call_of(tool, "main.py")
    async with coding(spoiled) as coder:
        await coder.run.context().resolve(INDEX)  # whose folder is somebody else's then
        with without_rights():
            code, message = await coder.refused(name, **arguments)
        assert (code, "Check the permissions" in message) == ("file_system", True)


@pytest.mark.parametrize("tool", [one for one in ON_FILES if one not in {"read_file", "outline"}])
async def test_C19_C42_every_changing_tool_refuses_what_was_not_read_and_what_is_stale(
    tool: str, spoiled: Path
) -> None:
    name, arguments = call_of(tool, "main.py")
    async with coding(spoiled) as coder:
        code, message = await coder.refused(name, **arguments)
        assert (code, "Read it first" in message) == ("stale_edit", True)
        await coder.ok("read_file", path="main.py")
        (spoiled / "main.py").write_text("x = 1\nnew = 2\n")
        before = files_of(spoiled)
        code, message = await coder.refused(name, **arguments)
        assert (code, "+new = 2" in message) == ("stale_edit", True)
        assert (files_of(spoiled), coder.asked) == (before, [])


@pytest.mark.parametrize("tool", ["edit", "apply_changes: passage"])
async def test_XE2_C42_a_passage_that_is_there_twice_or_not_at_all(tool: str, spoiled: Path) -> None:
    name, arguments = call_of(tool, "main.py")
    async with coding(spoiled) as coder:
        for text, told in (("x = 1\nx = 1\n", "2 times, at lines 1, 2"), ("y\n", "finds old_string 0 times")):
            (spoiled / "main.py").write_text(text)
            await coder.ok("read_file", path="main.py")
            code, message = await coder.refused(name, **arguments)
            assert (code, told in message) == ("edit_refused", True), message
        assert coder.asked == []


NEW_TEXT: Final = {
    "edit": "new_string",
    "edit_file": "content",
    "create_file": "content",
    "apply_changes: passage": "new_string",
    "apply_changes: whole": "content",
    "apply_changes: new": "content",
}


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("tool", NEW_TEXT)
async def test_C3_C16_C17_C42_text_with_a_nul_would_lock_the_file_and_is_refused(
    tool: str, by_person: bool, spoiled: Path
) -> None:
    path = "new.py" if tool in MAKING else "main.py"
    name, arguments = call_of(tool, path, **{NEW_TEXT[tool]: "y = 1\na\0b\n"})
    async with coding(spoiled, by_person=by_person) as coder:
        await coder.ok("read_file", path="main.py")
        before = snapshot(spoiled)
        code, message = await coder.refused(name, **arguments)
        assert (code, coder.asked) == ("edit_refused", [])
        assert "has a NUL character (U+0000) in it" in message
        assert message.endswith(r"Leave it out, or write it as the language of the file spells it, such as \0 or \x00.")
        assert snapshot(spoiled) == before
        await coder.ok("edit", path="main.py", old_string="x = 1", new_string="x = 2")


@pytest.mark.parametrize("pattern", ["(", "[", "a{2", "*", r"\p{Nope}", "(?<n>a)(?P<n>b)", "", "\0", "a" + "(b" * 300])
async def test_C12_C42_a_pattern_that_makes_no_sense(pattern: str, spoiled: Path) -> None:
    async with coding(spoiled) as coder:
        result = await tried(coder, "search_files", pattern=pattern)
        assert (result.is_error, result.code) == (True, "invalid_arguments"), result.text


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("asked", ["", " ", "\0", "a\nb", "\u202e", "\x1b[2J"])
async def test_C42_what_is_no_name_is_refused(name: str, asked: str, spoiled: Path) -> None:
    async with coding(spoiled) as coder:
        assert (await tried(coder, name, **{ASKED[name]: asked})).code == "invalid_arguments"


@pytest.mark.parametrize("budget", [0, 99, 20_001, -1, "many"])
async def test_C42_a_map_of_no_sensible_size(budget: object, spoiled: Path) -> None:
    async with coding(spoiled) as coder:
        assert (await tried(coder, "repo_map", budget=budget)).code == "invalid_arguments"


def nasty_changes(path: str) -> Iterator[Arguments]:
    yield {"path": path, "old_string": "needle", "new_string": "pin"}
    yield {"path": path, "content": "all new\n"}
    yield {"path": path, "content": "made\n", "create": True}


async def test_XP3_XF1_C32_the_nasty_files_through_several_changes_at_once(folder: Path) -> None:
    """Each beside a change that is fine: none of it happens, as whoever is asked says no."""
    nasty = write_nasty(folder)
    (nasty / "fine.txt").write_text("fine\n")
    before = snapshot(nasty)
    async with coding(nasty, Reject()) as coder:
        await coder.ok("read_file", path="fine.txt")
        fine = {"path": "fine.txt", "old_string": "fine", "new_string": "finer"}
        for path in (*TEXTS, *BINARY, *LINKS, "pipe", "socket", "deep", "lf.txt/below", "."):
            await coder("read_file", path=path)
            for change in nasty_changes(path):
                result = await tried(coder, "apply_changes", changes=[fine, change], description="d")
                assert result.is_error, (path, change)
                if path in MISSING_OR_OUTSIDE:
                    assert result.code == "outside_root", (path, result.text)
    assert snapshot(nasty) == before


def test_C42_no_tool_is_left_out() -> None:
    tried_here = {tool.partition(":")[0] for tool in (*ON_FILES, *ON_FOLDERS, *MAKING, *SEARCHING)}
    assert {*tried_here, *ASKED, "repo_map"} == set(BY_NAME)
    assert {*WITH_PATH, *ASKED, "repo_map", "apply_changes"} == set(BY_NAME)


@pytest.mark.parametrize("name", ["data folder", "history"])
async def test_C42_XF8_trouble_with_our_own_data_is_told_without_the_way_to_it(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """The first fails with an error of the system, also for root; the second with one of SQLite."""
    if name == "data folder":
        refuse_data(tmp_path)
    (folder / "a.py").write_text("x = 1\n")
    async with coding(folder, by_person=True) as coder:
        if name == "history":
            workspace = await coder.run.context().resolve(WORKSPACE)
            (workspace.state / "history.sqlite3").write_bytes(b"no database" * 1_000)
        code, message = await coder.refused("edit", path="a.py", old_string="1", new_string="2")
    assert code == ("file_system" if name == "data folder" else "journal")
    assert "'<data folder>/" in message
    assert "This is about toolroll's own data folder, not about the project." in message
    assert str(tmp_path) not in message
    assert (folder / "a.py").read_text() == "x = 1\n"


async def test_C23_XF8_an_index_that_fails_fails_no_edit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(self: Store, name: str) -> int:
        raise DatabaseDamaged("torn")

    monkeypatch.setattr(Store, "fact", damaged)
    (folder / "a.py").write_text("x = 1\n")
    async with coding(folder, by_person=True) as coder:
        await coder.ok("edit", path="a.py", old_string="1", new_string="2")
        code, message = await coder.refused("repo_map")
    assert (code, "'<data folder>/symbols.sqlite3' cannot be used: torn. Remove that file." in message) == (
        "file_system",
        True,
    )


def test_C42_who_holds_a_lock_is_told_without_the_way_to_it() -> None:
    with pytest.raises(ToolFailure) as caught, tool_errors():
        raise LockTimeout(FILE_LOCKED(path="/home/me/.local/share/x.lock", holder="process 7", seconds=10))
    assert caught.value.content == {
        "error": True,
        "message": "'<data folder>/x.lock' is locked by process 7 for more than 10 s. Wait for it, or end it.",
    }


def test_C42_a_message_without_values_is_not_repeated() -> None:
    with pytest.raises(ToolFailure) as caught, tool_errors():
        raise FileSystemRefused("/home/me/x is full", path="/home/me/x", errno_name="ENOSPC")
    assert "/home/me" not in str(caught.value.content)
    assert "'<data folder>/x'" in str(caught.value.content)
