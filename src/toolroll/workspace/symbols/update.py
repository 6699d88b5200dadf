"""Bring an index up to date: parse what changed, forget what is gone, resolve imports again."""

import threading
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, cast

from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.symbols.imports.edges import Resolver, affected_files, resolve_imports
from toolroll.workspace.symbols.languages.registry import is_manifest
from toolroll.workspace.symbols.source_files import ChangedFileReader, FileChanges, scan_all, scan_some
from toolroll.workspace.symbols.store import FileRow, Store
from toolroll.workspace.symbols.symbol import Rows
from toolroll.workspace.symbols.workers import Reply, Workers
from toolroll.workspace.workspace import Workspace

Progress = Callable[[int, int], None]
"""Told how many files are done, of how many."""

BATCH: Final = 200  # files that are written down at once: about 30 ms for whoever waits to read
COMPLETE: Final = "complete"
"""The fact that every file has been looked at once."""
LEFT_OUT: Final = "left_out"
"""The number of source files that are too many for an index."""
IS_CUT: Final = "is_cut"
"""The fact that a walk has not seen all names: there are too many of them, or it took too long."""
APPROXIMATE: Final = "approximate"
"""The fact that imports were resolved for some files only since files came or went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshResult:
    """What a refresh did."""

    parsed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[str, ...] = ()
    """Files at which a parser crashed or ran out of time; the others are not harmed."""
    is_complete: bool = True
    """False where it was cancelled; what was done until then is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updater:
    """What a refresh needs, and how it goes."""

    workspace: Workspace
    store: Store
    workers: Workers
    cancelled: threading.Event
    make_resolver: Callable[[], Resolver]

    def refresh(self, paths: Collection[RelativePath] | None, on_progress: Progress | None) -> RefreshResult:
        """Look at these files (None: at all), and bring what is known of them up to date."""
        sweep = scan_all(self.workspace, self.store) if paths is None else scan_some(self.workspace, self.store, paths)
        others = self._touched(sweep, is_whole=paths is None)
        self.store.forget(stamp.id for stamp in sweep.gone.values())
        numbers, parsed, failed = self._parse(sweep, on_progress)
        is_complete = not self.cancelled.is_set()
        if is_complete:
            self._resolve(sweep, numbers, others, is_whole=paths is None)
        return RefreshResult(
            parsed=parsed,
            unchanged=sweep.unchanged,
            removed=len(sweep.gone),
            failed=tuple(failed),
            is_complete=is_complete,
        )

    def _touched(self, sweep: FileChanges, *, is_whole: bool) -> set[int]:
        """Return the files of others whose imports may lead elsewhere: asked before what is gone is forgotten."""
        if is_whole or not (sweep.added or sweep.gone):
            return set()
        return set(affected_files(self.store, sweep.added, sweep.gone)) - {stamp.id for stamp in sweep.gone.values()}

    def _parse(self, sweep: FileChanges, on_progress: Progress | None) -> tuple[list[int], int, list[str]]:
        reading = ChangedFileReader(workspace=self.workspace)
        batch: list[FileRow] = []
        numbers: list[int] = []
        failed: list[str] = []
        done = parsed = 0
        tasks, total = reading.tasks(sweep.changed), len(sweep.changed)
        with closing(self.workers.map(tasks, expected=total)) as replies:
            for row, reply in replies:
                if self.cancelled.is_set():
                    break
                parsed += 1
                batch.append(_fill_row(row, reply, failed))
                if len(batch) >= BATCH:
                    done += len(batch) + len(reading.settled) + len(reading.restamped)
                    numbers += self._write(batch, reading)
                    if on_progress is not None:
                        on_progress(done, total)
        numbers += self._write(batch, reading)
        if on_progress is not None and not self.cancelled.is_set():
            on_progress(total, total)
        return numbers, parsed, failed

    def _write(self, batch: list[FileRow], reading: ChangedFileReader) -> list[int]:
        """Store what has come together, and empty it."""
        settled, restamped = reading.settled[:], reading.restamped[:]
        del reading.settled[: len(settled)], reading.restamped[: len(restamped)]
        numbers = self.store.put([*batch, *settled]) if batch or settled else []
        if restamped:
            self.store.restamp(restamped)
        batch.clear()
        return numbers

    def _resolve(self, sweep: FileChanges, numbers: list[int], others: set[int], *, is_whole: bool) -> None:
        moved = bool(sweep.added or sweep.gone) or any(is_manifest(one.path) for one in sweep.changed)
        if is_whole:
            was_complete = self.store.fact(COMPLETE)
            if moved or self.store.fact(APPROXIMATE) or not was_complete:
                resolve_imports(self.store, self.make_resolver(), self.store.statements())
            elif numbers:
                resolve_imports(self.store, self.make_resolver(), self.store.statements(numbers))
            self._note({COMPLETE: 1, APPROXIMATE: 0, LEFT_OUT: sweep.left_out, IS_CUT: int(sweep.is_cut)})
        elif numbers or others:
            if moved:
                self.store.set_fact(APPROXIMATE, 1)
            resolve_imports(self.store, self.make_resolver(), self.store.statements({*numbers, *others}))

    def _note(self, facts: dict[str, int]) -> None:
        for name, value in facts.items():
            if self.store.fact(name) != value:
                self.store.set_fact(name, value)


def _fill_row(row: FileRow, reply: Reply, failed: list[str]) -> FileRow:
    """Return the row with what the worker found."""
    if reply.failure is None:
        symbols, imports, has_error = cast("Rows", reply.value)
        return replace(row, rows=(symbols, imports, has_error))
    failed.append(row.path)
    return replace(row, state="not parsed")
