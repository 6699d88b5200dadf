"""What `toolroll runs replay` does: it plays a run again offline, and shows every difference."""

import os
from collections.abc import Iterator
from typing import Any

from pydantic_core import to_jsonable_python

from toolroll.agent.history.replay import ReplayReport, replay
from toolroll.apps.run_log import find_run, read_run_log
from toolroll.cli.actions.runs.recorded_agent import open_recorded_agent
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.scripted import ScriptedModel


def replay_run(session: Session, /, run_id: str, **changed: Any) -> int:
    """Play a run again offline, and show every difference; return the exit code."""
    session.claim_stdout()
    session.set_up_logging()

    async def work(journal: SqliteJournal) -> ReplayReport:
        found = await find_run(journal, run_id)
        # The recorded answers of the model are played: it cannot be asked, and needs no key.
        async with open_recorded_agent(journal, found, changed, model=ScriptedModel([])) as agent:
            return await replay(agent, found)

    report = read_run_log(work, os.environ)
    if session.json:
        session.write_json(replay_fields(report))
    else:
        session.show("\n".join(format_replay(report)))
    return DONE if report.is_same else FAILED


def replay_fields(report: ReplayReport) -> dict[str, object]:
    """Return what a replay came to, for a program."""
    return {
        "run_id": report.run_id,
        "is_same": report.is_same,
        "steps": report.steps,
        "calls_run": report.calls_run,
        "calls_from_record": report.calls_from_record,
        "notes": list(report.notes),
        "differences": [to_jsonable_python(one, bytes_mode="base64", fallback=str) for one in report.differences],
    }


def format_replay(report: ReplayReport) -> Iterator[str]:
    """Return the same as lines for a reader."""
    yield from (f"note: {note}" for note in report.notes)
    yield from map(str, report.differences)
    count = len(report.differences)
    outcome = "the same" if report.is_same else f"{count} difference" if count == 1 else f"{count} differences"
    run = "1 call" if report.calls_run == 1 else f"{report.calls_run} calls"
    steps = "1 step" if report.steps == 1 else f"{report.steps} steps"
    summary = f"{outcome} in {steps}, {run} run, {report.calls_from_record} answered from the record"
    yield f"run {report.run_id}: {summary}"
