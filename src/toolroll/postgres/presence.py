"""A sign of life in the database: a lock that the server takes back when a process or its machine is gone.

Each process that drives runs has a name and holds an advisory lock of that name in a session of its own. Whoever gets
that lock knows that the process is gone. A process that hangs still holds it: so one that works jobs also beats from
its event loop, and counts as gone when it has not for a while. Every write is fenced: a wrong verdict does no harm.
"""

import hashlib
import logging
import os
import secrets
import socket
import threading
from typing import Final

import psycopg

from toolroll.errors import DatabaseFailed
from toolroll.postgres.database import Connection, Database

BEAT_S: Final = 5.0
"""Between two beats of a worker."""
HANG_S: Final = 60.0
"""Without a beat for so long, a worker counts as gone: it hangs, or its machine sleeps."""
_LOOK_S: Final = 1.0
"""Between two looks at whether the own session is still there."""
_PAUSE_S: Final = 0.2
"""Before a lost session is opened again."""
START_S: Final = 30.0
"""How long it may take until the lock is held: the server may have to notice first that an earlier session is gone."""
_RANDOM_BYTES: Final = 8

_log: Final = logging.getLogger("toolroll.postgres")


def lock_key(name: str) -> int:
    """Return the number of a process's lock: 64 bits of a hash of its name."""
    return int.from_bytes(hashlib.sha256(f"toolroll:{name}".encode()).digest()[:8], "big", signed=True)


class Presence:
    """This process, in the database. The lock is taken when it is first needed, and taken again after a restart."""

    def __init__(self, database: Database) -> None:
        self.name: str = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(_RANDOM_BYTES)}"
        self._database = database
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_held = threading.Event()
        self._stop = threading.Event()

    def hold(self) -> str:
        """Make sure that the lock is held, or was until a moment ago; return the name."""
        with self._guard:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="toolroll-presence", daemon=True)
                self._thread.start()
        if not self._is_held.wait(START_S):
            raise DatabaseFailed(f"The database {self._database.address.shown} cannot be reached.", is_passing=True)
        return self.name

    def is_alive(self, db: Connection, name: str | None) -> bool:
        """Return whether the process of that name is at work. Call it in a transaction, which holds what it takes."""
        if name is None:
            return False
        if name == self.name:
            return True
        row = db.execute(_IS_GONE, (lock_key(name), name, HANG_S)).fetchone()
        return row != (True,)

    def beat(self, db: Connection) -> None:
        """Note that this process is not only there, but at work."""
        db.execute(_BEAT, (self.name,))

    def close(self) -> None:
        """Give up everything that is held."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(START_S)
            self._thread = None

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with self._database.connect(self.name) as db:
                    db.execute("select pg_advisory_lock(%s)", (lock_key(self.name),))
                    self._is_held.set()
                    while not self._stop.wait(_LOOK_S):
                        db.execute("select 1")
            except psycopg.Error as error:
                if self._is_held.is_set():
                    _log.warning("The connection to the database is lost: %s", self._database.explain(error).message)
                self._stop.wait(_PAUSE_S)


# A lock that can be taken belongs to nobody; one that is held by a process without a beat belongs to one that hangs.
_IS_GONE: Final = """
select pg_try_advisory_xact_lock(%s)
    or exists (select 1 from processes where name = %s and beat < now() - make_interval(secs => %s))
"""
_BEAT: Final = """
insert into processes values (%s, now()) on conflict (name) do update set beat = excluded.beat
"""
