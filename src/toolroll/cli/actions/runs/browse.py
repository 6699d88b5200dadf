"""What `toolroll runs list` and `show` do. They read the run log, and import nothing of the agent."""

import os

from toolroll.apps.run_log import find_run, read_run_log
from toolroll.cli.render.prose import notify
from toolroll.cli.render.records import format_records, format_run, record_fields, summarize_run
from toolroll.cli.session import DONE, Session
from toolroll.journal.journal import Recording
from toolroll.journal.sqlite import SqliteJournal


def list_runs(session: Session, *, limit: int) -> int:
    """List the latest runs; return the exit code."""

    async def work(journal: SqliteJournal) -> tuple[list[dict[str, object]], int]:
        rows = list(await journal.runs())
        return [summarize_run(row, await journal.read(row.run_id)) for row in rows[:limit]], len(rows) - limit

    found, more = read_run_log(work, os.environ)
    if session.json:
        session.write_json({"runs": found})
        return DONE
    if found:
        session.show("\n".join(map(format_run, found)))
    else:
        notify("There are no runs yet. Start one with 'toolroll run'.")
    if more > 0:
        notify(f"· {more:,} more: toolroll runs list --limit {limit + more}")
    return DONE


def show_run(session: Session, run_id: str, *, context: bool) -> int:
    """Show what happened in a run; return the exit code."""

    async def work(journal: SqliteJournal) -> Recording:
        return await journal.read(await find_run(journal, run_id))

    recording = read_run_log(work, os.environ)
    if context:
        from toolroll.cli.render.context import show_context  # noqa: PLC0415 - the agent: only for its context

        return show_context(session, recording)
    if session.json:
        records = [record_fields(number, record) for number, record in recording]
        fields = {"run_id": recording.run_id, "is_damaged": recording.is_damaged, "notes": list(recording.notes)}
        session.write_json(fields | {"records": records})
    else:
        session.show("\n".join(format_records(recording)))
    return DONE
