"""Make text safe to show: what a terminal or a browser would obey, or an eye overlook, is spelled out.

One spelling for all of it: `‹U+202E›` for a code point, `‹2000 spaces›` for a run of blanks. Shown so are

- all controls but those the caller keeps: ESC (so every ANSI, OSC 8 and OSC 52 sequence loses its power), CR,
  VT, FF, NEL, C1, DEL, and the separators U+2028 and U+2029, so that only `\\n` ever ends a line;
- bidirectional controls, zero-width characters and all other default-ignorable code points, soft hyphens, tag
  characters and variation selectors included. The joiner and the selector inside an emoji are shown too: the
  same code points can smuggle text, and `❤‹U+FE0F›` in a preview is better than a hidden message;
- blanks other than the space and the ideographic space, lone surrogates, private-use and unassigned code
  points (unassigned for the Python that runs: a newer terminal may draw anything there);
- combining marks past the eighth on one base, and marks that would sit on something outside the text.

Scripts written from right to left and letters that look alike are left as they are: they are languages.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from toolroll.safe.limits import MAX_BLANK_RUN_COLUMNS, MAX_FINDINGS_SHOWN, MAX_MARKS_PER_BASE

Kind = Literal["control", "bidi", "invisible", "blank", "surrogate", "private", "unassigned", "marks", "blank run"]

_KINDS: dict[str, Kind] = {
    "Cc": "control",
    "Cf": "invisible",
    "Cs": "surrogate",
    "Co": "private",
    "Cn": "unassigned",
    "Zl": "control",
    "Zp": "control",
    "Zs": "blank",
}
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_WIDE_SPACE = "\u3000"

# The Hangul fillers: letters that draw nothing, abused as empty names.
_FILLERS = "\u115f\u1160\u3164\uffa0"
# Python calls these printable, yet they draw nothing: Default_Ignorable_Code_Point of the Unicode database,
# the empty Braille pattern, the Khitan filler, the null notehead, and the Egyptian blanks (assigned in Unicode 15).
_INVISIBLE = frozenset(
    _FILLERS
    + "\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\U00016fe4\U0001d159\U00013441\U00013442"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
_BLANK_NAMES = {" ": "spaces", "\t": "tabs", _WIDE_SPACE: "wide spaces"}
_TAB_COLUMNS = 8
_BLANKS = re.compile(f"[ \t{_WIDE_SPACE}]{{{MAX_BLANK_RUN_COLUMNS // _TAB_COLUMNS},}}")
_SAME_BLANKS = re.compile(f" +|\t+|{_WIDE_SPACE}+")
_SPELLED = r"(?:U\+[0-9A-F]{4,6}|[0-9]+ (?:spaces|tabs|wide spaces))›"
_OWN_SPELLING = re.compile(f"‹(?={_SPELLED})")
_TOKEN = re.compile(f"‹{_SPELLED}")
# Controls, and what embeds, overrides or isolates directions; the marks U+200E and U+200F only separate.
_OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
_MARK_CHARACTERS = len("‹U+10FFFF›")
_CONTROL_NAMES = {
    "\x00": "NULL",
    "\x07": "BELL",
    "\x08": "BACKSPACE",
    "\x0b": "LINE TABULATION",
    "\x0c": "FORM FEED",
    "\r": "CARRIAGE RETURN",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
    "\x9b": "CONTROL SEQUENCE INTRODUCER",
    "\x9d": "OPERATING SYSTEM COMMAND",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place where a text would not look like what it is; `position` counts characters from 0."""

    position: int
    code_point: int
    name: str
    kind: Kind


def visible(text: str, *, keep: tuple[str, ...] = ("\n", "\t"), show_crlf: bool = True) -> str:
    """Spell out all that would not be seen; different texts always give different results.

    Text that already contains `‹U+202E›` has its `‹` spelled out, so a mark in the result always stands for
    the real thing. Apply it once: a second time spells out the marks themselves (`terminal_safe` does not).
    `keep` names the characters to leave alone. With `show_crlf=False` a CRLF becomes a plain line end: only
    for callers that say elsewhere which line ends the text has.
    """
    if not show_crlf:
        text = text.replace("\r\n", "\n")
    if "‹" in text:
        text = _OWN_SPELLING.sub("‹U+2039›", text)
    return _spell_out(text, keep)


def terminal_safe(text: str) -> str:
    """Leave nothing that a terminal interprets except line ends and tabs; safe text comes back unchanged."""
    return _spell_out(text, ("\n", "\t"))


def controls_safe(text: str) -> str:
    """Leave nothing that moves a cursor or reorders letters; joiners in emoji, blanks and line ends stay as they are.

    For text that goes on to a program or a file, and may be shown by a terminal at its end.
    """
    return _OBEYED.sub(lambda found: _escape(found[0]), text)


def hidden_runs(text: str) -> str:
    """Replace runs of blanks as wide as a terminal by their count, so that nothing is pushed out of sight."""
    return _BLANKS.sub(_spell_blanks, text)


