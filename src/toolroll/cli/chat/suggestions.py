"""What may be meant by what is being typed: commands behind `/`, files of the project behind `@`.

The names of all files are looked up beside the typing, in bounded time, and then kept for a while: a key must not wait
for a tree of 100,000 files, which takes seconds.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Final

from toolroll.cli.chat.parse import format_mention
from toolroll.errors import ToolrollError
from toolroll.workspace.search.tree import tracked_paths

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

MAX_SUGGESTED: Final = 50
"""More than a menu shows; whoever does not find it there types one more letter."""
MAX_NAMES: Final = 200_000
MAX_SECONDS: Final = 20.0
"""For all names. What was not found until then is not suggested, and can still be typed."""
WAIT_SECONDS: Final = 0.2
"""For names that are still being looked up: after that, those that were found are suggested."""
FRESH_SECONDS: Final = 20.0

_PATH: Final = re.compile(r'(?<![\w.+\-@/\\"\'`])@"?([^\s@"\'`<>|]*)$')
_COMMAND: Final = re.compile(r"/([A-Za-z][\w-]*)?$")
_ARGUMENT: Final = re.compile(r"/([A-Za-z][\w-]*)\s+(\S*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What may stand in place of the last `replaces` characters before the cursor, and a word about it."""

    text: str
    replaces: int
    about: str = ""


@dataclass(slots=True, kw_only=True)
class FileNames:
    """The names of the files of a workspace that count: no ignored, no denied ones. For one thread at a time."""

    workspace: "Workspace"
    clock: Callable[[], float] = time.monotonic
    wait_s: float = WAIT_SECONDS
    _names: list[tuple[str, str]] = field(default_factory=list)
    _walk: threading.Thread | None = None
    _until: float = -1.0

    def all(self) -> Sequence[tuple[str, str]]:
        """Return each name with itself in small letters, as far as they are known by now."""
        if self._walk is None and self.clock() > self._until:
            self._walk = threading.Thread(target=self._look, args=([],), daemon=True)
            self._walk.start()
        if self._walk is not None:
            self._walk.join(self.wait_s)
            self._walk = self._walk if self._walk.is_alive() else None
        return self._names

    @property
    def is_looking(self) -> bool:
        """Return whether the last answer of `all` may not be all."""
        return self._walk is not None

    def _look(self, found: list[tuple[str, str]]) -> None:
        self._names = self._names or found  # the first time, what is found is seen at once
        until = self.clock() + MAX_SECONDS
        with suppress(ToolrollError):  # a folder that is gone has no names
            for path in islice(tracked_paths(self.workspace), MAX_NAMES):
                found.append((str(path), str(path).casefold()))
                if self.clock() > until:
                    break
        self._names, self._until = found, self.clock() + FRESH_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggester:
    """Suggestions for one chat: its commands with what each does, words that may follow one, and its files."""

    commands: Mapping[str, str]
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: FileNames | None = None

    def suggest(self, before: str) -> list[Suggestion]:
        """Return what may be meant by the text before the cursor, the likeliest first."""
        if found := _COMMAND.fullmatch(before):
            return self._commands(found[1] or "")
        if (found := _ARGUMENT.fullmatch(before)) and found[1] in self.arguments:
            return [
                Suggestion(text=word, replaces=len(found[2]))
                for word in self.arguments[found[1]]
                if word.startswith(found[2])
            ]
        if found := _PATH.search(before):
            return self._paths(found[1], len(before) - found.start())
        return []

    def may_find_more(self, before: str) -> bool:
        """Return whether the same text may get more suggestions in a moment."""
        return self.names is not None and self.names.is_looking and _PATH.search(before) is not None

    def _commands(self, typed: str) -> list[Suggestion]:
        return [
            Suggestion(text=f"/{name}", replaces=len(typed) + 1, about=about)
            for name, about in self.commands.items()
            if name.startswith(typed.casefold())
        ]

    def _paths(self, typed: str, replaces: int) -> list[Suggestion]:
        if self.names is None:
            return []
        wanted = typed.casefold()
        known = tuple(self.names.all())  # which may still grow
        fitting = ((_rank(wanted, folded), name) for name, folded in known if wanted in folded)
        found = nsmallest(MAX_SUGGESTED, fitting)
        return [Suggestion(text=format_mention(name), replaces=replaces) for _, name in found if name.isprintable()]


def _rank(wanted: str, name: str) -> tuple[int, int, int]:
    """The beginning of the path or of the name first, then any part of the name; among equals the shorter one."""
    last = name.rpartition("/")[2]
    place = 0 if name.startswith(wanted) or last.startswith(wanted) else 1 if wanted in last else 2
    return place, name.count("/"), len(name)
