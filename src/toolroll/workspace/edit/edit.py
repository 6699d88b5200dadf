"""Replace one text by another in one file, or refuse with what to do instead (C18)."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from toolroll.errors import EditRefused, StaleFile
from toolroll.kernel.approval.request import content_hash
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.edit.encoding import EncodedText, decode_exactly
from toolroll.workspace.edit.lines import Lines, align_lines, has_bare_ends, split_lines
from toolroll.workspace.edit.match import Match, Matches, NearMatch, Rule, Tier, find_matches, find_near_matches
from toolroll.workspace.edit.placeholders import Placeholder, find_placeholders

MAX_LINES_NAMED: Final = 20
"""Places that an error names; a model that has read twenty needs a longer text to search for, not more places."""

MAX_COMPARED_LINES: Final = 2_000
"""By likeness, which takes about 10 µs a line."""
MAX_OFFERED_CHARACTERS: Final = 600
"""Of each text that an error offers: three of them fit in what a message may have."""

_BLANKS: Final = " \t"
_LINE_END: Final = re.compile(r"[\r\n]")
_NOT_EXACT: Final = "old_string was not found exactly, but with different"
_BOUND_TIERS: Final = ("indentation", "tabs and spaces")
_FITTED: Final[dict[Tier, str]] = {
    "line endings": "what was put there has the file's own",
    "trailing blanks": "lines that stay keep the file's own, changed ones have those of new_string",
    "indentation": "new_string was indented as the file is",
    "tabs and spaces": "new_string was indented as the file is",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """The new content, how the text was found, and in which lines it was replaced (as numbered before the edit)."""

    data: bytes
    tier: Tier
    lines: tuple[int, ...]
    placeholders: tuple[Placeholder, ...] = ()

    @property
    def match_note(self) -> str | None:
        """Return what to tell about a match that was not exact, and what that did to the new text."""
        return None if self.tier == "exact" else f"{_NOT_EXACT} {self.tier}; {_FITTED[self.tier]}."

    @property
    def note(self) -> str | None:
        """Return the same, and what to tell about new text that seems to stand for something else."""
        notes = [self.match_note] if self.match_note else []
        # Pointed out, not refused: it deletes at most what old_string names, and the person sees it.
        notes += [
            f"New text seems to stand for text left out: '{quote_path(one.text)}'." for one in self.placeholders[:1]
        ]
        return " ".join(notes) or None


def edit_text(
    data: bytes,
    old: str,
    new: str,
    *,
    path: str,
    replace_all: bool = False,
    expected_replacements: int | None = None,
    expected_hash: str | None = None,
) -> EditResult:
    """Replace `old` by exactly `new`, or raise EditRefused; StaleFile if the content is not the expected one.

    `expected_replacements` is how many places there must be: all of them are replaced. Without it and `replace_all`
    there must be one.
    """
    if expected_hash is not None and expected_hash != content_hash(data):
        raise _stale(data, path=path)
    carrier = decode_exactly(data)
    _check_request(old, new, expected_replacements, path=path)
    carrier.check(new, path=path, kept=old)
    found, put = _locate(carrier, old, new)
    if found is None:
        raise _not_found(carrier, old, path=path)
    _check_count(found, replace_all=replace_all, expected=expected_replacements, path=path)
    literally = found.tier == "exact" and "\r" in old
    text = splice(carrier.text, found, put, literally=literally, path=path)
    if text == carrier.text:
        why = "would change nothing: it is already as new_string says. Leave it out"
        raise _refusal(why, path=path, rule="no_change")
    placeholders = find_placeholders(old, new)
    return EditResult(data=carrier.encode(text), tier=found.tier, lines=found.lines, placeholders=placeholders)


def _locate(carrier: EncodedText, old: str, new: str) -> tuple[Matches | None, str]:
    """Find the text, and what to put there; first as the file was shown, which is what a model has copied."""
    carried = carrier.as_shown(old)
    if carried != old and (found := find_matches(carrier.text, carried)) is not None:
        return found, carrier.as_shown(new)
    return find_matches(carrier.text, old), new


def _check_request(old: str, new: str, expected: int | None, *, path: str) -> None:
    if not old:
        why = "has an empty old_string, which is everywhere. To write a whole file, use edit_file or create_file"
        raise _refusal(why, path=path, rule="empty_old")
    if old == new:
        why = "has the same old_string and new_string. Leave it out, or give the text that is to be there"
        raise _refusal(why, path=path, rule="no_change")
    if expected is not None and expected < 1:
        raise _refusal(f"expects {expected} replacements; it must be 1 or more", path=path, rule="count")


def _check_count(found: Matches, *, replace_all: bool, expected: int | None, path: str) -> None:
    count = len(found.matches)
    where = f"{count} times, at {_list_lines(found.lines)}"
    how = "" if found.tier == "exact" else f" (with different {found.tier})"
    if expected is not None and count != expected:
        why = f"expects old_string {expected} times, but it is there {where}{how}. Expect that, or add lines around it"
        raise _refusal(why, path=path, rule="count", lines=found.lines)
    if count > 1 and found.tier in _BOUND_TIERS:
        why = f"finds old_string {where}{how}. Copy the text exactly, with the lines around it"
        raise _refusal(why, path=path, rule="ambiguous", lines=found.lines)
    if count > 1 and expected is None and not replace_all:
        why = f"finds old_string {where}{how}. Add lines around it to name one place, or set replace_all"
        raise _refusal(why, path=path, rule="ambiguous", lines=found.lines)


def _not_found(carrier: EncodedText, old: str, *, path: str) -> EditRefused:
    near = find_near_matches(carrier.text, old)
    if near:
        why = (
            "finds old_string 0 times. Something that looks like it is there, with other quotes, dashes, blanks, "
            f"accents or invisible characters, and is not taken for it. {_offer(near)}"
        )
        return _refusal(why, path=path, rule="not_found", lines=tuple(one.line for one in near))
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    places = [number for number, line in enumerate(carrier.text.split("\n"), 1) if first and first in line]
    hint = (
        f" Its first line is at {_list_lines(places)}; what follows is different there."
        if places and "\n" in old
        else ""
    )
    hint = hint or _alike(carrier.text, first)
    unknown = "" if carrier.is_known else " The file is not UTF-8: give its other letters as read_file shows them."
    why = f"finds old_string 0 times.{hint}{unknown} Read the file again, and copy the text from there"
    return _refusal(why, path=path, rule="not_found", lines=tuple(places) if places and "\n" in old else ())


def _alike(text: str, first: str) -> str:
    """Return the line that is most like the one that was looked for: a model that misremembers it can copy it."""
    lines = text.split("\n")[:MAX_COMPARED_LINES]
    numbers = {line.strip(): number for number, line in reversed([*enumerate(lines, 1)]) if line.strip()}
    close = get_close_matches(first[:MAX_OFFERED_CHARACTERS], numbers, n=1) if first else []
    return f" Line {numbers[close[0]]} is most like it: {close[0][:MAX_OFFERED_CHARACTERS]}." if close else ""


def _offer(near: Sequence[NearMatch]) -> str:
    texts = []
    for one in near:
        where = f"line {one.line}" if one.line == one.end_line else f"lines {one.line} to {one.end_line}"
        rest = len(one.text) - MAX_OFFERED_CHARACTERS
        cut = f" (and {rest} characters more: read them)" if rest > 0 else ""
        texts.append(f"At {where} the file has exactly:\n{one.text[:MAX_OFFERED_CHARACTERS]}{cut}\n")
    return "".join(texts) + "If that is meant, copy it from there"


def _list_lines(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:MAX_LINES_NAMED]))
    more = len(numbers) - MAX_LINES_NAMED
    return f"line{'s' if len(numbers) > 1 else ''} {named}" + (f" and {more} more" if more > 0 else "")


def _refusal(why: str, *, path: str, rule: str, lines: tuple[int, ...] = ()) -> EditRefused:
    message = f"The edit of '{quote_path(path)}' {why}. Nothing was changed."
    return EditRefused(message, path=quote_path(path), rule=rule, lines=lines)


def _stale(data: bytes, *, path: str) -> StaleFile:
    message = (
        f"'{quote_path(path)}' is not what the edit expects: its hash is {content_hash(data)} by now. Nothing was "
        "changed. Read it again."
    )
    return StaleFile(message, path=quote_path(path))


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
