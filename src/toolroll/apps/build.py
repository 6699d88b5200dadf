"""The agent of any spec, such as the one that a run recorded. Only this module knows all the builders."""

from collections.abc import Mapping
from typing import Final

from toolroll.agent.agent import Agent
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.errors import UsageError
from toolroll.journal.journal import Journal
from toolroll.lazy import load
from toolroll.models.model import Model

# Loaded by kind: the pack of code is 10 % of the start, that of writing 20 %.
_BUILDERS: Final[Mapping[str, str]] = {
    "code": "toolroll.apps.code:build_code_agent",
    "write": "toolroll.apps.write:build_write_agent",
    "run": "toolroll.apps.run:build_run_agent",
}


def build_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the agent; `model` is one that is connected already. UsageError for an exploration, which has several."""
    place = _BUILDERS.get(spec.kind)
    if place is None:
        raise UsageError("An exploration is more than one agent. Explore the idea again: toolroll explore IDEA.")
    agent: Agent[None] = load(place)(spec, project=project, surface=surface, journal=journal, model=model)
    return agent
