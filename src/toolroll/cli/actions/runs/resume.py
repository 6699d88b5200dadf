"""A run that another process drives: said before anything else is made ready, for who would wait without a word (XD3).

An agent takes a second of computing to be made, and on a busy machine several. To look who drives a run takes a
quarter of it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolroll.cli.render.prose import notify
from toolroll.cli.run_log import find_run
from toolroll.errors import ToolrollError

if TYPE_CHECKING:
    from toolroll.agent.events import Event


def warn_if_driven(given: str) -> bool:
    """Say that a run is driven by another process and what to do; whether it is. Problems are left to who goes on."""
    import asyncio  # noqa: PLC0415 - not for --help

    try:
        found = asyncio.run(_driver(given))
    except (ToolrollError, OSError):
        return False
    if found is None:
        return False
    run_id, process = found
    notify(f"! Run {run_id} is being driven by another process ({process}). This one waits, and tells how it ends.")
    notify("  If it stands at a question, answer it there. Ctrl-C here ends the waiting, and nothing else.")
    return True


def without_wait_warning(listener: "Callable[[Event], None]") -> "Callable[[Event], None]":
    """Tell of all events but that a run is waited for, which was told."""
    from toolroll.agent.events import Warned  # noqa: PLC0415 - as above
    from toolroll.agent.history.resume import is_about_waiting  # noqa: PLC0415 - as above

    def heard(event: "Event") -> None:
        if not (isinstance(event, Warned) and is_about_waiting(event)):
            listener(event)

    return heard


async def _driver(given: str) -> tuple[str, int] | None:
    import os  # noqa: PLC0415 - as above
    from contextlib import closing  # noqa: PLC0415 - as above

    from toolroll.home.folders import find_folders  # noqa: PLC0415 - as above
    from toolroll.journal.sqlite import SqliteJournal  # noqa: PLC0415 - as above

    with closing(SqliteJournal(find_folders(os.environ).run_log)) as journal:
        run_id = await find_run(journal, given)
        process = await journal.driver(run_id)
        return None if process is None else (run_id, process)
