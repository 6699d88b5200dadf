"""The tables of the run log in PostgreSQL, for statements that are written for SQLite."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from toolroll.journal.tables import Found
from toolroll.postgres.address import Address
from toolroll.postgres.database import Connection, Database


class Statements:
    """A connection that takes the statements of SQLite, so that what reads the run log is written once."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Found:
        """Run a statement."""
        return self._db.execute(statement.replace("?", "%s").encode(), values)

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> None:
        """Run a statement for each of these values."""
        self._db.cursor().executemany(statement.replace("?", "%s").encode(), values)


@contextmanager
def read_consistently(db: Connection) -> Iterator[Statements]:
    """Read as if at one moment, whatever others write meanwhile."""
    with db.transaction():
        db.execute("set transaction isolation level repeatable read, read only")
        db.execute("set local idle_in_transaction_session_timeout = 0")  # a reader is in nobody's way
        yield Statements(db)


@contextmanager
def open_tables(address: Address) -> Iterator[Statements]:
    """Open the tables to read them."""
    database = Database(address)
    try:
        with database.connection() as db, read_consistently(db) as tables:
            yield tables
    except psycopg.Error as error:
        raise database.explain(error) from None
    finally:
        database.close()
