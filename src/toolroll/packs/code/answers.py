"""Turn what was found in a workspace into text for a model: short, with places, and with how to continue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, chain, repeat
from typing import Final

from toolroll.errors import ToolrollError
from toolroll.packs.code.seen_files import Span
from toolroll.safe.paths.names import MAX_COMPONENTS, RelativePath, quote_path
from toolroll.safe.text import one_line
from toolroll.workspace.read import FilePart, Line
from toolroll.workspace.search.find import FoundFiles
from toolroll.workspace.search.listing import ListedEntry, Listing, display_path
from toolroll.workspace.search.lookalikes import Lookalikes
from toolroll.workspace.search.match_lines import MatchLine
from toolroll.workspace.search.search import SearchResult
from toolroll.workspace.search.walk import Skipped
from toolroll.workspace.symbols.definitions import Definition, Definitions
from toolroll.workspace.symbols.imports.importers import Importer, Importers
from toolroll.workspace.symbols.references import Reference, References
from toolroll.workspace.symbols.symbol import Group, Symbol

MAX_PAGE_BYTES: Final = 45_000
"""Of the lines of one answer: with its heading it stays below the 50 KiB from which outputs are cut."""

MAX_ANSWERS: Final = 50
"""Definitions of one name: more are a name that is everywhere, such as `main`."""
MAX_PLACES: Final = 200
"""Importers or uses: the rest is counted."""
MAX_STATEMENT_CHARACTERS: Final = 240
"""Of an import: a list of thirty names."""
MAX_CONTEXT_CHARACTERS: Final = 240
"""Of a line below a definition: it shows what the thing is, and read_file shows the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines of a file as text, and which of them are there whole."""

    text: str
    seen: tuple[Span, ...]
    facts: Mapping[str, object]
    """The first and the last line of the page, and how many there are."""


def format_file(reading: FilePart, most_bytes: int = MAX_PAGE_BYTES) -> Page:
    """Return the file as a model reads it: a heading, numbered lines, and where to go on, or why it ends there."""
    numbered = [_number_line(line, len(str(reading.total_lines))) for line in reading.lines]
    lines = reading.lines[: count_fitting(numbered, most_bytes)]
    size = f"{count_noun(reading.total_lines, 'line')}, {count_noun(reading.size, 'byte')}"
    heading = f"{quote_path(str(reading.path))}: {size}, hash {reading.hash}"
    notes = [note for note in (reading.note, _ends(reading)) if note]
    last = lines[-1].number if lines else 0
    after = last + 1 if 0 < last < reading.total_lines else None
    return Page(
        text="\n".join(
            [
                f"{heading} ({'; '.join(notes)})" if notes else heading,
                *numbered[: len(lines)],
                *([_read_on(reading, len(lines), after, most_bytes)] if after else []),
            ]
        ),
        seen=tuple((line.number - 1, line.number) for line in lines if not line.is_cut),
        facts={"first": lines[0].number if lines else 0, "last": last, "lines": reading.total_lines},
    )


def _read_on(reading: FilePart, shown: int, after: int, most_bytes: int) -> str:
    more = count_noun(reading.total_lines - after + 1, "more line")
    full = f" (one read shows {most_bytes:,} bytes at most)" if shown < len(reading.lines) else ""
    return f"[{more}{full}: read on with offset={after}]"


def count_fitting(lines: Sequence[str], most_bytes: int = MAX_PAGE_BYTES) -> int:
    """Return how many of the lines, from the first on, fit into one answer: one at least, where there are any."""
    sizes = accumulate(len(line.encode("utf-8", "surrogatepass")) + 1 for line in lines)
    return max(sum(size <= most_bytes for size in sizes), min(1, len(lines)))


def _ends(reading: FilePart) -> str | None:
    return None if reading.line_ends in ("none", "LF") else f"{reading.line_ends} line ends"


def _number_line(line: Line, width: int) -> str:
    text = f"{line.number:>{width}}\t{line.text}"
    if not line.is_cut:
        return text
    end = line.start + len(line.text)
    return (
        f"{text}\n[line {line.number} has {line.characters:,} characters, here are {line.start:,} to {end:,}: "
        f"for others set offset={line.number}, limit=1 and column]"
    )


def format_listing(listing: Listing, folder: str) -> str:
    """Return a folder as a model reads it: one entry a line, and where the next page begins."""
    if not listing.entries:
        return _past_the_end(listing) if listing.total else _nothing_in(folder, listing.skipped)
    lines = [_entry(one, listing.lookalikes) for one in listing.entries]
    count = count_fitting(lines)
    more, after = listing.more + len(lines) - count, listing.offset + count
    note = f"({listing.total:,} {'entry' if listing.total == 1 else 'entries'}{_format_skipped(listing.skipped)})"
    rest = [f"...and {more:,} more (offset={after})"] if more else []
    alike = _alike([one.path for one in listing.entries[:count]], listing.lookalikes)
    return "\n".join([f"{folder} {note}", *lines[:count], *alike, *rest])


def _nothing_in(folder: str, skipped: Skipped) -> str:
    why = _format_skipped(skipped)
    return f"{folder} has nothing to show{why}." if why else f"{folder} is empty."


def _past_the_end(listing: Listing) -> str:
    return f"There are {listing.total:,} entries, so none from offset {listing.offset:,} on."


def _entry(one: ListedEntry, lookalikes: Lookalikes) -> str:
    shown = display_path(one.path, lookalikes)
    name = f"{shown}/" if one.kind == "folder" else shown
    mark = "  (ignored)" if one.ignored else ""
    if one.kind not in ("file", "folder"):
        return f"{one.kind:<6}  {name}{mark}"
    size = f"  {count_noun(one.size, 'byte')}" if one.kind == "file" else ""
    when = datetime.fromtimestamp(one.mtime_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
    return f"{one.kind:<6}  {name}{size}  {when}{mark}"


def format_found(found: FoundFiles, pattern: str) -> str:
    """Format files that were found by name, one a line."""
    if not found.paths:
        looked = f"{_files_were(found.searched)} looked at{_format_skipped(found.skipped)}"
        return (
            f"No file fits '{quote_path(pattern)}': {looked}. Try a shorter part of the name, or list_files; "
            "search_files looks for words inside files."
        )
    paths = [display_path(path, found.lookalikes) for path in found.paths]
    count = count_fitting(paths)
    more = found.more + len(paths) - count
    rest = [f"...and {more:,} more: name more of the path"] if more else []
    alike = _alike(found.paths[:count], found.lookalikes)
    return "\n".join([*paths[:count], *alike, *rest, *_left_out(found.skipped)])


def _alike(paths: Sequence[RelativePath], lookalikes: Lookalikes) -> Iterator[str]:
    """Yield what to make of names that would look the same."""
    if lookalikes and any(display_path(path, lookalikes) != display_path(path) for path in paths):
        yield "[a name with ‹U+...› for letters looks like another one, and is written with just these characters]"


def format_search(result: SearchResult, pattern: str, *, most: int | None = None) -> str:
    """Format matches by file, with line numbers: as many as fit into one answer; without `most`, all there are."""
    if not result.files:
        looked = f"{_files_were(result.searched)} searched{_format_skipped(result.skipped)}"
        return f"No line matches '{quote_path(pattern)}': {looked}.{_in_old_encodings(result.not_utf8)}"
    rows = _first_rows(result, most)
    more = result.total - sum(row.is_match for row in rows)
    onward = "narrow it with path or filePattern" if most is not None else _BEYOND_KEPT
    rest = [f"...and {more:,} more: {onward}"] if more else []
    heading = f"{count_noun(result.total, 'matching line')} in {count_noun(result.matching_files, 'file')}"
    return "\n".join([heading, *(row.text for row in rows), *_left_out(result.skipped), *rest])


def fits_in_answer(result: SearchResult, *, most: int) -> bool:
    """Return whether one answer with at most so many matches shows all of them."""
    return not result.files or sum(row.is_match for row in _first_rows(result, most)) == result.total


def format_all_matches(result: SearchResult, pattern: str) -> str:
    """Return all matches there are, as whole lines; the last one says how to see those that are not here."""
    return f"{format_search(result, pattern)}\n"


def _in_old_encodings(files: int) -> str:
    if not files:
        return ""
    are, there = ("is", "it") if files == 1 else ("are", "them")
    return f" {files:,} of them {are} not UTF-8: letters beyond ASCII are not found in {there}, try a part in ASCII."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    text: str
    is_match: bool


def _first_rows(result: SearchResult, most: int | None) -> list[_Row]:
    """Return the rows that fit into one answer; without `most`, all there are."""
    rows = list(_rows(result))
    if most is None:
        return rows
    places = [at for at, row in enumerate(rows) if row.is_match][:most]
    rows = rows[: places[-1] + 1] if places else rows
    return rows[: count_fitting([row.text for row in rows])]


def _rows(result: SearchResult) -> Iterator[_Row]:
    for file in result.files:
        yield _Row(text=display_path(file.path), is_match=False)
        for line in file.lines:
            yield _Row(text=f"  {line.number}: {_window(line)}", is_match=True)


_BEYOND_KEPT: Final = "they are not kept, and a narrower pattern, path or filePattern shows them"
_TIMED_OUT: Final = "[the time was up before everything was searched: narrow it down]"


def _left_out(skipped: Skipped) -> Iterator[str]:
    """Yield what could have had more of what was found."""
    if skipped.unreadable:
        yield f"[{skipped.unreadable:,} unreadable: not looked into]"
    if skipped.too_deep:
        yield f"[{count_noun(skipped.too_deep, 'folder')} deeper than {MAX_COMPONENTS} names: not looked into]"
    if skipped.unread_ignores:
        yield f"[{count_noun(skipped.unread_ignores, 'ignore file')} not read: a link, no file, or too large]"
    if skipped.timed_out:
        yield _TIMED_OUT


def add_unasked(text: str, patterns: Sequence[str]) -> str:
    """Return an answer, and what is missing in it because a rule asks a person about it first."""
    if not patterns:
        return text
    named = ", ".join(f"'{quote_path(pattern)}'" for pattern in patterns)
    note = f"[left out: what fits {named}. A rule asks a person about it first: name a path there to have them asked]"
    return "\n".join([text.rstrip("\n"), note])


def _files_were(number: int) -> str:
    return f"{count_noun(number, 'file')} {'was' if number == 1 else 'were'}"


def count_noun(number: int, what: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _window(line: MatchLine) -> str:
    return f"{'…' if line.cut_before else ''}{line.text}{'…' if line.cut_after else ''}"


def _format_skipped(skipped: Skipped) -> str:
    """Return what was not looked at, as the end of a sentence."""
    counts = {
        "ignored": skipped.ignored,
        "binary": skipped.binary,
        "too large": skipped.too_large,
        "denied": skipped.denied,
        "unreadable": skipped.unreadable,
    }
    counted = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
    late = "; the time was up before all were seen" if skipped.timed_out else ""
    least = "at least " if skipped.at_least else ""
    some = "; counting what was passed over took too long" if skipped.at_least else ""
    deep = f"; {count_noun(skipped.too_deep, 'folder')} too deep to look into" if skipped.too_deep else ""
    unread = f"; {count_noun(skipped.unread_ignores, 'ignore file')} not read" if skipped.unread_ignores else ""
    return (f", {least}{skipped.total:,} passed over ({counted})" if counted else some) + late + deep + unread


def format_definitions(
    answer: Definitions, symbol: str, contexts: Sequence[Sequence[Line]], *, missed: Group | None = None
) -> str:
    """Return where something is defined; the first ones with the lines they begin with.

    `missed` is the kind that was asked for where the answer has only others.
    """
    notes = [f"[{note}]" for note in answer.notes]
    if not answer.found:
        near = f" Did you mean {' or '.join(map(quote_path, answer.suggestions))}?" if answer.suggestions else ""
        more = " Try search_files for other mentions of it." if not near else ""
        return "\n".join([f"No definition of '{quote_path(symbol)}' was found.{near}{more}", *notes])
    some = answer.found[:MAX_ANSWERS]
    lines = [_definition(one, context) for one, context in zip(some, chain(contexts, repeat(())), strict=False)]
    heading = [] if missed is None else [_other_kinds(answer, symbol, missed)]
    return "\n".join([*heading, *_shorten(lines, len(answer.found)), *notes])


def _other_kinds(answer: Definitions, symbol: str, missed: Group) -> str:
    kinds = dict.fromkeys(one.symbol.kind for one in answer.found)
    return f"No definition of '{quote_path(symbol)}' is of type {missed}. It is defined as {' and '.join(kinds)}:"


def _definition(one: Definition, context: Sequence[Line]) -> str:
    symbol = one.symbol
    doc = f"  -- {symbol.doc}" if symbol.doc else ""
    sure = "" if one.is_certain else "  (looks like it; not parsed)"
    place = f"{quote_path(one.path)}:{symbol.line}  {symbol.kind} {symbol.name_path}{sure}\n  {symbol.signature}{doc}"
    return "\n".join([place, *(f"    {line.number}\t{line.text[:MAX_CONTEXT_CHARACTERS]}" for line in context)])


def format_importers(answer: Importers, asked: str, *, is_complete: bool) -> str:
    """Return who imports something, with the statement and what is special about it."""
    note = [] if is_complete else ["[the index is not complete yet: there may be more]"]
    if not answer.found:
        known = answer.meaning.paths or answer.meaning.owners
        where = (
            f"Nothing imports it ({', '.join(map(quote_path, known))})."
            if known
            else "There is nothing of that name here."
        )
        hint = "" if known else " Name a file, a dotted module, or a relative path such as '../services/X'."
        return "\n".join([f"No importers of '{quote_path(asked)}' were found. {where}{hint}", *note])
    files = len({one.path for one in answer.found})
    least = "at least " if answer.is_cut else ""
    heading = f"{least}{count_noun(len(answer.found), 'import')} in {count_noun(files, 'file')}"
    lines = [_importer(one) for one in answer.found[:MAX_PLACES]]
    return "\n".join([heading, *_shorten(lines, len(answer.found)), *note])


def _importer(one: Importer) -> str:
    marks = [
        *([] if one.kind == "static" else [one.kind]),
        *([] if one.certainty == "resolved" else ["by its text only"]),
        *([f"through {quote_path(one.via)}"] if one.via else []),
    ]
    mark = f"  [{', '.join(marks)}]" if marks else ""
    return f"{quote_path(one.path)}:{one.line}  {one_line(' '.join(one.text.split()), MAX_STATEMENT_CHARACTERS)}{mark}"


_UNKNOWN: Final = {
    "generated": "it is generated",
    "language not installed": "its language is not installed: pip install 'toolroll[languages]'",
    "minified": "it is minified",
    "not parsed": "the parser failed on it, or took too long",
    "too large": "it is too large",
}
"""Why a file was not parsed, by its state in the index."""


def format_outline(path: str, symbols: Sequence[Symbol], *, why_unknown: str | None = None) -> str:
    """Return what a file defines, indented as it is nested; or why that is not known."""
    if why_unknown is not None:
        reason = _UNKNOWN.get(why_unknown, why_unknown)
        return f"What {quote_path(path)} defines is not known: {reason}. Read it with read_file, or search in it."
    if not symbols:
        return f"{quote_path(path)} defines nothing that is known here. Read it with read_file."
    lines = [_format_symbol(one) for one in symbols]
    count = count_fitting(lines)
    rest = [f"[{len(lines) - count:,} more: search in the file for them]"] if count < len(lines) else []
    return "\n".join([f"{quote_path(path)}:", *lines[:count], *rest])


def _format_symbol(symbol: Symbol) -> str:
    depth = symbol.parent.count(".") + 1 if symbol.parent else 0
    doc = f"  -- {symbol.doc}" if symbol.doc else ""
    return f"{'  ' * depth}{symbol.line}-{symbol.end_line}  {symbol.signature}{doc}"


def format_references(answer: References, symbol: str) -> str:
    """Return where a name is used, by file."""
    notes = [f"[{note}]" for note in answer.notes]
    if not answer.found:
        return "\n".join(
            [f"'{quote_path(symbol)}' is used nowhere in code. Try search_files for text and comments.", *notes]
        )
    files = len({one.path for one in answer.found})
    heading = f"{count_noun(len(answer.found), 'place')} in {count_noun(files, 'file')}"
    lines, last = [], ""
    for one in answer.found[:MAX_PLACES]:
        lines.append(f"  {_reference(one)}" if one.path == last else f"{quote_path(one.path)}\n  {_reference(one)}")
        last = one.path
    return "\n".join([heading, *_shorten(lines, len(answer.found)), *notes])


def format_index_trouble(trouble: ToolrollError) -> str:
    """Say that the index cannot be kept, and why, without the path: it is of no use to a model, and private."""
    cause = trouble.__cause__
    said = cause.strerror if isinstance(cause, OSError) else str(cause or "")
    why = said or str(getattr(trouble, "errno_name", trouble.code))
    return f"[the index cannot be kept on disk ({why}): it is made for this run alone, which takes longer]"


def _reference(one: Reference) -> str:
    place = "definition" if one.is_definition else f"in {one.inside}" if one.inside else ""
    return f"{one.line}: {one.text}" + (f"  [{place}]" if place else "")


def _shorten(lines: Sequence[str], total: int) -> list[str]:
    """Return as many as fit into one answer, and how many more there are."""
    count = count_fitting(lines)
    return [*lines[:count], *([f"...and {total - count:,} more"] if count < total else [])]
