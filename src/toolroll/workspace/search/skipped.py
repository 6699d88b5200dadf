"""Count what a search skipped, from its own log: walking everything again takes half as long as the search.

The log names a file or a whole folder and the reason. What is below a folder is counted by a walk there alone, so that
the cost is that of what was passed over, whatever the size of the rest (C2).
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from toolroll.safe.programs.ripgrep import gather_ripgrep
from toolroll.workspace.search.tree import PROTECTED_IGNORES, walk_arguments
from toolroll.workspace.search.walk import MAX_COUNTING_SECONDS, Deadline, Skipped

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

MAX_LOG_BYTES: Final = 1 << 20
"""Of a log: some 3,000 files and folders that were passed over."""
_NAMES_BYTES: Final = 16 << 20  # some 200,000 files below ignored folders: more of them are "at least" so many
_WALK_BYTES: Final = 256 << 20  # the names of a million files, which nobody reads here
_PATHS_AT_ONCE: Final = 200  # in one command, as in a search
# A name may have line ends in it; one that is longer than any path is none.
_PASSED: Final = re.compile(
    r"^(?:rg: )?DEBUG\|[^\n]{1,200}?: ignoring \./(?P<name>.{1,4096}?): "
    r"(?:(?P<binary>found binary data)|(?P<size>[0-9]+ bytes)$|Ignore\(IgnoreMatch\((?P<rule>[^\n]*))",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipLog:
    """The names of what was passed over: files, and folders with all that is in them."""

    ignored: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    binary: tuple[str, ...] = ()
    too_large: tuple[str, ...] = ()
    is_complete: bool = True


def parse_log(stderr: str) -> SkipLog:
    """Return what ripgrep said with `--debug`; lines of another kind are passed over."""
    found: dict[str, list[str]] = {"ignored": [], "denied": [], "binary": [], "too_large": []}
    for line in _PASSED.finditer(stderr):
        found[_skip_reason(line)].append(line["name"])
    is_complete = len(stderr.encode("utf-8", "replace")) < MAX_LOG_BYTES
    return SkipLog(is_complete=is_complete, **{why: tuple(names) for why, names in found.items()})


async def log_walk(workspace: "Workspace", start: str, clock: Deadline, *, in_one_folder: bool = False) -> SkipLog:
    """Return what a walk skips for ignore files and the built-in list, in that folder alone or also below it."""
    depth = ["--max-depth=1"] if in_one_folder else []
    arguments = ["--files", "--debug", *depth, *walk_arguments(workspace, denying=False), "--", start]
    end, _ = await gather_ripgrep(
        arguments,
        cwd=workspace.root,
        timeout_s=clock.left_s,
        limit_bytes=_WALK_BYTES,
        stderr_bytes=MAX_LOG_BYTES,
    )
    log = parse_log(end.stderr)
    return log if end.ended == "exited" else replace(log, is_complete=False)


def _skip_reason(line: re.Match[str]) -> str:
    if line["binary"]:
        return "binary"
    if line["size"]:
        return "too_large"
    by_rule = line["rule"].startswith("Override(") or f'/{PROTECTED_IGNORES.name}")' in line["rule"]
    return "denied" if by_rule else "ignored"


async def count_skipped(workspace: "Workspace", log: SkipLog, clock: Deadline) -> Skipped:
    """Return how many files that is, by reason, within a second: `at_least` where they are more."""
    brief = Deadline(seconds=min(clock.left_s, MAX_COUNTING_SECONDS))
    visible = workspace.denials.visible
    binary, too_large = len(visible(log.binary)), len(visible(log.too_large))
    ignored = await _count_below(workspace, visible(log.ignored), brief, ignoring=False)
    denied = await _count_below(workspace, log.denied, brief, ignoring=True)
    hidden = len(log.binary) - binary + len(log.too_large) - too_large
    return Skipped(
        ignored=ignored.ignored,
        binary=binary,
        too_large=too_large,
        denied=denied.ignored + denied.denied + hidden,
        at_least=not log.is_complete or ignored.at_least or denied.at_least,
    )


async def _count_below(workspace: "Workspace", names: Collection[str], clock: Deadline, *, ignoring: bool) -> Skipped:
    """Count files, and those below folders: what may be seen as `ignored`, the others as `denied`."""
    # A link would be followed as it is named itself, and could lead anywhere.
    paths = (f"./{name}" for name in names if not (workspace.root / name).is_symlink())
    found = Skipped()
    while some := list(islice(paths, _PATHS_AT_ONCE)):
        if not clock.left_s:
            return replace(found, at_least=True)
        arguments = ["--files", "--null", *walk_arguments(workspace, ignoring=ignoring, denying=False), "--", *some]
        end, printed = await gather_ripgrep(
            arguments, cwd=workspace.root, timeout_s=clock.left_s, limit_bytes=_NAMES_BYTES
        )
        files = os.fsdecode(printed).replace("\0./", "\0").removeprefix("./").split("\0")[:-1]
        seen = len(workspace.denials.visible(files))
        found = Skipped(
            ignored=found.ignored + seen,
            denied=found.denied + len(files) - seen,
            at_least=found.at_least or end.ended != "exited" or bool(end.stderr),
        )
    return found
