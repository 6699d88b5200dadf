"""What a shell completes beside commands and options: runs by their ids, profiles, a project's own files.

Asked for at every Tab: nothing is loaded that reading a file does not need, nothing is written, and nothing ever fails.
"""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.errors import ToolrollError

if TYPE_CHECKING:
    import sqlite3

    from click.shell_completion import CompletionItem

MAX_RUNS: Final = 50
"""Offered at most, the latest: a longer list is not read."""

ID_CHARACTERS: Final = 12
"""Of an id, as `toolroll runs list` shows it."""

MAX_PROMPT_CHARACTERS: Final = 50
_OWN_FILES: Final = (".toolroll/settings.toml", ".toolroll/tools/*.py")

_RUNS: Final = """
select run_id from runs where parent is null and substr(run_id, 1, length(?1)) = ?1
order by began desc, rowid desc limit ?2
"""
_SAID: Final = """
select body from records where run_id = ?1 and kind = 'said' and number < coalesce(
    (select min(number) from records where run_id = ?1 and kind = 'answered'), 9223372036854775807
) order by number desc
"""


def complete_run_ids(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The latest runs whose ids begin so, with the beginning of what was asked."""
    import sqlite3  # noqa: PLC0415 - not for --help

    from toolroll.home.folders import find_folders  # noqa: PLC0415 - as above
    from toolroll.safe.sqlite import open_read_only  # noqa: PLC0415 - as above

    with suppress(sqlite3.Error, OSError, ValueError, ToolrollError):
        path = find_folders(os.environ).run_log
        # Read-only: a Tab must not make, repair or upgrade anything.
        with closing(open_read_only(path, busy_s=0.1)) as db:
            return list(_runs(db, incomplete))
    return []


def _runs(db: "sqlite3.Connection", incomplete: str) -> "Iterator[CompletionItem]":
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - as above

    for (run_id,) in db.execute(_RUNS, (incomplete, MAX_RUNS)).fetchall():
        shown = run_id if len(incomplete) > ID_CHARACTERS else run_id[:ID_CHARACTERS]
        yield CompletionItem(shown, help=_prompt(db, run_id))


def _prompt(db: "sqlite3.Connection", run_id: str) -> str:
    """The beginning of what was asked last before the model first answered."""
    import json  # noqa: PLC0415 - as above

    for (body,) in db.execute(_SAID, (run_id,)):
        message = json.loads(body)["message"]
        if message["role"] == "user":
            return _beginning(db, "".join(part.get("text", "") for part in message["content"]))
    return ""


def _beginning(db: "sqlite3.Connection", text: str) -> str:
    from toolroll.safe.text import one_line  # noqa: PLC0415 - as above

    if text.startswith("\0"):  # a long one is kept by its hash
        row = db.execute("select substr(body, 1, 1000) from contents where hash = ?", (text[1:],)).fetchone()
        text = row[0].decode("utf-8", "replace") if row else ""
    return one_line(" ".join(text[:1_000].split()), MAX_PROMPT_CHARACTERS, is_spelled=True)  # as `runs list` has it


def complete_profiles(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The profiles in the data folder whose names begin so."""
    with suppress(OSError, ToolrollError):
        found = (_data(context.params.get("data")) / "profiles").glob("*.json")
        return sorted(path.stem for path in found if path.stem.startswith(incomplete))
    return []


def _data(given: Path | None) -> Path:
    """As `packs.writing.keys` has it; to load that takes longer than anybody waits for a Tab."""
    from toolroll.home.folders import find_folders  # noqa: PLC0415 - as above

    if given is not None:
        return given
    local = Path("data")
    return local if local.is_dir() else find_folders(os.environ).data / "ghostpen"


def complete_files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Leaves it to the shell, which knows best how to complete files."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - as above

    return [CompletionItem(incomplete, type="file")]


def complete_project_files(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The project's own settings and tools, which somebody may trust."""
    root = context.params.get("root") or Path()
    found = [path.relative_to(root).as_posix() for pattern in _OWN_FILES for path in sorted(root.glob(pattern))]
    return [path for path in found if path.startswith(incomplete)]
