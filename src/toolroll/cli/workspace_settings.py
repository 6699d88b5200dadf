"""Where tools work that are called from here, and what the settings say about that."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolroll.home.settings import read_settings
from toolroll.workspace.limits import DEFAULT_LIMITS


def workspace_deps(root: Path | None, environment: Mapping[str, str]) -> dict[str, object]:
    """What tools that work in a folder are told: which one, and what the settings say about it."""
    folder = root or Path.cwd()
    code = read_settings(environment, root=folder).code
    limits = replace(DEFAULT_LIMITS, **code.limits.model_dump(exclude_none=True))
    return {"root": folder, "deny": code.deny, "limits": limits}
