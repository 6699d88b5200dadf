"""Collect tools with where they came from: from packs by name, from files and modules that a person names.

The code of a file or module runs when it is loaded: name only what you would run yourself.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from toolroll.errors import DefinitionError, ToolFailure, UsageError
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.packs.registry import PACKS, Pack, pack_named, packs_holding
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A tool, and the pack, file or module that it is from: as it was named (`origin`), and exactly (`place`)."""

    tool: Tool
    origin: str
    place: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools of unique names, in order."""

    entries: tuple[CatalogEntry, ...]

    @property
    def tools(self) -> Toolset:
        """Return the tools as a set; two of one name are refused."""
        return Toolset(entry.tool for entry in self.entries)

    def get(self, name: str) -> CatalogEntry | None:
        """Return the entry of exactly this name."""
        return next((entry for entry in self.entries if entry.tool.name == name), None)

    def find(self, name: str) -> CatalogEntry:
        """Return the entry of that name; `ToolFailure` with the known names and the nearest one."""
        tools, found = self.tools, self.get(name)
        if found is None:
            raise ToolFailure(tools.describe_unknown(name), code="unknown_tool")
        return found


def read_catalog(packs: Sequence[str] = (), sources: Sequence[str] = (), *, wanted: str | None = None) -> Catalog:
    """Return the tools of these packs, files and modules; of every pack when none is named.

    With `wanted`, and nothing named, only the pack that holds it is loaded, if one does.
    """
    chosen = [pack_named(name) for name in packs]
    if not packs and not sources:
        chosen = list(packs_holding(wanted) if wanted else ()) or list(PACKS)
    return Catalog((*_of_packs(chosen), *_of_sources(sources)))


def _of_packs(packs: Sequence[Pack]) -> Iterator[CatalogEntry]:
    for pack in packs:
        yield from (CatalogEntry(tool=tool, origin=pack.name, place=f"pack {pack.name}") for tool in pack.load())


def _of_sources(sources: Sequence[str]) -> Iterator[CatalogEntry]:
    for source in sources:
        tools = load_tools(source)
        yield from (CatalogEntry(tool=tool, origin=source, place=source_place(source)) for tool in tools)


def load_tools(source: str) -> tuple[Tool, ...]:
    """Return the tools that a file (`tools.py`, `path/to/tools`) or a module has under public names, in order."""
    module = _from_file(Path(source)) if _is_file(source) else _from_name(source)
    found = _tools_in(module)
    if not found:
        raise UsageError(f"'{quote_path(source)}' has no tools. Put @tool above a function in it.")
    return found


def load_content(content: bytes, file: str) -> tuple[Tool, ...]:
    """Return the tools in this content of a file, which is not read again: what runs is what somebody looked at."""
    try:
        # As text: of bytes, Python would mind a `coding` comment, and read something else than was shown (in UTF-7,
        # `# +AAo-exec(...)` is a comment to the eye and a statement to Python).
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        message = f"The tools in '{quote_path(file)}' could not be loaded. It is not UTF-8."
        raise DefinitionError(message, tool=file) from None
    # Modules beside it were not looked at: they cannot be imported by it.
    return _tools_in(_from_content(text, file))


def _tools_in(module: ModuleType) -> tuple[Tool, ...]:
    found = {id(value): value for name, value in vars(module).items() if isinstance(value, Tool) and name[0] != "_"}
    return tuple(found.values())


def source_place(source: str) -> str:
    """Return which code a source that was loaded is: the absolute path of its file, without links."""
    if _is_file(source):
        return str(Path(source).resolve())
    file = getattr(sys.modules[source], "__file__", None)
    return f"module {source}" if file is None else str(Path(file).resolve())


def _is_file(source: str) -> bool:
    return source.endswith(".py") or "/" in source


def _from_file(path: Path) -> ModuleType:
    with os_errors(str(path)):
        text = path.read_bytes()
    _look_also_in(path.resolve().parent)
    return _from_content(text, str(path.resolve()))


def _from_content(text: bytes | str, file: str) -> ModuleType:
    # A name that no module has: a file called json.py must not become everybody's json.
    module = ModuleType(f"toolroll_from:{file}")
    module.__file__ = file
    module.__package__ = ""  # no package: Python would make one up from the dots in the name, for `from . import x`
    sys.modules[module.__name__] = module
    # Not through the import system: that would leave bytecode beside a file that is only looked at.
    _run(file, lambda: exec(compile(text, file, "exec"), vars(module)))  # noqa: S102 - what the person asked for
    return module


def _from_name(name: str) -> ModuleType:
    _look_also_in(Path.cwd())
    try:
        return _run(name, lambda: import_module(name))
    except DefinitionError as error:
        missing = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if missing is not None and (name == missing or name.startswith(f"{missing}.")):
            message = (
                f"There is no module '{quote_path(name)}', here or installed. For a file write its name with '.py'."
            )
            raise UsageError(message) from None
        raise


def _look_also_in(folder: Path) -> None:
    # Last, not first: what lies beside the file must not stand in for a module of the standard library or of ours.
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _run(source: str, work: Callable[[], T]) -> T:
    try:
        return work()
    except (Exception, SystemExit) as error:  # a person's own code runs here, and may raise whatever it likes
        place = f"'{quote_path(source)}'" + (f", line {line}" if (line := _find_line(error, source)) else "")
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = f"The tools in {place} could not be loaded. {what}"
        raise DefinitionError(message, tool=source) from error


def _find_line(error: BaseException, source: str) -> int | None:
    """Return the line of the named file that the error came through: where the person has to look."""
    lines = [error.lineno] if isinstance(error, SyntaxError) and error.filename == source else []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == source:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1] if lines else None
