"""Lines that stand for code that was left out are found; comments that say something are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.edit.placeholders import find_placeholders

PLACEHOLDERS = [
    "// ... existing code ...",
    "# ... rest of the file unchanged ...",
    "    # rest of the code remains the same",
    "/* ... rest of the file ... */",
    "<!-- ... existing content ... -->",
    "{/* ... existing code ... */}",
    "// rest of implementation unchanged",
    "# (rest of the methods stay the same)",
    "-- existing code here",
    "// existing code",
    "# [unchanged]",
    "# omitted for brevity",
    "// other methods remain unchanged",
    "# Remaining tests are unchanged",
    "[... rest of file unchanged ...]",
    "(rest of the file is unchanged)",
    "…rest unchanged…",
    "// keep the existing imports",
    "# no changes below",
    "# previous code continues",
    "// ...other functions...",
    "% same as before",
    "# ... (previous code) ...",
    "/* imports unchanged */",
]
REMARKS = [
    "# the rest of the arguments are passed on to the parser",
    "# Rest parameters collect what is left",
    "x = [...]",
    "...",
    "    ...",
    "# other methods",
    "// wait... there is more",
    "# existing users keep their settings",
    "# Use the original order.",
    "def f(*rest): ...",
    "return unchanged",
    "print('... existing code ...')",
    "# " + "existing code " * 20,
    "# file",
    "",
]


@pytest.mark.parametrize("line", PLACEHOLDERS)
def test_C16_placeholders_are_found(line: str) -> None:
    [found] = find_placeholders("a\nb\nc\n", f"a\n{line}\n")
    assert found.line == 2
    assert found.text == line.strip()


@pytest.mark.parametrize("line", REMARKS)
def test_C16_remarks_are_not_placeholders(line: str) -> None:
    assert find_placeholders("a\nb\nc\n", f"a\n{line}\n") == ()


@pytest.mark.parametrize("line", PLACEHOLDERS)
def test_C16_what_was_there_before_may_stay(line: str) -> None:
    assert find_placeholders(f"a\n  {line}\n", f"b\n{line}\n") == ()


def test_C16_dots_in_a_comment_count_where_lines_are_lost() -> None:
    assert [found.line for found in find_placeholders("a\nb\nc\n", "a\n# ...\n")] == [2]
    assert find_placeholders("a\n", "a\n# ...\nb\n") == ()
    assert find_placeholders("a\nb\nc\n", "a\n# ---\n") == ()


@given(st.text(alphabet="# .…/*<-!>restofunchanged", max_size=170))
def test_C16_any_line_is_judged(line: str) -> None:
    assert all(found.text == line.strip() for found in find_placeholders("", line))
