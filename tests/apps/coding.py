"""The coding agent of a folder, as every surface builds it, with nobody to ask."""

from collections.abc import Callable, Mapping
from pathlib import Path

from toolroll import Agent, MemoryJournal
from toolroll.apps.code import build_code_agent, list_code_tools
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Note, Surface
from toolroll.models.scripted import ScriptedModel
from toolroll.packs.catalog import CatalogEntry


def surface_for(environment: Mapping[str, str], notify: Callable[[Note], None] = lambda _note: None) -> Surface:
    return Surface(environment=environment, notify=notify)


def spec_for(root: Path, *, read_only: bool = False, system: str = "") -> AgentSpec:
    return AgentSpec(kind="code", model="scripted", root=str(root), read_only=read_only, system=system)


def code_tools_in(surface: Surface, root: Path, *, read_only: bool = False) -> list[CatalogEntry]:
    """The tools that the coding agent has there."""
    with Project.open(root, surface.environment) as project:
        return list_code_tools(spec_for(root, read_only=read_only), project=project, surface=surface)


def code_agent_in(surface: Surface, root: Path, *, read_only: bool = False, system: str = "") -> Agent[None]:
    """The agent itself; its model says nothing."""
    with Project.open(root, surface.environment) as project:
        spec = spec_for(root, read_only=read_only, system=system)
        return build_code_agent(
            spec, project=project, surface=surface, journal=MemoryJournal(), model=ScriptedModel([])
        )
