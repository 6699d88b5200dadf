"""The rate limits of models over all machines: the twin of `LocalRates` in PostgreSQL."""

import time
from collections.abc import Callable, Sequence

from toolroll.engine.rates import MAX_PAUSE_S, WINDOW_S, Grant, RateLimit, Wait, find_wait
from toolroll.kernel.call.context import random_id
from toolroll.postgres.database import Connection, Database


class PostgresRates:
    """The rate limiter that all workers of a database share. `clock` replaces the clock of the server, for tests."""

    def __init__(self, database: Database, *, clock: Callable[[], float] | None = None) -> None:
        self._database, self._clock = database, clock

    async def ask(self, limits: Sequence[RateLimit], /) -> Grant | Wait:
        """Note a call, if there is room for it; else say what to wait for."""

        def ask(db: Connection) -> Grant | Wait:
            with db.transaction():
                # In one order everywhere, so that two who ask for the same names do not wait for each other.
                for name in sorted(limit.name for limit in limits):
                    db.execute("select pg_advisory_xact_lock(hashtextextended(%s, 2))", (name,))
                now = self._now(db)
                waits = [wait for limit in limits if (wait := self._find_wait(db, limit, now)) is not None]
                if waits:
                    return max(waits, key=lambda wait: wait.seconds)
                return _grant(db, limits, now)

        return await self._database.call(ask)

    async def settle(self, grant: Grant, tokens: int, /) -> None:
        """Note how many tokens a call took."""
        await self._database.call(
            lambda db: db.execute("update calls set tokens = %s where grant_id = %s", (tokens, grant.id))
        )

    async def pause(self, name: str, seconds: float, /) -> None:
        """Let nobody call under this name for so long; the longest pause counts."""

        def pause(db: Connection) -> None:
            db.execute(
                "insert into pauses values (%s, %s) "
                "on conflict (name) do update set until = greatest(pauses.until, excluded.until)",
                (name, self._now(db) + min(seconds, MAX_PAUSE_S)),
            )

        await self._database.call(pause)

    def _find_wait(self, db: Connection, limit: RateLimit, now: float) -> Wait | None:
        """Return how long at least to wait for this limit; what is over is deleted, as is what a clock left behind."""
        name = limit.name
        db.execute(
            "delete from calls where name = %s and (at <= %s or at > %s)", (name, now - WINDOW_S, now + WINDOW_S)
        )
        db.execute("delete from pauses where name = %s and (until <= %s or until > %s)", (name, now, now + MAX_PAUSE_S))
        paused = db.execute("select until from pauses where name = %s", (name,)).fetchone()
        calls = db.execute("select at, tokens from calls where name = %s order by at", (name,)).fetchall()
        return find_wait(limit, now, paused=None if paused is None else paused[0], calls=calls)

    def _now(self, db: Connection) -> float:
        if self._clock is not None:
            return self._clock()
        row = db.execute("select extract(epoch from clock_timestamp())::float8").fetchone()
        return time.time() if row is None else float(row[0])


def _grant(db: Connection, limits: Sequence[RateLimit], now: float) -> Grant:
    grant = Grant(id=random_id())
    for limit in limits:
        db.execute(
            "insert into calls select %s, %s, %s, coalesce(round(avg(tokens)), 0) from calls where name = %s",
            (limit.name, grant.id, now, limit.name),
        )
    return grant
