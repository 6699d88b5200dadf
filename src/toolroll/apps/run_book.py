"""The list of runs for a surface that looks often: a run is read again only if something was added to it."""

from pathlib import Path
from threading import Lock

from toolroll.journal.places import RunLogPlace, open_tables
from toolroll.journal.summaries import RunSummary, is_listed, summarize_run
from toolroll.journal.tables import LIST_RUNS


class RunBook:
    """Summaries of the runs in one run log. Any thread may read them."""

    def __init__(self, place: RunLogPlace) -> None:
        self._place = place
        self._lock = Lock()
        self._known: dict[str, tuple[object, RunSummary]] = {}

    def read(self, *, limit: int) -> tuple[list[RunSummary], int]:
        """Return the latest runs that are no part of another one, at most `limit`, and how many there are."""
        with self._lock, open_tables(self._place) as db:
            if db is None:
                return [], 0
            rows = [row for row in db.execute(LIST_RUNS) if is_listed(row[0]) and row[2] is None]
            known: dict[str, tuple[object, RunSummary]] = {}
            for row in rows[:limit]:
                run_id, _, _, number, updated, _ = row
                found = self._known.get(run_id)
                is_same = found is not None and found[0] == (number, updated)
                known[run_id] = found if is_same and found is not None else ((number, updated), summarize_run(db, row))
            self._known = known
        return [summary for _, summary in known.values()], len(rows)

    def version(self) -> object:
        """Return a value that differs once any process has written to the log; always the same for a database."""
        if not isinstance(self._place, Path):
            return None
        found = []
        for path in (self._place, self._place.with_name(f"{self._place.name}-wal")):
            try:
                status = path.stat()
            except OSError:  # it comes and goes
                continue
            found.append((status.st_mtime_ns, status.st_size))
        return tuple(found)
