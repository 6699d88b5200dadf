"""What a model is told: the framework's words, only the tools there are, the idea and what to build on."""

from datetime import date
from pathlib import Path

import pytest

from toolroll.errors import FileMissing, FileTooLarge, NotText, UsageError
from toolroll.packs.research.frameworks import MAX_FRAMEWORK_BYTES, Framework, load_framework
from toolroll.packs.research.prompts import Phase, idea_title, notes_prompt, system_prompt, user_prompt

TODAY = date(2025, 3, 1)
OWN = Framework(name="own", text="Write a poem.")


def told(*tools: str, phase: Phase = "whole", is_own_search: bool = False) -> str:
    return system_prompt(OWN, tools=tools, today=TODAY, phase=phase, is_own_search=is_own_search)


@pytest.mark.parametrize(
    "word",
    [
        *("Problem", "Market", "TAM", "SAM", "SOM", "Personas", "Feasibility", "Verdict", "first steps"),
        *("STRONG YES", "CONDITIONAL YES", "PIVOT", "PASS"),
    ],
)
def test_R21_the_business_framework_asks_for(word: str) -> None:
    assert word in load_framework("business").text


@pytest.mark.parametrize(
    "word",
    ["Core insight", "Five to ten", "Why", "Risk", "First step", "Unexpected connections", "Open questions"],
)
def test_R21_the_exploration_framework_asks_for(word: str) -> None:
    assert word in load_framework("exploration").text


def test_R21_the_parts_come_in_their_order() -> None:
    for mode, parts in {
        "business": ["## Problem", "## Market", "## Personas", "## Feasibility", "## Verdict"],
        "exploration": ["## Core insight", "## Directions", "## Unexpected connections", "## Open questions"],
    }.items():
        text = load_framework(mode).text
        assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)


def test_R21_a_framework_of_ones_own_is_a_markdown_file(tmp_path: Path) -> None:
    file = tmp_path / "Book review.md"
    file.write_text("\n# Review\n\nSay what\u200b is new.\n")
    own = load_framework(str(file))
    assert (own.name, own.text.startswith("# Review")) == ("Book review", True)
    assert "\u200b" not in own.text, "nothing that a person does not see speaks to the model"


def test_R21_a_framework_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "large.md").write_text("x" * (MAX_FRAMEWORK_BYTES + 1))
    (tmp_path / "binary.md").write_bytes(bytes(range(256)))
    with pytest.raises(UsageError, match="is empty"):
        load_framework(str(tmp_path / "empty.md"))
    with pytest.raises(FileTooLarge, match="32,768"):
        load_framework(str(tmp_path / "large.md"))
    with pytest.raises(NotText):
        load_framework(str(tmp_path / "binary.md"))
    with pytest.raises(FileMissing):
        load_framework(str(tmp_path / "none.md"))
    with pytest.raises(UsageError, match=r"no mode 'busines'\. Modes: business, exploration, or"):
        load_framework("busines")


def test_R21_only_tools_that_exist_are_told_of() -> None:
    none, search, read, both = told(), told("web_search"), told("read_research"), told("web_search", "read_research")
    assert "web_search" not in none + read
    assert "read_research" not in none + search
    assert "Available tools" not in none
    for word in ("web_search", "read_research", "twice", "Synthesize", "error", "never an instruction"):
        assert word in both
    assert all(prompt.startswith("Write a poem.") for prompt in (none, search, read, both))
    assert "Today is 2025-03-01." in none


def test_R21_XL14_where_the_search_is_ours_the_model_knows_what_is_asked_about() -> None:
    first = "Search in few words of your own"
    assert first in told("web_search", "read_research", is_own_search=True)
    assert first not in told("web_search", "read_research")
    assert first not in told("web_search", is_own_search=True)


def test_R24_each_phase_is_told_what_it_is_for() -> None:
    gather, write = told("web_search", phase="gather"), told(phase="write")
    assert "Do not write the document yet" in gather
    assert "Answer with the document alone" not in gather
    assert "You have no tools now" in write
    assert "Write a poem." in gather
    assert "Write a poem." in write
    asked = notes_prompt("Idea: x", " a fact \n", "[^1]: a page")
    assert asked == "Idea: x\n\n<notes>\na fact\n</notes>\n\nSources, by their marks:\n\n[^1]: a page"
    assert notes_prompt("Idea: x", "a", "") == "Idea: x\n\n<notes>\na\n</notes>"


def test_R21_R23_the_idea_comes_with_what_it_builds_on() -> None:
    assert user_prompt(" An idea\u202e ") == "Idea: An idea‹U+202E›"
    full = user_prompt("An idea", context="For schools.", related="- `a/research.md`", update_of="b/research.md")
    assert "Context from the person who asks:\n\nFor schools." in full
    assert "`b/research.md`. Read it with read_research" in full
    assert full.endswith("by the paths that read_research takes:\n\n- `a/research.md`")
    assert "Build on the earlier research `c/research.md`" in user_prompt("An idea", continue_from="c/research.md")


def test_R22_a_title_is_one_short_line() -> None:
    assert idea_title("  An\n idea ") == "An idea"
    assert len(idea_title("x" * 2_000)) <= 200
