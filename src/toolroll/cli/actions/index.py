"""What `toolroll index` does: it builds the symbol index of a project, and shows how far it is (S7, C21).

The work is done in a thread of its own, so that Ctrl-C only asks it to stop: what was found until then is kept.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from toolroll.apps.project import Project
from toolroll.cli.session import DONE, FAILED, INTERRUPTED, Session
from toolroll.errors import FileSystemRefused
from toolroll.safe.paths.files import can_write, private_folder
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.symbols.update import RefreshResult
from toolroll.workspace.workspace import Workspace

Tell: TypeAlias = Callable[[int, int], None]
_TENTH: Final = 10  # lines for one build where nothing can be drawn over
_NAMED: Final = 5  # files that a parser failed at
_LOOK_S: Final = 0.1  # between two looks at whether somebody pressed Ctrl-C


def build_index(session: Session, *, root: Path | None, rebuild: bool) -> int:
    """Build the index, or bring it up to date; return the exit code."""
    with Project.open(root or Path.cwd(), os.environ) as project:
        workspace = project.workspace
        _check_state_folder(workspace)
        if rebuild:
            Index.discard(workspace)
        with Index.open(workspace) as index:
            return _build(session, index, workspace)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What there is now, and what was done for it."""

    files: int
    symbols: int
    parsed: int
    unchanged: int
    removed: int
    failed: tuple[str, ...]
    skipped: dict[str, int]
    seconds: float
    complete: bool


def _check_state_folder(workspace: Workspace) -> None:
    """Tools make do with an index in memory; to build one that is gone at the end would help nobody."""
    folder = private_folder(workspace.state)
    if not can_write(folder):
        message = f"The index cannot be kept: nothing can be written to '{folder}'."
        raise FileSystemRefused(message, path=str(folder), errno_name="EROFS")


def _build(session: Session, index: Index, workspace: Workspace) -> int:
    started = time.monotonic()
    with _progress(session) as tell:
        done, interrupted = _refreshed(index, tell)
    if not done.is_complete and not interrupted:
        session.fail("busy", "Another process is building this index. Wait for it, and ask again.")
        return FAILED
    if index.trouble is not None:  # tools make do with an index in memory; here it would be gone with this process
        raise index.trouble
    report = _report(index, done, time.monotonic() - started)
    if session.json:
        session.write_json({"root": str(workspace.root), **asdict(report)})
    else:
        session.show("\n".join(_lines(report)))
    return INTERRUPTED if interrupted else DONE


def _refreshed(index: Index, tell: Tell) -> tuple[RefreshResult, bool]:
    """What a refresh did, and whether Ctrl-C ended it."""
    with _noted() as pressed, ThreadPoolExecutor(1) as pool:
        refreshing = pool.submit(index.refresh, None, tell)
        while not refreshing.done():
            wait([refreshing], timeout=_LOOK_S)
            if pressed:
                index.cancel()
        done = refreshing.result()
    return done, bool(pressed) and not done.is_complete


@contextmanager
def _noted() -> Iterator[list[int]]:
    """Put Ctrl-C on a list inside: an exception could fall anywhere, also where nobody would end the work."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _report(index: Index, done: RefreshResult, seconds: float) -> _Report:
    files, symbols = index.size()
    return _Report(
        files=files,
        symbols=symbols,
        parsed=done.parsed,
        unchanged=done.unchanged,
        removed=done.removed,
        failed=done.failed,
        skipped=index.skipped(),
        seconds=round(seconds, 2),
        complete=done.is_complete,
    )


def _lines(report: _Report) -> Iterator[str]:
    done = f"parsed {report.parsed:,}, unchanged {report.unchanged:,}, removed {report.removed:,}"
    found = f"{_counted(report.symbols, 'symbol')} in {_counted(report.files, 'file')}"
    yield f"{found} ({done}; {report.seconds:.1f} s)"
    if report.skipped:
        yield "Skipped: " + ", ".join(f"{count:,} {why}" for why, count in sorted(report.skipped.items())) + "."
    if report.failed:
        named = ", ".join(f"'{quote_path(path)}'" for path in report.failed[:_NAMED])
        more = len(report.failed) - _NAMED
        yield f"Not parsed, as the parser failed: {named}" + (f" and {more:,} more." if more > 0 else ".")
    if not report.complete:
        yield "Interrupted: what was found until now is kept, and the next time goes on from there."


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


@contextmanager
def _progress(session: Session) -> Iterator[Tell]:
    """A bar at a terminal; elsewhere a line for each tenth, on stderr."""
    if session.plain or sys.stderr is None or not sys.stderr.isatty():
        yield _tenths()
        return

    columns = (TextColumn("Parsing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _tenths() -> Tell:
    told = 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        tenth = _TENTH * done // total if total else 0
        if tenth > told:
            told = tenth
            click.echo(f"parsed {done:,} of {_counted(total, 'file')}", err=True)

    return tell
