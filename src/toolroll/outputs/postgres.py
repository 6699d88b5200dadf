"""Outputs in PostgreSQL: what one worker stored can be read on every other machine."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from toolroll.outputs.archive import Chunk
from toolroll.outputs.retention import MAX_AGE_S, PAUSE_S
from toolroll.postgres.database import Connection, Database

_LOCK: Final = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
_HAS: Final = "select exists (select 1 from outputs where folder = %s and output = %s)"
_STORE: Final = "insert into outputs (folder, output, file, number, data) values (%s, %s, %s, %s, %s)"
_PIECES: Final = "select file, number from outputs where folder = %s and output = %s order by file, number"
_NAMES: Final = "select distinct folder, output from outputs where %s::text is null or folder = %s"
_READ: Final = "select data from outputs where folder = %s and output = %s and file = %s and number = %s"
_DELETE: Final = "delete from outputs where folder = any(%s) returning folder, output"
# A folder is as old as its latest output, as on the disk.
_COLLECT: Final = """
delete from outputs where folder in (
    select folder from outputs group by folder having max(stored) < now() - make_interval(secs => %s)
)
"""


class PostgresArchive:
    """An archive of outputs in a database, in pieces of a megabyte: no output has to fit into memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._collected = float(-PAUSE_S)

    def store(self, folder: str, output: str, read: Callable[[], Iterable[Chunk]], /) -> None:
        """Store all of an output, or nothing of it; doing it twice is doing it once."""

        def write(db: Connection) -> None:
            with db.transaction():
                db.execute(_LOCK, (f"{folder}/{output}",))
                if db.execute(_HAS, (folder, output)).fetchone() == (True,):
                    return
                for name, number, data in read():
                    db.execute(_STORE, (folder, output, name, number, data))

        self._collect_when_due()
        self._database.run(write)

    def load(self, folder: str, output: str, /) -> Iterator[Chunk]:
        """Yield the pieces of an output, file by file in order."""
        pieces = self._database.run(lambda db: db.execute(_PIECES, (folder, output)).fetchall())
        for name, number in pieces:
            yield name, number, self._read(folder, output, name, number)

    def names(self, folder: str | None = None, /) -> Sequence[tuple[str, str]]:
        """Return all outputs, or those of a folder, each as the names of its folder and its own."""
        found = self._database.run(lambda db: db.execute(_NAMES, (folder, folder)).fetchall())
        return [(str(place), str(output)) for place, output in found]

    def delete(self, folders: Sequence[str], /) -> int:
        """Delete the outputs of these folders; return how many that were."""
        gone = self._database.run(lambda db: db.execute(_DELETE, (list(folders),)).fetchall())
        return len(set(gone))

    def _read(self, folder: str, output: str, name: str, number: int) -> bytes:
        row = self._database.run(lambda db: db.execute(_READ, (folder, output, name, number)).fetchone())
        return b"" if row is None else bytes(row[0])  # deleted meanwhile: then its size and its checksum are wrong

    def _collect_when_due(self) -> None:
        """Delete what is too old, once a day at most."""
        with self._guard:
            if time.monotonic() - self._collected < PAUSE_S:
                return
            self._collected = time.monotonic()
        self._database.run(lambda db: db.execute(_COLLECT, (MAX_AGE_S,)))
