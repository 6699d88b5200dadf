"""The changes that `make mutants` makes: each kind, what stays as it is, and that each of them is one change."""

import ast
from pathlib import Path

import pytest
from tests.mutants.mutate import Mutant, find_mutants

import toolroll.kernel

HERE = Path("src/toolroll/sample.py")
KERNEL = Path(toolroll.kernel.__path__[0])


def changes(body: str) -> list[str]:
    source = "def f(x, y, z):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return [mutant.apply(source.encode()).decode().partition("\n")[2].strip() for mutant in _mutants(source)]


def _mutants(source: str) -> list[Mutant]:
    return find_mutants(HERE, source.encode())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = x < z", ["y = x <= z", "y = x >= z"]),
        ("y = x == z", ["y = x != z"]),
        ("y = x is  not z", ["y = x is z"]),
        ("y = x not in z", ["y = x in z"]),
        ("y = x and z", ["y = x or z"]),
        ("y = not x", ["y =  x"]),
        ("y = not (x)", ["y =  (x)"]),
        ("y = x + 1", ["y = x - 1", "y = x + 2"]),
        ("y = len(x) - z", ["y = len(x) + z"]),
        ("y = x + z", []),
        ("y = 0o17", ["y = 16"]),
        ("y = True", ["y = False"]),
        ("y = 'text'", []),
        ("y = x if z else 'no'", ["y = x if not (z) else 'no'"]),
        ("y = [it for it in x if it]", ["y = [it for it in x if not (it)]"]),
        ("x.close()", ["pass"]),
        ("x.y = z", ["pass"]),
        ("x += y", ["pass"]),
        ("raise x", ["pass"]),
        ("return x", ["return None"]),
        ("return", ["pass"]),
        ("return None", []),
        ("assert x < 1", []),
        ("assert_never(x)", []),
        ("y: Literal[1] = x", []),
        ("y = 1  # pragma: no cover", []),
        ("'''Say 1 < 2.'''", []),
        ("y = f'{x + 1}'", []),
    ],
)
def test_each_kind_of_change(body: str, expected: list[str]) -> None:
    assert changes(body) == expected


def test_a_condition_without_an_operator_is_negated() -> None:
    assert changes("if x:\n    y = z") == ["if not (x):\n        y = z"]
    assert changes("match x:\n    case 1 if y:\n        z = x") == [
        "match x:\n        case 1 if not (y):\n            z = x"
    ]


def test_only_the_type_checker_reads_what_is_for_it() -> None:
    assert _mutants("if TYPE_CHECKING:\n    A = 1\n") == []


def test_a_mutant_says_where_it_is_and_which_lines_tests_should_run() -> None:
    source = """LIMIT = 5
class A:
    size: int = 3

    def f(self, x=1):
        return (
            x < LIMIT
        )
"""
    limit, size, default, result, *comparisons = _mutants(source)
    assert [(limit.function, limit.name, limit.lines), (size.function, size.name, size.lines)] == [
        ("", "LIMIT", range(0)),
        ("A", "size", range(0)),
    ]
    assert ("A.f", range(6, 9)) == (default.function, default.lines)
    assert (result.before, result.after) == ("return ( x < LIMIT )", "return None")
    assert {("A.f", "x < LIMIT", range(6, 8))} == {(it.function, it.before, it.lines) for it in comparisons}


@pytest.mark.parametrize("path", sorted(KERNEL.rglob("*.py")), ids=lambda path: str(path.relative_to(KERNEL)))
def test_every_mutant_of_the_kernel_is_another_program(path: Path) -> None:
    source = path.read_bytes()
    original = ast.dump(ast.parse(source))
    for mutant in find_mutants(HERE, source)[::25]:  # parsing all of them would take half a minute
        assert ast.dump(ast.parse(mutant.apply(source))) != original
