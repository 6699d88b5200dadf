"""What was found in a workspace, in words for a model: short, with places, and with how to go on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from toolroll.packs.code.seen import Span
from toolroll.safe.names import shown
from toolroll.workspace.account import Skipped
from toolroll.workspace.find import Found
from toolroll.workspace.listing import Listed, Listing
from toolroll.workspace.reading import Line, Reading
from toolroll.workspace.search import SearchResult
from toolroll.workspace.windows import MatchLine

MAX_PAGE_BYTES: Final = 45_000
"""Of the lines of one answer: with its heading it stays below the 50 KiB from which outputs are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines of a file as text, and which of them are there whole."""

    text: str
    seen: tuple[Span, ...]


def page_of(reading: Reading) -> Page:
    """The file as a model reads it: a heading, numbered lines, and where to go on."""
    lines = list(_fitting(reading))
    size = f"{counted(reading.total_lines, 'line')}, {counted(reading.size, 'byte')}"
    heading = f"{shown(str(reading.path))}: {size}, hash {reading.hash}"
    notes = [note for note in (reading.note, _ends(reading)) if note]
    last = lines[-1].number if lines else 0
    width = len(str(last))
    after = last + 1 if 0 < last < reading.total_lines else None
    return Page(
        text="\n".join(
            [
                f"{heading} ({'; '.join(notes)})" if notes else heading,
                *(_numbered(line, width) for line in lines),
                *([f"[{reading.total_lines - last:,} more lines: read on with offset={after}]"] if after else []),
            ]
        ),
        seen=tuple((line.number - 1, line.number) for line in lines if not line.is_cut),
    )


def _fitting(reading: Reading) -> Iterator[Line]:
    left = MAX_PAGE_BYTES
    for line in reading.lines:
        left -= len(line.text.encode("utf-8", "surrogatepass")) + 12
        if left < 0 and line is not reading.lines[0]:
            return
        yield line


def _ends(reading: Reading) -> str | None:
    return None if reading.line_ends in ("none", "LF") else f"{reading.line_ends} line ends"


def _numbered(line: Line, width: int) -> str:
    text = f"{line.number:>{width}}\t{line.text}"
    if not line.is_cut:
        return text
    end = line.start + len(line.text)
    return (
        f"{text}\n[line {line.number} has {line.characters:,} characters, here are {line.start:,} to {end:,}: "
        f"for others set offset={line.number}, limit=1 and column]"
    )


def listing_text(listing: Listing, folder: str) -> str:
    """A folder as a model reads it: one entry a line, and where the next page begins."""
    if not listing.entries:
        return f"{folder} is empty{_passed_over(listing.skipped)}." if not listing.total else _past_the_end(listing)
    lines = [_entry(one) for one in listing.entries]
    more = f"...and {listing.more:,} more (offset={listing.next_offset})" if listing.more else ""
    note = f"({listing.total:,} {'entry' if listing.total == 1 else 'entries'}{_passed_over(listing.skipped)})"
    return "\n".join([f"{folder} {note}", *lines, *([more] if more else [])])


def _past_the_end(listing: Listing) -> str:
    return f"There are {listing.total:,} entries, so none from offset {listing.offset:,} on."


def _entry(one: Listed) -> str:
    name = f"{one.shown}/" if one.kind == "folder" else one.shown
    mark = "  (ignored)" if one.ignored else ""
    if one.kind != "file":
        return f"{one.kind:<6}  {name}{mark}"
    when = datetime.fromtimestamp(one.mtime_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
    return f"file    {name}  {one.size:,} bytes  {when}{mark}"


def found_text(found: Found, pattern: str) -> str:
    """Files by name, one a line."""
    if not found.paths:
        looked = f"{found.searched:,} files were looked at{_passed_over(found.skipped)}"
        return f"No file fits '{shown(pattern)}': {looked}. Try a shorter part of the name, or list_files."
    more = [f"...and {found.more:,} more: name more of the path"] if found.more else []
    partial = [_TIMED_OUT] if found.skipped.timed_out else []
    return "\n".join([*(shown(str(path)) for path in found.paths), *more, *partial])


def search_text(result: SearchResult, pattern: str) -> str:
    """Matches by file, with line numbers."""
    if not result.files:
        looked = f"{result.searched:,} files were searched{_passed_over(result.skipped)}"
        return f"No line matches '{shown(pattern)}': {looked}."
    lines = [f"{counted(result.total, 'matching line')} in {counted(result.matching_files, 'file')}"]
    for file in result.files:
        lines += [shown(str(file.path)), *(f"  {one.number}: {_window(one)}" for one in file.lines)]
    if result.more:
        lines.append(f"...and {result.more:,} more: narrow it with path or filePattern")
    return "\n".join([*lines, *([] if result.is_complete else [_TIMED_OUT])])


_TIMED_OUT: Final = "[the time was up before everything was searched: narrow it down]"


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _window(line: MatchLine) -> str:
    return f"{'…' if line.cut_before else ''}{line.text}{'…' if line.cut_after else ''}"


def _passed_over(skipped: Skipped) -> str:
    """What was not looked at, as the end of a sentence."""
    counts = {
        "ignored": skipped.ignored,
        "binary": skipped.binary,
        "too large": skipped.too_large,
        "denied": skipped.denied,
        "unreadable": skipped.unreadable,
    }
    told = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
    late = "; the time was up before all were seen" if skipped.timed_out else ""
    return (f", {skipped.total:,} passed over ({told})" if told else "") + late
