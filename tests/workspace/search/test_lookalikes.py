"""Paths that look the same and are not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.safe.paths.names import quote_path
from toolroll.workspace.search.lookalikes import shown_apart, twins_in

COMPOSED, APART = "caf\u00e9", "cafe\u0301"
NAMES = st.text(st.sampled_from("ae\u00e9\u0301\u0323\u212b\u00c5\uac00\u1100\u1161‹/\n"), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("names", "twins"),
    [
        (["a", "b"], set()),
        ([COMPOSED, "a"], set()),
        ([APART, "a"], set()),
        ([COMPOSED, APART], {APART}),
        ([f"{COMPOSED}/a", f"{APART}/b"], {APART}),
        ([f"d/{COMPOSED}", f"d/{APART}"], {f"d/{APART}"}),
        ([f"d/{COMPOSED}", f"e/{APART}"], set()),
        (["\u212b", "A\u030a"], {"\u212b", "A\u030a"}),
    ],
)
def test_C33_XP7_only_the_odd_one_of_two_that_look_alike_is_a_twin(names: list[str], twins: set[str]) -> None:
    assert twins_in(names) == twins


def test_C33_XP7_only_the_name_that_looks_alike_is_spelled_out() -> None:
    twins = twins_in([COMPOSED, f"{APART}/\u00fc/a"])
    assert shown_apart(f"{APART}/\u00fc/a", twins) == "cafe‹U+0301›/\u00fc/a"
    assert shown_apart(f"{COMPOSED}/a", twins) == f"{COMPOSED}/a"
    hangul = twins_in(["\uac00", "\u1100\u1161"])
    assert shown_apart("\u1100\u1161", hangul) == "‹U+1100›‹U+1161›"


@given(st.lists(NAMES, max_size=6, unique=True))
def test_C33_XP7_different_paths_never_look_the_same(names: list[str]) -> None:
    twins = twins_in(names)
    told = [unicodedata.normalize("NFC", shown_apart(name, twins)) for name in names]
    assert len(set(told)) == len(names)
    assert [shown_apart(name, frozenset()) for name in names] == [quote_path(name) for name in names]