def one_line(text: str, max_characters: int, *, is_spelled: bool = False) -> str:
    """Show a text on one line of at most `max_characters`; a cut is never inside a mark and ends in `…`.

    Only what can be shown is looked at: a log line about a huge text costs what one about a short text does.
    With `is_spelled` marks of the text stay as they are: only for texts that may have been through `visible`
    already, and where a mark that somebody has typed may pass for one of those.
    """
    head = text[: max_characters + 1 + (_MARK_CHARACTERS if is_spelled else 0)]
    shown = _spell_out(head, ()) if is_spelled else visible(head, keep=())
    if len(head) == len(text) and len(shown) <= max_characters:
        return shown
    return shown[: _whole(shown, max(max_characters - 1, 0))] + "…"


def suspicious(text: str, *, limit: int = MAX_FINDINGS_SHOWN) -> tuple[Finding, ...]:
    """List the places that `visible` would spell out, in order, at most `limit` of them."""
    sources = (_char_findings(text), _filler_findings(text), _run_findings(text))
    found = [finding for source in sources for finding in islice(source, limit)]
    return tuple(sorted(found, key=lambda finding: finding.position)[:limit])


def _spell_out(text: str, keep: tuple[str, ...]) -> str:
    for filler in _FILLERS:
        text = text.replace(filler, _escape(filler))
    return hidden_runs(_candidates(keep).sub(_spell_run(keep), text))


@lru_cache(maxsize=16)
def _candidates(keep: tuple[str, ...]) -> re.Pattern[str]:
    # Letters and digits draw themselves, the fillers aside: only the rest needs a look, which keeps a
    # megabyte of prose under 50 ms. The quotation marks and dashes are named for speed alone.
    return re.compile(rf"[^\w -~{re.escape(''.join(keep))}«»‹›‘’“”–—…、。，「」]+")


def _spell_run(keep: tuple[str, ...]) -> Callable[[re.Match[str]], str]:
    def spell(match: re.Match[str]) -> str:
        run, based = match[0], _has_base(match, keep)
        return _spell_cached(run, based) if len(run) <= MAX_MARKS_PER_BASE else _spell_again(run, based)

    return spell


def _spell_again(run: str, based: bool) -> str:  # noqa: FBT001 -- private; a cache key by position
    if based and len(run) <= MAX_MARKS_PER_BASE and run.isprintable() and _INVISIBLE.isdisjoint(run):
        return run
    faulty = {offset for offset, _ in _faults(run, based=based)}
    return "".join([_escape(char) if offset in faulty else char for offset, char in enumerate(run)])


# Texts repeat themselves, hostile ones above all: 5 times faster on a megabyte of escape sequences.
_spell_cached = lru_cache(maxsize=4096)(_spell_again)


def _has_base(match: re.Match[str], keep: tuple[str, ...]) -> bool:
    start = match.start()
    return start > 0 and match.string[start - 1] not in keep


def _faults(run: str, *, based: bool) -> Iterator[tuple[int, Kind]]:
    # A mark with no base would be drawn onto the border or the "+" of a diff, so it counts as one too many.
    marks = 0 if based else MAX_MARKS_PER_BASE
    for offset, char in enumerate(run):
        kind = _kind(char)
        if kind is None and unicodedata.category(char)[0] == "M":
            marks += 1
            kind = "marks" if marks > MAX_MARKS_PER_BASE else None
        else:
            marks = MAX_MARKS_PER_BASE if kind else 0
        if kind is not None:
            yield offset, kind


@lru_cache(maxsize=1024)
def _kind(char: str) -> Kind | None:
    if char.isprintable():
        return "invisible" if char in _INVISIBLE else None
    if char == _WIDE_SPACE:
        return None
    return "bidi" if char in _BIDI else _KINDS[unicodedata.category(char)]


@lru_cache(maxsize=1024)
def _escape(char: str) -> str:
    return f"‹U+{ord(char):04X}›"


def _spell_blanks(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) + (_TAB_COLUMNS - 1) * run.count("\t") + run.count(_WIDE_SPACE) < MAX_BLANK_RUN_COLUMNS:
        return run
    return "".join([f"‹{len(same)} {_BLANK_NAMES[same[0]]}›" for same in _SAME_BLANKS.findall(run)])


def _whole(shown: str, end: int) -> int:
    end = min(end, len(shown))
    opened = shown.rfind("‹", 0, end)
    token = _TOKEN.match(shown, opened) if opened >= 0 else None
    if token and token.end() > end:
        return opened
    while 0 < end < len(shown) and unicodedata.category(shown[end])[0] == "M":
        end -= 1
    return end


def _char_findings(text: str) -> Iterator[Finding]:
    keep = ("\n", "\t")
    for match in _candidates(keep).finditer(text):
        for offset, kind in _faults(match[0], based=_has_base(match, keep)):
            yield _finding(text, match.start() + offset, kind)


def _filler_findings(text: str) -> Iterator[Finding]:
    return (_finding(text, match.start(), "invisible") for match in re.finditer(f"[{_FILLERS}]", text))


def _run_findings(text: str) -> Iterator[Finding]:
    for match in _BLANKS.finditer(text):
        if _spell_blanks(match) != match[0]:
            yield _finding(text, match.start(), "blank run")


def _finding(text: str, position: int, kind: Kind) -> Finding:
    char = text[position]
    name = unicodedata.name(char, "") or _CONTROL_NAMES.get(char, kind.upper())
    return Finding(position=position, code_point=ord(char), name=name, kind=kind)
