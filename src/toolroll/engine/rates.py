"""Rate limits of models and providers, shared by all workers: a call is asked for before it is made (D12).

Each call is noted with its time and its tokens, for as long as a minute. So no minute, wherever it begins, has more
than the limit. A wait that a provider asks for holds for every worker.
`postgres_rates.py` has its twin for many machines.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from toolroll.kernel.call.context import random_id
from toolroll.safe.sqlite import CacheDatabase, DatabaseDamaged, remove_database, transaction

WINDOW_S: Final = 60.0
MAX_PAUSE_S: Final = 3_600.0
"""Longer than an hour nobody waits for a provider; the job fails then, and is tried again later."""
_SOON_S: Final = 0.05

RATES: Final = CacheDatabase(
    name="record of model calls",
    version=1,
    synchronous="off",
    tables="""
create table if not exists calls (
    name text not null,
    grant_id text not null,
    at real not null,
    tokens integer not null
) strict;
create index if not exists calls_by_name on calls (name, at);
create table if not exists pauses (
    name text primary key,
    until real not null
) strict;
""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How many requests and tokens a minute a model or a provider takes, over all workers; None is no limit."""

    name: str
    requests: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A call that may be made now."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A call that may not be made yet: whose limit is reached, and for how long at least."""

    name: str
    seconds: float


class RateLimiter(Protocol):
    """Says when a model may be called. Every worker asks the same one."""

    async def ask(self, limits: Sequence[RateLimit], /) -> Grant | Wait:
        """Note a call under all these names, if each of them has room for it now; else say what to wait for."""
        ...

    async def settle(self, grant: Grant, tokens: int, /) -> None:
        """Note how many tokens a call took. Until then it counts as much as the average of the last minute."""
        ...

    async def pause(self, name: str, seconds: float, /) -> None:
        """Let nobody call under this name for so long, as its provider has asked."""
        ...


class LocalRates:
    """The rate limiter of one machine: a SQLite file that all of its workers share."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._db: sqlite3.Connection | None = None

    async def ask(self, limits: Sequence[RateLimit], /) -> Grant | Wait:
        """Note a call, if there is room for it; else say what to wait for."""
        now = self._clock()
        with self._transaction() as db:
            # Also what a clock that was put back has left in the future.
            db.execute("delete from calls where at <= ? or at > ?", (now - WINDOW_S, now + WINDOW_S))
            db.execute("delete from pauses where until <= ? or until > ?", (now, now + MAX_PAUSE_S))
            waits = [wait for limit in limits if (wait := _look_up(db, limit, now)) is not None]
            if waits:
                return max(waits, key=lambda wait: wait.seconds)
            grant = Grant(id=random_id())
            for limit in limits:
                db.execute(
                    "insert into calls select ?, ?, ?, coalesce(round(avg(tokens)), 0) from calls where name = ?",
                    (limit.name, grant.id, now, limit.name),
                )
            return grant

    async def settle(self, grant: Grant, tokens: int, /) -> None:
        """Note how many tokens a call took."""
        with self._transaction() as db:
            db.execute("update calls set tokens = ? where grant_id = ?", (tokens, grant.id))

    async def pause(self, name: str, seconds: float, /) -> None:
        """Let nobody call under this name for so long; the longest pause counts."""
        until = self._clock() + min(seconds, MAX_PAUSE_S)
        with self._transaction() as db:
            db.execute(
                "insert into pauses values (?, ?) on conflict (name) do update set until = max(until, excluded.until)",
                (name, until),
            )

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with RATES.errors(self._path):
            db = self._open()
            with transaction(db):
                yield db

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            try:
                self._db = RATES.open(self._path)
            except DatabaseDamaged:  # it holds a minute at most
                remove_database(self._path)
                self._db = RATES.open(self._path)
        return self._db


def _look_up(db: sqlite3.Connection, limit: RateLimit, now: float) -> Wait | None:
    [paused] = db.execute("select max(until) from pauses where name = ?", (limit.name,)).fetchone()
    calls = db.execute("select at, tokens from calls where name = ? order by at", (limit.name,)).fetchall()
    return find_wait(limit, now, paused=paused, calls=calls)


def find_wait(limit: RateLimit, now: float, *, paused: float | None, calls: Sequence[tuple[float, int]]) -> Wait | None:
    """Return how long at least to wait for this limit; None if there is room now.

    `paused` is until when its provider asked to wait, and `calls` are those of the last minute, the oldest first.
    """
    free_at = [now if paused is None else float(paused)]
    if limit.requests is not None and len(calls) >= limit.requests:
        free_at.append(calls[len(calls) - limit.requests][0] + WINDOW_S)
    if limit.tokens is not None:
        free_at.append(_tokens_free_at(calls, limit.tokens, now))
    wait_s = max(free_at) - now
    return Wait(name=limit.name, seconds=max(wait_s, _SOON_S)) if wait_s > 0 else None


def _tokens_free_at(calls: Sequence[tuple[float, int]], limit: int, now: float) -> float:
    """Return when enough of the calls are a minute old that the others are below the limit."""
    used = sum(tokens for _, tokens in calls)
    when = now
    for at, tokens in calls:
        if used < limit:
            break
        used, when = used - tokens, at + WINDOW_S
    return when
