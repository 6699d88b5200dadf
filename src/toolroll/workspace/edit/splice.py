"""Put new text in the place of old text; every other byte stays as it is (C3)."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.errors import EditRefused
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.edit.lines import Lines, align_lines, has_bare_ends, split_lines
from toolroll.workspace.edit.match import Match, Matches, Rule

_BLANKS: Final = " \t"
_LINE_END: Final = re.compile(r"[\r\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Matches that touch the same lines: those from `first` to `last`, which are put together anew."""

    first: int
    last: int
    matches: list[Match]


def splice(text: str, found: Matches, new: str, *, literally: bool, path: str) -> str:
    """Return the text with `new` in all the places that were found.

    Lines of `new` that were there before stay as they are in the file, with their line ends and trailing blanks; the
    others take the ends of their neighbours. `literally` is for a request that spells out line ends itself.
    """
    if literally or _stays_in_lines(text, found, new):
        return _insert(text, found.matches, [new] * len(found.matches), 0, len(text))
    bare_ends = has_bare_ends(text)
    lines = split_lines(text, bare_ends=bare_ends)
    starts = lines.starts
    exact = found.tier in ("exact", "line endings")
    pieces, at = [], 0
    for group in _group_matches(starts, _widen_to_line_ends(text, found.matches)):
        start, end = starts[group.first], starts[group.last] + len(lines.contents[group.last])
        news = [_indent(new, match.rule, bare_ends=bare_ends, path=path) for match in group.matches]
        region = split_lines(_insert(text, group.matches, news, start, end), bare_ends=bare_ends)
        old = lines.part(group.first, group.last)
        last_end = lines.ends[group.last] if group.last < len(lines.ends) else lines.last_end
        kept, _ = align_lines(old, region.contents, last_end=last_end, key=None if exact else _without_trailing_blanks)
        pieces += [text[at:start], kept.text]
        at = end
    return "".join([*pieces, text[at:]])


def _stays_in_lines(text: str, found: Matches, new: str) -> bool:
    """Return whether no line end is replaced or put in: then there is none to keep, in however many places."""
    first = found.matches[0]
    return found.tier == "exact" and not _LINE_END.search(new) and not _LINE_END.search(text, first.start, first.end)


def _insert(text: str, matches: Sequence[Match], news: Sequence[str], start: int, end: int) -> str:
    pieces, at = [], start
    for match, new in zip(matches, news, strict=True):
        pieces += [text[at : match.start], new]
        at = match.end
    return "".join([*pieces, text[at:end]])


def _widen_to_line_ends(text: str, matches: Sequence[Match]) -> Iterator[Match]:
    """Yield what begins with the second half of a line end begins with all of it: no half may be left."""
    for match in matches:
        is_half = 0 < match.start < match.end and text[match.start - 1 : match.start + 1] == "\r\n"
        yield Match(start=match.start - is_half, end=match.end, line=match.line, rule=match.rule)


def _group_matches(starts: Sequence[int], matches: Iterator[Match]) -> list[_Group]:
    groups: list[_Group] = []
    for match in matches:
        first, last = bisect_right(starts, match.start) - 1, bisect_right(starts, match.end) - 1
        together = groups.pop() if groups and groups[-1].last >= first else _Group(first=first, last=last, matches=[])
        together.matches.append(match)
        groups.append(_Group(first=together.first, last=last, matches=together.matches))
    return groups


def _indent(new: str, rule: Rule | None, *, bare_ends: bool, path: str) -> str:
    if rule is None:
        return new
    lines = split_lines(new, bare_ends=bare_ends)
    contents = [rule.apply(content) for content in lines.contents]
    if None in contents:
        message = (
            f"The lines to replace are indented less in '{quote_path(path)}' than in old_string, and new_string has "
            "lines that cannot be moved out as far. Nothing was changed. Copy the indentation of the file."
        )
        raise EditRefused(message, path=quote_path(path), rule="indentation")
    return Lines(contents=tuple(content or "" for content in contents), ends=lines.ends).text


def _without_trailing_blanks(content: str) -> str:
    return content.rstrip(_BLANKS)
