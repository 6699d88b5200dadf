"""What the tools of this pack stand on: the workspace, its history and its index, made once for a run.

A surface says where the run works with `deps={"root": ..., "deny": [...], "limits": ...}`; what is left out is the
working folder, no rules, and the usual limits.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from toolroll.kernel.context import ToolContext
from toolroll.kernel.depends import DependencyKey
from toolroll.workspace.limits import DEFAULT_LIMITS, Limits
from toolroll.workspace.workspace import Workspace


def open_workspace(ctx: ToolContext) -> Iterator[Workspace]:
    """The folder that the run works in; closed when the run is."""
    given = ctx.deps
    root = cast("Path | None", given.get("root")) or Path.cwd()
    deny = cast("tuple[str, ...]", given.get("deny", ()))
    limits = cast("Limits", given.get("limits", DEFAULT_LIMITS))
    with Workspace.of_user(root, environment=os.environ, deny=deny, limits=limits) as workspace:
        yield workspace


WORKSPACE: Final[DependencyKey[Workspace]] = DependencyKey("code.workspace", open_workspace, scope="run")
