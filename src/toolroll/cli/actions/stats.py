"""What `toolroll stats` does: it shows what tools and models did over all runs, in figures, bars and lines."""

import os
import time
from shutil import get_terminal_size
from typing import Final

from toolroll.apps.run_log import read_run_log
from toolroll.cli.render.figures import Figures, statistics_fields
from toolroll.cli.render.plots import has_blocks
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.statistics import Statistics

DAY_S: Final = 24 * 3600
MAX_COLUMNS: Final = 100


def show_statistics(session: Session, *, since: int | None, tool: str | None, model: str | None) -> int:
    """Show the figures; return the exit code."""

    async def work(journal: SqliteJournal) -> Statistics:
        return await journal.statistics(since=time.time() - since * DAY_S if since else 0.0, model=model)

    found = read_run_log(work, os.environ)
    if session.json:
        session.write_json(statistics_fields(found, since=since, tool=tool))
    else:
        _show(session, found, tool)
    return DONE


def _show(session: Session, found: Statistics, tool: str | None) -> None:
    if tool not in found.tools if tool else not (found.runs or found.models or found.tools):
        notify("Nothing was recorded that fits. Start a run with 'toolroll run'.")
        return
    figures = _figures(session, found)
    lines = figures.one_tool(tool) if tool else figures.everything()
    session.show("\n".join(line.rstrip() for line in lines))


def _figures(session: Session, found: Statistics) -> Figures:
    columns = min(get_terminal_size().columns, MAX_COLUMNS)
    blocks = not session.plain and has_blocks(session.out.encoding, os.environ)
    return Figures(found, columns=columns, blocks=blocks)
