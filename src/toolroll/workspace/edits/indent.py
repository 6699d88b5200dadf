"""How a block that somebody wrote with another indentation is indented in the file: by one rule for all its lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_BLANKS: Final = " \t"
_TAB_WIDTHS: Final = (4, 2, 8, 3)
"""Columns that a tab may stand for: what editors and formatters of common languages are set to."""

Pair = tuple[str, str]
"""The indentation of one line as it was asked for, and as it is in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifted:
    """Every line has the same blanks in front of what was written, or lacks the same."""

    more: str = ""
    less: str = ""

    def apply(self, line: str) -> str | None:
        """The line as it has to be in the file; None where it has fewer blanks than are to go."""
        if not line.strip(_BLANKS):
            return line
        return self.more + line.removeprefix(self.less) if line.startswith(self.less) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retabbed:
    """Tabs in the file where spaces were written, or the other way round, at one width of a tab."""

    width: int
    with_tabs: bool

    def apply(self, line: str) -> str | None:
        """The line as it has to be in the file."""
        body = line.lstrip(_BLANKS)
        columns = len(line[: len(line) - len(body)].expandtabs(self.width))
        tabs, spaces = divmod(columns, self.width) if self.with_tabs else (0, columns)
        return "\t" * tabs + " " * spaces + body if body else line


def no_shift_of(pairs: Sequence[Pair]) -> Shifted | None:
    """The rule that leaves all lines where they are, if they are there."""
    return Shifted() if all(asked == there for asked, there in pairs) else None


def shift_of(pairs: Sequence[Pair]) -> Shifted | None:
    """The rule by which all lines are moved in or out, if there is one."""
    asked, there = pairs[0]
    rule = Shifted(more=there.removesuffix(asked)) if there.endswith(asked) else Shifted(less=asked.removesuffix(there))
    return rule if all(rule.apply(f"{asked}x") == f"{there}x" for asked, there in pairs) else None


def retabbing_of(pairs: Sequence[Pair]) -> Retabbed | None:
    """The rule by which tabs and spaces stand for each other in all lines, if there is one."""
    with_tabs = any("\t" in there for _, there in pairs)
    rules = (Retabbed(width=width, with_tabs=with_tabs) for width in _TAB_WIDTHS)
    fitting = (rule for rule in rules if all(rule.apply(f"{asked}x") == f"{there}x" for asked, there in pairs))
    return next(fitting, None)


def indent_of(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(_BLANKS))]
