"""What may be meant by what is being typed: commands behind `/`, files of the project behind `@`.

The names of all files are looked up once, in bounded time, and then kept for a while: a key must not wait for a tree of
100,000 files.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

from toolroll.cli.chat.words import mention_of

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

MAX_SUGGESTED: Final = 50
"""More than a menu shows; whoever does not find it there types one more letter."""
MAX_NAMES: Final = 200_000
MAX_SECONDS: Final = 2.0
"""For all names: 100,000 take 0.7 s. What was not found until then is not suggested, and can still be typed."""
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
class Names:
    """The names of the files of a workspace that count: no ignored, no denied ones. For threads, as it waits."""

    workspace: "Workspace"
    clock: Callable[[], float] = time.monotonic
    _names: list[tuple[str, str]] = field(default_factory=list)
    _until: float = -1.0

    def all(self) -> Sequence[tuple[str, str]]:
        """Each name with itself in small letters."""
        if self.clock() > self._until:
            self._names = list(self._walked())
            self._until = self.clock() + FRESH_SECONDS
        return self._names

    def _walked(self) -> Iterator[tuple[str, str]]:
        from toolroll.workspace.tree import tracked_paths  # noqa: PLC0415 - ripgrep: only for who types an @

        until = self.clock() + MAX_SECONDS
        for number, path in enumerate(tracked_paths(self.workspace)):
            name = str(path)
            yield name, name.casefold()
            if number >= MAX_NAMES or self.clock() > until:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggesting:
    """Suggestions for one chat: its commands with what each does, words that may follow one, and its files."""

    commands: Mapping[str, str]
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: Names | None = None

    def suggest(self, before: str) -> list[Suggestion]:
        """What may be meant by the text before the cursor, the likeliest first."""
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
        fitting = ((_rank(wanted, folded), name) for name, folded in self.names.all() if wanted in folded)
        found = nsmallest(MAX_SUGGESTED, fitting)
        return [Suggestion(text=mention_of(name), replaces=replaces) for _, name in found if name.isprintable()]


def _rank(wanted: str, name: str) -> tuple[int, int, int]:
    """The beginning of the path or of the name first, then any part of the name; among equals the shorter one."""
    last = name.rpartition("/")[2]
    place = 0 if name.startswith(wanted) or last.startswith(wanted) else 1 if wanted in last else 2
    return place, name.count("/"), len(name)
