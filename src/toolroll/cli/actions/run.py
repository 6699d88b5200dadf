"""What `toolroll run` does: it starts an agent, and shows its run."""

import os
from pathlib import Path
from typing import Any

from toolroll.agent.result import RunResult
from toolroll.apps.models import choose_model
from toolroll.apps.project import Project
from toolroll.apps.run import build_run_agent
from toolroll.apps.run_log import RunLog
from toolroll.apps.spec import DEFAULT_STEPS, AgentSpec
from toolroll.cli.driver import RunDriver, read_prompt, split_names
from toolroll.cli.session import Session
from toolroll.cli.terminal.surface import terminal_surface


def run_prompt(
    session: Session,
    prompt: str,
    *,
    model: str | None,
    tools: str | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
    system: str | None,
    max_steps: int | None,
    yes: bool,
) -> int:
    """Answer a prompt; return the exit code."""
    with Project.open(Path.cwd(), os.environ, flags={"model": model or None}) as project:
        name = choose_model(project.settings)
        session.claim_stdout()
        session.set_up_logging()
        text = read_prompt(prompt)
        surface = terminal_surface(stdin_is_taken=prompt == "-")
        spec = AgentSpec.from_options(
            model=name,
            packs=packs,
            sources=sources,
            tools=split_names(tools),
            offers_all=False,
            system=system or "",
            max_steps=max_steps or DEFAULT_STEPS,
            yes=yes,
        )
        driver = RunDriver(session, model=name)

        async def work(journal: RunLog) -> RunResult[Any]:
            await project.learn_servers(surface)
            async with build_run_agent(spec, project=project, surface=surface, journal=journal) as agent:
                project.recover_changes(agent.setup.tools, surface)
                return await driver.follow(agent.start(text, listener=driver.listener, stream=True))

        return driver.run(work)
