"""The plain agent of `toolroll run`: a model with the tools that a person names. `code` extends its options."""

from collections.abc import Sequence

from toolroll.agent.agent import Agent
from toolroll.agent.approvals import AskLater
from toolroll.agent.options import AgentOptions
from toolroll.agent.stop import step_count_is
from toolroll.apps.models import connect_model
from toolroll.apps.permissions import permissions_for
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.errors import UsageError
from toolroll.journal.journal import Journal
from toolroll.models.model import Model
from toolroll.packs.catalog import Catalog, CatalogEntry, read_catalog
from toolroll.packs.code.keys import WORKSPACE


def build_run_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the agent that the spec describes; `model` is one that is connected already."""
    entries = list_run_tools(spec, project.server_tools(surface))
    return Agent(**make_options(spec, entries, project=project, surface=surface, journal=journal, model=model))


def list_run_tools(spec: AgentSpec, more: Sequence[CatalogEntry] = ()) -> Sequence[CatalogEntry]:
    """Return the tools of the packs, files and modules that are named and `more`, or only those that are named.

    A prompt for which nobody names tools gets only `more`: others would only cost, and confuse small models.
    """
    if not (spec.offers_all or spec.packs or spec.sources or spec.tools):
        return more
    catalog = Catalog((*read_catalog(spec.packs, spec.sources).entries, *more))
    if not spec.tools:
        return catalog.entries
    unknown = [name for name in spec.tools if catalog.get(name) is None]
    if unknown:
        raise UsageError(catalog.tools.describe_unknown(unknown[0]))
    return [entry for entry in catalog.entries if entry.tool.name in spec.tools]


def make_options(
    spec: AgentSpec,
    entries: Sequence[CatalogEntry],
    *,
    project: Project,
    surface: Surface,
    journal: Journal,
    model: Model | None = None,
) -> AgentOptions:
    """Return the options for an agent with these tools; `model` is one that is connected already.

    Where nobody can be asked, what needs an answer waits in the run log for one.
    """
    permissions = permissions_for(entries, surface, settings=project.settings, folder=spec.project_folder, yes=spec.yes)
    options: AgentOptions = {
        "model": model or connect_model(spec.model, surface.environment, settings=project.settings),
        "tools": [entry.tool for entry in entries],
        "system": spec.system,
        "deps": project.deps,
        "overrides": {WORKSPACE.id: lambda: project.workspace},
        "stop_when": step_count_is(spec.max_steps),
        "approver": permissions.approver or AskLater(),
        "journal": journal,
        "record": spec.record,
    }
    if permissions.policy is not None:
        options["policy"] = permissions.policy
    return options
