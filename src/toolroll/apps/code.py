"""The coding agent: its tools and prompt, the project's check, and the project's own tools that are trusted."""

from toolroll.agent.agent import Agent
from toolroll.apps.project import Project
from toolroll.apps.project_tools import load_trusted_tools
from toolroll.apps.run import make_options
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.journal.journal import Journal
from toolroll.models.model import Model
from toolroll.packs.catalog import CatalogEntry
from toolroll.packs.code.agent import code_prompt, code_tools
from toolroll.packs.code.check_tool import check_tool


def build_code_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the coding agent for a project; `model` is one that is connected already."""
    entries = list_code_tools(spec, project=project, surface=surface)
    options = make_options(spec, entries, project=project, surface=surface, journal=journal, model=model)
    tools = [entry.tool for entry in entries]
    options["system"] = code_prompt(tools, instructions=project.instructions.text, system=spec.system)
    options["private_texts"] = (project.instructions.text or "",)
    return Agent(**options)


def list_code_tools(spec: AgentSpec, *, project: Project, surface: Surface) -> list[CatalogEntry]:
    """Return the tools of the coding agent in a project, each with where it is from."""
    entries = [
        CatalogEntry(tool=tool, origin=pack, place=f"pack {pack}")
        for pack, tools in code_tools(read_only=spec.read_only).items()
        for tool in tools
    ]
    if spec.read_only:
        return entries
    code = project.settings.code
    if code.check:
        check = check_tool(code.check, seconds=code.check_seconds)
        entries.append(CatalogEntry(tool=check, origin="settings", place="settings"))
    return [*entries, *load_trusted_tools(project.root, entries, surface)]
