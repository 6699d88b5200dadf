"""Find places that differ from a text in characters that look alike: to be offered, never to be used (XE5)."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

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
MAX_NEAR_MATCHES: Final = 3
"""More of them say that the request is too short, which the first ones say as well."""


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
