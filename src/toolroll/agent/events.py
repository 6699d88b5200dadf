"""What a run tells while it goes: few kinds, typed, the same on every surface."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias

from typing_extensions import TypeVar

from toolroll.agent.result import RunResult, Step
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, Progress, StateChanged
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall

Value = TypeVar("Value", covariant=True, default=object)  # noqa: PLC0105 - reads as what it is: the type of the output


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run begins, or goes on."""

    run_id: str
    model: str
    event: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """The model is asked."""

    number: int
    event: Literal["step_started"] = "step_started"


@dataclass(slots=True)  # one per delta: frozen would triple what that costs
class TextArrived:
    """A piece of the answer."""

    text: str
    event: Literal["text_delta"] = "text_delta"


@dataclass(slots=True)  # one per delta: frozen would triple what that costs
class ReasoningArrived:
    """A piece of thought."""

    text: str
    event: Literal["reasoning_delta"] = "reasoning_delta"


@dataclass(slots=True)  # one per delta: frozen would triple what that costs
class ArgumentsArrived:
    """A piece of a call's arguments, while the model writes them."""

    call_id: str
    name: str
    text: str
    event: Literal["arguments_delta"] = "arguments_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A tool runs now: everybody who had to be asked has answered. Also comes, at once before its end, for a call that
    never runs.
    """

    call: ToolCall
    event: Literal["tool_call_started"] = "tool_call_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """A tool call has its result."""

    call: ToolCall
    result: ToolResult
    duration_ms: float
    event: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """Another agent speaks from now on: the one behind this tool, in a run of its own."""

    tool: str
    run_id: str
    event: Literal["handed_over"] = "handed_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    """A step is complete."""

    step: Step
    event: Literal["step_finished"] = "step_finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextTrimmed:
    """Old outputs are sent as references from now on; the sizes are those of the next request, about."""

    outputs: int
    tokens_before: int
    tokens_after: int
    event: Literal["context_trimmed"] = "context_trimmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacted:
    """A summary is sent in the place of so many messages from now on."""

    messages: int
    tokens_before: int
    tokens_after: int
    event: Literal["context_compacted"] = "context_compacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForModel:
    """Nothing of the answer has come for a while. It is told after 5 seconds, and each time the wait has doubled.

    Both times count from the last content, or else from the request; at `limit_s` the model is given up.
    """

    waited_s: float
    limit_s: float
    is_starting: bool = False
    """Whether a server on this machine is not ready yet; this is told at once."""
    characters: int = 0
    """How much was written that cannot be shown yet, as it may become a call; then the times are of this answer."""
    event: Literal["waiting_for_model"] = "waiting_for_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPaused:
    """The provider paused its turn for a tool of its own, such as a search, and is asked to go on.

    Each time is a request of its own; `pauses` counts those of this turn.
    """

    pauses: int
    event: Literal["model_paused"] = "model_paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """The provider failed and is asked again."""

    attempt: int
    wait_s: float
    reason: str
    event: Literal["retry"] = "retry"


WarningKind: TypeAlias = Literal[
    "asked_again",
    "compaction_failed",
    "context_shortened",
    "conversation_repaired",
    "no_last_answer",
    "parts_left_out",
    "pins_left_out",
    "record_repaired",
    "repeated_call",
    "search_withheld",
    "text_calls",
    "waiting_for_run",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something a person should know although the run continues."""

    kind: WarningKind
    text: str
    event: Literal["warning"] = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputArrived(Generic[Value]):
    """The typed answer so far, while it is written: the items of a list that are there, an object once it is valid."""

    output: Value
    event: Literal["output_delta"] = "output_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Generic[Value]):
    """The run has ended; the last event there is."""

    result: RunResult[Value]
    event: Literal["run_finished"] = "run_finished"


Event: TypeAlias = (
    RunStarted
    | StepStarted
    | TextArrived
    | ReasoningArrived
    | ArgumentsArrived
    | CallStarted
    | CallFinished
    | HandedOver
    | StepFinished
    | ContextTrimmed
    | ContextCompacted
    | WaitingForModel
    | ModelPaused
    | Retrying
    | Warned
    | OutputArrived[Value]
    | RunFinished[Value]
    | Progress
    | ApprovalRequested
    | ApprovalDecided
    | StateChanged
)
