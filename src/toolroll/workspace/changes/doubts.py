"""What a program can see of a change that nobody should take unseen: it no longer parses, or little is left.

Models that lose the thread replace a whole file by its outline, or close a bracket too few. A person notices, if they
look; `--yes` does not.
"""

import json
import tomllib
from collections.abc import Iterator
from typing import Final

from toolroll.lazy import load
from toolroll.workspace.symbols.languages.registry import language_of

MAX_PARSED_BYTES: Final = 500_000
"""A file that is larger is not parsed for this: it would take longer than a moment."""
LEAST_LINES: Final = 5
"""In a file that keeps nothing; a shorter one is easily replaced on purpose."""
LEAST_SHRUNK_LINES: Final = 10
SHRUNK_TO_PERCENT: Final = 40


def find_doubts(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Return what speaks against a change of a file; nothing for a new file, or one that is removed."""
    if before is None or after is None:
        return ()
    return tuple(_doubts(path, before, after))


def _doubts(path: str, before: bytes, after: bytes) -> Iterator[str]:
    if _parses(path, before) and not _parses(path, after):
        yield "The old content parses without an error, and the new one does not."
    old, new = _lines(before), _lines(after)
    if len(old) >= LEAST_LINES and not {*old} & {*new}:
        yield "Not one line of the old content is kept."
    elif len(old) >= LEAST_SHRUNK_LINES and 100 * len(new) <= SHRUNK_TO_PERCENT * len(old):
        yield f"Of {len(old):,} lines that are not blank, {len(new):,} are left."


def _lines(data: bytes) -> list[bytes]:
    return [line for line in map(bytes.strip, data.splitlines()) if line]


def _parses(path: str, data: bytes) -> bool:
    """Return whether a file is what its name says, as far as that can be told; true where it cannot."""
    if len(data) > MAX_PARSED_BYTES:
        return True
    try:
        if path.endswith(".json"):
            json.loads(data)
        elif path.endswith(".toml"):
            tomllib.loads(data.decode())
        else:
            language = language_of(path)
            # Loaded with the first change of code: grammars are a part of the start that nothing else needs.
            return (
                language is None
                or not load("toolroll.workspace.symbols.parser:parse")(language, data).root_node.has_error
            )
    except (ValueError, RecursionError):
        return False
    return True
