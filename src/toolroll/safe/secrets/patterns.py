"""Build the patterns that secrets are found by: many words in one, and words where they start."""

import re
from collections.abc import Iterable

_HEX = "[0-9A-Fa-f]"
# Ends of escapes that are letters or digits: of strings in code and JSON, URLs, quoted-printable, HTML, terminals
# (colours above all), and the way `cat -v` shows controls. A key begins behind them as it does behind a space. Looking
# back demands one width for each; how all of a group end is asked first, as behind most words it is none of them.
_ESCAPES = (
    (r"[\\^\x1b][A-Za-z0-9]", ()),
    (r"[Bb(\x1b][A-Za-z0-9]", (r"1[Bb][A-Za-z0-9]", r"1[Bb]\([A-Za-z0-9]", r"\x1b\([A-Za-z0-9]")),
    (
        _HEX * 2,
        (
            *(rf"\\{_HEX}{{{count}}}" for count in range(2, 7)),
            *(rf"\\{letter}{_HEX}{{{count}}}" for letter, count in (("x", 2), ("u", 4), ("U", 8))),
            *(rf"[%=]{_HEX}{{2}}", rf"%25{_HEX}{{2}}", rf"%u{_HEX}{{4}}"),
        ),
    ),
    ("[#0-9][0-9]", tuple(rf"&#[0-9]{{{count}}}" for count in (1, 2, 3))),
    (
        r"[0-9;:?\[B][A-Za-z]",
        (
            *(rf"\[[0-9;:?]{{{count}}}[A-Za-z]" for count in range(19)),  # bold with a colour of 24 bits: 18
            *(rf"%5B[0-9;:?%B]{{{count}}}[A-Za-z]" for count in range(13)),
        ),
    ),
)


def start_of(pattern: str, *, before: str) -> str:
    """Return a pattern that finds another, of one width, where it starts: not after `before`, or after an escape."""
    # Looking back comes last: a pattern that begins with a literal is found by a plain string search.
    return f"{pattern}(?:(?<!{before}{pattern})|{after_escape(pattern)})"


def after_escape(pattern: str) -> str:
    """Return a pattern that matches where the other, of one width, was just read and an escape ends before it."""
    # Most words end in two letters that no escape ends in.
    guard = f"(?<=[^G-Zg-z][A-Za-z0-9]{pattern})"
    return f"{guard}(?:{'|'.join(_look_back(end, group, pattern) for end, group in _ESCAPES)})"


def _look_back(end: str, group: tuple[str, ...], pattern: str) -> str:
    whole = "|".join(f"(?<={escape}{pattern})" for escape in group)
    return f"(?<={end}{pattern})(?:{whole})"


def compile_any(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds whether one of the words occurs in a text; which of them, it does not say.

    A hundred searches take 27 µs however short the text is. A pattern that tries the words by their common beginnings
    takes a tenth of that, and stays linear: no word is looked at twice from the same place, and words are short.
    """
    return re.compile(_branches(sorted(set(words))))


def _branches(words: list[str]) -> str:
    """Return the words as one pattern that shares their beginnings; a word that begins another stands for both."""
    if "" in words:
        return ""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(letter) + _branches(rest) for letter, rest in rests.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
