"""Open what the tools of this pack need, once for a run: the workspace, its history and its index.

A surface says where the run works with `deps`: `root` (the working folder if it is left out), `deny`, `limits`, and
`by_person` for calls that a person makes, who needs to have read nothing before (C19).

A call sees the workspace without what the rules of the run deny to its tool, whether or not it names that (XP17).
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
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


def open_contents(workspace: Annotated[Workspace, Depends(WORKSPACE)], ctx: ToolContext) -> ContentCache:
    """Return what was read in this workspace, by its hash."""
    return ContentCache(workspace, ctx.run.run_id)


CONTENTS: Final[DependencyKey[ContentCache]] = DependencyKey("code.contents", open_contents, scope="run")

WithContents = Annotated[ContentCache, Depends(CONTENTS)]


def open_changes(workspace: Annotated[Workspace, Depends(WORKSPACE)], ctx: ToolContext) -> Iterator[History]:
    """Yield the history of the workspace; what a kill left half done is put right first."""
    history, recovered = open_history(workspace)
    for one in recovered:
        ctx.logger.warning("change %s was left half done: %s", one.id, one.outcome)
    with history:
        yield history


HISTORY: Final[DependencyKey[History]] = DependencyKey("code.history", open_changes, scope="run")


def open_index(workspace: Annotated[Workspace, Depends(WORKSPACE)]) -> Iterator[Index]:
    """Yield the symbols of the workspace as they were left; built when something is asked for that needs it."""
    with Index.open(workspace) as index:
        yield index


INDEX: Final[DependencyKey[Index]] = DependencyKey("code.index", open_index, scope="run")


class Views:
    """The workspace and its index without what rules deny, for each set of rules; closed when the run is."""

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self._workspace, self._stack = workspace, stack
        self._lock = Lock()
        self._workspaces: dict[tuple[str, ...], Workspace] = {}
        self._indexes: dict[tuple[str, ...], Index] = {}

    def workspace(self, denied: tuple[str, ...]) -> Workspace:
        """Return the workspace without what fits these patterns."""
        with self._lock:
            if denied not in self._workspaces:
                self._workspaces[denied] = self._workspace.hiding(denied)
            return self._workspaces[denied]

    def index(self, denied: tuple[str, ...]) -> Index:
        """Return an index in which nothing that fits these patterns is known."""
        workspace = self.workspace(denied)
        with self._lock:
            if denied not in self._indexes:
                self._indexes[denied] = self._stack.enter_context(Index.open(workspace))
            return self._indexes[denied]


def open_views(workspace: Annotated[Workspace, Depends(WORKSPACE)]) -> Iterator[Views]:
    """Yield the views of the workspace that calls have asked for."""
    with ExitStack() as stack:
        yield Views(workspace, stack)


VIEWS: Final[DependencyKey[Views]] = DependencyKey("code.views", open_views, scope="run")


async def see_workspace(ctx: ToolContext) -> Workspace:
    """Return the workspace as the rules let this call see it."""
    if not ctx.denied_paths:
        return await ctx.resolve(WORKSPACE)
    return (await ctx.resolve(VIEWS)).workspace(ctx.denied_paths)


async def see_index(ctx: ToolContext) -> Index:
    """Return the symbols of what the rules let this call see."""
    if not ctx.denied_paths:
        return await ctx.resolve(INDEX)
    views = await ctx.resolve(VIEWS)
    return await asyncio.to_thread(views.index, ctx.denied_paths)


InWorkspace = Annotated[Workspace, Depends(see_workspace)]
WithIndex = Annotated[Index, Depends(see_index)]


def is_by_person(ctx: ToolContext) -> bool:
    """Return whether a person makes this call, not a model."""
    return bool(ctx.deps.get("by_person"))
