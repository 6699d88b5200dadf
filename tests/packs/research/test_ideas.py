"""Ideas as folders: slugs, the same idea again, names that people use, and the list for the prompt."""

import re
import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import FileMissing
from toolroll.packs.research.ideas import (
    MAX_SLUG_CHARACTERS,
    find_existing,
    find_idea,
    idea_path,
    idea_slug,
    list_related,
    path_slug,
)
from toolroll.packs.research.paths import parse_research_path
from toolroll.packs.research.source import IdeaEntry, make_entries

KNOWN = make_entries(["2025-01-02-solar-roofs", "2025-03-04-solar-roofs", "2025-02-01-tea-club", "notes"])


@pytest.mark.parametrize(
    ("idea", "slug"),
    [
        ("Solar Roofs!", "solar-roofs"),
        ("  solar\n roofs ", "solar-roofs"),
        ("C++ for kids", "c-plus-plus-for-kids"),
        ("C# & F#", "c-sharp-and-f-sharp"),
        ("Café crème", "cafe-creme"),
        ("Їжак у тумані", "yizhak-u-tumani"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_R22_a_slug_says_what_the_idea_is(idea: str, slug: str) -> None:
    assert idea_slug(idea) == slug


def test_R22_what_a_slug_cannot_say_is_told_apart() -> None:
    assert re.fullmatch(r"idea-[0-9a-f]{8}", idea_slug("🌻"))
    assert re.fullmatch(r"idea-[0-9a-f]{8}", idea_slug("水"))
    assert idea_slug("水") != idea_slug("火")
    assert idea_slug("tea 水") != idea_slug("tea 火")
    long = "word " * 40
    assert idea_slug(f"{long}a") != idea_slug(f"{long}b")
    assert re.fullmatch(r"(word-)+[0-9a-f]{8}", idea_slug(f"{long}a"))
    assert re.fullmatch(r"x{51}-[0-9a-f]{8}", idea_slug("x" * 100))


@given(st.text(min_size=1, max_size=300))
def test_R22_every_idea_has_a_path_that_can_be_read(idea: str) -> None:
    path = idea_path(idea, today=date(2025, 1, 31))
    assert parse_research_path(path) == path
    slug = path_slug(path)
    assert slug == idea_slug(idea)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= MAX_SLUG_CHARACTERS
    assert find_existing(idea, make_entries([path.partition("/")[0]])) is not None


def test_R23_the_same_idea_is_found_again_the_newest_first() -> None:
    found = find_existing("SOLAR  roofs", KNOWN)
    assert found is not None
    assert found.path == "2025-03-04-solar-roofs/research.md"
    assert find_existing("solar", KNOWN) is None


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("2025-01-02-solar-roofs/research.md", "2025-01-02-solar-roofs/research.md"),
        ("ideas/2025-01-02-solar-roofs/", "2025-01-02-solar-roofs/research.md"),
        ("solar-roofs", "2025-03-04-solar-roofs/research.md"),
        ("Solar roofs", "2025-03-04-solar-roofs/research.md"),
        ("notes", "notes/research.md"),
    ],
)
def test_R23_people_name_research_in_many_ways(name: str, path: str) -> None:
    assert find_idea(name, KNOWN).path == path


def test_R23_research_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(FileMissing, match="There is no research 'moon'"):
        find_idea("moon", KNOWN)


def test_R6_the_list_has_paths_that_can_be_read_the_nearest_first() -> None:
    assert list_related("A club for tea", KNOWN).splitlines() == [
        "- `2025-02-01-tea-club/research.md`",
        "- `2025-03-04-solar-roofs/research.md`",
        "- `2025-01-02-solar-roofs/research.md`",
        "- `notes/research.md`",
    ]
    assert list_related("x", ()) == ""


def thousand() -> tuple[IdeaEntry, ...]:
    begin = date(2020, 1, 1)
    return make_entries(f"{begin + timedelta(days=n)}-some-idea-about-topic-{n}-and-more" for n in range(1_000))


def test_R6_a_thousand_ideas_fit_the_budget() -> None:
    known = thousand()
    begun = time.process_time()
    listed = list_related("About topic 17", known)
    assert time.process_time() - begun < 1.0
    assert len(listed) <= 2_000 * 4, "about 2,000 tokens, at four characters each"
    lines = listed.splitlines()
    assert len(lines) > 50
    assert lines[-1] == f"({1_000 - len(lines) + 1:,} more are not listed.)"
    for line in lines[:-1]:
        assert parse_research_path(line.removeprefix("- `").removesuffix("`")) in {entry.path for entry in known}


def test_R6_files_beside_documents_are_named_too() -> None:
    files = ("competitors/tea-shops.md", "market.md")
    assert list_related("A club for tea", KNOWN, files=files).splitlines()[:2] == [
        "- `2025-02-01-tea-club/research.md`",
        "- `competitors/tea-shops.md`",
    ]
    assert list_related("x", KNOWN, files=files).splitlines()[-1] == "- `market.md`"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("tea", "2025-02-01-tea-club/research.md"),
        ("2025-02", "2025-02-01-tea-club/research.md"),
        ("Roofs", "2025-03-04-solar-roofs/research.md"),
        ("2025-01-02", "2025-01-02-solar-roofs/research.md"),
    ],
)
def test_R27_a_part_of_a_name_is_enough(name: str, path: str) -> None:
    assert find_idea(name, KNOWN).path == path


def test_R27_a_part_of_several_names_is_asked_to_be_longer() -> None:
    with pytest.raises(FileMissing, match="is a part of several names: 2025-03-04-solar-roofs, 2025-02-01-tea-club"):
        find_idea("2025", KNOWN)
    entries = make_entries(["2025-01-01-soniachni-dakhy", "2025-01-02-chai"])
    assert find_idea("дахи", entries).path == "2025-01-01-soniachni-dakhy/research.md"
    with pytest.raises(FileMissing, match="There is no research"):
        find_idea("—", entries)
