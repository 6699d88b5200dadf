"""Files that may hold a name: found by ripgrep, before anything is parsed."""

from collections.abc import Iterator, Sequence
from itertools import islice

from toolroll.safe.names import RelativePath
from toolroll.safe.ripgrep import iterate_ripgrep
from toolroll.workspace.ignored import walk_arguments
from toolroll.workspace.symbols.sweep import can_be_kept
from toolroll.workspace.tree import as_argument, path_from, text_of
from toolroll.workspace.workspace import Workspace


def files_with(workspace: Workspace, pattern: Sequence[str], most: int) -> list[RelativePath]:
    """The files in which one of the patterns (arguments of ripgrep) fits, at most so many; denied ones are left out."""
    return list(islice(_found(workspace, pattern), most))


def _found(workspace: Workspace, pattern: Sequence[str]) -> Iterator[RelativePath]:
    size = f"--max-filesize={workspace.limits.file_bytes}"
    arguments = ["--files-with-matches", "--null", size, *walk_arguments(workspace), *pattern, "--", as_argument(_ROOT)]
    for printed in iterate_ripgrep(arguments, cwd=workspace.root, separator=b"\0"):
        path = path_from(text_of(printed))
        if can_be_kept(str(path)) and not workspace.is_denied(path):
            yield path


_ROOT = RelativePath(parts=())
