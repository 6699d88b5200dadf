"""The agent of a recorded run, built again: what `toolroll runs fork`, `replay` and most of `resume` do."""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic_core import to_jsonable_python

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event, Warned
from toolroll.agent.history.replay import ReplayReport, replay
from toolroll.agent.live import Listener
from toolroll.agent.result import RunResult
from toolroll.apps.build import build_agent
from toolroll.apps.explore import ExploreOptions
from toolroll.apps.project import Project, show_instructions_note
from toolroll.apps.run_log import RunLog, find_run, read_run_log, read_run_settings, recorded_settings
from toolroll.apps.spec import AgentSpec, recorded_kind
from toolroll.cli.actions.explore import run_exploration
from toolroll.cli.driver import RunDriver, check_prompt, split_names
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Decision
from toolroll.models.model import Model
from toolroll.models.scripted import ScriptedModel
from toolroll.packs.research.exploration import Job


@asynccontextmanager
async def open_recorded_agent(
    journal: RunLog, run_id: str, changed: Mapping[str, object], *, yes: bool = False, model: Model | None = None
) -> AsyncIterator[Agent[None]]:
    """Build the agent of a run, with the options that are `changed` now; `model` is one to use without connecting."""
    tools = changed.get("tools")
    given = {**changed, "tools": split_names(tools if isinstance(tools, str) else None), "yes": yes}
    spec = AgentSpec.from_record(recorded_settings(await journal.read(run_id)), **given)
    surface = terminal_surface()
    with Project.open(spec.project_folder, os.environ) as project:
        if spec.kind == "code":
            show_instructions_note(project, surface)
        await project.learn_servers(surface)
        async with build_agent(spec, project=project, surface=surface, journal=journal, model=model) as agent:
            if model is None:  # a replay changes nothing
                project.recover_changes(agent.setup.tools, surface)
            yield agent


def continue_exploration(
    session: Session, settings: Mapping[str, object], *, model: str | None, force: bool = False
) -> int:
    """Continue the exploration that a run with these settings belongs to; return the exit code."""
    options = ExploreOptions.from_record(settings, model=model)
    return run_exploration(session, options, job=Job.from_settings(settings), force=force)


def continue_run(
    session: Session,
    run_id: str,
    *,
    prompt: str | None,
    decisions: Mapping[str, Decision],
    yes: bool,
    force: bool,
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

    async def work(journal: RunLog) -> RunResult[Any]:
        found = await find_run(journal, run_id)
        async with open_recorded_agent(journal, found, changed, yes=yes) as agent:
            run = agent.start(prompt, resume=found, decisions=decisions, listener=listener, stream=True, force=force)
            return await driver.follow(run)

    return driver.run(work)


def without_wait_warning(listener: Listener) -> Listener:
    """Return a listener for all events but the warning that another process is at work on the run."""

    def listen(event: Event) -> None:
        if not (isinstance(event, Warned) and event.kind == "waiting_for_run"):
            listener(event)

    return listen


def fork_run(session: Session, /, run_id: str, *, at: int, prompt: str | None, yes: bool, **changed: Any) -> int:
    """Start a new run from a step of another one; return the exit code."""
    session.claim_stdout()
    session.set_up_logging()
    if prompt is not None:
        check_prompt(prompt)
    driver = RunDriver(session)

    async def work(journal: RunLog) -> RunResult[Any]:
        found = await find_run(journal, run_id)
        if recorded_kind(await read_run_settings(journal, found)) == "explore":
            raise UsageError("An exploration cannot be forked. 'toolroll explore IDEA' explores the idea again.")
        async with open_recorded_agent(journal, found, changed, yes=yes) as agent:
            run = agent.start(prompt, fork=found, at_step=at, listener=driver.listener, stream=True)
            return await driver.follow(run)

    return driver.run(work)


def replay_run(session: Session, /, run_id: str, **changed: Any) -> int:
    """Play a run again offline, and show every difference; return the exit code."""
    session.claim_stdout()
    session.set_up_logging()

    async def work(journal: RunLog) -> ReplayReport:
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
