"""What a run comes to: the answer, the steps that led there, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolroll.kernel.conversation import Message
from toolroll.kernel.usage import Usage

StopReason: TypeAlias = Literal[
    "answer",
    "done",
    "condition",
    "repeated_failure",
    "repeated_calls",
    "invalid_calls",
    "refusal",
    "cut_off",
    "approval_pending",
    "interrupted",
    "failed",
]
"""Why a run ended. Everything but `answer` and `done` can be continued from where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallLog:
    """One tool call in figures."""

    name: str
    arguments: str
    duration_ms: float
    ok: bool
    bytes: int
    error_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One model call and the calls it led to."""

    number: int
    text: str
    usage: Usage
    cost: float | None
    duration_s: float
    calls: tuple[ToolCallLog, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The end of a run. `text` is never empty; `closing` says that a last call without tools was needed for it."""

    run_id: str
    text: str
    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    stop_reason: StopReason
    stop_detail: str = ""
    closing: bool = False
    output: object = None
    tool_calls: tuple[ToolCallLog, ...] | None = None

    @property
    def usage(self) -> Usage:
        """All tokens of all steps."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def cost(self) -> float | None:
        """US dollars; None where a price or a count is unknown, which is not the same as nothing."""
        return total_cost(self.steps)


def total_cost(steps: Sequence[Step]) -> float | None:
    """The sum of the steps' costs, unknown if one of them is."""
    known = [step.cost for step in steps if step.cost is not None]
    return sum(known) if len(known) == len(steps) else None
