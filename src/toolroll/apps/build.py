"""The agent that a run was started with, built again from its record."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from toolroll.agent.agent import Agent
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec, Kind
from toolroll.apps.surface import Surface
from toolroll.journal.journal import Journal
from toolroll.models.model import Model


class Builder(Protocol):
    """Builds one kind of agent."""

    def __call__(
        self, spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
    ) -> Agent[None]:
        """Return the agent; `model` is one that is connected already."""
        ...


_BUILDERS: Final[Mapping[Kind, str]] = {
    "code": "toolroll.apps.code:build_code_agent",
    "run": "toolroll.apps.run:build_run_agent",
    "write": "toolroll.apps.write:build_write_agent",
}
"""By name, so that only the packs of the agent that is built are imported. An exploration is more than one agent."""


def build_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the agent of any kind; `model` is one that is connected already."""
    module, _, name = _BUILDERS[spec.kind].partition(":")
    build = cast("Callable[..., Agent[None]]", getattr(import_module(module), name))
    return build(spec, project=project, surface=surface, journal=journal, model=model)
