"""The connections of one process to one database.

psycopg's blocking connections run on a few threads, so that one database can serve every event loop and thread of the
process. A connection that breaks is waited for: a server that restarts fails no run. Before the first connection
nothing is waited for, because then the address may be wrong.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg import pq

from toolroll.errors import DatabaseFailed
from toolroll.postgres.address import Address
from toolroll.postgres.tables import SCHEMA, create_tables
from toolroll.safe.text import one_line

T = TypeVar("T")
Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

MIN_SERVER: Final = 14
"""The oldest version of PostgreSQL that its makers still repaired in 2026."""
THREADS: Final = 4
"""Statements of one process at a time, and with them its connections: a hundred workers fit a server of usual size."""
PATIENCE_S: Final = 120.0
"""How long a lost database is waited for: a restart takes seconds, a switch to a standby up to a minute."""
_FIRST_PAUSE_S: Final = 0.05
_MAX_PAUSE_S: Final = 1.0
_CONNECT_S: Final = 10
MAX_REASON_CHARACTERS: Final = 300
LOST: Final = (psycopg.OperationalError, psycopg.InterfaceError)
"""What psycopg raises when a connection cannot be made, or breaks."""
# A machine that is gone is noticed within about six seconds, on both sides.
KEEP_ALIVE: Final[dict[str, Any]] = {
    "keepalives": 1,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 6000,
}
SERVER_KEEP_ALIVE: Final = (
    "-c tcp_keepalives_idle=3 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 "
    f"-c search_path={SCHEMA} -c timezone=UTC -c lock_timeout=60s "
    # A process that is stopped in the middle of a transaction must not keep others waiting.
    "-c idle_in_transaction_session_timeout=5s "
    # A record is kept when `append` returns, also where the server is set up to promise less.
    "-c synchronous_commit=on"
)

_log: Final = logging.getLogger("toolroll.postgres")


class Database:
    """A database, with as many connections as are needed at a time. Close it at the end."""

    def __init__(self, address: Address, *, patience_s: float = PATIENCE_S) -> None:
        self.address = address
        self.owner = ""
        """The name of this process, which all of its sessions have: see `presence`."""
        self._patience_s = patience_s
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="toolroll-postgres")
        self._idle: list[Connection] = []
        self._guard = threading.Lock()
        self._opening = threading.Lock()
        self._is_ready = False
        self._is_closed = threading.Event()

    async def call(self, work: Callable[[Connection], T]) -> T:
        """Do something with a connection on a thread; see `run`."""
        return await finish(self.submit(lambda: self.run(work)))

    def submit(self, work: Callable[[], T]) -> "Future[T]":
        """Do something on one of the threads; what is submitted first begins first."""
        return self._threads.submit(work)

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do something with a connection, and again with another one if that breaks: it must bear that."""
        until, pause_s = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            try:
                with self.connection() as db:
                    return work(db)
            except LOST as error:
                failed = self.explain(error)
                if not self._is_ready or not failed.is_passing or time.monotonic() > until or self._is_closed.is_set():
                    raise failed from None
            except psycopg.Error as error:
                raise self.explain(error) from None
            self._is_closed.wait(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    def connect(self) -> Connection:
        """Open a connection that belongs to the caller; psycopg's errors come through."""
        return psycopg.connect(
            self.address.url,
            autocommit=True,
            connect_timeout=_CONNECT_S,
            application_name=session_name(self.owner),
            options=SERVER_KEEP_ALIVE,
            **KEEP_ALIVE,
        )

    def explain(self, error: psycopg.Error) -> DatabaseFailed:
        """Return the error for people: without the password, and whether waiting may help."""
        reason = one_line(" ".join(self.address.hide(str(error)).split()), MAX_REASON_CHARACTERS).rstrip(".?")
        if isinstance(error, LOST) and error.sqlstate is None:
            is_passing = self._is_passing()
            advice = "Is the server running?" if is_passing else "Check the address, the user and the password."
            return DatabaseFailed(
                f"The database {self.address.shown} cannot be reached: {reason}. {advice}", is_passing=is_passing
            )
        is_passing = error.sqlstate is not None and error.sqlstate[:2] in _PASSING_CLASSES
        return DatabaseFailed(f"The database {self.address.shown} refused: {reason}.", is_passing=is_passing)

    def close(self) -> None:
        """Close all connections."""
        self._is_closed.set()
        self._threads.shutdown(wait=True)
        with self._guard:
            while self._idle:
                self._idle.pop().close()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection; psycopg's errors come through."""
        db = self._take()
        try:
            yield db
        finally:
            # One that is not idle is in the middle of something, as after an interrupt.
            if db.closed or db.info.transaction_status != pq.TransactionStatus.IDLE:
                db.close()
            else:
                with self._guard:
                    self._idle.append(db)

    def _take(self) -> Connection:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        db = self.connect()
        if not self._is_ready:
            with self._opening:
                self._prepare(db)
        return db

    def _prepare(self, db: Connection) -> None:
        if self._is_ready:
            return
        try:
            version = db.info.server_version // 10_000
            if version < MIN_SERVER:
                raise DatabaseFailed(
                    f"The server of {self.address.shown} is PostgreSQL {version}; toolroll needs {MIN_SERVER} or newer."
                )
            create_tables(db, self.address.shown)
        except BaseException:
            db.close()
            raise
        self._is_ready = True

    def _is_passing(self) -> bool:
        """Return whether the server itself does not answer: then the address may be right, and waiting may help."""
        answer = pq.PGconn.ping(self.address.url.encode())
        return answer in (pq.Ping.REJECT, pq.Ping.NO_RESPONSE) or self._is_ready


# Connection lost, not enough resources, stopped by an operator: the server says so, and waiting may help.
_PASSING_CLASSES: Final = frozenset({"08", "53", "57", "40", "55"})


def session_name(owner: str) -> str:
    """Return the name of the sessions of a process; the server keeps 63 bytes of it."""
    return f"toolroll {owner}".strip()[:63]


async def finish(future: "Future[T]") -> T:
    """Return what a thread does. A cancelled task waits for it: what is being written must not land later."""
    waiting = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        if not waiting.cancelled():
            await asyncio.wait([waiting])
        raise
