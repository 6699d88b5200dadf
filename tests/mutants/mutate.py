"""Find every place in a module where one small change should make a test fail.

A mutant replaces some bytes of the source and leaves the rest as it is, so a report can show the line before and
after. Nothing is changed where no test could notice it: annotations, decorators, assertions for the type checker,
and text.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

COMPARISONS: Mapping[str, Sequence[str]] = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
}
CONNECTIVES: Mapping[str, Sequence[str]] = {"and": ("or",), "or": ("and",)}
SIGNS: Mapping[str, Sequence[str]] = {"+": ("-",), "-": ("+",)}
OPERATOR = re.compile(rb"is\s+not\b|not\s+in\b|[<>=!]=|[<>+-]|\b(?:is|in|and|or)\b")
UNTESTED_NAMES = {"TYPE_CHECKING", "assert_never", "__all__", "__slots__"}
UNTESTED_NODES = (ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)
OPERATIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)  # have mutants of their own
NO_COVER = b"pragma: no cover"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one file: what it replaces, and where to look for tests that should notice."""

    path: Path
    function: str  # "" at the top level of a module
    start: int
    end: int
    replacement: bytes
    before: str
    after: str
    lines: range  # tests that run one of these should notice; empty outside of functions
    name: str  # what is assigned there: outside of functions, tests of the lines that use this name should notice

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what names this mutant in a list, however far its line has moved."""
        return str(self.path), self.function, self.before, self.after

    def apply(self, source: bytes) -> bytes:
        """Return the source with this change in it."""
        return source[: self.start] + self.replacement + source[self.end :]


def find_mutants(path: Path, source: bytes) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda mutant: mutant.start)


class _Finder:
    def __init__(self, path: Path, source: bytes) -> None:
        self.found: list[Mutant] = []
        self.path = path
        self.source = source
        self.source_lines = source.splitlines(keepends=True)
        self.starts = list(accumulate(map(len, self.source_lines), initial=0))
        self.scopes: list[str] = []
        self.body = range(0)  # the lines of the function that is being visited
        self.statement: ast.stmt = ast.Pass(lineno=0, end_lineno=0)

    def visit(self, node: ast.AST) -> None:
        """Find the mutants of a node and of everything in it."""
        if isinstance(node, UNTESTED_NODES) or _subject(node) in UNTESTED_NAMES or self._is_excluded(node):
            return
        outer = self.scopes, self.body, self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            self.scopes = [*self.scopes, node.name]
            if not isinstance(node, ast.ClassDef):
                self.body = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
        for start, end, text in self._changes(node):
            self._add(start, end, text.encode())
        for child in _children(node):
            self.visit(child)
        self.scopes, self.body, self.statement = outer

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Yield the changes of a node itself: the bytes that each replaces, and the text that takes their place."""
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from self._other_operators([left, *others], COMPARISONS)
            case ast.BoolOp(values=values):
                yield from self._other_operators(values, CONNECTIVES)
            case ast.BinOp(op=ast.Add() | ast.Sub()) if _is_number(node.left) or _is_number(node.right):
                yield from self._other_operators([node.left, node.right], SIGNS)
            case ast.UnaryOp(op=ast.Not()):
                start, _ = self._span(node)
                yield start, start + len("not"), ""
            case ast.Constant(value=bool(value)):
                yield *self._span(node), str(not value)
            case ast.Constant(value=int(value) | float(value)):
                yield *self._span(node), repr(value + 1)
            case ast.If() | ast.While() | ast.IfExp() | ast.comprehension() | ast.match_case():
                yield from self._negations(_conditions(node))
            case ast.stmt():
                yield from self._other_statements(node)

    def _other_statements(self, node: ast.stmt) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Return(value=ast.Constant(value=None)):
                pass
            case ast.Return(value=ast.expr()):
                yield *self._span(node), "return None"
            case ast.Return() | ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Delete():
                yield *self._span(node), "pass"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign():
                yield *self._span(node), "pass"
            case ast.Continue() | ast.Break():
                yield *self._span(node), "pass"

    def _other_operators(
        self, operands: Sequence[ast.expr], table: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[int, int, str]]:
        for left, right in pairwise(operands):
            match = OPERATOR.search(self.source, self._span(left)[1], self._span(right)[0])
            if match:
                yield from ((*match.span(), other) for other in table[" ".join(match[0].decode().split())])

    def _negations(self, tests: Sequence[ast.expr]) -> Iterator[tuple[int, int, str]]:
        """Yield the negations of conditions that have no operator of their own to change."""
        for test in tests:
            if not isinstance(test, OPERATIONS) and _subject(test) not in UNTESTED_NAMES:
                start, end = self._span(test)
                yield start, end, f"not ({self.source[start:end].decode()})"

    def _add(self, start: int, end: int, replacement: bytes) -> None:
        first = self.source.rfind(b"\n", 0, start) + 1
        last = self.source.find(b"\n", end)
        after = self.source[first:start] + replacement + self.source[end:last]
        in_body = self.statement.lineno in self.body  # and not, say, in the default of an argument
        self.found.append(
            Mutant(
                path=self.path,
                function=".".join(self.scopes),
                start=start,
                end=end,
                replacement=replacement,
                before=" ".join(self.source[first:last].decode().split()),
                after=" ".join(after.decode().split()),
                lines=range(self.statement.lineno, bisect_right(self.starts, end) + 1) if in_body else self.body,
                name=_assigned_name(self.statement) or ".".join(self.scopes[-1:]),
            )
        )

    def _is_excluded(self, node: ast.AST) -> bool:
        return isinstance(node, ast.stmt) and NO_COVER in self.source_lines[node.lineno - 1]

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[end_line - 1] + end_column


def _children(node: ast.AST) -> Iterable[ast.AST]:
    """Return what is in a node, without annotations, decorators, base classes and patterns."""
    match node:
        case ast.FunctionDef(args=arguments, body=body) | ast.AsyncFunctionDef(args=arguments, body=body):
            return [*arguments.defaults, *filter(None, arguments.kw_defaults), *body]
        case ast.ClassDef(body=body):
            return body
        case ast.AnnAssign(value=value):
            return [value] if value else []
        case ast.match_case(guard=guard, body=body):
            return [guard, *body] if guard else body
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return node.orelse
        case _:
            return ast.iter_child_nodes(node)


def _conditions(node: ast.If | ast.While | ast.IfExp | ast.comprehension | ast.match_case) -> Sequence[ast.expr]:
    match node:
        case ast.comprehension(ifs=tests):
            return tests
        case ast.match_case(guard=guard):
            return [guard] if guard else []
        case _:
            return [node.test]


def _subject(node: ast.AST) -> str:
    """Return the name that a decorator, a call or an assignment is about."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Expr(value=inner):
            return _subject(inner)
        case _:
            return _assigned_name(node)


def _assigned_name(node: ast.AST) -> str:
    match node:
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() | float()) | ast.Call(func=ast.Name(id="len")):
            return True
        case _:
            return False
