"""The tables of the database, created on first use. Those of DBOS are its own, in another schema."""

from typing import TYPE_CHECKING, Any, Final

from toolroll.errors import DatabaseFailed

if TYPE_CHECKING:
    import psycopg

SCHEMA: Final = "toolroll"
VERSION: Final = 2
"""Of these tables; raised with every change that an older program could not bear."""
_LOCK: Final = 7_314_001
"""Taken while tables are created, so that processes that start at once do not get into each other's way."""

# `rowid` is a column and `instr` a function of SQLite: with both, what reads the run log is written once.
_TABLES: Final = """
create schema if not exists toolroll;
create table if not exists toolroll.about (version integer not null);
create table if not exists toolroll.runs (
    run_id text primary key,
    format integer not null,
    began double precision not null,
    parent text,
    holder text,
    fence bigint not null default 0,
    rowid bigserial
);
create table if not exists toolroll.records (
    run_id text not null,
    number integer not null,
    kind text not null,
    at double precision not null,
    body bytea not null,
    chain text not null,
    primary key (run_id, number)
);
create table if not exists toolroll.contents (
    hash text primary key,
    body bytea not null
);
create table if not exists toolroll.outputs (
    folder text not null,
    output text not null,
    file text not null,
    number integer not null,
    data bytea not null,
    stored timestamptz not null default now(),
    primary key (folder, output, file, number)
);
create table if not exists toolroll.processes (
    name text primary key,
    beat timestamptz
);
alter table toolroll.processes alter column beat drop not null;
alter table toolroll.processes add column if not exists seen timestamptz;
create table if not exists toolroll.jobs (
    run_id text primary key,
    cause bigint not null,
    claimed bigint not null default -1,
    queue text not null,
    key text,
    state text not null,
    priority integer not null,
    attempts integer not null default 0,
    not_before double precision not null,
    created double precision not null,
    updated double precision not null,
    worker text,
    error text not null default '',
    cancelling boolean not null default false,
    fence bigint not null default 0,
    turn bigint not null default 0,
    is_handed boolean not null default false,
    rowid bigserial
);
create index if not exists jobs_by_state on toolroll.jobs (state, queue, not_before);
create index if not exists jobs_by_age on toolroll.jobs (created desc, rowid desc);
create unique index if not exists jobs_open_key on toolroll.jobs (key)
    where key is not null and state in ('queued', 'running', 'waiting');
create table if not exists toolroll.queues (
    name text primary key,
    slots integer not null
);
create table if not exists toolroll.calls (
    name text not null,
    grant_id text not null,
    at double precision not null,
    tokens bigint not null
);
create index if not exists calls_by_name on toolroll.calls (name, at);
create index if not exists calls_by_grant on toolroll.calls (grant_id);
create table if not exists toolroll.pauses (
    name text primary key,
    until double precision not null
);
create or replace function toolroll.instr(bytea, bytea) returns boolean
    language sql immutable as 'select position($2 in $1) > 0';
"""
# In one statement, so that a worker that is stopped in the middle holds no lock; a function, because each statement in
# it sees what others did before the lock was given. A queue without a row of its own has no limit over all workers.
_CLAIM: Final = """
create or replace function toolroll.claim_job(by text, now_s double precision, names text[])
    returns setof toolroll.jobs language plpgsql as $$
declare
    picked text;
begin
    perform pg_advisory_xact_lock(7314002) where exists (select 1 from toolroll.queues);
    select run_id into picked from toolroll.jobs as job
        where state = 'queued' and not_before <= now_s and (names is null or queue = any(names))
            and coalesce((select slots from toolroll.queues where name = job.queue), 1000000)
                > (select count(*) from toolroll.jobs as other
                    where other.queue = job.queue and other.state = 'running'
                        and exists (select 1 from toolroll.queues where name = job.queue))
        order by priority desc, not_before, created, rowid limit 1
        for update of job skip locked;
    return query update toolroll.jobs set state = 'running', worker = by, attempts = attempts + 1, claimed = cause,
        fence = fence + 1, updated = now_s where run_id = picked returning *;
end
$$;
"""


def create_tables(db: "psycopg.Connection[tuple[Any, ...]]", shown: str) -> None:
    """Create what is missing; refuse tables of a newer version."""
    found = db.execute("select to_regclass('toolroll.about') is not null").fetchone()
    if found == (True,) and _check_version(db, shown):
        return
    with db.transaction():
        db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        db.execute(_TABLES)
        db.execute(_CLAIM)
        if not _check_version(db, shown):
            db.execute("insert into toolroll.about values (%s)", (VERSION,))


def _check_version(db: "psycopg.Connection[tuple[Any, ...]]", shown: str) -> bool:
    row = db.execute("select max(version) from toolroll.about").fetchone()
    version = None if row is None else row[0]
    if version is not None and version > VERSION:
        raise DatabaseFailed(
            f"The tables in {shown} were made by a newer version of toolroll (version {version}, this one knows up to "
            f"{VERSION}). Update toolroll on this machine."
        )
    return version == VERSION
