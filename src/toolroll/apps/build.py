"""The agent of any spec, such as the one that a run recorded. Only this module knows all the builders."""

from toolroll.agent.agent import Agent
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.errors import UsageError
from toolroll.journal.journal import Journal
from toolroll.models.model import Model


def build_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the agent; `model` is one that is connected already. UsageError for an exploration, which has several."""
    match spec.kind:
        case "code":
            from toolroll.apps.code import build_code_agent as build  # noqa: PLC0415 - its pack is 10 % of the start
        case "write":
            from toolroll.apps.write import build_write_agent as build  # noqa: PLC0415 - as above, and 20 %
        case "run":
            from toolroll.apps.run import build_run_agent as build  # noqa: PLC0415 - as above
        case _:
            raise UsageError("An exploration is more than one agent. Explore the idea again: toolroll explore IDEA.")
    return build(spec, project=project, surface=surface, journal=journal, model=model)
