"""The tables of the run log, in one SQLite file. What only counts or lists runs needs nothing else of the journal."""

from typing import Final

from toolroll.safe.sqlite import RecordDatabase

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
LIST_RUNS: Final = """
select runs.run_id, began, parent, number, at, kind
from runs join records on records.run_id = runs.run_id
    and number = (select max(number) from records where run_id = runs.run_id)
order by began desc, runs.rowid desc
"""
