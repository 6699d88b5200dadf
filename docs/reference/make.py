"""Write docs/api.md, the reference of every public name, from the code and its docstrings.

    make reference

A test compares the page with what this program writes, so that it cannot fall behind.
"""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from typing_extensions import is_typeddict

PAGE: Final = Path(__file__).parent.parent / "api.md"
MODULES: Final = ("toolroll", "toolroll.mcp", "toolroll.mcp_client", "toolroll.models", "toolroll.testing")

_INTRODUCTION: Final = """\
# API reference

Every name that `toolroll` promises to keep, with its options and fields. Import a name from the module in whose section
it stands. Anything else in the package may move between releases.

This page is written by `make reference` from the code.
"""
_FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def write_page() -> str:
    """Return the whole page."""
    parts = [_INTRODUCTION]
    for module in MODULES:
        parts.append(f"## {module}\n")
        parts += [_describe(name, getattr(import_module(module), name)) for name in _public_names(module)]
    return "\n".join(parts)


def _public_names(module: str) -> list[str]:
    return [name for name in import_module(module).__all__ if not name.startswith("__")]


def _describe(name: str, value: object) -> str:
    """Return the section of one name: its signature, its docstring, its options and its members."""
    parts = [f"### {name}\n", f"```text\n{_signature(name, value)}\n```\n", f"{_docstring(value)}\n"]
    options = _options(value)
    if options:
        parts.append("Options:\n\n" + _table(options))
    if inspect.isclass(value):
        fields = list(_fields(value))
        if fields:
            parts.append("Fields:\n\n" + _table(fields))
        members = list(_members(value))
        if members:
            parts.append("Members:\n\n" + _table(members))
    return "\n".join(parts)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows]
    return "\n".join(["| name | meaning |", "|---|---|", *lines, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _docstring(value: object) -> str:
    return inspect.getdoc(value) or ""


def _signature(name: str, value: object) -> str:
    """Return how a name is called, as its source writes it: types as people wrote them, defaults too."""
    if not inspect.isclass(value):
        node = _definition(value)
        return f"{name}{_parameters(node)}" if isinstance(node, _FUNCTION) else f"{name}: {type(value).__name__}"
    bases = [base.__name__ for base in value.__bases__ if base.__module__.startswith("toolroll")]
    if issubclass(value, Exception):
        return f"{name}({', '.join(bases) or 'Exception'})"
    if dataclasses.is_dataclass(value):
        return f"{name}({', '.join(_field_signature(one) for one in dataclasses.fields(value) if one.init)})"
    constructor = value.__dict__.get("__init__")
    node = _definition(constructor) if constructor is not None else None
    return f"{name}{_parameters(node)}" if isinstance(node, _FUNCTION) else name


def _field_signature(field: "dataclasses.Field[object]") -> str:
    optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    return f"{field.name}=..." if optional else field.name


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = ast.parse(ast.unparse(node.args) and f"lambda {ast.unparse(_without_types(node.args))}: 0")
    text = ast.unparse(arguments)[len("lambda") :].rpartition(":")[0].strip()
    text = re.sub(r"^self(?:, )?", "", text)
    return f"({text})"


def _without_types(arguments: ast.arguments) -> ast.arguments:
    """Return the parameters with names and defaults only; the types are in the tables or in the editor."""
    plain = ast.parse(f"def f({ast.unparse(arguments)}): ...").body[0]
    assert isinstance(plain, ast.FunctionDef)
    args = plain.args
    for one in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if one is not None:
            one.annotation = None
    return args


def _options(value: object) -> list[tuple[str, str]]:
    """Return the keyword arguments that are declared as a TypedDict, such as those of `Agent`."""
    target = value.__dict__.get("__init__") if inspect.isclass(value) else value
    node = _definition(target)
    if not isinstance(node, _FUNCTION) or node.args.kwarg is None or node.args.kwarg.annotation is None:
        return []
    found = re.fullmatch(r"Unpack\[(\w+)\]", ast.unparse(node.args.kwarg.annotation))
    declared = found and getattr(inspect.getmodule(target), found[1])
    return list(_fields(declared)) if declared is not None and is_typeddict(declared) else []


def _fields(value: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a dataclass or a TypedDict, with the string that stands below each in the source."""
    if not dataclasses.is_dataclass(value) and not is_typeddict(value):
        return
    for base in reversed(value.__mro__):
        if base.__module__.startswith("toolroll"):
            yield from _declared_fields(base)


def _declared_fields(value: type) -> Iterator[tuple[str, str]]:
    body = _class_body(value)
    for statement, below in zip(body, [*body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        if not name.startswith("_") and "ClassVar" not in ast.unparse(statement.annotation):
            yield f"{name}: {ast.unparse(statement.annotation).strip(chr(39))}", _string_of(below)


def _members(value: type) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties, those of our own base classes included."""
    seen = set[str]()
    for base in value.__mro__:
        if not base.__module__.startswith("toolroll"):
            continue
        for node in _class_body(base):
            if isinstance(node, _FUNCTION) and not node.name.startswith("_") and node.name not in seen:
                seen.add(node.name)
                yield _member_signature(node), inspect.cleandoc(ast.get_docstring(node) or "").partition("\n\n")[0]


def _member_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = {ast.unparse(one) for one in node.decorator_list}
    if "property" in decorators:
        return node.name
    prefix = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{prefix}{node.name}{re.sub(r'^[(]cls(?:, )?', '(', _parameters(node))}"


def _string_of(node: ast.AST | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


def _class_body(value: type) -> list[ast.stmt]:
    for node in ast.walk(_tree(value.__module__)):
        if isinstance(node, ast.ClassDef) and node.name == value.__name__:
            return node.body
    return []


def _definition(value: object) -> ast.stmt | None:
    """Return the definition of a function in its source; of one with overloads, the last."""
    if not isinstance(value, Callable):  # type: ignore[arg-type]  # an abstract class, used as a check
        return None
    try:
        source = textwrap.dedent(inspect.getsource(value))  # type: ignore[arg-type]  # whatever has a source
    except (OSError, TypeError):
        return None
    return ast.parse(source).body[0]


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
