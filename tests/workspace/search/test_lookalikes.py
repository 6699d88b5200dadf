"""Paths that look the same and are not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.safe.paths.names import quote_path
from toolroll.workspace.search.lookalikes import find_lookalikes, spell_lookalike

COMPOSED, APART = "caf\u00e9", "cafe\u0301"
NAMES = st.text(st.sampled_from("ae\u00e9\u0301\u0323\u212b\u00c5\uac00\u1100\u1161‹/\n"), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("names", "lookalikes"),
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
def test_C33_XP7_only_the_odd_one_of_two_that_look_alike_is_a_twin(names: list[str], lookalikes: set[str]) -> None:
    assert find_lookalikes(names) == lookalikes


def test_C33_XP7_only_the_name_that_looks_alike_is_spelled_out() -> None:
    lookalikes = find_lookalikes([COMPOSED, f"{APART}/\u00fc/a"])
    assert spell_lookalike(f"{APART}/\u00fc/a", lookalikes) == "cafe‹U+0301›/\u00fc/a"
    assert spell_lookalike(f"{COMPOSED}/a", lookalikes) == f"{COMPOSED}/a"
    hangul = find_lookalikes(["\uac00", "\u1100\u1161"])
    assert spell_lookalike("\u1100\u1161", hangul) == "‹U+1100›‹U+1161›"


@given(st.lists(NAMES, max_size=6, unique=True))
def test_C33_XP7_different_paths_never_look_the_same(names: list[str]) -> None:
    lookalikes = find_lookalikes(names)
    told = [unicodedata.normalize("NFC", spell_lookalike(name, lookalikes)) for name in names]
    assert len(set(told)) == len(names)
    assert [spell_lookalike(name, frozenset()) for name in names] == [quote_path(name) for name in names]
