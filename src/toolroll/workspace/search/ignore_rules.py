"""Read ignore files as git does, and tell what they exclude, in linear time whatever the pattern.

The syntax is that of gitignore(5), for `.gitignore`, `.ignore` and `.rgignore` alike. No star makes a matcher try again
what it has passed: the earliest place where the next piece fits is always good enough, so groups are atomic.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MAX_IGNORE_BYTES: Final = 262_144
"""Of one ignore file: the largest of public projects have a tenth of it."""
MAX_PATTERNS: Final = 4_000
"""Of one ignore file."""
MAX_PATTERN_CHARACTERS: Final = 4_096  # no path is longer

_STARS: Final = re.compile(r"\*+")
_WILD: Final = re.compile(r"[*?\[\\]")
_POSIX: Final = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "cntrl": "\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class _NeverFits(Exception):
    """The pattern is broken: git lets it fit nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRule:
    """One line of an ignore file: an expression for the name alone, or for the path from the file's own folder."""

    expression: str
    for_name: bool
    folders_only: bool
    negated: bool
    literal: str | None = None
    """The name itself, where the pattern is just that."""
    suffix: str | None = None
    """The end of a name, where the pattern is a star and that."""

    def fits(self, path: str, name: str) -> bool:
        """Return whether the rule speaks about a path from the file's folder."""
        return re.fullmatch(self.expression, name if self.for_name else path, re.DOTALL) is not None


class IgnoreRules:
    """The rules of one ignore file; the last one that fits counts."""

    def __init__(self, rules: list[IgnoreRule]) -> None:
        names = [rule for rule in rules if rule.for_name]
        plain = [rule.expression for rule in names if rule.literal is None and rule.suffix is None]
        self._rules = rules[::-1]
        self._literals = frozenset(rule.literal for rule in names if rule.literal is not None)
        self._suffixes = tuple({rule.suffix for rule in names if rule.suffix is not None})
        self._names = _any_of(plain)
        self._paths = _any_of([rule.expression for rule in rules if not rule.for_name])

    def __bool__(self) -> bool:
        return bool(self._rules)

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Return whether a path from the file's folder is ignored; None where no rule speaks about it."""
        # Most names fit no rule at all: these four questions together take less than a microsecond.
        if not (
            name in self._literals
            or name.endswith(self._suffixes)
            or (self._names and self._names.fullmatch(name))
            or (self._paths and self._paths.fullmatch(path))
        ):
            return None
        for rule in self._rules:
            if (is_folder or not rule.folders_only) and rule.fits(path, name):
                return not rule.negated
        return None


@lru_cache(maxsize=256)
def parse_rules(data: bytes) -> IgnoreRules | None:
    """Return the rules of an ignore file; None where they are more than anybody writes."""
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    rules = [rule for line in lines if (rule := _parse_line(line))]
    return IgnoreRules(rules) if len(rules) <= MAX_PATTERNS else None


def _parse_line(line: str) -> IgnoreRule | None:
    line = line.removesuffix("\r")
    if line.startswith("#") or len(line) > MAX_PATTERN_CHARACTERS:
        return None
    line = _trim(line)
    negated, line = line.startswith("!"), line.removeprefix("!")
    folders_only, line = line.endswith("/"), line.removesuffix("/")
    if not line:
        return None
    for_name = "/" not in line
    if line.startswith("**/") and "/" not in line[3:]:
        for_name, line = True, line[3:]
    try:
        expression = _name_expression(line) if for_name else _path_expression(line.removeprefix("/"))
    except _NeverFits:
        return None
    return IgnoreRule(
        expression=expression,
        for_name=for_name,
        folders_only=folders_only,
        negated=negated,
        literal=line if for_name and not _WILD.search(line) else None,
        suffix=line[1:] if for_name and line.startswith("*") and not _WILD.search(line[1:]) else None,
    )


def _trim(line: str) -> str:
    """Return the line without blanks at its end, but for one with a backslash before it."""
    trimmed = line.rstrip(" ")
    backslashes = len(trimmed) - len(trimmed.rstrip("\\"))
    return trimmed + " " if backslashes % 2 and len(trimmed) < len(line) else trimmed


def _path_expression(pattern: str) -> str:
    """Return the expression for a whole path: `**` as a name of its own stands for any folders."""
    names = pattern.split("/")
    groups: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            groups.append([])
        else:
            groups[-1].append(_name_expression(name))
    *above, last = ["/".join(group) for group in groups]
    head = above[0] + "/" if above and above[0] else ""
    between = "".join(f"(?>(?:[^/]+/)*?{group}/)" for group in above[1:] if group)
    if not above:
        return last
    return head + between + (f"(?:[^/]+/)*?{last}" if last else ".+")


def _name_expression(pattern: str) -> str:
    """Return the expression for one name."""
    pieces, at, current = list[str](), 0, ""
    while at < len(pattern):
        one = pattern[at]
        if one == "*":
            pieces.append(current)
            current, at = "", _STARS.match(pattern, at).end()  # type: ignore[union-attr]  # it begins with a star
        elif one == "[":
            found, at = _class(pattern, at + 1)
            current += found
        else:
            is_escape = one == "\\"
            if is_escape and at + 1 == len(pattern):
                raise _NeverFits
            current += "[^/]" if one == "?" else re.escape(pattern[at + is_escape])
            at += 1 + is_escape
    if not pieces:
        return current
    first, *middle = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + f"[^/]*{current}"


def _class(pattern: str, at: int) -> tuple[str, int]:
    """Return the expression for a bracket, and where it ends."""
    negated = pattern[at : at + 1] in {"!", "^"}
    at += negated
    first, allowed = at, ""
    while pattern[at : at + 1] != "]" or at == first:
        if pattern.startswith("[:", at) and (end := pattern.find(":]", at)) > 0:
            if pattern[at + 2 : end] not in _POSIX:
                raise _NeverFits
            allowed, at = allowed + _POSIX[pattern[at + 2 : end]], end + 2
            continue
        low, at = _class_character(pattern, at)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in {"", "]"}:
            high, at = _class_character(pattern, at + 1)
            allowed += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        else:
            allowed += re.escape(low)
    if not allowed:
        return "[^/]" if negated else "(?!)", at + 1
    return f"(?!/)[{'^' if negated else ''}{allowed}]", at + 1


def _class_character(pattern: str, at: int) -> tuple[str, int]:
    at += pattern[at : at + 1] == "\\"
    if at >= len(pattern):
        raise _NeverFits
    return pattern[at], at + 1


def _any_of(expressions: list[str]) -> "re.Pattern[str] | None":
    return re.compile("|".join(f"(?:{one})" for one in expressions), re.DOTALL) if expressions else None
