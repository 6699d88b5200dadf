"""Match file names with patterns as people write them: `*.py`, `src/**/test_*.js`, `*.{ts,tsx}`."""

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from toolroll.errors import ArgumentsRefused
from toolroll.safe.paths.names import quote_path

MAX_ALTERNATIVES: Final = 64  # of braces, which multiply: {a,b}{a,b}{a,b}... doubles with each pair
_BRACES: Final = re.compile(r"\{([^{}]*)\}")

_CLASS: Final = re.compile(r"\[!?+\]?+[^\]]*\]")  # where it is not closed, none
_RANGE: Final = re.compile(r"(.)-([^\]])", re.DOTALL)

Parts = tuple[str, ...]


def matches_glob(pattern: str, path: str) -> bool:
    """Return whether a path fits: by its name alone where the pattern has no `/`, else as a whole.

    `*` and `?` stay within one name, `**` as a whole name stands for any number of folders, `[abc]` and `{a,b}` for one
    of several; several patterns have commas between them. A bracket also stands for itself, as in `app/[id]/page.tsx`.
    """
    parts = tuple(path.split("/"))
    return any(_match_parts(wanted, parts if len(wanted) > 1 else parts[-1:]) for wanted in compile_glob(pattern))


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> tuple[Parts, ...]:
    """Return the alternatives of a pattern, each as its names."""
    found = [pattern]
    # Every alternative has as many braces left as the others, so that one can be asked for all.
    while len(found) <= MAX_ALTERNATIVES and _BRACES.search(found[0]):
        found = [other for one in found for other in _expand_braces(one)]
    pieces = (piece.strip() for one in found for piece in one.split(","))
    return tuple(tuple(piece.removeprefix("./").removeprefix("/").split("/")) for piece in pieces if piece)


def _expand_braces(pattern: str) -> list[str]:
    before, choices, after = _BRACES.split(pattern, maxsplit=1)
    return [before + one + after for one in choices.split(",")]


def _match_parts(pattern: Parts, parts: Parts) -> bool:
    reached = {0}  # how many names of the path the pattern so far can have used up
    for piece in pattern:
        if piece == "**":
            reached = set(range(min(reached, default=len(parts) + 1), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and _match_name(piece, parts[at])}
    return len(parts) in reached


def _match_name(piece: str, name: str) -> bool:
    # Web frameworks have folders such as `[id]` and `[...slug]`: who copies such a path means the path.
    return fnmatchcase(name, piece) or ("[" in piece and fnmatchcase(name, piece.replace("[", "[[]")))


def check_glob(pattern: str, *, name: str) -> None:
    """Raise ArgumentsRefused, with what to write instead, where a pattern that fits no file is not a glob.

    For who found nothing: an odd pattern may be the name of a file, and then it is right as it is.
    """
    if why := _problem(pattern):
        raise ArgumentsRefused(f"The {name} '{quote_path(pattern)}' fits no file, and is no glob as it stands: {why}")


def _problem(pattern: str) -> str | None:
    wanted = compile_glob(pattern)
    pieces = [piece for one in wanted for piece in one]
    if not pieces:
        return "it is empty. Leave it out, or write one such as '*.py' or 'src/**/*.js'."
    rest = [_CLASS.sub("", piece) for piece in pieces]
    tests = {
        f"its braces stand for more than {MAX_ALTERNATIVES} names. Ask for fewer at once.": (
            len(wanted) > MAX_ALTERNATIVES and _any_has(rest, "{")
        ),
        "a '{' is not closed. Write '*.{ts,tsx}'; for a brace in a name itself write '?'.": _any_has(rest, "{"),
        "a '}' closes nothing. Write '*.{ts,tsx}'; for a brace in a name itself write '?'.": _any_has(rest, "}"),
        "a '[' is not closed within its name. Write '[ab]*.py'; for a bracket in a name itself write '[[]', as in "
        "'[[]id].tsx'.": _any_has(rest, "["),
        "a range in brackets runs backwards. Write '[a-z]'; for a bracket in a name itself write '[[]', as in "
        "'[[]id].tsx'.": any(_is_backwards(found) for piece in pieces for found in _CLASS.findall(piece)),
        "it has a backslash. Write '/' between folders; for a backslash in a name itself write '?'.": "\\" in pattern,
    }
    return next((why for why, is_so in tests.items() if is_so), None)


def _any_has(pieces: list[str], character: str) -> bool:
    return any(character in piece for piece in pieces)


def _is_backwards(characters: str) -> bool:
    inner = characters[1:-1].removeprefix("!")
    return any(first > last for first, last in _RANGE.findall(inner))
