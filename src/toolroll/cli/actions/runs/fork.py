"""What `toolroll runs fork` does: it starts a new run from a step of another one."""

from typing import Any

from toolroll.agent.result import RunResult
from toolroll.apps.run_log import find_run, read_run_settings
from toolroll.apps.spec import recorded_kind
from toolroll.cli.actions.runs.recorded_agent import open_recorded_agent
from toolroll.cli.driver import RunDriver
from toolroll.cli.prompts import check_prompt
from toolroll.cli.session import Session
from toolroll.errors import UsageError
from toolroll.journal.sqlite import SqliteJournal


def fork_run(session: Session, /, run_id: str, *, at: int, prompt: str | None, yes: bool, **changed: Any) -> int:
    """Start a new run from a step of another one; return the exit code."""
    session.claim_stdout()
    session.set_up_logging()
    if prompt is not None:
        check_prompt(prompt)
    driver = RunDriver(session)

    async def work(journal: SqliteJournal) -> RunResult[Any]:
        found = await find_run(journal, run_id)
        if recorded_kind(await read_run_settings(journal, found)) == "explore":
            raise UsageError("An exploration cannot be forked. 'toolroll explore IDEA' explores the idea again.")
        async with open_recorded_agent(journal, found, changed, yes=yes) as agent:
            run = agent.start(prompt, fork=found, at_step=at, listener=driver.listener, stream=True)
            return await driver.follow(run)

    return driver.run(work)
