"""The plain agent of `toolroll run`: a model with the tools that the person names."""

from collections.abc import Sequence

from toolroll.agent.agent import Agent
from toolroll.apps.agent_options import make_options
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.errors import UsageError
from toolroll.journal.journal import Journal
from toolroll.models.model import Model
from toolroll.packs.catalog import CatalogEntry, read_catalog


def build_run_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the agent that the spec describes; `model` is one that is connected already."""
    entries = list_run_tools(spec)
    return Agent(**make_options(spec, entries, project=project, surface=surface, journal=journal, model=model))


def list_run_tools(spec: AgentSpec) -> Sequence[CatalogEntry]:
    """Return the tools of the packs, files and modules that are named, or only those of them that are named."""
    catalog = read_catalog(spec.packs, spec.sources)
    if not spec.tools:
        return catalog.entries
    unknown = [name for name in spec.tools if catalog.get(name) is None]
    if unknown:
        raise UsageError(catalog.tools.unknown(unknown[0]).text)
    return [entry for entry in catalog.entries if entry.tool.name in spec.tools]
