"""The user's run log as commands use it: opened, read, closed; a run by the beginning of its id."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from toolroll.cli.commands.run import names_in
from toolroll.errors import JournalRefused, UsageError

if TYPE_CHECKING:
    from toolroll.cli.spec import AgentSpec
    from toolroll.journal.journal import Recording
    from toolroll.journal.sqlite import SqliteJournal

T = TypeVar("T")

MIN_ID_CHARACTERS: Final = 4
"""Of the beginning of a run's id, where that is enough to tell it from the others."""


async def find_run(journal: "SqliteJournal", given: str) -> str:
    """The run whose id this is, or the only one that begins so."""
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


def read_run_log(work: "Callable[[SqliteJournal], Awaitable[T]]") -> T:
    """What is read from the run log."""
    import asyncio  # noqa: PLC0415 - this and pydantic below: nine interpreter starts, not for --help
    import os  # noqa: PLC0415 - as above

    from toolroll.cli.spec import open_journal  # noqa: PLC0415 - as above

    journal = open_journal(os.environ)

    async def read() -> T:
        return await work(journal)

    try:
        return asyncio.run(read())
    finally:
        journal.close()


async def read_run_settings(journal: "SqliteJournal", given: str) -> Mapping[str, object]:
    """What a run has kept for whoever goes on with it."""
    return _settings_in(await journal.read(await find_run(journal, given)))


def _settings_in(recording: "Recording") -> Mapping[str, object]:
    from toolroll.journal.records import RunBegan  # noqa: PLC0415 - as above

    return next((record.settings for _, record in recording if isinstance(record, RunBegan)), {})


def spec_from_recording(recording: "Recording", changed: Mapping[str, Any]) -> "AgentSpec":
    """What the agent of a run was made of, with what is to be different now."""
    from toolroll.cli.spec import AgentSpec  # noqa: PLC0415 - as above

    return AgentSpec.from_record(_settings_in(recording), **{**changed, "tools": names_in(changed.get("tools"))})
