"""What `!` suggests: never more than is asked for now, as far as a glob can say that; and what it then spares."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.apps.permissions import RuleMemory
from toolroll.cli.terminal.always_rule import remember, suggest_glob
from toolroll.cli.terminal.terminal import Terminal
from toolroll.home.rules import RememberedRule, RuleBook, ToolIdentity, path_problem
from toolroll.kernel.approval.policy import Rule
from toolroll.kernel.approval.request import ApprovalRequest, Preview
from toolroll.kernel.call.context import utc_now

SAVE = ToolIdentity(tool="save", fingerprint="f", place="pack p")
REQUEST = ApprovalRequest(
    run_id="r",
    call_id="c",
    tool="save",
    effect="external",
    arguments={},
    why="Save it.",
    preview=Preview.of_text("it"),
    paths=("src/a",),
    fingerprint="f",
)


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
    assert suggest_glob(paths) == glob


@given(st.lists(st.text(alphabet="ab./*?й ", min_size=1, max_size=8), min_size=1, max_size=3))
def test_S5_K43_a_suggestion_fits_the_request_and_can_be_remembered(paths: list[str]) -> None:
    glob = suggest_glob(tuple(paths))
    if glob is not None:
        assert path_problem(glob) is None
        assert Rule(action="allow", path=glob).matches("save", paths)


def test_C35_XL14_a_rule_spares_the_questions_that_it_fits_and_none_that_no_rule_is_enough_for(tmp_path: Path) -> None:
    book = RuleBook(tmp_path / "config")
    memory = RuleMemory(book, "/w", tools=[SAVE], clock=utc_now)
    assert not memory.covers(REQUEST)
    book.add(RememberedRule.for_tool(SAVE, path="src/**", workspace="/w", added=utc_now()))
    assert memory.covers(REQUEST)
    assert not memory.covers(replace(REQUEST, paths=("src/a", "docs/a")))
    assert not memory.covers(replace(REQUEST, tool="send"))
    assert not memory.covers(replace(REQUEST, is_exposed=True))
    assert not RuleMemory(book, "/elsewhere", tools=[SAVE], clock=utc_now).covers(REQUEST)
    assert not RuleMemory(book, "/w", tools=[replace(SAVE, fingerprint="g")], clock=utc_now).covers(REQUEST)


def test_C35_a_book_that_cannot_be_read_any_more_spares_nothing(tmp_path: Path) -> None:
    book = RuleBook(tmp_path / "config")
    memory = RuleMemory(book, "/w", tools=[SAVE], clock=utc_now)
    book.add(RememberedRule.for_tool(SAVE, path="src/**", workspace="/w", added=utc_now()))
    assert memory.rules() == (Rule(action="allow", tool="save", path="src/**"),)
    book.path.write_text("{broken")
    assert memory.rules() == ()


class Typing(Terminal):
    """Somebody who has their answers ready."""

    def __init__(self, *answers: str) -> None:
        super().__init__(input_fd=0)
        self.answers = list(answers)

    def ask(self, prompt: str, *, fresh: bool = False, again: Callable[[], None] | None = None) -> str | None:
        return self.answers.pop(0)


def test_C35_what_holds_for_now_holds_also_where_the_book_cannot_be_read(tmp_path: Path) -> None:
    book = RuleBook(tmp_path / "config")
    memory = RuleMemory(book, "/w", tools=[SAVE], clock=utc_now)
    assert remember(memory, REQUEST, Typing("src/**", "what?", "r"))
    assert memory.covers(REQUEST)
    assert not memory.covers(replace(REQUEST, tool="send"))
    assert not book.path.exists()
    book.path.parent.mkdir(exist_ok=True)
    book.path.write_text("{broken")
    assert memory.rules() == (Rule(action="allow", tool="save", path="src/**"),)
    assert not RuleMemory(book, "/w", tools=[SAVE], clock=utc_now).covers(REQUEST)
