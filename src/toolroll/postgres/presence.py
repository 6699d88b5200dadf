"""A sign of life in the database: a lock that the server takes back when a process or its machine is gone.

Each process that drives runs has a name and holds an advisory lock of that name in a session of its own. Whoever gets
that lock knows that the session is gone, and with it the process, if it does not come back within a moment: a cut
connection or a restart of the server takes the lock, too. A process that hangs still holds it: so one that works jobs
also beats from its event loop, and counts as gone when it has not for a while. Every write is fenced: a wrong verdict
does no harm.
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
from toolroll.postgres.database import Connection, Database, session_name

BEAT_S: Final = 5.0
"""Between two beats of a worker."""
HANG_S: Final = 60.0
"""Without a beat for so long, a worker counts as gone: it hangs, or its machine sleeps."""
SILENCE_S: Final = 2.5
"""How long a process without its lock may take to come back; so long after a kill, others go on with its work."""
RESTART_S: Final = 10.0
"""How long after its own start the server takes nobody for gone: all have lost their sessions, and some are busy."""
_LOOK_S: Final = 0.5
"""Between two signs of life, which also find out whether the own session is still there."""
_PAUSE_S: Final = 0.1
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

    def __init__(self, database: Database, *, silence_s: float = SILENCE_S, restart_s: float = RESTART_S) -> None:
        self.name: str = f"{socket.gethostname()[:24]}-{os.getpid()}-{secrets.token_hex(_RANDOM_BYTES)}"
        self._database = database
        self._silence_s, self._restart_s = silence_s, restart_s
        database.owner = self.name
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_held = threading.Event()
        self._stop = threading.Event()

    def hold(self) -> str:
        """Make sure that the lock is held, or was until a moment ago; return the name."""
        if self._thread is None:
            self._database.run(lambda _: None)  # creates the tables, or says at once that there is no server
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
        values = {
            "key": lock_key(name),
            "name": name,
            "session": session_name(name),
            "hang": HANG_S,
            "silence": self._silence_s,
            "restart": self._restart_s,
        }
        row = db.execute(_IS_GONE, values).fetchone()
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
                with self._database.connect() as db:
                    db.execute("select pg_advisory_lock(%s)", (lock_key(self.name),))
                    db.execute(_SEEN, (self.name,))
                    self._is_held.set()
                    while not self._stop.wait(_LOOK_S):
                        db.execute(_SEEN, (self.name,))
                    db.execute(_LEAVE, (self.name,))
                    # Here rather than by the end of the session, which the server may notice only after `close`.
                    db.execute("select pg_advisory_unlock(%s)", (lock_key(self.name),))
            except psycopg.Error as error:
                if self._is_held.is_set():
                    _log.warning("The connection to the database is lost: %s", self._database.explain(error).message)
                self._stop.wait(_PAUSE_S)


# In this order: the lock of a process that may come back is not touched. Who is not listed has left. One that is
# stopped, and has lost its lock to a cut connection, still has other sessions; one that was killed has none.
_IS_GONE: Final = """
select case
    when beat < now() - make_interval(secs => %(hang)s) then true
    when seen > clock_timestamp() - make_interval(secs => %(silence)s) then false
    when name is not null and pg_postmaster_start_time() > now() - make_interval(secs => %(restart)s) then false
    when name is not null and exists (select 1 from pg_stat_activity where application_name = %(session)s) then false
    else pg_try_advisory_xact_lock(%(key)s)
end
from (select 1) as one left join processes on name = %(name)s
"""
_BEAT: Final = """
insert into processes (name, beat, seen) values (%s, now(), now())
on conflict (name) do update set beat = excluded.beat
"""
_SEEN: Final = """
insert into processes (name, seen) values (%s, clock_timestamp())
on conflict (name) do update set seen = excluded.seen
"""
# With those that nobody has seen for a day.
_LEAVE: Final = "delete from processes where name = %s or seen < now() - interval '1 day'"
