"""The rest of `toolroll runs resume`: the agent or the exploration of a run, built again and continued."""

from collections.abc import Mapping
from typing import Any

from toolroll.agent.events import Event, Warned
from toolroll.agent.live import Listener
from toolroll.agent.result import RunResult
from toolroll.apps.explore import ExploreOptions
from toolroll.apps.run_log import find_run
from toolroll.cli.actions.explore import run_exploration
from toolroll.cli.actions.runs.recorded_agent import open_recorded_agent
from toolroll.cli.driver import RunDriver
from toolroll.cli.prompts import check_prompt
from toolroll.cli.session import Session
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import Decision
from toolroll.packs.research.exploration import Job


def continue_exploration(session: Session, settings: Mapping[str, object], *, model: str | None) -> int:
    """Continue the exploration that a run with these settings belongs to; return the exit code."""
    return run_exploration(session, ExploreOptions.from_record(settings, model=model), job=Job.from_settings(settings))


def continue_run(
    session: Session,
    run_id: str,
    *,
    prompt: str | None,
    decisions: Mapping[str, Decision],
    yes: bool,
    changed: Mapping[str, Any],
    is_warned: bool,
) -> int:
    """Continue a run where it ended; `is_warned` says that the person knows of another process at work on it."""
    if prompt is not None:
        check_prompt(prompt)
    session.claim_stdout()
    session.set_up_logging()
    driver = RunDriver(session)
    listener = without_wait_warning(driver.listener) if is_warned else driver.listener

    async def work(journal: SqliteJournal) -> RunResult[Any]:
        found = await find_run(journal, run_id)
        async with open_recorded_agent(journal, found, changed, yes=yes) as agent:
            run = agent.start(prompt, resume=found, decisions=decisions, listener=listener, stream=True)
            return await driver.follow(run)

    return driver.run(work)


def without_wait_warning(listener: Listener) -> Listener:
    """Return a listener for all events but the warning that another process is at work on the run."""

    def listen(event: Event) -> None:
        if not (isinstance(event, Warned) and event.kind == "waiting_for_run"):
            listener(event)

    return listen
