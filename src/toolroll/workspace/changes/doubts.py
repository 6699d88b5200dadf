"""What a program can see of a change that nobody should take unseen: it no longer parses, or little is left.

Models that lose the thread replace a whole file by its outline, or close a bracket too few. A person notices, if they
look; `--yes` does not.
"""

import json
import tomllib
from collections.abc import Iterator
from typing import Final

from toolroll.workspace.symbols.languages.registry import language_of
from toolroll.workspace.symbols.workers import Reply, Task, Workers

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
    if _breaks(path, before, after):
        yield "The old content parses without an error, and the new one does not."
    old, new = _lines(before), _lines(after)
    if len(old) >= LEAST_LINES and not {*old} & {*new}:
        yield "Not one line of the old content is kept."
    elif len(old) >= LEAST_SHRUNK_LINES and 100 * len(new) <= SHRUNK_TO_PERCENT * len(old):
        yield f"Of {len(old):,} lines that are not blank, {len(new):,} are left."


def _lines(data: bytes) -> list[bytes]:
    return [line for line in map(bytes.strip, data.splitlines()) if line]


def _breaks(path: str, before: bytes, after: bytes) -> bool:
    """Return whether a file was what its name says, as far as that can be told, and no longer is."""
    if max(len(before), len(after)) > MAX_PARSED_BYTES:
        return False
    if path.endswith((".json", ".toml")):
        return _is_data(path, before) and not _is_data(path, after)
    language = language_of(path)
    return language is not None and _find_errors(language.name, before, after) == [False, True]


def _is_data(path: str, data: bytes) -> bool:
    try:
        if path.endswith(".json"):
            json.loads(data)
        else:
            tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _find_errors(language: str, *contents: bytes) -> list[bool]:
    """Return which of these have an error; parsed in a process of its own, as a grammar may crash."""
    tasks = ((at, Task(operation="extract", language=language, data=data)) for at, data in enumerate(contents))
    workers = Workers(most=1)
    try:
        replies = dict(workers.map(tasks, expected=len(contents)))
    finally:
        workers.close()
    return [_has_error(replies[at]) for at in range(len(contents))]


def _has_error(reply: Reply) -> bool:
    """Return whether the parser met an error; a file at which it went down has none that we know of."""
    return isinstance(reply.value, list) and reply.value[-1] is True
