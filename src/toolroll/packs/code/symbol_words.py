"""What the index knows, in words for a model: places first, one a line."""

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Final

from toolroll.errors import ToolrollError
from toolroll.packs.code.wording import counted, fitting
from toolroll.safe.names import shown
from toolroll.safe.text import one_line
from toolroll.workspace.reading import Line
from toolroll.workspace.symbols.cold import Definition
from toolroll.workspace.symbols.definitions import Definitions
from toolroll.workspace.symbols.imports.importers import Importer, Importers
from toolroll.workspace.symbols.references import Reference, References
from toolroll.workspace.symbols.symbol import Group, Symbol

MAX_ANSWERS: Final = 50
"""Definitions of one name: more are a name that is everywhere, such as `main`."""
MAX_PLACES: Final = 200
"""Importers or uses: the rest is counted."""
MAX_STATEMENT_CHARACTERS: Final = 240
"""Of an import: a list of thirty names."""
MAX_CONTEXT_CHARACTERS: Final = 240
"""Of a line below a definition: it shows what the thing is, and read_file shows the rest."""


def definitions_text(
    answer: Definitions, symbol: str, contexts: Sequence[Sequence[Line]], *, missed: Group | None = None
) -> str:
    """Where something is defined; the first ones with the lines they begin with.

    `missed` is the kind that was asked for where the answer has only others.
    """
    notes = [f"[{note}]" for note in answer.notes]
    if not answer.found:
        near = f" Did you mean {' or '.join(map(shown, answer.suggestions))}?" if answer.suggestions else ""
        more = " Try search_files for other mentions of it." if not near else ""
        return "\n".join([f"No definition of '{shown(symbol)}' was found.{near}{more}", *notes])
    some = answer.found[:MAX_ANSWERS]
    lines = [_definition(one, context) for one, context in zip(some, chain(contexts, repeat(())), strict=False)]
    heading = [] if missed is None else [_other_kinds(answer, symbol, missed)]
    return "\n".join([*heading, *_shortened(lines, len(answer.found)), *notes])


def _other_kinds(answer: Definitions, symbol: str, missed: Group) -> str:
    kinds = dict.fromkeys(one.symbol.kind for one in answer.found)
    return f"No definition of '{shown(symbol)}' is of type {missed}. It is defined as {' and '.join(kinds)}:"


def _definition(one: Definition, context: Sequence[Line]) -> str:
    symbol = one.symbol
    doc = f"  -- {symbol.doc}" if symbol.doc else ""
    sure = "" if one.is_certain else "  (looks like it; not parsed)"
    place = f"{shown(one.path)}:{symbol.line}  {symbol.kind} {symbol.name_path}{sure}\n  {symbol.signature}{doc}"
    return "\n".join([place, *(f"    {line.number}\t{line.text[:MAX_CONTEXT_CHARACTERS]}" for line in context)])


def importers_text(answer: Importers, asked: str, *, is_complete: bool) -> str:
    """Who imports something, with the statement and what is special about it."""
    note = [] if is_complete else ["[the index is not complete yet: there may be more]"]
    if not answer.found:
        known = answer.meaning.paths or answer.meaning.owners
        where = (
            f"Nothing imports it ({', '.join(map(shown, known))})." if known else "There is nothing of that name here."
        )
        hint = "" if known else " Name a file, a dotted module, or a relative path such as '../services/X'."
        return "\n".join([f"No importers of '{shown(asked)}' were found. {where}{hint}", *note])
    files = len({one.path for one in answer.found})
    heading = f"{counted(len(answer.found), 'import')} in {counted(files, 'file')}"
    lines = [_importer(one) for one in answer.found[:MAX_PLACES]]
    return "\n".join([heading, *_shortened(lines, len(answer.found)), *note])


def _importer(one: Importer) -> str:
    marks = [
        *([] if one.kind == "static" else [one.kind]),
        *([] if one.certainty == "resolved" else ["by its text only"]),
        *([f"through {shown(one.via)}"] if one.via else []),
    ]
    told = f"  [{', '.join(marks)}]" if marks else ""
    return f"{shown(one.path)}:{one.line}  {one_line(' '.join(one.text.split()), MAX_STATEMENT_CHARACTERS)}{told}"


_UNKNOWN: Final = {
    "generated": "it is generated",
    "language not installed": "its language is not installed: pip install 'toolroll[languages]'",
    "minified": "it is minified",
    "not parsed": "the parser failed on it, or took too long",
    "too large": "it is too large",
}
"""Why a file was not parsed, by its state in the index."""


def outline_text(path: str, symbols: Sequence[Symbol], *, why_unknown: str | None = None) -> str:
    """What a file defines, indented as it is nested; or why that is not known."""
    if why_unknown is not None:
        reason = _UNKNOWN.get(why_unknown, why_unknown)
        return f"What {shown(path)} defines is not known: {reason}. Read it with read_file, or search in it."
    if not symbols:
        return f"{shown(path)} defines nothing that is known here. Read it with read_file."
    lines = [_outlined(one) for one in symbols]
    count = fitting(lines)
    rest = [f"[{len(lines) - count:,} more: search in the file for them]"] if count < len(lines) else []
    return "\n".join([f"{shown(path)}:", *lines[:count], *rest])


def _outlined(symbol: Symbol) -> str:
    depth = symbol.parent.count(".") + 1 if symbol.parent else 0
    doc = f"  -- {symbol.doc}" if symbol.doc else ""
    return f"{'  ' * depth}{symbol.line}-{symbol.end_line}  {symbol.signature}{doc}"


def references_text(answer: References, symbol: str) -> str:
    """Where a name is used, by file."""
    notes = [f"[{note}]" for note in answer.notes]
    if not answer.found:
        return "\n".join(
            [f"'{shown(symbol)}' is used nowhere in code. Try search_files for text and comments.", *notes]
        )
    files = len({one.path for one in answer.found})
    heading = f"{counted(len(answer.found), 'place')} in {counted(files, 'file')}"
    lines, last = [], ""
    for one in answer.found[:MAX_PLACES]:
        lines.append(f"  {_reference(one)}" if one.path == last else f"{shown(one.path)}\n  {_reference(one)}")
        last = one.path
    return "\n".join([heading, *_shortened(lines, len(answer.found)), *notes])


def not_kept_text(trouble: ToolrollError) -> str:
    """That the index cannot be kept, and why, without the path: it is of no use to a model, and private."""
    cause = trouble.__cause__
    said = cause.strerror if isinstance(cause, OSError) else str(cause or "")
    why = said or str(getattr(trouble, "errno_name", trouble.code))
    return f"[the index cannot be kept on disk ({why}): it is made for this run alone, which takes longer]"


def _reference(one: Reference) -> str:
    place = "definition" if one.is_definition else f"in {one.inside}" if one.inside else ""
    return f"{one.line}: {one.text}" + (f"  [{place}]" if place else "")


def _shortened(lines: Sequence[str], total: int) -> list[str]:
    """As many as fit into one answer, and how many more there are."""
    count = fitting(lines)
    return [*lines[:count], *([f"...and {total - count:,} more"] if count < total else [])]
