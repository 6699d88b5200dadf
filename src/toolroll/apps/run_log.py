"""The user's run log: opened, read and closed; a run found by the beginning of its id."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from toolroll.errors import JournalRefused, UsageError
from toolroll.home.folders import find_folders
from toolroll.home.keys import known_secrets
from toolroll.journal.journal import Recording
from toolroll.journal.places import find_run_log
from toolroll.journal.records import RunBegan
from toolroll.journal.sqlite import SqliteJournal
from toolroll.lazy import load
from toolroll.outputs.archive import OutputArchive

if TYPE_CHECKING:
    from toolroll.journal.postgres import PostgresJournal

T = TypeVar("T")
RunLog: TypeAlias = "SqliteJournal | PostgresJournal"
"""The run log of a user, open: in a file, or in a database."""

MIN_ID_CHARACTERS: Final = 4
"""Of the beginning of a run's id, where that is enough to tell it from the others."""


def open_journal(environment: Mapping[str, str]) -> RunLog:
    """Open the user's own run log, in their file or their database; their keys are never written to it."""
    place, secrets = find_run_log(environment), known_secrets(environment)
    if isinstance(place, Path):
        return SqliteJournal(place, secrets=secrets)
    made: PostgresJournal = load("toolroll.journal.postgres:open_journal")(  # psycopg: many interpreter starts
        place, folder=find_folders(environment).data, secrets=secrets
    )
    made.archive = load("toolroll.outputs.postgres:PostgresArchive")(made.database)
    return made


@contextmanager
def open_archive(environment: Mapping[str, str]) -> Iterator[OutputArchive | None]:
    """Open where outputs are shared with other machines; None where they are only in a folder of this one."""
    place = find_run_log(environment)
    if isinstance(place, Path):
        yield None
        return
    with closing(load("toolroll.postgres.database:Database")(place)) as database:
        yield load("toolroll.outputs.postgres:PostgresArchive")(database)


def read_run_log(work: Callable[[RunLog], Awaitable[T]], environment: Mapping[str, str]) -> T:
    """Return what `work` reads from the run log, which is open meanwhile."""

    async def read() -> T:
        return await work(journal)

    with closing(open_journal(environment)) as journal:
        return asyncio.run(read())


async def find_run(journal: RunLog, given: str) -> str:
    """Return the id of the run that is meant: the whole id, or the only one that begins so."""
    ids = [row.run_id for row in await journal.runs()]
    if given in ids:
        return given
    if len(given) < MIN_ID_CHARACTERS:
        raise JournalRefused(f"There is no run {given!r}. Give at least {MIN_ID_CHARACTERS} characters of the id.")
    fitting = [run_id for run_id in ids if run_id.casefold().startswith(given.casefold())]
    if fitting:
        whole = min(fitting, key=len)
        if all(one == whole or one.startswith(f"{whole}.") for one in fitting):  # its parts, named after it
            return whole
        raise UsageError(f"{len(fitting)} runs begin with {given!r}. Write more of the id.")
    raise JournalRefused(f"There is no run {given[:64]!r}. See 'toolroll runs list'.")


async def read_run_settings(journal: RunLog, given: str) -> Mapping[str, object]:
    """Return what a run recorded of the agent that it was started with."""
    return recorded_settings(await journal.read(await find_run(journal, given)))


def recorded_settings(recording: Recording) -> Mapping[str, object]:
    """Return what a recording says of the agent that the run was started with."""
    return next((record.settings for _, record in recording if isinstance(record, RunBegan)), {})
