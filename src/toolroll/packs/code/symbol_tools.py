"""The tools that follow symbols: `find_definition`, `find_importers`, `outline`, `find_references`, `repo_map`.

They run in threads of their own: the index waits for disks and processes. While it is built for the first time, a
search answers where things are defined; who imports something is known only when all of it is there.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from toolroll.errors import ArgumentsRefused, ToolrollError
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.decorator import tool
from toolroll.packs.code.answers import (
    add_unasked,
    format_definitions,
    format_importers,
    format_index_trouble,
    format_outline,
    format_references,
)
from toolroll.packs.code.failures import tool_errors, tool_failure
from toolroll.packs.code.keys import InWorkspace, WithIndex
from toolroll.packs.code.places import locate_paths, resolve_place
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.read import Line, read_lines
from toolroll.workspace.symbols.definitions import Definition
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.text import decode
from toolroll.workspace.workspace import Workspace

SHORT_WAIT_S: Final = 2.0
"""For an index that is not complete, before a search answers instead: most projects are parsed within it."""
LONG_WAIT_S: Final = 120.0
"""Where only a complete index has the answer: 40,000 files on two cores."""
WAIT_STEP_S: Final = 0.1
"""How soon a call that nobody waits for any more gives its thread back."""
CONTEXT_LINES: Final = 5
MAX_WITH_CONTEXT: Final = 3
DEFAULT_MAP_TOKENS: Final = 2_000

SymbolType = Literal["function", "class", "variable", "import"]


@tool(brings=("private", "untrusted"))
def find_definition(
    symbol: Annotated[str, Field(description="The name, such as 'DatabaseService', 'handleSubmit' or 'Class.method'.")],
    workspace: InWorkspace,
    index: WithIndex,
    ctx: ToolContext,
    type: Annotated[SymbolType | None, Field(description="Only symbols of this kind.")] = None,  # noqa: A002 - the name that models know
) -> ToolResult:
    """Find where a symbol (function, class, variable, import) is defined. Gives file, line, signature and context.

    It knows the code's own structure: text and comments that merely contain the name are not found.
    """
    with tool_errors():
        _check_name(symbol)
        _refresh_index(index, ctx, SHORT_WAIT_S)
        narrowed = index.definitions(symbol, type)
        wider = index.definitions(symbol) if type is not None and not narrowed.found else narrowed
        answer = wider if wider.found else narrowed
        contexts = [_context(workspace, one) for one in answer.found[:MAX_WITH_CONTEXT]]
    missed = None if answer is narrowed else type
    text = _add_notes(format_definitions(answer, symbol, contexts, missed=missed), index, ctx)
    return ToolResult.of_text(text, {"found": len(answer.found)})


@tool(brings=("private", "untrusted"), paths=["modulePath"], locate=locate_paths)
def find_importers(
    modulePath: Annotated[  # noqa: N803 - the name that models know
        str,
        Field(description="A module or symbol: '../services/DatabaseService', a file, 'package.module' or a name."),
    ],
    index: WithIndex,
    ctx: ToolContext,
) -> ToolResult:
    """Find all files that import a module or symbol, with the statements. Use it to see what a change would affect."""
    with tool_errors():
        _check_name(modulePath)
        is_complete = _refresh_index(index, ctx, LONG_WAIT_S)
        answer = index.importers(modulePath)
    text = _add_notes(format_importers(answer, modulePath, is_complete=is_complete), index, ctx)
    return ToolResult.of_text(text, {"found": len(answer.found)})


@tool(brings=("private", "untrusted"), paths=["path"], locate=locate_paths)
def outline(
    path: Annotated[str, Field(description="Path of the file from the project root.")],
    workspace: InWorkspace,
    index: WithIndex,
    ctx: ToolContext,
) -> ToolResult:
    """Show what a file defines, with lines and signatures, without its code. Use it before reading a long file."""
    with tool_errors():
        place = resolve_place(workspace, workspace.path(path), ctx, written=path)
        decode(
            workspace.without_links().read(place).data, path=path
        )  # says what is wrong with it, if it cannot be read
        symbols = index.outline(place)
        why = None if symbols else index.why_unknown(place)
    text = _add_notes(format_outline(str(place), symbols, why_unknown=why), index, ctx)
    return ToolResult.of_text(text, {"symbols": len(symbols)})


@tool(brings=("private", "untrusted"))
def find_references(
    symbol: Annotated[str, Field(description="The name, such as 'formatCups' or 'Class.method'.")],
    index: WithIndex,
    ctx: ToolContext,
) -> ToolResult:
    """Find every place where a name is used, with the function around it. Strings and comments do not count."""
    with tool_errors():
        _check_name(symbol)
        _refresh_index(index, ctx, SHORT_WAIT_S)
        answer = index.references(symbol)
    text = _add_notes(format_references(answer, symbol), index, ctx)
    return ToolResult.of_text(text, {"found": len(answer.found)})


@tool(brings=("private", "untrusted"))
def repo_map(
    index: WithIndex,
    ctx: ToolContext,
    budget: Annotated[int, Field(ge=100, le=20_000, description="At most about so many tokens.")] = DEFAULT_MAP_TOKENS,
) -> str:
    """Show what matters most in the project, in few tokens.

    It is the files that others import, and what they define.
    """
    with tool_errors():
        is_complete = _refresh_index(index, ctx, LONG_WAIT_S)
        text = index.repo_map(budget)
    if not text:
        raise tool_failure(
            "There is no code here that can be parsed. Use list_files to look around.", code="no_symbols"
        )
    late = "" if is_complete else "[the index is not complete yet: ask again later for all of it]"
    return _add_notes(f"{text}{late}", index, ctx)


def _add_notes(text: str, index: Index, ctx: ToolContext) -> str:
    """Return the answer, what the index leaves out, and why it may have taken longer than usual."""
    notes = [f"[{note}]" for note in index.limit_notes()]
    trouble = [] if index.trouble is None else [format_index_trouble(index.trouble)]
    told = "\n".join([text.rstrip("\n"), *notes, *trouble]) if notes or trouble else text
    return add_unasked(told, ctx.unasked_paths)


def _refresh_index(index: Index, ctx: ToolContext, wait_s: float) -> bool:
    """Start to bring the index up to date, wait for a while, and return whether it is complete."""

    def tell(done: int, total: int) -> None:
        ctx.progress(f"parsed {done:,} of {total:,} files", done / total if total else None)

    index.start(tell)
    for _ in range(int(wait_s / WAIT_STEP_S)):
        if index.wait(WAIT_STEP_S) or ctx.cancelled:
            break
    return index.is_ready


def _check_name(name: str) -> None:
    """Refuse what no name of anything can be: it goes on to other programs."""
    if not name.strip().isprintable() or not name.strip():
        raise ArgumentsRefused(
            f"'{quote_path(name)}' is no name: it is empty, or has characters that cannot be seen. Give it as it "
            "stands in the code, such as 'DatabaseService'."
        )


def _context(workspace: Workspace, one: Definition) -> tuple[Line, ...]:
    try:
        place = workspace.path(one.path)
        return read_lines(workspace.without_links(), place, offset=one.symbol.start_line, limit=CONTEXT_LINES).lines
    except ToolrollError:  # gone or not readable by now: the place itself is still an answer
        return ()
