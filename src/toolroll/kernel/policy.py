"""Who may run what unasked: deny rules, then allow rules, then ask. Deny always wins.

A deny rule matches generously (case, compatibility forms and invisible characters are folded away first), an allow rule
to the letter: a mistake in either direction must not open anything.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from toolroll.errors import UsageError
from toolroll.kernel.approval import Effect
from toolroll.safe.protected import fold_name

Action: TypeAlias = Literal["deny", "allow", "ask"]

_ACTIONS: Final = ("deny", "allow", "ask")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`action` for the tools that match `tool` (a glob), and, with `path`, only where that glob fits its paths."""

    action: Action
    tool: str = "*"
    path: str | None = None

    def __post_init__(self) -> None:
        if self.action not in _ACTIONS:
            raise UsageError(f"A rule's action is deny, allow or ask, not {self.action!r}.")
        if not self.tool or self.path == "":
            raise UsageError("A rule needs a tool pattern; use '*' for every tool, and leave out a path that is empty.")

    def __str__(self) -> str:
        return f"{self.action} {self.tool}" + (f" on {self.path}" if self.path else "")

    def matches(self, tool: str, paths: Sequence[str]) -> bool:
        """Whether this rule speaks about that call."""
        if self.action != "deny":
            return fnmatchcase(tool, self.tool) and self._covers_all(paths)
        return fnmatchcase(tool.casefold(), self.tool.casefold()) and self._touches_any(paths)

    def _covers_all(self, paths: Sequence[str]) -> bool:
        if self.path is None:
            return True
        pattern = _glob(self.path)
        return bool(paths) and all(pattern.fullmatch(path) for path in paths)

    def _touches_any(self, paths: Sequence[str]) -> bool:
        if self.path is None:
            return True
        pattern = _glob(_folded(self.path))
        return any(pattern.fullmatch(_folded(path)) for path in paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What happens to a call, and in words why."""

    action: Action
    because: str
    by_rule: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """An ordered set of rules; the default for what no rule names is: reads run, the rest asks."""

    rules: tuple[Rule, ...] = ()

    def plus(self, rules: Iterable[Rule]) -> "Policy":
        """This policy with more rules."""
        return Policy((*self.rules, *rules))

    def judge(self, tool: str, *, effect: Effect, paths: Sequence[str] = (), asks: bool = False) -> Verdict:
        """The verdict on one call."""
        for action in _ACTIONS:
            for rule in self.rules:
                if rule.action == action and rule.matches(tool, paths):
                    return Verdict(action=action, because=f"rule: {rule}", by_rule=True)
        if asks:
            return Verdict(action="ask", because=f"{tool} asks every time")
        if effect == "reads":
            return Verdict(action="allow", because=f"{tool} only reads")
        return Verdict(action="ask", because=f"{tool} {'writes' if effect == 'writes' else 'acts outside'}")


def _folded(path: str) -> str:
    # `*` and `?` survive folding, so that patterns and paths go through the same function
    return "/".join(fold_name(part) for part in path.split("/"))


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> re.Pattern[str]:
    """`*` and `?` stay within one name, `**/` crosses folders, a pattern that ends in `/**` takes all below."""
    out: list[str] = []
    for token in re.findall(r"\*\*/|/\*\*$|\*+|\?|[^*?/]+|/", pattern):
        match token:
            case "**/":
                out.append("(?:[^/]+/)*")
            case "/**":
                out.append("(?:/.*)?")
            case "**":
                out.append(".*")
            case "?":
                out.append("[^/]")
            case _ if token.startswith("*"):
                out.append("[^/]*")
            case _:
                out.append(re.escape(token))
    return re.compile("".join(out), re.DOTALL)
