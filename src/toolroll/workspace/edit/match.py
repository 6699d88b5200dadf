"""Find where a text is in a file: exactly, or with other blanks, indentation or line ends. Never by likeness.

The tiers are tried in this order, and the first one with a hit decides:

1. exact;
2. line endings: `\\n` in the request stands for whatever ends the lines of the file;
3. trailing blanks: those before a line end are not compared, of whole lines also those at the very end;
4. indentation: whole lines that are all indented by the same blanks more, or less (`Shift`);
5. tabs and spaces: whole lines with tabs for spaces, or spaces for tabs, at one width (`TabChange`).

All of them compare every other character exactly. Typographic quotes and dashes, composed letters and invisible
characters are not folded, although they are often all that is wrong: to treat them alike would put text in places
that nobody named (XE5). `find_near_matches` finds such places, and the error offers what stands there.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from toolroll.workspace.edit.lines import Lines, has_bare_ends, split_lines

Tier: TypeAlias = Literal["exact", "line endings", "trailing blanks", "indentation", "tabs and spaces"]

MAX_NEAR_MATCHES: Final = 3
"""More of them say that the request is too short, which the first ones say as well."""

_BLANKS: Final = " \t"
_TAB_WIDTHS: Final = (4, 2, 8, 3)
"""Columns that a tab may stand for: what editors and formatters of common languages are set to."""

_SINGLE: Final = "‘’‚‛′‵`´ʼ＇"
_DOUBLE: Final = "“”„‟″‶«»＂"
_DASHES: Final = "‐‑‒–—―−﹘﹣－"
_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys(_SINGLE, "'"),
        **dict.fromkeys(_DOUBLE, '"'),
        **dict.fromkeys(_DASHES, "-"),
        "…": "...",
    }
)

# What draws nothing: Default_Ignorable_Code_Point of Unicode, in the ranges that occur in texts.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)

_SPACES: Final = re.compile(r"\s+")

Pair = tuple[str, str]
"""The indentation of one line as it was asked for, and as it is in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Every line has the same blanks in front of what was written, or lacks the same."""

    more: str = ""
    less: str = ""

    def apply(self, line: str) -> str | None:
        """Return the line as it has to be in the file; None where it has fewer blanks than are to go."""
        if not line.strip(_BLANKS):
            return line
        return self.more + line.removeprefix(self.less) if line.startswith(self.less) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TabChange:
    """Tabs in the file where spaces were written, or the other way round, at one width of a tab."""

    width: int
    with_tabs: bool

    def apply(self, line: str) -> str | None:
        """Return the line as it has to be in the file."""
        body = line.lstrip(_BLANKS)
        columns = len(line[: len(line) - len(body)].expandtabs(self.width))
        tabs, spaces = divmod(columns, self.width) if self.with_tabs else (0, columns)
        return "\t" * tabs + " " * spaces + body if body else line


Rule: TypeAlias = Shift | TabChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One place: positions in the text, the number of its first line, and how what is put there must be indented."""

    start: int
    end: int
    line: int
    rule: Rule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """All places of the first tier that has any; several of them may overlap in one case: then there are two."""

    tier: Tier
    matches: tuple[Match, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """Return the numbers of the lines where they begin."""
        return tuple(match.line for match in self.matches)


def find_matches(text: str, old: str) -> Matches | None:
    """Return where `old` is in the text, or None."""
    if exact := _number_lines(text, [(start, start + len(old)) for start in _places(text, old)]):
        return Matches(tier="exact", matches=exact)
    bare_ends = has_bare_ends(text)
    lines, asked = split_lines(text, bare_ends=bare_ends), split_lines(old, bare_ends=bare_ends)
    for tier, matches in _tiers(text, lines, asked):
        if matches:
            return Matches(tier=tier, matches=matches)
    return None


def _tiers(text: str, lines: Lines, asked: Lines) -> Iterator[tuple[Tier, tuple[Match, ...]]]:
    yield "line endings", _match_inside_lines(text, lines, asked, _as_is)
    if not any(map(_strip, asked.contents)):
        return  # blanks are all that it has: they are compared
    yield "trailing blanks", _match_inside_lines(text, lines, asked, _strip_trailing)
    windows = _find_windows(lines, asked)
    yield "trailing blanks", _match_by_rule(text, lines, asked, windows, same_indent_rule)
    yield "indentation", _match_by_rule(text, lines, asked, windows, shift_rule)
    yield "tabs and spaces", _match_by_rule(text, lines, asked, windows, tab_rule)


def _places(text: str, part: str) -> Iterator[int]:
    """Yield where a part begins, one after the other; if there is only one, also the one that overlaps it."""
    first = at = text.find(part)
    count = 0
    while at >= 0:
        yield at
        count += 1
        at = text.find(part, at + len(part))
    if count == 1 and (overlapping := text.find(part, first + 1)) >= 0:
        yield overlapping


def _number_lines(text: str, spans: Sequence[tuple[int, int]]) -> tuple[Match, ...]:
    matches: list[Match] = []
    line, seen = 1, 0
    for start, end in spans:
        line += text.count("\n", seen, start)
        seen = start
        matches.append(Match(start=start, end=end, line=line))
    return tuple(matches)


def _as_is(content: str) -> str:
    return content


def _strip_trailing(content: str) -> str:
    return content.rstrip(_BLANKS)


def _strip(content: str) -> str:
    return content.strip(_BLANKS)


def _match_inside_lines(text: str, lines: Lines, asked: Lines, form: Callable[[str], str]) -> tuple[Match, ...]:
    """Find a text, comparing all line ends as equal; the beginning and the end may be inside a line."""
    if len(asked.contents) == 1:
        return ()  # there is no line end in it, and what precedes one is all that a tier may change
    # What is not followed by a line end is not trailing: `x =` must not be found for `x = `.
    forms = [*map(form, lines.contents[:-1]), lines.contents[-1]]
    wanted = "\n".join([*map(form, asked.contents[:-1]), asked.contents[-1]])
    places = list(_places("\n".join(forms), wanted))
    if not places:
        return ()
    marks, starts = _line_offsets(forms), lines.starts
    spans = []
    for at in places:
        first, last = bisect_right(marks, at) - 1, bisect_right(marks, at + len(wanted)) - 1
        column, end = at - marks[first], at + len(wanted) - marks[last]
        # To begin at a line end is to begin after the blanks before it.
        column = len(lines.contents[first]) if column == len(forms[first]) else column
        spans.append((starts[first] + column, starts[last] + end))
    return _number_lines(text, spans)


def _find_windows(lines: Lines, asked: Lines) -> list[int]:
    """Return where whole lines begin that differ from what was asked for at most in the blanks around them."""
    there = list(map(_strip, lines.contents))
    keys = map(_strip, _whole_lines(asked))
    places = list(_places("\n".join(["", *there, ""]), "\n".join(["", *keys, ""])))
    marks = _line_offsets(there) if places else []
    return [bisect_right(marks, at) - 1 for at in places]


def _match_by_rule(
    text: str,
    lines: Lines,
    asked: Lines,
    windows: Sequence[int],
    rule_of: Callable[[Sequence[tuple[str, str]]], Rule | None],
) -> tuple[Match, ...]:
    """Return the windows in which one rule says how all lines are indented."""
    contents = _whole_lines(asked)
    is_ended = len(contents) < len(asked.contents)
    starts = lines.starts if windows else []
    spans, rules = [], []
    for first in windows:
        last = first + len(contents) - 1
        rule = rule_of(_indentations(contents, lines.contents[first : last + 1]))
        if rule is not None and not (is_ended and last == len(lines.ends)):
            end = starts[last + 1] if is_ended else starts[last] + len(lines.contents[last])
            spans.append((starts[first], end))
            rules.append(rule)
    return tuple(replace(match, rule=rule) for match, rule in zip(_number_lines(text, spans), rules, strict=True))


def _whole_lines(asked: Lines) -> tuple[str, ...]:
    return asked.contents[:-1] if asked.contents[-1] == "" else asked.contents


def _indentations(asked: Sequence[str], there: Sequence[str]) -> list[tuple[str, str]]:
    pairs = zip(asked, there, strict=True)
    return [(leading_blanks(one), leading_blanks(other)) for one, other in pairs if one.strip(_BLANKS)]


def _line_offsets(forms: Sequence[str]) -> list[int]:
    """Return where each line begins when all of them are joined by one character."""
    marks = [0]
    for form in forms[:-1]:
        marks.append(marks[-1] + len(form) + 1)
    return marks


def same_indent_rule(pairs: Sequence[Pair]) -> Shift | None:
    """Return the rule that leaves all lines where they are, if they are there."""
    return Shift() if all(asked == there for asked, there in pairs) else None


def shift_rule(pairs: Sequence[Pair]) -> Shift | None:
    """Return the rule by which all lines are moved in or out, if there is one."""
    asked, there = pairs[0]
    rule = Shift(more=there.removesuffix(asked)) if there.endswith(asked) else Shift(less=asked.removesuffix(there))
    return rule if all(rule.apply(f"{asked}x") == f"{there}x" for asked, there in pairs) else None


def tab_rule(pairs: Sequence[Pair]) -> TabChange | None:
    """Return the rule by which tabs and spaces stand for each other in all lines, if there is one."""
    with_tabs = any("\t" in there for _, there in pairs)
    rules = (TabChange(width=width, with_tabs=with_tabs) for width in _TAB_WIDTHS)
    fitting = (rule for rule in rules if all(rule.apply(f"{asked}x") == f"{there}x" for asked, there in pairs))
    return next(fitting, None)


def leading_blanks(line: str) -> str:
    """Return the blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(_BLANKS))]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMatch:
    """Lines that look like what was asked for: from `line` to `end_line`, and exactly what they hold."""

    line: int
    end_line: int
    text: str


def find_near_matches(text: str, old: str) -> tuple[NearMatch, ...]:
    """Return where something is that an eye would take for `old`; the first few places."""
    lines = text.split("\n")
    wanted = "\n".join(map(_fold, old.strip().split("\n")))
    if not wanted.strip():
        return ()
    joined = "\n".join(map(_fold, lines))
    found: list[NearMatch] = []
    for place in _with_line_edges(old, re.escape(wanted)).finditer(joined):
        first = joined.count("\n", 0, place.start())
        last = first + wanted.count("\n")
        found.append(NearMatch(line=first + 1, end_line=last + 1, text="\n".join(lines[first : last + 1])))
        if len(found) == MAX_NEAR_MATCHES:
            break
    return tuple(found)


def _with_line_edges(old: str, wanted: str) -> re.Pattern[str]:
    """Return the pattern to look for: where `old` begins or ends with a line end, a longer line does not match."""
    lead, trail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    return re.compile(("^" if "\n" in lead else "") + wanted + ("$" if "\n" in trail else ""), re.MULTILINE)


def _fold(line: str) -> str:
    # Compatibility forms bring together full-width letters, ligatures and special blanks as well.
    plain = line if line.isascii() else unicodedata.normalize("NFKC", _INVISIBLE.sub("", line).translate(_ALIKE))
    return _SPACES.sub(" ", plain.translate(_ALIKE)).strip()
