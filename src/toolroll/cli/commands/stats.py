"""`toolroll stats`: what tools and models did over all runs, in figures, bars and lines."""

import os
import time
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.render.prose import notify
from toolroll.cli.run_log import read_run_log
from toolroll.cli.session import DONE, Session, output_options

if TYPE_CHECKING:
    from toolroll.cli.render.figures import Figures
    from toolroll.journal.sqlite import SqliteJournal
    from toolroll.journal.statistics import Statistics

DAY_S: Final = 24 * 3600
MAX_COLUMNS: Final = 100


@click.command()
@click.option("--since", type=click.IntRange(min=1), metavar="DAYS", help="Only what the last DAYS days brought.")
@click.option("--tool", metavar="NAME", help="Only this tool.")
@click.option("--model", metavar="NAME", help="Only what was done with this model.")
@output_options
@click.pass_obj
def stats(session: Session, *, since: int | None, tool: str | None, model: str | None) -> int:
    """Show what tools and models did over all runs: calls, failures, times, tokens, cost, answers of yours.

    Times are percentiles, true to one part in a hundred. What a fork took over is counted where it happened.

    \b
    Examples:
      toolroll stats --since 30
      toolroll stats --tool read_file --json
    """

    async def work(journal: "SqliteJournal") -> "Statistics":
        return await journal.statistics(since=time.time() - since * DAY_S if since else 0.0, model=model)

    found = read_run_log(work)
    from toolroll.cli.render.figures import statistics_fields  # noqa: PLC0415 - this brings rich: three interpreter starts

    if session.json:
        session.write_json(statistics_fields(found, since=since, tool=tool))
    else:
        _show(session, found, tool)
    return DONE


def _show(session: Session, found: "Statistics", tool: str | None) -> None:
    if tool not in found.tools if tool else not (found.runs or found.models or found.tools):
        notify("Nothing was recorded that fits. Start a run with 'toolroll run'.")
        return
    figures = _figures(session, found)
    lines = figures.one_tool(tool) if tool else figures.everything()
    session.show("\n".join(line.rstrip() for line in lines))


def _figures(session: Session, found: "Statistics") -> "Figures":
    from toolroll.cli.render.figures import Figures  # noqa: PLC0415 - as above
    from toolroll.cli.render.plots import has_blocks  # noqa: PLC0415 - as above

    columns = min(get_terminal_size().columns, MAX_COLUMNS)
    blocks = not session.plain and has_blocks(session.out.encoding, os.environ)
    return Figures(found, columns=columns, blocks=blocks)
