"""Front matter: what is written is read again, by us and by YAML, and nothing can break out of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.packs.writing.posts.front_matter import (
    MAX_HEADER_CHARACTERS,
    Value,
    join_front_matter,
    split_front_matter,
)

yaml = pytest.importorskip("yaml")  # an oracle only: what we write is YAML to those who read it

HOSTILE = [
    "a\n---\nplatform: x",
    "---",
    "a: b",
    "# no comment",
    "x # no comment",
    "yes",
    "null",
    "3",
    "1e3",
    "2026-02-08",
    "it's",
    '"quoted"',
    "a\\nb",
    "\u2028---\u2028",
    "\x85---\x85",
    "\r---\r",
    "\ufeff",
    "\u202e",
    "🔥",
    "",
    " ",
    "&anchor",
    "*alias",
    "!!python/object:os.system",
    "{a: b}",
    "- a",
    "| ",
    "я" * 5_000,
]


def test_W15_front_matter_looks_as_it_was_specified() -> None:
    fields: dict[str, Value] = {
        "platform": "linkedin",
        "topic": "burnout",
        "created": "2026-02-08T14:30:00Z",
        "profile_used": "mix:default+competitor-alex",
        "style_profile_version": 3,
    }
    expected = (
        "---\nplatform: linkedin\ntopic: burnout\ncreated: 2026-02-08T14:30:00Z\n"
        "profile_used: mix:default+competitor-alex\nstyle_profile_version: 3\n---\n\nText\n"
    )
    assert expected == join_front_matter(fields, "Text")
    assert expected == join_front_matter(fields, "Text\n")


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_XJ8_no_topic_breaks_out_of_the_front_matter(number: int) -> None:
    text = join_front_matter({"topic": HOSTILE[number], "platform": "x"}, "body")
    assert len(text.splitlines()) == 6
    assert split_front_matter(text) == ({"topic": HOSTILE[number], "platform": "x"}, "body\n")
    assert yaml.safe_load(text.split("---\n")[1]) == {"topic": HOSTILE[number], "platform": "x"}


@given(st.text(), st.text())
def test_XJ8_what_is_written_is_read_again(topic: str, body: str) -> None:
    text = join_front_matter({"topic": topic, "version": None}, body)
    fields, rest = split_front_matter(text)
    assert fields == {"topic": topic, "version": "null"}
    assert rest.removesuffix("\n") == body.removesuffix("\n")
    assert len(text.split("\n---\n", 1)[0].splitlines()) == 3


@given(st.text(alphabet="-: \n\r\"'\\#abя", max_size=60))
def test_W14_any_text_can_be_read(text: str) -> None:
    fields, rest = split_front_matter(text)
    assert text.endswith(rest)
    assert all(isinstance(value, str) for value in fields.values())


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("topic: plain words  # a comment", "plain words"),
        ("topic: 'it''s'", "it's"),
        ('topic: "a\\tb" # more', "a\tb"),
        ('topic: "\\x41"', "\\x41"),
        ("topic:", ""),
        ("topic: # nothing", ""),
        ("topic: a: b", "a: b"),
    ],
)
def test_W14_what_a_person_wrote_is_read(line: str, value: str) -> None:
    assert split_front_matter(f"\ufeff---\r\n{line}\r\n  nested: no\r\n---\r\n\r\nBody") == ({"topic": value}, "Body")


@pytest.mark.parametrize("text", ["", "---", "---\ntopic: a\n", "text\n---\na: b\n---\n", " ---\na: b\n---\n"])
def test_W14_without_a_header_that_is_closed_all_is_text(text: str) -> None:
    assert split_front_matter(text) == ({}, text)


def test_W14_a_header_that_ends_too_late_is_none() -> None:
    text = "---\n" + "a: b\n" * MAX_HEADER_CHARACTERS + "---\n"
    assert split_front_matter(text) == ({}, text)


def test_XJ8_lone_surrogates_do_not_stop_a_file_from_being_written() -> None:
    text = join_front_matter({"topic": "a\ud800"}, "b\ud800")
    assert text.encode()
    assert split_front_matter(text) == ({"topic": "a\ufffd"}, "b\ufffd\n")
