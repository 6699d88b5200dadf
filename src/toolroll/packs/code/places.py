"""Find the file or folder that a call is about: the one that rules have judged, and no other.

A path is followed once, before a call is judged, and both its names are judged: as it was written, and without links.
The tools then use the second one in a workspace that follows no link. Whoever swaps a link meanwhile gets a refusal.
"""

from collections.abc import Sequence

from toolroll.errors import PathRefused, StaleFile
from toolroll.kernel.call.context import ToolContext
from toolroll.packs.code.failures import tool_errors
from toolroll.packs.code.keys import WORKSPACE
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.workspace.workspace import Workspace


async def locate_paths(paths: Sequence[str], ctx: ToolContext) -> list[str]:
    """Return where paths lead without links; one that no tool would take is left as it is, for the tool to refuse."""
    with tool_errors():
        workspace = await ctx.resolve(WORKSPACE)
        return [_locate(workspace, path) for path in paths]


def _locate(workspace: Workspace, path: str) -> str:
    try:
        return str(workspace.resolve(workspace.folder(path)))
    except PathRefused:
        return path


def resolve_place(workspace: Workspace, path: RelativePath | None, ctx: ToolContext, *, written: str) -> RelativePath:
    """Return what is at a path, without links; StaleFile if it is not what was judged, FileMissing if it is not there.

    `written` is the path as the model wrote it.
    """
    found = workspace.status(path).resolved
    check_place(found, ctx, written=written)
    return found


def check_place(found: RelativePath, ctx: ToolContext, *, written: str) -> None:
    """Raise StaleFile if a path of the call leads to something else than what was judged."""
    judged = next((target.resolved for target in ctx.targets if target.name == written), None)
    if judged is not None and judged != str(found):
        name = quote_path(written)
        message = (
            f"'{name}' leads to '{quote_path(str(found))}' now, and led to '{quote_path(judged)}' when the call was "
            "checked. Nothing was done. Try again, or name the file itself."
        )
        raise StaleFile(message, path=name)
