"""List the files of a workspace that count: all that no ignore file, built-in rule or deny rule excludes (C2)."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.messages import A_FOLDER
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.os_errors import kind_error
from toolroll.safe.programs.ripgrep import iterate_ripgrep

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

DEFAULT_IGNORES: Final = Path(__file__).with_name("ignored.gitignore")
PROTECTED_IGNORES: Final = Path(__file__).with_name("protected.gitignore")

_SPECIAL: Final = re.compile(r"[\[\]{}!\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """A file and what tells cheaply that it may have changed."""

    path: RelativePath
    size: int
    mtime_ns: int


def tracked_files(workspace: "Workspace", folder: RelativePath | None = None) -> Iterator[FileStamp]:
    """Yield every file that counts below a folder (None: the workspace), in no order; for threads, as it waits."""
    for path in tracked_paths(workspace, folder):
        with suppress(OSError):  # removed meanwhile
            # By name, as this is a hint: 10 times faster than a walk from the root, and reading is guarded anyway.
            found = os.lstat(workspace.root.joinpath(*path.parts))
            if stat.S_ISREG(found.st_mode):
                yield FileStamp(path=path, size=found.st_size, mtime_ns=found.st_mtime_ns)


def tracked_paths(workspace: "Workspace", folder: RelativePath | None = None) -> Iterator[RelativePath]:
    """Yield the paths of every file that counts below a folder, in no order."""
    arguments = ["--files", "--null", *walk_arguments(workspace), "--", search_start(workspace, folder)]
    found = iterate_ripgrep(arguments, cwd=workspace.root, separator=b"\0")
    for printed in islice(found, workspace.limits.walk_files):
        path = to_path(decode_name(printed))
        if not workspace.is_denied(path):
            yield path


def search_start(workspace: "Workspace", folder: RelativePath | None) -> str:
    """Return where a walk starts, in the words of ripgrep; NotAFile where there is no folder.

    Without links: a path that is given to ripgrep is followed, and only what it finds below is not.
    """
    status = workspace.status(folder)
    if status.kind != "folder":
        raise kind_error(stat.S_IFREG if status.kind == "file" else 0, str(folder), needed=A_FOLDER)
    return path_argument(status.resolved)


def path_argument(path: RelativePath) -> str:
    """Return a path that no option and no special file name can be taken for."""
    return "./" + "/".join(path.parts)


def decode_name(printed: bytes) -> str:
    """Return the path that ripgrep printed; a name that is not UTF-8 carries its bytes as surrogates."""
    return os.fsdecode(printed.removeprefix(b"./"))


def to_path(name: str) -> RelativePath:
    """Return the path of a name that a walk found."""
    return RelativePath(parts=tuple(name.split("/")))


def walk_arguments(workspace: "Workspace", *, ignoring: bool = True, denying: bool = True) -> list[str]:
    """Return the arguments with which ripgrep sees the files that count, or also ignored and denied ones.

    Files whose name begins with a dot count. Ignore files of folders above the workspace count where git would read
    them; settings of the user and the machine do not, so that everybody sees the same.
    """
    denied = _deny_arguments(workspace) if denying else ()
    arguments = ["--hidden", "--no-ignore-global", "--no-require-git", *denied]
    if not ignoring:
        return ["--no-ignore", *arguments]
    if denying and workspace.denials.protects_as_usual:
        arguments.append(f"--ignore-file={PROTECTED_IGNORES}")
    arguments.append(f"--ignore-file={DEFAULT_IGNORES}")
    if not _in_repository(workspace.root):
        arguments += ["--no-ignore-parent", *_ignore_files(workspace.root)]
    return arguments


def is_ignored_by_default(name: str, *, is_folder: bool, at_root: bool) -> bool:
    """Return whether the built-in list names it; the project's own ignore files are not asked."""
    for pattern in _default_patterns():
        anchored, bare = pattern.startswith("/"), pattern.strip("/")
        if (is_folder or not pattern.endswith("/")) and (at_root or not anchored) and fnmatchcase(name, bare):
            return True
    return False


@cache
def _default_patterns() -> tuple[str, ...]:
    lines = DEFAULT_IGNORES.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def _in_repository(root: Path) -> bool:
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def _ignore_files(root: Path) -> Iterator[str]:
    """Yield the ignore files of the workspace itself: a walk that begins in a folder of it takes them for a parent's.

    Those of folders between the two are not read then, as all their paths would be taken as from here.
    """
    for name in (".gitignore", ".ignore"):  # the later one counts
        if (root / name).is_file():
            yield f"--ignore-file={root / name}"


def _deny_arguments(workspace: "Workspace") -> Iterator[str]:
    """Yield globs that keep ripgrep away from most of what is denied; each result is judged again by the rules.

    None of them fits more than its rule does: nothing may go missing because of them.
    """
    for pattern in workspace.denials.patterns:
        escaped = _SPECIAL.sub(r"\\\g<0>", pattern.removeprefix("/"))
        yield f"--iglob=!/{escaped}"
