"""Limits of how much of a workspace is read, shown and waited for; all of them are settings (C44)."""

from dataclasses import dataclass, fields
from typing import Final

from toolroll.errors import UsageError

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one workspace; each is a number above zero."""

    file_bytes: int = MIB  # of a file that is read or edited: about 250,000 tokens, more than a model can hold
    read_lines: int = 2_000  # of one file at once
    read_bytes: int = 45_000  # of the lines of one read: with its heading it stays below the 50 KiB that are not cut
    line_characters: int = 2_000  # of one line; the longest line of usual source code is a tenth of it
    matches: int = 50  # of one search
    kept_matches: int = 5_000  # of one search, in the output that is kept: 100 pages, read in half a second
    match_characters: int = 240  # of a long line, around the match: two lines of a wide terminal
    page_entries: int = 100  # of a list
    found_files: int = 100  # of one look for names
    search_seconds: float = 20.0  # 1.5 GB take two seconds; a network drive may need more
    search_file_bytes: int = 64 * MIB  # of a file that is searched: larger ones are dumps and media
    walk_files: int = 1_000_000  # names looked at: ten times the largest public repositories

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise UsageError(f"The limit {field.name} is {getattr(self, field.name)}. Set it to more than zero.")


DEFAULT_LIMITS: Final = Limits()
