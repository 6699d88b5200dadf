"""What `toolroll runs show` does. It reads the run log, and imports nothing of the agent but for `--context`."""

import os

from toolroll.apps.run_log import RunLog, find_run, read_run_log
from toolroll.cli.render.records import format_records, record_fields
from toolroll.cli.session import DONE, Session
from toolroll.journal.journal import Recording
from toolroll.lazy import load


def show_run(session: Session, run_id: str, *, context: bool) -> int:
    """Show what happened in a run; return the exit code."""

    async def work(journal: RunLog) -> Recording:
        return await journal.read(await find_run(journal, run_id))

    recording = read_run_log(work, os.environ)
    if context:
        code: int = load("toolroll.cli.render.context:show_context")(session, recording)
        return code
    if session.json:
        records = [record_fields(number, record) for number, record in recording]
        fields = {"run_id": recording.run_id, "is_damaged": recording.is_damaged, "notes": list(recording.notes)}
        damaged = [{"index": number, "why": why} for number, why in recording.damaged]
        session.write_json(fields | {"damaged": damaged, "records": records})
    else:
        session.show("\n".join(format_records(recording)))
    return DONE
