"""Listing and writing: the same in each place that research can be kept."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.research.conftest import Shelf

from toolroll.errors import FileTooLarge, NotText, PathRefused
from toolroll.packs.research.paths import parse_research_path
from toolroll.packs.research.source import (
    MAX_READ_BYTES,
    MAX_STORED_BYTES,
    FileListing,
    IdeaEntry,
    make_entries,
    not_a_file_error,
)

PATH = "2025-01-31-my-idea/research.md"


async def test_R6_the_ideas_with_a_document_are_listed_the_newest_first(shelf: Shelf) -> None:
    for path in (
        "2024-12-24-a_first-idea/research.md",
        PATH,
        "2025-01-31-another/research.md",
        "2025-02-30-no-such-day/research.md",
        "undated/research.md",
        "2025-05-05-no-document/notes.md",
        "2025-06-06-too-deep/more/research.md",
        "research.md",
    ):
        shelf.put(path, b"x")
    assert list(await shelf.source.list_ideas()) == [
        IdeaEntry(path=PATH, title="my idea", date=date(2025, 1, 31)),
        IdeaEntry(path="2025-01-31-another/research.md", title="another", date=date(2025, 1, 31)),
        IdeaEntry(path="2024-12-24-a_first-idea/research.md", title="a first idea", date=date(2024, 12, 24)),
        IdeaEntry(path="undated/research.md", title="undated", date=None),
        IdeaEntry(path="2025-02-30-no-such-day/research.md", title="2025 02 30 no such day", date=None),
    ]


async def test_R6_where_nothing_was_kept_nothing_is_listed(shelf: Shelf) -> None:
    assert list(await shelf.source.list_ideas()) == []


async def test_R6_every_path_that_is_listed_can_be_read(shelf: Shelf) -> None:
    shelf.put("2025-01-01-a/research.md", b"A")
    shelf.put(".hidden/research.md", b"x")
    shelf.put("with space/research.md", b"x")
    listed = await shelf.source.list_ideas()
    assert [(await shelf.source.read(entry.path)).content for entry in listed] == ["A"]


async def test_R22_a_file_is_made_and_replaced(shelf: Shelf) -> None:
    for content in ("# Нова\n", "", "changed\r\n"):
        await shelf.source.write(PATH, content, message="Explore my idea")
        file = await shelf.source.read(PATH)
        assert (file.content, file.size) == (content, len(content.encode()))


async def test_R22_a_change_is_made_from_what_is_there(shelf: Shelf) -> None:
    given: list[str | None] = []

    def add(before: str | None) -> str:
        given.append(before)
        return (before or "") + "x"

    for _ in range(3):
        await shelf.source.update("log.json", add, message="Log")
    assert given == [None, "x", "xx"]
    assert (await shelf.source.read("log.json")).content == "xxx"


async def test_R22_what_cannot_be_encoded_is_replaced(shelf: Shelf) -> None:
    for _ in range(2):
        await shelf.source.update(PATH, lambda before: (before or "") + "half \ud83d pair", message="Odd")
    assert (await shelf.source.read(PATH)).content == "half \ufffd pair" * 2


async def test_R22_what_is_no_utf8_is_not_changed(shelf: Shelf) -> None:
    shelf.put("a.md", "café".encode("latin-1"))
    with pytest.raises(NotText, match="not UTF-8"):
        await shelf.source.update("a.md", lambda before: f"{before}!", message="Change")
    assert (await shelf.source.read("a.md")).size == 4


async def test_R22_more_than_a_model_may_read_can_still_be_changed(shelf: Shelf) -> None:
    shelf.put("log.json", b"x" * (MAX_READ_BYTES + 1))
    await shelf.source.update("log.json", lambda before: f"{before}y", message="Log")
    assert (await shelf.source.read("log.json", limit_bytes=MAX_STORED_BYTES)).size == MAX_READ_BYTES + 2
    with pytest.raises(FileTooLarge, match=r"'log\.json' has more than 60 bytes"):
        await shelf.source.read("log.json", limit_bytes=60)


@pytest.mark.parametrize("path", ["../a.md", "/a.md", "ideas/a.md", "%2e%2e/a.md", "a/.git/hooks"])
async def test_XP1_XP7_nothing_is_written_to_a_path_that_is_refused(shelf: Shelf, path: str) -> None:
    with pytest.raises(PathRefused):
        await shelf.source.write(path, "x", message="x")
    with pytest.raises(PathRefused):
        await shelf.source.update(path, lambda _: "x", message="x")
    assert list(await shelf.source.list_ideas()) == []


def test_R4_of_a_large_folder_a_part_is_told() -> None:
    assert len(not_a_file_error("a", (f"{number}.md" for number in range(200))).entries) == 50


@given(st.lists(st.text("abc-0159/._ é%", max_size=20) | st.dates().map(lambda day: f"{day}-idea"), max_size=20))
def test_R6_only_paths_that_can_be_read_are_listed(folders: list[str]) -> None:
    entries = make_entries(folders)
    assert all(parse_research_path(entry.path) == entry.path for entry in entries)
    days = [entry.date or date.min for entry in entries]
    assert days == sorted(days, reverse=True)


async def test_R6_every_text_below_ideas_is_named(shelf: Shelf) -> None:
    kept = ("market.md", "2025-01-01-tea/research.md", "2025-01-01-tea/prices/june.csv", "NOTES")
    for path in (*kept, "2025-01-01-tea/exploration-log.json", "2025-01-01-tea/photo.png", "with space.md"):
        shelf.put(path, b"x")
    assert isinstance(shelf.source, FileListing)
    assert await shelf.source.list_files() == tuple(sorted(kept))
