"""What a run comes to: the answer, the steps that led there, and what it cost."""

from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeAlias

from typing_extensions import TypeVar

from toolroll.agent.cost import Bill, total_cost
from toolroll.journal.records import ApprovalQuestion
from toolroll.kernel.data.messages import Message
from toolroll.kernel.data.usage import Usage

Out = TypeVar("Out", covariant=True, default=None)  # noqa: PLC0105 - reads as what it is: the type of the output

StopReason: TypeAlias = Literal[
    "answer",
    "done",
    "condition",
    "repeated_failure",
    "repeated_calls",
    "invalid_calls",
    "invalid_output",
    "refusal",
    "cut_off",
    "approval_pending",
    "interrupted",
    "failed",
    "gave_up",
]
"""Why a run ended. Everything but `answer` and `done` can be continued from where it is."""

_COMPLETE: Final = ("answer", "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallLog:
    """One tool call in figures. `duration_ms` is the call's own time, without waiting for its turn or a person.

    `path` is the file that the call names, if it names one. `bytes` is the size of that file where the answer tells it,
    and otherwise that of the answer.
    """

    name: str
    arguments: str
    path: str | None = None
    duration_ms: float
    ok: bool
    bytes: int
    error_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubRun:
    """What an agent that was called as a tool has used; part of the usage of the step that called it."""

    name: str
    run_id: str
    call_id: str
    usage: Usage
    bill: Bill = field(repr=False, compare=False)

    @property
    def cost(self) -> float | None:
        """Return US dollars, where they are known."""
        return self.bill.usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One model call and the tool calls it led to. `usage` and `cost` include what `sub_runs` used.

    `is_cut` says that the model's turn was cut off before it was complete: by a limit, a stop, or the provider.
    `pauses` counts how often the provider paused the turn for a tool of its own; each continuation is a request.
    """

    number: int
    text: str
    usage: Usage
    bill: Bill = field(repr=False, compare=False)
    duration_s: float
    calls: tuple[ToolCallLog, ...] = ()
    sub_runs: tuple[SubRun, ...] = ()
    closing: bool = False
    is_cut: bool = False
    pauses: int = 0

    @property
    def cost(self) -> float | None:
        """Return US dollars, where they are known."""
        return self.bill.usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why a run ends, and, where a tool said so, with which words."""

    reason: StopReason
    detail: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Generic[Out]):
    """The end of a run. `text` is never empty; `closing` says that a last call without tools was needed for it.

    `has_answer` is False where the model said nothing and `text` only says so.

    `output` is the checked answer of an agent with `output=`; where there is none, `output_fault` says why.
    `pending` is what a person has to be asked before the run can go on.
    """

    run_id: str
    """The id of the run."""
    text: str
    """The answer, or what there is of one; never empty."""
    messages: tuple[Message, ...]
    """The conversation; pass it to another run to continue."""
    steps: tuple[Step, ...]
    """Each model call with the tool calls it led to."""
    stop_reason: StopReason
    """Why the run ended."""
    stop_detail: str = ""
    """More about the reason, such as the stop condition."""
    closing: bool = False
    """Whether the model was asked once more, without tools, for its answer."""
    has_answer: bool = True
    """Whether `text` is from the model; False if it only says that there is no answer."""
    output: Out | None = None
    """The parsed answer of an agent with `output=`."""
    new_messages: tuple[Message, ...] = ()
    """What this run added to the conversation, its prompt first; whole, also if `messages` was compacted."""
    output_fault: str | None = None
    """Why there is no `output`."""
    pending: tuple[ApprovalQuestion, ...] = ()
    """The questions that a person has to answer before the run can continue."""
    tool_calls: tuple[ToolCallLog, ...] | None = None
    """Every call with its figures, if `collect_tool_stats` is set."""

    @property
    def can_continue(self) -> bool:
        """Return whether there is more to do: pass `messages` to another run, with or without a new prompt."""
        return self.stop_reason not in _COMPLETE

    @property
    def usage(self) -> Usage:
        """Return all tokens of all steps, sub-agents included."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def cost(self) -> float | None:
        """Return US dollars; None where a price or a count is unknown, which is not the same as nothing."""
        return total_cost(step.cost for step in self.steps)

    @property
    def pauses(self) -> int:
        """Return how often the provider paused a turn for a tool of its own."""
        return sum(step.pauses for step in self.steps)

    @property
    def sub_runs(self) -> tuple[SubRun, ...]:
        """Return what each sub-agent used, call by call."""
        return tuple(sub for step in self.steps for sub in step.sub_runs)
