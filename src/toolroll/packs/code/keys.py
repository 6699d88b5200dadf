"""Open what the tools of this pack need, once for a run: the workspace, its history and its index.

A surface says where the run works with `deps`: `root` (the working folder if it is left out), `deny`, `limits`, and
`by_person` for calls that a person makes, who needs to have read nothing before (C19).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, cast

from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.workspace.changes.content_cache import ContentCache
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.recovery import open_history
from toolroll.workspace.limits import DEFAULT_LIMITS, Limits
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.workspace import Workspace


def open_workspace(ctx: ToolContext) -> Iterator[Workspace]:
    """Yield the folder that the run works in; closed when the run is."""
    given = ctx.deps
    root = cast("Path | None", given.get("root")) or Path.cwd()
    deny = cast("tuple[str, ...]", given.get("deny", ()))
    limits = cast("Limits", given.get("limits", DEFAULT_LIMITS))
    with Workspace.of_user(root, environment=os.environ, deny=deny, limits=limits) as workspace:
        yield workspace


WORKSPACE: Final[DependencyKey[Workspace]] = DependencyKey("code.workspace", open_workspace, scope="run")

InWorkspace = Annotated[Workspace, Depends(WORKSPACE)]


def open_contents(workspace: InWorkspace, ctx: ToolContext) -> ContentCache:
    """Return what was read in this workspace, by its hash."""
    return ContentCache(workspace, ctx.run.run_id)


CONTENTS: Final[DependencyKey[ContentCache]] = DependencyKey("code.contents", open_contents, scope="run")

WithContents = Annotated[ContentCache, Depends(CONTENTS)]


def open_changes(workspace: InWorkspace, ctx: ToolContext) -> Iterator[History]:
    """Yield the history of the workspace; what a kill left half done is put right first."""
    history, recovered = open_history(workspace)
    for one in recovered:
        ctx.logger.warning("change %s was left half done: %s", one.id, one.outcome)
    with history:
        yield history


HISTORY: Final[DependencyKey[History]] = DependencyKey("code.history", open_changes, scope="run")


def open_index(workspace: InWorkspace) -> Iterator[Index]:
    """Yield the symbols of the workspace as they were left; built when something is asked for that needs it."""
    with Index.open(workspace) as index:
        yield index


INDEX: Final[DependencyKey[Index]] = DependencyKey("code.index", open_index, scope="run")

WithIndex = Annotated[Index, Depends(INDEX)]


def is_by_person(ctx: ToolContext) -> bool:
    """Return whether a person makes this call, not a model."""
    return bool(ctx.deps.get("by_person"))
