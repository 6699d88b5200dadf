"""What `!` suggests: never more than is asked for now, as far as a glob can say that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.cli.always import suggested_glob
from toolroll.home.rules import path_problem
from toolroll.kernel.policy import Rule


@pytest.mark.parametrize(
    ("paths", "glob"),
    [
        (("a.txt",), "a.txt"),
        (("src/a.py", "src/a.py"), "src/a.py"),
        (("src/a.py", "src/b.py"), "src/*.py"),
        (("src/a.py", "src/b.txt"), "src/*"),
        (("a.py", "b.py"), "*.py"),
        (("a.py", "b.txt"), None),
        (("src/a.py", "tests/a.py"), None),
        (("odd*name",), None),
        (("what?",), None),
        (("/etc/passwd",), None),
        (("../up",), None),
        (("a\u202eb",), None),
    ],
)
def test_S5_K43_the_suggestion_is_narrow(paths: tuple[str, ...], glob: str | None) -> None:
    assert suggested_glob(paths) == glob


@given(st.lists(st.text(alphabet="ab./*?й ", min_size=1, max_size=8), min_size=1, max_size=3))
def test_S5_K43_a_suggestion_fits_the_request_and_can_be_remembered(paths: list[str]) -> None:
    glob = suggested_glob(tuple(paths))
    if glob is not None:
        assert path_problem(glob) is None
        assert Rule(action="allow", path=glob).matches("save", paths)
