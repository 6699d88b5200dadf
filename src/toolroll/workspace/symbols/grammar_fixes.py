"""Syntax that a grammar does not know yet, blanked out so that the rest of the file can be read.

One unknown word can cost all definitions of a file: everything after it becomes one error. Where a file has errors,
it is parsed once more with such words replaced, byte by byte, so that every place in it stays where it was.
"""

import re
from typing import Final, Literal

_Mend = tuple[re.Pattern[bytes], Literal["blank", "ended", "name"]]
"""What to look for, and whether all of it becomes blank, its last byte a semicolon, or all of it another name."""

_VARIANCE: Final[_Mend] = (
    re.compile(rb"(?<=[<,\n ])(?:in\s+out|in|out)(?=[ \t]+[A-Z]\w*\b[^;{}()]{0,80}[,>=])"),
    "blank",
)
"""`interface Cache<in out Key>`: tree-sitter-typescript 0.23 reads it as an error."""
_CALL_SIGNATURE: Final[_Mend] = (re.compile(rb"\n[ \t]*[ \t](?=<)"), "ended")
"""A member of an interface that begins with `<`, after one without a semicolon: read as a comparison."""
_ESCAPED_TICK: Final[_Mend] = (re.compile(rb"\\`"), "blank")
"""In the type of a template, where the grammar knows no escapes."""
_KEYWORD_NAME: Final[_Mend] = (
    re.compile(rb"(?<=\()(?:abstract|declare|module|namespace|type)(?=\s+extends\s)"),
    "name",
)
"""`(type extends string ? 1 : 2)`, where `type` is what a parameter is called: read as the beginning of an alias."""
_BARE_FUNCTION: Final[_Mend] = (re.compile(rb"\bfun [^\n{}=]*\)(?:[ \t]*:[ \t]*[\w<>?., ]+?)?[ \t](?=\})"), "ended")
"""A function without a body before a brace on its line (`interface I { fun f() }`): tree-sitter-kotlin 1.1 fails."""

_MENDS: Final[dict[str, tuple[_Mend, ...]]] = {
    "kotlin": (_BARE_FUNCTION,),
    "tsx": (_VARIANCE, _ESCAPED_TICK, _KEYWORD_NAME),
    "typescript": (_VARIANCE, _CALL_SIGNATURE, _ESCAPED_TICK, _KEYWORD_NAME),
}


_QUIET_LINES: Final = 100  # of comment in a row: they take a millisecond as they are
_COMMENTS: Final = re.compile(rb"^(?:[ \t]*#(?:(?!\"\"\"|''')[^\n])*+(?:\n|\Z))++", re.MULTILINE)
"""Lines of comment in Python. One with three quotes may be the end of a string instead, and stays."""
_SEEN: Final = re.compile(rb"[^\r\n]")


def blank_long_comments(language: str, data: bytes) -> bytes:
    """The same bytes without long runs of comment, of the same length, for a parse in linear time.

    The scanner of tree-sitter-python 0.25 looks for the next statement from each comment anew: 20,000 lines of them
    after a statement took 32 s.
    """
    return _COMMENTS.sub(_blank_if_long, data) if language == "python" else data


def _blank_if_long(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].count(b"\n") < _QUIET_LINES else _SEEN.sub(b" ", found[0])


def fix_unknown_syntax(language: str, data: bytes) -> bytes | None:
    """The same bytes with what the grammar does not know replaced, of the same length; None where there is nothing."""
    better = data
    for pattern, how in _MENDS.get(language, ()):
        better = pattern.sub(_REPLACED[how], better)
    return None if better == data else better


def _blank(found: re.Match[bytes]) -> bytes:
    return b" " * len(found[0])


def _ended(found: re.Match[bytes]) -> bytes:
    return found[0][:-1] + b";"


def _name(found: re.Match[bytes]) -> bytes:
    return b"T" * len(found[0])


_REPLACED: Final = {"blank": _blank, "ended": _ended, "name": _name}
