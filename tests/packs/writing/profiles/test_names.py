"""Profile names: slugs, checked before anything is made of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import PathRefused
from toolroll.packs.writing.profiles.names import MAX_NAME_CHARACTERS, check_profile_name, profile_file, profile_name_of

BAD = [
    *(
        "../x",
        "..",
        ".",
        "",
        "a/b",
        "/etc/passwd",
        "a\\b",
        "~",
        "a.json",
        "a..b",
        "a b",
        " a",
        "a\n",
        "a\0",
        "A",
        "Default",
    ),
    *(
        "-a",
        "a-",
        "a--b",
        "--help",
        "_a",
        "a_b",
        "CON",
        "con",
        "nul",
        "com1",
        "lpt9",
        "профіль",
        "é",
        "e\u0301",
        "ａ",
        "a\u200b",
    ),
    *("a" * (MAX_NAME_CHARACTERS + 1), "x" * 300, "\ud800", "a\u202e", "%2e%2e", "a;b", "$HOME", "a*", "²"),
]


@pytest.mark.parametrize("name", BAD, ids=ascii)
def test_W3_XJ7_what_is_no_slug_is_refused_before_a_path_is_made_of_it(name: str) -> None:
    with pytest.raises(PathRefused) as refused:
        profile_file(name)
    assert refused.value.code == "path_validation"
    assert "\u202e" not in refused.value.message
    assert len(refused.value.message) < 500


@pytest.mark.parametrize("name", ["default", "competitor-alex", "a", "7", "a1-b2-c3", "a" * MAX_NAME_CHARACTERS])
def test_W3_slugs_are_names(name: str) -> None:
    assert name == check_profile_name(name)
    assert f"{name}.json" == str(profile_file(name))
    assert name == profile_name_of(f"{name}.json")


@pytest.mark.parametrize("file", ["default", "default.JSON", ".json", "A.json", "con.json", "a.json.json", "a.json~"])
def test_XJ7_other_files_are_of_no_profile(file: str) -> None:
    assert profile_name_of(file) is None


@given(st.text(max_size=80))
def test_W3_every_name_that_passes_is_one_plain_component(name: str) -> None:
    try:
        path = profile_file(name)
    except PathRefused:
        return
    assert path.parts == (f"{name}.json",)
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
