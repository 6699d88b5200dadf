"""The agent that a run was started with, built again for `runs resume`, `fork` and `replay`."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from toolroll.agent.agent import Agent
from toolroll.apps.build import build_agent
from toolroll.apps.project import Project
from toolroll.apps.run_log import recorded_settings
from toolroll.apps.spec import AgentSpec
from toolroll.cli.prompts import split_names
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.model import Model


@asynccontextmanager
async def open_recorded_agent(
    journal: SqliteJournal, run_id: str, changed: Mapping[str, object], *, yes: bool = False, model: Model | None = None
) -> AsyncIterator[Agent[None]]:
    """Build the agent of a run, with the options that are `changed` now; `model` is one to use without connecting."""
    tools = changed.get("tools")
    given = {**changed, "tools": split_names(tools if isinstance(tools, str) else None), "yes": yes}
    spec = AgentSpec.from_record(recorded_settings(await journal.read(run_id)), **given)
    surface = terminal_surface()
    with Project.open(spec.project_folder, os.environ) as project:
        async with build_agent(spec, project=project, surface=surface, journal=journal, model=model) as agent:
            yield agent
