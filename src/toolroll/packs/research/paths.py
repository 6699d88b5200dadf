"""What a path of `read_research` may look like (R2). Nothing here asks a file system or a server.

The rules, their order and what each refuses are fixed; a path that breaks several is told of the first. The result is
the trimmed text: what was checked is what is asked for, shown and logged (XP7).
"""

import re
from collections.abc import Callable
from typing import Final, Literal

from toolroll.errors import PathRefused
from toolroll.safe.paths.names import parse_path, quote_path

IDEAS: Final = "ideas"
"""The folder that all research is below. Paths name what is in it, without it."""

MAX_PATH_CHARACTERS: Final = 200
"""A date, a slug and a file name take about 80."""

EXAMPLE: Final = "2025-01-31-my-idea/research.md"

Rule = Literal[
    "control",
    "percent",
    "traversal",
    "backslash",
    "ideas_prefix",
    "trailing_slash",
    "double_slash",
    "empty",
    "absolute",
    "too_long",
    "characters",
]

# What `trim()` takes off in ECMAScript, whose rules these are. `str.strip` also takes U+001C to U+001F, which the next
# rule must see.
_BLANKS: Final = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_ALLOWED: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9/_.-]{0,199}")

# In the order in which they are asked. Percent signs go before all that they could hide: `%2e%2e/`, `%2F`, `%00`.
_RULES: Final[dict[Rule, Callable[[str], object]]] = {
    "control": _CONTROL.search,
    "percent": lambda path: "%" in path,
    "traversal": lambda path: ".." in path,
    "backslash": lambda path: "\\" in path,
    "ideas_prefix": lambda path: path.startswith(f"{IDEAS}/"),
    "trailing_slash": lambda path: path.endswith("/"),
    "double_slash": lambda path: "//" in path,
    "empty": lambda path: not path,
    "absolute": lambda path: path.startswith("/"),
    "too_long": lambda path: len(path) > MAX_PATH_CHARACTERS,
    "characters": lambda path: not _ALLOWED.fullmatch(path),
}
_MESSAGES: Final[dict[Rule, str]] = {
    "control": "Path contains control characters. Leave them out.",
    "percent": "Path contains a percent sign (%). Write the path plainly, without URL encoding.",
    "traversal": f"Path contains '..' (path traversal). Name it from {IDEAS}/, without going up.",
    "backslash": "Path contains a backslash. Separate folders with '/'.",
    "ideas_prefix": f"Path starts with '{IDEAS}/'. Leave that out: all paths are relative to {IDEAS}/.",
    "trailing_slash": f"Path ends with '/' (trailing slash). Name a file, such as '{EXAMPLE}'.",
    "double_slash": "Path contains '//' (double slash). Write one '/' between two names.",
    "empty": f"Path is empty. Name a file, such as '{EXAMPLE}'.",
    "absolute": f"Path is absolute. Name it from {IDEAS}/, such as '{EXAMPLE}'.",
    "too_long": f"Path is longer than {MAX_PATH_CHARACTERS} characters. Use a shorter one.",
    "characters": "Path must start with a letter or digit and may contain only letters, digits, '/', '_', '.' and '-'.",
}


def parse_research_path(given: str) -> str:
    """Parse a path relative to `ideas/`; raise PathRefused with the message of the first rule it breaks."""
    path = trim(given)
    rule = next((rule for rule, is_broken in _RULES.items() if is_broken(path)), None)
    if rule is not None:
        raise PathRefused(_MESSAGES[rule], path=quote_path(path), rule=rule)
    # What passes so far and is no path all the same: a `.` component, which a URL would lose on the way, and a name
    # that ends with a dot, which some systems lose.
    return str(parse_path(path))


def trim(given: str) -> str:
    """Return the text without the blanks around it."""
    return given.strip(_BLANKS)
