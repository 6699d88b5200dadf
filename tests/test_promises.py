"""The page of promises and the tests agree: what is marked done has a test that names it, and vice versa."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "promises.md"

FAMILIES = r"(?:[KACRWSD]|X[A-Z])"
ID = rf"{FAMILIES}[1-9][0-9]?"
# `U+D800` and `\xC1` name characters, not promises.
ID_IN_TEXT = re.compile(rf"(?<![\w+\\]){ID}(?!\w)")
IDS_IN_NAME = re.compile(rf"test_((?:{ID}_)*{ID})(?:_|$)")
# The second set of control characters is called like the first promise about code: in text it says nothing.
LOOKALIKES = {"C1"}
STATE = re.compile(r"done|not yet|partly: \S.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One row of the page."""

    id: str
    state: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One id that one test names, in its own name or in its text."""

    id: str
    test: str
    by_name: bool


def read_page(text: str) -> tuple[list[Promise], list[str]]:
    """The rows of all tables, and what is wrong with their form."""
    promises, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|") or line.startswith(("| id |", "|---")):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 3 or not cells[1] or not re.fullmatch(ID, cells[0]):
            problems.append(f"line {number}: not a row `| id | promise | state |`: {line}")
            continue
        promises.append(Promise(id=cells[0], state=cells[2], line=number))
    return promises, problems


def claims_of(source: str, path: str) -> Iterator[Claim]:
    """The ids that the tests of one module name: in their names, docstrings and comments."""
    comments = [
        (token.start[0], token.string)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test"):
            continue
        test = f"{path}::{node.name}"
        if match := IDS_IN_NAME.match(node.name):
            yield from (Claim(id=one, test=test, by_name=True) for one in match[1].split("_"))
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        inside = [text for line, text in comments if first <= line <= (node.end_lineno or first)]
        for text in [ast.get_docstring(node) or "", *inside]:
            found = set(ID_IN_TEXT.findall(text)) - LOOKALIKES
            yield from (Claim(id=one, test=test, by_name=False) for one in sorted(found))


def row_problems(promises: list[Promise]) -> Iterator[str]:
    """Rows that contradict each other or say something unknown."""
    lines: dict[str, int] = {}
    for promise in promises:
        if promise.id in lines:
            yield f"{promise.id}: listed twice, lines {lines[promise.id]} and {promise.line}"
        lines.setdefault(promise.id, promise.line)
        if not STATE.fullmatch(promise.state):
            yield f"{promise.id}: state `{promise.state}` is not `done`, `not yet` or `partly: what`"


def proof_problems(promises: list[Promise], claims: list[Claim]) -> Iterator[str]:
    """Promises without their test, and tests without their promise."""
    states = {promise.id: promise.state for promise in promises}
    named = {claim.id for claim in claims}
    for promise_id, state in states.items():
        if state.startswith(("done", "partly")) and promise_id not in named:
            yield f"{promise_id}: marked `{state}`, but no test names it"
    for claim_id in sorted(named - states.keys()):
        yield f"{claim_id}: named by {named_by(claim_id, claims)}, but not on the page"
    by_name = [claim for claim in claims if claim.by_name]
    for claim_id in sorted({claim.id for claim in by_name if states.get(claim.id) == "not yet"}):
        yield f"{claim_id}: claimed by {named_by(claim_id, by_name)}, but marked `not yet`"


def named_by(promise_id: str, claims: list[Claim]) -> str:
    """The tests that name a promise, in few words."""
    first, *more = dict.fromkeys(claim.test for claim in claims if claim.id == promise_id)
    return f"{first} and {len(more)} more" if more else first


def problems_of(page: str, claims: Iterable[Claim]) -> list[str]:
    """Everything that is wrong with the page, at once."""
    promises, problems = read_page(page)
    return [*problems, *row_problems(promises), *proof_problems(promises, list(claims))]


def all_claims() -> Iterator[Claim]:
    for file in sorted((ROOT / "tests").rglob("*.py")):
        yield from claims_of(file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix())


def test_page_and_tests_agree() -> None:
    problems = problems_of(PAGE.read_text(encoding="utf-8"), all_claims())
    if problems:
        pytest.fail(f"{len(problems)} problems with docs/promises.md:\n  " + "\n  ".join(problems), pytrace=False)


def check(page: str, tests: str = "") -> list[str]:
    return problems_of(f"| id | promise | state |\n|---|---|---|\n{page}", claims_of(tests, "t.py"))


NAMED = "def test_K12_bytes(): ...\n"


def test_a_page_that_agrees_has_no_problems() -> None:
    assert check("| K12 | same \\| bytes | done |\n| K1 | later | not yet |\n", NAMED) == []


@pytest.mark.parametrize(
    "source",
    [
        NAMED,
        "async def test_K12(): ...\n",
        "def test_XP3_K12_two(): ...\n",
        'def test_bytes():\n    """Same bytes (K12)."""\n',
        "def test_bytes():\n    # K12: caches depend on it\n    pass\n",
        "@one(\n    1,  # K12\n)\ndef test_bytes():\n    pass\n",
    ],
)
def test_a_test_can_name_a_promise_in_several_ways(source: str) -> None:
    page = "| K12 | same bytes | done |\n| XP3 | links | done |"
    assert check(page, source + "def test_XP3(): ...\n") == []


@pytest.mark.parametrize(
    "source",
    [
        "def test_K1_short(): ...\n",
        "def test_xK12_other(): ...\n",
        "def test_k12_small(): ...\n",
        "def helper_K12(): ...\n",
        "# K12 outside of any test\ndef test_bytes(): ...\n",
        'def test_bytes():\n    text = "K12"\n',
        'def test_bytes():\n    """K120, xK12, U+K12."""\n',
    ],
)
def test_a_done_promise_needs_a_test_that_names_it_whole(source: str) -> None:
    page = "| K12 | same bytes | done |\n| K1 | tool | partly: half |"
    problems = check(page, source + "def test_K1_a(): ...\n")
    assert problems == ["K12: marked `done`, but no test names it"]


def test_a_part_that_is_done_needs_a_test_too() -> None:
    assert check("| S2 | json | partly: tools |") == ["S2: marked `partly: tools`, but no test names it"]


def test_an_id_that_is_not_listed_is_a_problem() -> None:
    problems = check("| K12 | same bytes | done |", NAMED + 'def test_XP3_a():\n    """Also XF9."""\n')
    assert problems == [
        "XF9: named by t.py::test_XP3_a, but not on the page",
        "XP3: named by t.py::test_XP3_a, but not on the page",
    ]


def test_characters_are_not_taken_for_promises() -> None:
    text = '# C1 and \\xA9\ndef test_a():\n    """C0, C1, U+D8, \\xA9, W3C, SHA1."""\n'
    assert check("", text) == []


def test_only_a_name_claims_what_is_not_yet_done() -> None:
    assert check("| K12 | same bytes | not yet |", 'def test_a():\n    """Near K12."""\n') == []
    again = "def test_K12_again():\n    # K12\n    pass\n"
    assert check("| K12 | same bytes | not yet |", NAMED + again) == [
        "K12: claimed by t.py::test_K12_bytes and 1 more, but marked `not yet`"
    ]
    assert check("| K12 | same bytes | not yet |", NAMED) == [
        "K12: claimed by t.py::test_K12_bytes, but marked `not yet`"
    ]


def test_all_problems_of_a_page_come_at_once() -> None:
    twice = "| K12 | a | done |\n| K12 | b | done |\n"
    malformed = "| K2 | d |\n| k3 | e | done |\n| K4 | | done |\n"
    unknown = "| K1 | c | soon |\n| K5 | f | partly |\n"
    problems = "\n".join(check(twice + malformed + unknown, NAMED))
    assert "K12: listed twice, lines 3 and 4" in problems
    assert "K1: state `soon`" in problems
    assert "K5: state `partly` is not" in problems
    for line in (5, 6, 7):
        assert f"line {line}: not a row" in problems
