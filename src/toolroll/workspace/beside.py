"""What lies among the files of a tree and is none: links, pipes, sockets, devices and empty folders (C11, XF1)."""

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolroll.workspace.walking import Clock

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The paths, as text with `/` and in no order; `is_complete` says that the time was enough for all."""

    names: tuple[str, ...]
    is_complete: bool


def look_beside(workspace: "Workspace", start: str, ignored: Collection[str], clock: Clock) -> Beside:
    """What a walk does not name below a folder, without what is ignored and denied; for threads, as it waits.

    A folder is named where nothing at all is in it: what is in others is named, or passed over and counted. It goes by
    names, as the walk does: whoever shows one looks at it again.
    """
    above, passed = start.removeprefix("./"), frozenset(ignored)
    folders, found = [above], list[str]()
    while folders and clock.left_s:
        folder = folders.pop()
        with suppress(OSError):  # unreadable ones are counted by the walk, others are gone
            inner, others, is_empty = _look(workspace, folder)
            folders += [name for name in inner if name not in passed]
            found += [name for name in others if name not in passed]
            found += [folder] if is_empty and folder != above else []
    return Beside(names=tuple(found), is_complete=not folders)


def _look(workspace: "Workspace", folder: str) -> tuple[list[str], list[str], bool]:
    """The folders in one, what is neither folder nor file, and whether nothing is there. Nothing denied is named."""
    # Not through the guarded listing: it asks for every file's size, and takes 10 times as long.
    prefix, hides = f"{folder}/" if folder else "", workspace.denials.hides
    inner, others = list[str](), list[str]()
    is_empty = True
    with os.scandir(workspace.root / folder) as scan:
        for entry in scan:
            is_empty = False
            if not entry.is_file(follow_symlinks=False) and not hides(name := f"{prefix}{entry.name}"):
                (inner if entry.is_dir(follow_symlinks=False) else others).append(name)
    return inner, others, is_empty
