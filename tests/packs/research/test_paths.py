"""Paths: which rule refuses what, in which order, and that nothing odd gets through."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import PathRefused
from toolroll.packs.research.paths import MAX_PATH_CHARACTERS, parse_research_path, trim

ALLOWED = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9/_.-]{0,199}")


def refused(path: str) -> PathRefused:
    with pytest.raises(PathRefused) as caught:
        parse_research_path(path)
    return caught.value


@pytest.mark.parametrize(
    "path", ["market/2024-06.md", "competitor-analysis.md", "2025-01-31-my-idea/research.md", "a", "a/b_c/d.e-f", "7"]
)
def test_R2_plain_paths_are_taken_as_they_are(path: str) -> None:
    assert parse_research_path(path) == path


# In the order of the rules: each path breaks its own rule and every later one that it can.
IN_ORDER = [
    ("control", "\x00%..\\ideas//"),
    ("control", "a\x1fb%"),
    ("control", "a\nb"),
    ("percent", "ideas/%2e%2e\\..//"),
    ("percent", "100%"),
    ("traversal", "ideas/..\\//"),
    ("traversal", "../secrets"),
    ("traversal", "a..b"),
    ("backslash", "ideas/foo\\bar//"),
    ("backslash", "foo\\bar.md"),
    ("ideas_prefix", "ideas//"),
    ("ideas_prefix", "ideas/market.md"),
    ("trailing_slash", "/a//"),
    ("trailing_slash", "market/"),
    ("trailing_slash", "/"),
    ("double_slash", "//a"),
    ("double_slash", "market//file.md"),
    ("empty", ""),
    ("empty", "  \t\n"),
    ("absolute", "/etc/passwd"),
    ("absolute", "/" + "a" * 300),
    ("too_long", "~" * 201),
    ("too_long", "a" * 201),
    ("characters", "~/notes.md"),
    ("characters", ".git/config"),
    ("characters", "."),
    ("characters", "-x"),
    ("characters", "a b"),
    ("characters", "ідея.md"),
    ("characters", "a\x7fb"),
    ("characters", "a?ref=x"),
    ("characters", "a#b"),
]


@pytest.mark.parametrize(("rule", "path"), IN_ORDER, ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(IN_ORDER)])
def test_R2_the_first_rule_that_is_broken_is_named(rule: str, path: str) -> None:
    assert refused(path).rule == rule


def test_R2_every_rule_has_a_message_of_its_own() -> None:
    messages = {rule: refused(path).message for rule, path in IN_ORDER}
    assert len(set(messages.values())) == len(messages) == 11


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../secrets", "path traversal"),
        ("/etc/passwd", "absolute"),
        ("foo\\bar.md", "backslash"),
        ("%2e%2e/secrets", "percent sign (%)"),
        ("ideas/market.md", "starts with 'ideas/'"),
        ("market/", "trailing slash"),
        ("market//file.md", "double slash"),
        ("a\x07b", "control characters"),
        ("a" * 201, "longer than 200 characters"),
        ("", "empty"),
    ],
    ids=["traversal", "absolute", "backslash", "percent", "prefix", "slash", "double", "control", "long", "empty"],
)
def test_R2_the_message_says_what_is_wrong(path: str, words: str) -> None:
    assert words in refused(path).message


def test_XP1_two_hundred_characters_pass_and_one_more_does_not() -> None:
    assert parse_research_path("a" * MAX_PATH_CHARACTERS) == "a" * 200
    assert refused("a" * 201).rule == "too_long"


@pytest.mark.parametrize(("path", "rule"), [("a/./b", "dot"), ("a/.", "dot"), ("a./b", "trailing_dot")])
def test_XP1_what_a_url_or_a_system_would_change_is_refused(path: str, rule: str) -> None:
    assert refused(path).rule == rule


@pytest.mark.parametrize("blanks", [" ", "\t\r\n", "\xa0", "\u3000", "\ufeff", "\u2003"])
def test_XP7_the_trimmed_text_is_the_path(blanks: str) -> None:
    assert parse_research_path(f"{blanks}a/research.md{blanks}") == "a/research.md"


@pytest.mark.parametrize("control", ["\x1c", "\x1d", "\x1e", "\x1f", "\x00"])
def test_XP7_controls_at_the_ends_are_seen_and_not_trimmed(control: str) -> None:
    assert refused(f"a.md{control}").rule == "control"
    assert control not in refused(f"a.md{control}").path


@given(st.text(max_size=230) | st.text("a/._-%\\ \x00Z9", max_size=230))
def test_XP1_whatever_gets_through_is_plain(text: str) -> None:
    try:
        path = parse_research_path(text)
    except PathRefused:
        return
    assert path == trim(text)
    assert parse_research_path(path) == path
    assert ALLOWED.fullmatch(path)
    assert not path.startswith("ideas/")
    assert all(part not in {"", ".", ".."} for part in path.split("/"))
