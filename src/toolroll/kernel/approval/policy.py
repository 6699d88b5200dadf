"""Rules that say which calls may run without asking: deny rules, then allow rules, then ask. Deny always wins.

A tool that asks each time by its own word is asked about whatever is allowed.

A rule that restricts matches generously: in any spelling, any of the paths, under the tool's own name as well as the
one it was given. A rule that allows matches to the letter, and only where it covers every path: a mistake in either
direction must not open anything.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Effect

Action: TypeAlias = Literal["deny", "allow", "ask"]
Outward: TypeAlias = Literal["refuse", "ask"]
"""What becomes of a call that sends something out of a run with private text, and that no consent covers."""

Parts: TypeAlias = tuple[str, ...]

_ACTIONS: Final = ("deny", "allow", "ask")
_TOOL_GLOB: Final = re.compile(r"[A-Za-z0-9_*?-]+")
_NO_NAMES: Final = ("", ".", "..")
_ROOTED: Final = re.compile(r"/|~|[A-Za-z]:")  # from elsewhere than the folder that a tool works in
_SLASHES: Final = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`action` for the tools that match `tool` (a glob), and, with `path`, only where that glob fits its paths.

    In a path `*` and `?` stay within one name, and `**` as a whole name stands for any number of folders: `src/**` is
    `src` and all below it, `**/*.py` every Python file. All else is literal.
    """

    action: Action
    """`allow`, `deny` or `ask`."""
    tool: str = "*"
    """The name of a tool, or a pattern."""
    path: str | None = None
    """A pattern for paths; None matches every call of the tool."""

    def __post_init__(self) -> None:
        if self.action not in _ACTIONS:
            raise UsageError(f"A rule's action is deny, allow or ask, not {self.action!r}.")
        if not _TOOL_GLOB.fullmatch(self.tool):
            raise UsageError(f"A rule's tool is a name, in which '*' and '?' may stand, not {self.tool!r}.")
        if self.path is not None and any(part in _NO_NAMES for part in self.path.removeprefix("/").split("/")):
            raise UsageError(
                f"A rule's path is names with '/' between them, as in 'src/**', without '.' or '..', not {self.path!r}."
            )

    def __str__(self) -> str:
        return f"{self.action} {self.tool}" + (f" on {self.path}" if self.path else "")

    def matches(self, tool: str, paths: Sequence[str], core: str | None = None) -> bool:
        """Return whether this rule is about that call; `core` is the tool's name before it was renamed."""
        if self.action == "allow":
            return fnmatchcase(tool, self.tool) and self._covers_all(paths)
        return self.restricts(tool, core) and self._touches_any(paths)

    def restricts(self, tool: str, core: str | None = None) -> bool:
        """Return whether this rule is for that tool, if it restricts: by either of its names, whatever their case."""
        return _names(self.tool, tool) or (core is not None and _names(self.tool, core))

    def _covers_all(self, paths: Sequence[str]) -> bool:
        if self.path is None:
            return True
        return bool(paths) and all(_covers(self.path, path) for path in paths)

    def _touches_any(self, paths: Sequence[str]) -> bool:
        return self.path is None or any(_touches(self.path, path) for path in paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What happens to a call, and in words why."""

    action: Action
    because: str
    by_rule: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """A set of rules, in any order; the default for what no rule names is: reads run, the rest asks.

    `outward` is about runs that hold private text: a call that sends something out of one is asked about, whatever a
    rule allows, and refused where nobody can be asked. With `refuse` nobody is asked.

    `remembered` gives the allow rules that a person makes and takes back while the run goes on; it is asked at each
    call, so that they count at once. Rules of it that do not allow are passed over.
    """

    rules: tuple[Rule, ...] = ()
    """The rules, in any order: deny wins over allow, allow over ask."""
    outward: Outward = "ask"
    """Whether a call that sends something out of a run with private text is asked about or refused."""
    remembered: Callable[[], Sequence[Rule]] | None = field(default=None, compare=False, repr=False)
    """Returns the allow rules that a person makes and removes while the run goes on; asked at each call."""

    def plus(self, rules: Iterable[Rule]) -> "Policy":
        """Return this policy with more rules."""
        return replace(self, rules=(*self.rules, *rules))

    def judge(
        self, tool: str, *, effect: Effect, paths: Sequence[str] = (), asks: bool = False, core: str | None = None
    ) -> Verdict:
        """Return the verdict on one call."""
        for action in _ACTIONS:
            if asks and action == "allow":  # a promise to ask each time is kept, whatever is allowed for good
                return Verdict(action="ask", because=f"{tool} asks every time")
            for rule in self._rules_for(action):
                if rule.action == action and rule.matches(tool, paths, core):
                    return Verdict(action=action, because=f"rule: {rule}", by_rule=True)
        if effect == "reads":
            return Verdict(action="allow", because=f"{tool} only reads")
        return Verdict(action="ask", because=f"{tool} {'writes' if effect == 'writes' else 'acts outside'}")

    def denied_paths(self, tool: str, core: str | None = None) -> tuple[str, ...]:
        """Return the patterns of paths that are denied to a tool: what it shows of a folder must be without them."""
        denying = (rule for rule in self.rules if rule.action == "deny" and rule.restricts(tool, core))
        return tuple(rule.path for rule in denying if rule.path is not None)

    def unasked_paths(self, tool: str, paths: Sequence[str], core: str | None = None) -> tuple[str, ...]:
        """Return the patterns of paths that a tool may use only after a question, and that this call does not name.

        A call that looks through a folder above them, or through all there is, must not show them: a person who wants
        to be asked about a file was not asked. Nothing is kept from a tool that a rule allows everything.
        """
        if any(
            rule.action == "allow" and rule.path is None and rule.matches(tool, ()) for rule in self._rules_for("allow")
        ):
            return ()
        asking = (rule for rule in self.rules if rule.action == "ask" and rule.restricts(tool, core))
        return tuple(rule.path for rule in asking if rule.path is not None and not rule.matches(tool, paths, core))

    def _rules_for(self, action: Action) -> Sequence[Rule]:
        if action != "allow" or self.remembered is None:
            return self.rules
        return (*self.rules, *self.remembered())


@lru_cache(maxsize=4096)
def _names(pattern: str, tool: str) -> bool:
    return fnmatchcase(tool.casefold(), pattern.casefold())


def _covers(pattern: str, path: str) -> bool:
    """Return whether a path is exactly what was allowed: spelled in any other way, it may lead elsewhere."""
    parts = path.removeprefix("/").split("/")
    is_plain = path == path.strip() and "\\" not in path and not any(part in _NO_NAMES for part in parts)
    return is_plain and _roots(path) == _roots(pattern) and _fits(pattern, path, across=False)


def _roots(path: str) -> bool:
    return _ROOTED.match(path) is not None


def _touches(pattern: str, path: str) -> bool:
    """Return whether a path could be what was restricted, on some system and in some spelling."""
    folded = "/".join(_fold(pattern))
    return _fits(pattern, path, across=True) or any(
        _fits(folded, "/".join(spelling), across=True) for spelling in _spellings(path)
    )


def _spellings(path: str) -> Iterator[Parts]:
    """Yield the folded names of a path with each `..` resolved, and, as a link may stand before one, left out."""
    yield _fold(path)
    if ".." in path:
        resolved: list[str] = []
        for part in _SLASHES.split(path.strip()):
            if part == "..":
                del resolved[-1:]
            else:
                resolved.extend(_fold(part))
        yield tuple(resolved)


def _fold(path: str) -> Parts:
    # `*` and `?` survive folding, so that patterns and paths go through the same function; `.` and `..` do not.
    from toolroll.safe.paths.protected import fold_name  # noqa: PLC0415 - most programs that import toolroll never need it

    names = (fold_name(part.strip()) for part in _SLASHES.split(path))
    return tuple(name for name in names if name)


@lru_cache(maxsize=4096)
def _fits(pattern: str, path: str, *, across: bool) -> bool:
    """Return whether the glob matches the whole path; with `across`, a `**` inside a name crosses folders too.

    Not one regular expression: several `**` in it would make the time grow with a power of the path's length.
    """
    parts = path.split("/")
    reached = {0}  # how many names of the path the pattern so far can have used up
    for piece in pattern.split("/"):
        if piece == "**":
            reached = set(range(min(reached, default=len(parts) + 1), len(parts) + 1))
        else:
            longest = len(parts) if across and "**" in piece else 1
            reached = {
                start + count
                for start in reached
                for count in range(1, min(longest, len(parts) - start) + 1)
                if fnmatchcase("/".join(parts[start : start + count]), piece.replace("[", "[[]"))
            }
    return len(parts) in reached
