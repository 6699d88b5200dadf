"""Patterns for file names, and what is said of those that are none."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.conftest import Opening

from toolroll.errors import ArgumentsRefused
from toolroll.workspace.limits import Limits
from toolroll.workspace.search.find import find_files
from toolroll.workspace.search.globs import check_glob, matches_glob
from toolroll.workspace.search.search import search
from toolroll.workspace.workspace import Workspace

BROKEN = [
    ("[", r"a '\[' is not closed within its name\. .* as in '\[\[\]id\]\.tsx'"),
    ("[]", "is not closed"),
    ("[!]", "is not closed"),
    ("*.js,src/[ab", "is not closed"),
    ("[a/b]", "is not closed within its name"),
    ("*.{py", r"a '\{' is not closed\. Write '\*\.\{ts,tsx\}'"),
    ("*.py}", "a '}' closes nothing"),
    ("{a,b}" * 8 + "*", "more than 64 names"),
    ("[z-a]*", "runs backwards"),
    ("[!9-0]none", "runs backwards"),
    (r"src\*.py", "it has a backslash. Write '/' between folders"),
]
PIECES = ["*", "?", "**", "a", "[ab]", "[!a-z]", "[[]id]", "[]]", "[a-]", "{a,b}", "{x}", ".", "é"]


@pytest.mark.parametrize(("pattern", "why"), BROKEN)
async def test_C12_C13_C42_a_broken_glob_is_told_with_what_to_write(
    pattern: str, why: str, workspace: Workspace, folder: Path
) -> None:
    (folder / "a.py").write_text("needle\n")
    with pytest.raises(ArgumentsRefused, match=rf"^The pattern .* is no glob as it stands: .*{why}"):
        await find_files(workspace, pattern)
    for place in (None, workspace.path("a.py")):
        with pytest.raises(ArgumentsRefused, match=rf"^The filePattern .* is no glob as it stands: .*{why}"):
            await search(workspace, "needle", file_pattern=pattern, folder=place)


@pytest.mark.parametrize("pattern", ["", " , "])
async def test_C12_C42_an_empty_glob_is_told_too(pattern: str, workspace: Workspace) -> None:
    with pytest.raises(ArgumentsRefused, match=r"it is empty\. Leave it out"):
        await search(workspace, "needle", file_pattern=pattern)


@pytest.mark.parametrize("name", ["[", "[id", "[id].tsx", "a{b", "a}b", "[z-a]", "back\\slash", "{a"])
async def test_C12_C13_an_odd_pattern_that_is_the_name_of_a_file_is_right(
    name: str, workspace: Workspace, folder: Path
) -> None:
    (folder / name).write_text("needle\n")
    assert [str(path) for path in (await find_files(workspace, name)).paths] == [name]
    assert (await search(workspace, "needle", file_pattern=name)).total == 1
    assert (await search(workspace, "nowhere", file_pattern=name)).searched == 1


@pytest.mark.parametrize(
    ("name", "content"), [("ignored[", b"x"), ("binary[", b"\0"), ("large[", b"x" * 2_000)], ids=["1", "2", "3"]
)
async def test_C2_C12_why_the_file_of_an_odd_name_was_not_searched_is_said(
    name: str, content: bytes, opened: Opening, folder: Path
) -> None:
    (folder / ".gitignore").write_text("ignored*\n")
    (folder / name).write_bytes(content)
    workspace = opened(limits=Limits(search_file_bytes=1_000))
    result = await search(workspace, "needle", file_pattern="*[")
    assert (result.searched, result.skipped.total) == (0, 1)


async def test_C13_an_ignored_file_of_an_odd_name_is_counted(workspace: Workspace, folder: Path) -> None:
    (folder / ".gitignore").write_text("*[[]\n")
    (folder / "a[").touch()
    assert (await find_files(workspace, "*[")).skipped.ignored == 1


async def test_C44_without_the_time_to_look_nothing_is_called_broken(opened: Opening, folder: Path) -> None:
    (folder / "a[").touch()
    workspace = opened(limits=Limits(search_seconds=1e-9))
    assert (await find_files(workspace, "*[")).skipped.timed_out
    assert (await search(workspace, "needle", file_pattern="*[")).skipped.timed_out


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5), st.sampled_from(["", "/", ","]))
def test_C13_what_is_made_of_whole_pieces_is_no_problem(pieces: list[str], between: str) -> None:
    check_glob(between.join(pieces), name="pattern")


@given(st.text(max_size=30), st.text(st.characters(exclude_characters="/"), max_size=10))
def test_C13_every_text_fits_or_not_and_is_told_about_or_not(pattern: str, name: str) -> None:
    assert matches_glob(pattern, name) in (True, False)
    with suppress(ArgumentsRefused):
        check_glob(pattern, name="pattern")


def test_C13_a_bracket_of_a_name_can_be_written_in_brackets() -> None:
    assert matches_glob("[[]id].tsx", "app/[id].tsx")
    assert not matches_glob("[[]id].tsx", "app/i.tsx")
