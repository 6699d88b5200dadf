"""Where an agent is started from: the environment, who can be asked there, and where notes for the person go."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolroll.kernel.approval.policy import Rule

if TYPE_CHECKING:
    from toolroll.apps.permissions import RuleMemory
    from toolroll.kernel.approval.request import Approver


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something the person should know before the agent starts; a warning needs their attention."""

    kind: Literal["note", "warning"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryRule:
    """What a person allowed until a command or chat ends: one tool, as it was defined then, on paths."""

    tool: str
    path: str | None
    fingerprint: str

    @property
    def rule(self) -> Rule:
        """Return it as a rule of a policy."""
        return Rule(action="allow", tool=self.tool, path=self.path)


Notify: TypeAlias = Callable[[Note], None]

MakeApprover: TypeAlias = "Callable[[RuleMemory | None, float], Approver | None]"
"""Returns who answers questions: gets the rules they may add to, and how many seconds to wait for an answer."""


AskYesNo: TypeAlias = Callable[[str], bool | None]
"""Asks a question; returns whether the answer was yes, and None where nobody is there."""


def answer_nothing(_question: str) -> None:
    """Return no answer: nobody is there."""


def ask_nobody(_memory: "RuleMemory | None", _timeout_s: float) -> None:
    """Return no approver: nobody can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One place that agents are started from. Without a person to ask, questions wait in the run log."""

    environment: Mapping[str, str]
    notify: Notify
    make_approver: MakeApprover = ask_nobody
    ask: AskYesNo = answer_nothing
    temporary_rules: list[TemporaryRule] = field(default_factory=list)
    """What the person has allowed until this command or chat ends; shared by all agents that are started here."""

    def note(self, text: str) -> None:
        """Show the person a note."""
        self.notify(Note(kind="note", text=text))

    def warn(self, text: str) -> None:
        """Show the person a warning."""
        self.notify(Note(kind="warning", text=text))
