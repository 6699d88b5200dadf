"""What only a folder can have: links, pipes, other writers at the same time, a folder that is not there."""

import asyncio
import os
from pathlib import Path

import pytest

from toolroll.errors import FileMissing, FileSystemRefused, NotAFile, StaleFile
from toolroll.packs.research.local import MAX_ATTEMPTS, LocalSource


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ideas").mkdir()
    return tmp_path / "ideas"


@pytest.fixture
def source(folder: Path, tmp_path: Path) -> LocalSource:
    return LocalSource(folder, state=tmp_path / "state")


@pytest.mark.parametrize("target", ["../secret.md", "/etc/passwd", "nowhere.md", "loop.md"])
async def test_R4_a_link_that_leads_out_or_nowhere_is_no_file(folder: Path, source: LocalSource, target: str) -> None:
    (folder.parent / "secret.md").write_text("secret")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "link.md").symlink_to(target)
    with pytest.raises(NotAFile) as caught:
        await source.read("link.md")
    assert (caught.value.message, caught.value.entries) == ("Path is not a file: link.md", ())


async def test_R5_a_link_that_stays_inside_is_followed(folder: Path, source: LocalSource) -> None:
    (folder / "a.md").write_text("text")
    (folder / "link.md").symlink_to("a.md")
    assert (await source.read("link.md")).content == "text"


async def test_R4_a_pipe_is_no_file_and_is_not_waited_for(folder: Path, source: LocalSource) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(NotAFile, match="Path is not a file: pipe"):
        await source.read("pipe")


async def test_R5_the_folder_need_not_be_there(tmp_path: Path) -> None:
    source = LocalSource(tmp_path / "new" / "ideas", state=tmp_path / "state")
    with pytest.raises(FileMissing, match=r"File not found: a\.md"):
        await source.read("a.md")
    assert await source.list_ideas() == ()
    await source.write("2025-01-01-a/research.md", "x", message="")
    assert [entry.title for entry in await source.list_ideas()] == ["a"]
    assert Path(source.where("2025-01-01-a/research.md")).read_text() == "x"


async def test_R22_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((NotAFile, FileSystemRefused)):
        await LocalSource(tmp_path / "file" / "ideas").write("a.md", "x", message="")


async def test_R6_links_and_folders_instead_of_documents_are_not_listed(folder: Path, source: LocalSource) -> None:
    (folder.parent / "secret.md").write_text("secret")
    (folder / "2025-01-01-link").mkdir()
    (folder / "2025-01-01-link" / "research.md").symlink_to("../../secret.md")
    (folder / "2025-01-01-folder" / "research.md").mkdir(parents=True)
    assert await source.list_ideas() == ()


async def test_R22_changes_at_the_same_time_are_all_kept(source: LocalSource) -> None:
    updates = (source.update("log.md", lambda before: (before or "") + "x", message="") for _ in range(20))
    await asyncio.gather(*updates)
    assert (await source.read("log.md")).content == "x" * 20


async def test_R22_a_change_is_made_anew_when_an_editor_was_faster(folder: Path, source: LocalSource) -> None:
    (folder / "log.md").write_text("a")
    others = iter("bc")

    def change(before: str | None) -> str:
        if other := next(others, None):
            (folder / "log.md").write_text(f"{before}{other}")
        return f"{before}!"

    await source.update("log.md", change, message="")
    assert (folder / "log.md").read_text() == "abc!"


async def test_R22_a_file_that_comes_to_be_meanwhile_is_not_overwritten(folder: Path, source: LocalSource) -> None:
    def change(before: str | None) -> str:
        if before is None:
            (folder / "log.md").write_text("theirs")
        return f"{before or ''} ours"

    await source.update("log.md", change, message="")
    assert (folder / "log.md").read_text() == "theirs ours"


async def test_R22_a_file_that_never_rests_is_given_up(folder: Path, source: LocalSource) -> None:
    file = folder / "log.md"
    file.write_text("0")
    given: list[str | None] = []

    def change(before: str | None) -> str:
        given.append(before)
        file.write_text(f"{before}1")
        return "ours"

    with pytest.raises(StaleFile):
        await source.update("log.md", change, message="")
    assert given == ["0", "01", "011", "0111", "01111"]
    assert len(given) == MAX_ATTEMPTS
    assert file.read_text() == "011111"
