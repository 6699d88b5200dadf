"""What `toolroll runs export` does: it writes a run to a file, for programs or for people."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import click

from toolroll.apps.export.page import render_page
from toolroll.apps.export.run_tree import RunTree, format_json_lines, read_run_tree
from toolroll.apps.export.timeline import build_timeline
from toolroll.apps.run_log import RunLog, find_run, read_run_log
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.errors import FileExists, FileMissing, NotAFile, UsageError
from toolroll.home.keys import known_secrets
from toolroll.safe.paths.files import create_file, replace_file
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors

Form = Literal["jsonl", "html"]
STDOUT: Final = "-"
_PAGES: Final = (".htm", ".html")
_MANY_RECORDS: Final = 500
"""Below that nobody has to wait."""


def export_run(session: Session, run_id: str, *, form: Form | None, output: str, force: bool) -> int:
    """Write a run to a file; return the exit code."""
    form = form or ("html" if Path(output).suffix.lower() in _PAGES else "jsonl")
    if output == STDOUT and session.json:
        raise UsageError("--json answers on stdout, where the run would go, too. Name a file: --output FILE.")
    if output != STDOUT:
        _check(Path(output), force=force)

    async def work(journal: RunLog) -> RunTree:
        found = await find_run(journal, run_id)
        return await read_run_tree(journal, found, secrets=known_secrets(os.environ))

    run = read_run_log(work, os.environ)
    text = _format(session, run, form)
    if output == STDOUT:
        session.write_data(text)
    else:
        write_export(Path(output), text.encode("utf-8", "surrogatepass"), force=force)
    _show_summary(session, run, form, output, len(text.encode("utf-8", "surrogatepass")))
    return DONE


def _check(path: Path, *, force: bool) -> None:
    """Refuse before the work what would be refused after it."""
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder. Name a file in it.")
    if not force and os.path.lexists(path):
        raise _make_exists_error(path)


def _make_exists_error(path: Path) -> FileExists:
    return FileExists(f"'{path}' is there already. Name another file, or add --force.", path=str(path))


def _format(session: Session, run: RunTree, form: Form) -> str:
    pieces: Iterable[str] = format_json_lines(run) if form == "jsonl" else render_page(run)
    is_shown = not session.json and not session.plain and run.records >= _MANY_RECORDS and sys.stderr.isatty()
    if not is_shown:
        return "".join(pieces)
    with click.progressbar(pieces, length=_pieces(run, form), label="Exporting", file=sys.stderr) as shown:
        return "".join(shown)


def _pieces(run: RunTree, form: Form) -> int:
    """How many there will be: a line a record and one before them, or an entry and five around them."""
    return run.records + 1 if form == "jsonl" else len(build_timeline(run.recording, run.times)) + 5


def write_export(path: Path, data: bytes, *, force: bool) -> None:
    """Write the file whole or not at all, and for its owner alone: it holds what the user's files hold."""
    try:
        with os_errors(str(path.parent)):
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileMissing, NotAFile) as error:  # whose own words tell a model to list it
        told = f"There is no folder '{quote_path(str(path.parent))}'. Make it first, or name another one."
        raise type(error)(told, path=str(path.parent)) from None
    try:
        written = replace_file if force else create_file
        written(folder, path.name, data, path=str(path))
    except FileExists:
        raise _make_exists_error(path) from None
    finally:
        os.close(folder)


def _show_summary(session: Session, run: RunTree, form: Form, output: str, byte_size: int) -> None:
    if session.json:
        told = {"run_id": run.row.run_id, "format": form, "output": output, "byte_size": byte_size}
        damage = {"records": run.records, "is_damaged": run.is_damaged, "notes": run.notes}
        session.write_json(told | damage)
        return
    with suppress(OSError):
        for note in run.notes:
            notify(f"Note: {note}")
        if output != STDOUT:
            notify(f"Wrote {byte_size:,} bytes to '{output}'.")
