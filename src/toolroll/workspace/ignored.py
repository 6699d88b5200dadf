"""What a walk passes over: ignore files as git reads them, a built-in list, and what deny rules fit (C2)."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

BUILT_IN: Final = Path(__file__).with_name("ignored.gitignore")
PROTECTED: Final = Path(__file__).with_name("protected.gitignore")

_SPECIAL: Final = re.compile(r"[\[\]{}!\\]")


def walk_arguments(workspace: "Workspace", *, ignoring: bool = True, denying: bool = True) -> list[str]:
    """The arguments with which ripgrep sees the files that count; or, to count them, ignored and denied ones too.

    Files whose name begins with a dot count. Ignore files of folders above the workspace count where git would read
    them; settings of the user and the machine do not, so that everybody sees the same.
    """
    denied = _deny_arguments(workspace) if denying else ()
    arguments = ["--hidden", "--no-ignore-global", "--no-require-git", *denied]
    if not ignoring:
        return ["--no-ignore", *arguments]
    if denying and workspace.denials.protects_as_usual:
        arguments.append(f"--ignore-file={PROTECTED}")
    arguments.append(f"--ignore-file={BUILT_IN}")
    if not _in_repository(workspace.root):
        arguments += ["--no-ignore-parent", *_own_rules(workspace.root)]
    return arguments


def is_built_in(name: str, *, is_folder: bool, at_root: bool) -> bool:
    """Whether the built-in list names it; the project's own ignore files are not asked."""
    for pattern in _built_in_names():
        anchored, bare = pattern.startswith("/"), pattern.strip("/")
        if (is_folder or not pattern.endswith("/")) and (at_root or not anchored) and fnmatchcase(name, bare):
            return True
    return False


@cache
def _built_in_names() -> tuple[str, ...]:
    lines = BUILT_IN.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def _in_repository(root: Path) -> bool:
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def _own_rules(root: Path) -> Iterator[str]:
    """The ignore files of the workspace itself: a walk that begins in a folder of it takes them for a parent's.

    Those of folders between the two are not read then, as all their paths would be taken as from here.
    """
    for name in (".gitignore", ".ignore"):  # the later one counts
        if (root / name).is_file():
            yield f"--ignore-file={root / name}"


def _deny_arguments(workspace: "Workspace") -> Iterator[str]:
    """Globs that keep ripgrep away from most of what is denied: a saving, as each result is judged again by the rules.

    None of them fits more than its rule does: nothing may go missing because of them.
    """
    for pattern in workspace.denials.patterns:
        escaped = _SPECIAL.sub(r"\\\g<0>", pattern.removeprefix("/"))
        yield f"--iglob=!/{escaped}"
