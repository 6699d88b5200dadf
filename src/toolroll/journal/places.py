"""Where the run log is: a file of this machine, or a database that many machines share."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from toolroll.home.folders import find_folders
from toolroll.journal.tables import RUN_LOG, Tables
from toolroll.lazy import load
from toolroll.postgres.address import Address, read_address

RunLogPlace: TypeAlias = Path | Address
"""The path of a SQLite file, or the address of a PostgreSQL database."""


def find_run_log(environment: Mapping[str, str]) -> RunLogPlace:
    """Return where the user's run log is: in the database that they have set, else in a file of theirs."""
    return read_address(environment) or find_folders(environment).run_log


@contextmanager
def open_tables(place: RunLogPlace) -> Iterator[Tables | None]:
    """Open the tables of a run log to read them; None where there are none yet."""
    if isinstance(place, Address):
        with load("toolroll.journal.postgres_tables:open_tables")(place) as tables:  # psycopg: many interpreter starts
            yield tables
    elif place.exists():
        with RUN_LOG.errors(place), closing(RUN_LOG.open(place)) as db:
            yield db
    else:
        yield None
