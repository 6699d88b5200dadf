"""The tables of the run log, in one SQLite file. What only counts or lists runs needs nothing else of the journal."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from toolroll.errors import RecordTooNew, RunMissing
from toolroll.safe.record_database import RecordDatabase


class Found(Protocol):
    """What a statement found: rows."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Tables(Protocol):
    """The tables of the run log, in SQLite or elsewhere; statements are those of SQLite, with ? for values."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Found:
        """Run a statement."""
        ...

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> object:
        """Run a statement for each of these values."""
        ...


FORMAT_VERSION: Final = 2
"""Of records: raised with every change that an older program could misread."""

_TABLES: Final = """
create table if not exists runs (
    run_id text not null unique,
    format integer not null,
    began real not null,
    parent text,
    holder text
) strict;
create table if not exists records (
    run_id text not null,
    number integer not null,
    kind text not null,
    at real not null,
    body blob not null,
    chain text not null,
    primary key (run_id, number)
) strict, without rowid;
create table if not exists contents (
    hash text primary key,
    body blob not null
) strict, without rowid;
"""
RUN_LOG: Final = RecordDatabase(
    name="run log",
    version=1,
    tables=_TABLES,
    synchronous="normal",
    loss="The runs in it can then no longer be shown or resumed.",
)
JOB_PREFIX: Final = "job-"
"""The ids of jobs begin so. A job is recorded as a run of its own, without a model, and is not listed with the runs."""
LIST_RUNS: Final = """
select runs.run_id, began, parent, number, at, kind
from runs join records on records.run_id = runs.run_id
    and number = (select max(number) from records where run_id = runs.run_id)
order by began desc, runs.rowid desc
"""


def check_format(db: Tables, run_id: str) -> None:
    """Refuse a run that is not there, or that a newer version wrote."""
    row = db.execute("select format from runs where run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise no_such_run(run_id)
    if row[0] > FORMAT_VERSION:
        raise RecordTooNew(
            f"Run {run_id} was written by a newer version of toolroll (format {row[0]}, this one reads up to "
            f"{FORMAT_VERSION}). Update toolroll to open it."
        )


def no_such_run(run_id: str) -> RunMissing:
    """Return the error for a run that is not there."""
    return RunMissing(f"There is no run {run_id[:64]!r}. See `toolroll runs list`.")
