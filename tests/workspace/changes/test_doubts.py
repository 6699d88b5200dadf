"""What a program sees of a change that nobody should take unseen (A55)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.changes.doubts import find_doubts

TIMER = b"""\
const MAX = 60;

class Timer {
  constructor() {
    this.left = MAX;
  }

  tick() {
    this.left -= 1;
  }
}

module.exports = { Timer };
"""


@pytest.mark.parametrize(
    ("path", "before", "after", "count"),
    [
        ("a.py", b"def f():\n    return 1\n", b"def f(:\n    return 1\n", 1),
        ("a.py", b"def f(:\n", b"def f((:\n", 0),
        ("a.py", b"x = 1\n", b"x = 2\n", 0),
        ("a.json", b'{"a": 1}', b'{"a": 1', 1),
        ("a.toml", b"a = 1\n", b"a = \n", 1),
        ("a.js", TIMER, TIMER.replace(b"MAX = 60", b"MAX = 90"), 0),
        ("a.js", TIMER, TIMER.replace(b"tick() {", b"tick() "), 1),
        ("a.js", TIMER, b"// Times are in seconds.\nexport default class Timer {\n  // Code goes here...\n}\n", 1),
        ("a.md", TIMER, b"", 1),
        ("a.md", b"one\ntwo\nthree\nfour\nfive\n", b"six\n", 1),
        ("a.md", b"one\ntwo\n", b"six\n", 0),
        ("a.md", None, b"six\n", 0),
        ("a.md", b"six\n", None, 0),
    ],
)
def test_A55_what_no_longer_parses_keeps_nothing_or_shrinks_is_doubted(
    path: str, before: bytes | None, after: bytes | None, count: int
) -> None:
    assert len(find_doubts(path, before, after)) == count


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from(["a.py", "a.json", "a.toml", "a.rs", "a"]))
def test_A55_no_content_breaks_the_look(before: bytes, after: bytes, path: str) -> None:
    assert find_doubts(path, before, before) == ()
    find_doubts(path, before, after)
