"""What `toolroll code` does: it starts the coding agent in a project, for one prompt or for a chat."""

import os
from pathlib import Path
from typing import Any

from toolroll.agent.result import RunResult
from toolroll.apps.code import build_code_agent
from toolroll.apps.models import choose_model
from toolroll.apps.project import Project, show_instructions_note
from toolroll.apps.spec import DEFAULT_STEPS, AgentSpec
from toolroll.apps.surface import Surface
from toolroll.cli.driver import RunDriver, read_prompt
from toolroll.cli.session import Session
from toolroll.cli.terminal.surface import show_setting_notes, terminal_surface
from toolroll.errors import UsageError
from toolroll.journal.sqlite import SqliteJournal
from toolroll.lazy import load


def run_code(
    session: Session,
    prompt: str | None,
    *,
    root: Path | None,
    model: str | None,
    max_steps: int | None,
    yes: bool,
    read_only: bool,
    queue: bool,
) -> int:
    """Do what the prompt asks, or chat without one; return the exit code."""
    if queue and (prompt is None or yes):
        raise UsageError("--queue needs a PROMPT, and no --yes: what the job asks is answered with 'toolroll jobs'.")
    if prompt is None:
        load("toolroll.cli.chat.input:check_terminal")(session, what="PROMPT", more=" ('-' reads it from stdin)")
    surface = terminal_surface(stdin_is_taken=prompt == "-")
    flags = {"model": model, "code.max_steps": max_steps}
    with Project.open((root or Path.cwd()).resolve(), os.environ, flags=flags) as project:
        settings = project.settings
        show_setting_notes(settings, surface)
        name = choose_model(settings)
        if yes and read_only:
            raise UsageError("--yes and --read-only exclude each other: there is nothing to approve.")
        session.claim_stdout()
        session.set_up_logging()
        show_instructions_note(project, surface)
        spec = AgentSpec.from_options(
            model=name,
            max_steps=max_steps or settings.code.max_steps or DEFAULT_STEPS,
            root=str(project.root),
            read_only=read_only,
            kind="code",
            yes=yes,
        )
        code: int
        if queue:
            code = load("toolroll.cli.actions.queue:queue_code")(session, spec, read_prompt(prompt or ""))
            return code
        if prompt is None:
            code = load("toolroll.cli.chat.code:chat_about_code")(session, spec, project, surface)
            return code
        return _answer(session, spec, read_prompt(prompt), project, surface, stdin_is_taken=prompt == "-")


def _answer(
    session: Session, spec: AgentSpec, text: str, project: Project, surface: Surface, *, stdin_is_taken: bool
) -> int:
    driver = RunDriver(session)

    async def work(journal: SqliteJournal) -> RunResult[Any]:
        async with build_code_agent(spec, project=project, surface=surface, journal=journal) as agent:
            project.recover_changes(agent.setup.tools, surface)
            result = await driver.follow(agent.start(text, listener=driver.listener, stream=True))
            while driver.wants_more(result, stdin_is_taken=stdin_is_taken):
                more = agent.start(resume=result.run_id, listener=driver.listener, stream=True)
                result = await driver.follow(more)
            return result

    return driver.run(work)
