"""What one line of `rg --json` says about a match, also where the line was shortened on the way."""

import re
from binascii import a2b_base64
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

_MATCH: Final = b'{"type":"match",'
_PATH: Final = re.compile(rb'"path":\{(?:"text":("(?:[^"\\]|\\.)*+")|"bytes":"([A-Za-z0-9+/=]*)")\}')
_LINE: Final = re.compile(rb'\},"line_number":([0-9]+),"absolute_offset":([0-9]+),')
_SPAN: Final = re.compile(rb'\},"start":([0-9]+),"end":([0-9]+)\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class RipgrepMatch:
    """A line that matches: its number, and where in the file's bytes it begins; `start` and `end` count from there.

    A byte order mark in front does not count, and a file in UTF-16 is counted as if it were in UTF-8.
    """

    path: bytes
    line: int
    offset: int
    start: int
    end: int


def parse_match(line: bytes) -> RipgrepMatch | None:
    """The match that a line of output tells of, with its first place; None for every other line."""
    path, place, span = _PATH.search(line), _LINE.search(line), _SPAN.search(line)
    if not line.startswith(_MATCH) or not path or not place:
        return None
    start, end = (int(span[1]), int(span[2])) if span else (0, 0)
    with suppress(ValueError):
        return RipgrepMatch(path=_bytes_of(path), line=int(place[1]), offset=int(place[2]), start=start, end=end)
    return None


def _bytes_of(path: re.Match[bytes]) -> bytes:
    if path[1] is not None:
        import json  # noqa: PLC0415 -- needed once a search

        return str(json.loads(path[1])).encode()
    return a2b_base64(path[2])
