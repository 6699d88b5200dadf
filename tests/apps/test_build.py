"""Which agent is built for a spec."""

from pathlib import Path

import pytest
from tests.apps.coding import surface_for

from toolroll import MemoryJournal
from toolroll.apps.build import build_agent
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.errors import UsageError
from toolroll.models.scripted import ScriptedModel


def test_C1_an_exploration_is_not_built_as_one_agent(tmp_path: Path) -> None:
    surface = surface_for({"TOOLROLL_HOME": str(tmp_path / "home")})
    spec = AgentSpec(kind="explore", model="scripted")
    with Project.open(tmp_path, surface.environment) as project, pytest.raises(UsageError, match="toolroll explore"):
        build_agent(spec, project=project, surface=surface, journal=MemoryJournal(), model=ScriptedModel([]))
