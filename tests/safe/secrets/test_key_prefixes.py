"""Any of many words in one pass: the same answer as a search for each."""

from hypothesis import given
from hypothesis import strategies as st

from toolroll.safe.secrets.key_prefixes import KEYS, _prefixes
from toolroll.safe.secrets.named_secrets import _hints, _lower, _places
from toolroll.safe.secrets.patterns import compile_any

WORDS = st.text("ab.(-", min_size=1, max_size=4)


@given(st.lists(WORDS, min_size=1), st.text("ab.(-x", max_size=12))
def test_D6_a_word_is_found_where_a_search_would_find_it(words: list[str], text: str) -> None:
    assert bool(compile_any(words).search(text)) == any(word in text for word in words)


PREFIXES = sorted({prefix for key in KEYS for prefix in key.prefixes})
HINTS = sorted({hint for place in _places() for hint in place.hints})


@given(st.lists(st.one_of(st.sampled_from(PREFIXES + HINTS), st.text(max_size=6)), max_size=4).map("".join))
def test_D6_no_prefix_and_no_hint_is_passed_over(text: str) -> None:
    lowered = _lower(text)
    assert bool(_prefixes().search(text)) == any(prefix in text for prefix in PREFIXES)
    assert bool(_hints().search(lowered)) == any(hint in lowered for hint in HINTS)
