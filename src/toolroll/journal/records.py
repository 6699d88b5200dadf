"""The records of a run: facts in the order they became true. Nothing in them is ever changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolroll.kernel.approval.request import Effect
from toolroll.kernel.data.messages import AssistantMessage, Message, ToolCall, ToolMessage
from toolroll.kernel.data.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegan:
    """A run was started: with which model, system prompt and tools (name to fingerprint).

    `parent` is the run that this one is a part of; `settings` is what a surface needs to make the same agent again.
    A fork names the run that it was `forked_from`, and after how many steps of it (`at`); the `inherited` records that
    follow are copies of that run's own: they happened, and were paid for, there. `chosen` names what was given for this
    run alone, by option: who resumes it must give that again.
    The first `earlier` messages are of the conversation that it was given; records of 0.2.0 and before do not say.
    `closes_inside` says that the closing turn is one of the steps that `step_count_is` allows; before, it came on top.
    """

    model: str
    system: str
    tools: Mapping[str, str]
    parent: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    model_settings: Mapping[str, object] | None = None
    """What was asked of the model beyond the conversation; None in records of versions that had no such settings."""
    forked_from: str | None = None
    at: int | None = None
    inherited: int = 0
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    earlier: int = 0
    closes_inside: bool = False
    kind: Literal["run_began"] = "run_began"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAdded:
    """A message came from outside: the prompt, an earlier conversation, a continuation.

    `about` is set where the agent itself spoke: what it found missing in the model's last turn.
    """

    message: Message
    about: str | None = None
    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """The model finished a turn. Paid for: it is never asked again."""

    message: AssistantMessage
    stop: str
    stop_detail: str
    usage: Usage
    cost: float | None
    duration_s: float
    closing: bool = False
    pauses: int = 0
    """How often the provider paused the turn for a tool of its own."""
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallIntended:
    """A call is about to run. Without an outcome after it, nobody knows whether it did.

    `base` and `target` are the hashes of what it changes, before and after, where its preview gave them: they tell.
    """

    call: ToolCall
    effect: Effect
    base: str | None = None
    target: str | None = None
    kind: Literal["intended"] = "intended"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """A call has its result, whether it ran or was refused. `note` is what the loop guard added to it."""

    result: ToolMessage
    code: str | None
    duration_ms: float
    is_final: bool = False
    note: str | None = None
    kind: Literal["ended"] = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageAdded:
    """A sub-agent finished a step on this run's account: which step of which run, for which call of this one."""

    name: str
    run_id: str
    step: int
    call_id: str
    usage: Usage
    cost: float | None
    kind: Literal["spent"] = "spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """A person was asked, and shown this; `digest` is what an answer must be bound to.

    `change` is the hash of what would happen, without notes and hints; records before 0.2.0 do not have it.
    """

    call_id: str
    tool: str
    digest: str
    preview: str
    why: str = ""
    change: str = ""
    arguments: object = None
    """The checked arguments of the call; None in a record of an earlier version."""
    waits_for: Literal["approval", "result"] = "approval"
    """What the call waits for: a person's approval, or a result that is delivered from outside."""
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswer:
    """The person answered what was asked under that digest."""

    call_id: str
    digest: str
    decision: Literal["approve", "reject"]
    reason: str | None = None
    edited: str | None = None
    arguments: Mapping[str, object] | None = None
    """Those of the person, in the place of the model's."""
    kind: Literal["decided"] = "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSet:
    """Something kept with the run has a new value."""

    name: str
    value: object
    kind: Literal["kept"] = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopDecided:
    """The run is to end for this reason; the model is still asked for a last answer."""

    stop_reason: str
    stop_detail: str
    kind: Literal["stopped"] = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run ended. It can still be continued.

    `has_answer` is False where `text` only stands for a missing answer; records before 0.2.0 do not say.
    """

    stop_reason: str
    stop_detail: str
    text: str
    has_answer: bool | None = None
    kind: Literal["finished"] = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputsTrimmed:
    """From here on the model is sent references in the place of these outputs: call ids, each with its reference."""

    outputs: tuple[tuple[str, str], ...]
    kind: Literal["trimmed"] = "trimmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesCompacted:
    """From here on the model is sent a summary in the place of the first `through` messages of the conversation.

    `pinned` are those among them that it is still sent, by their place. `decisions` and `references` are lines of the
    summary that the next one must hold again. The messages themselves stay on record.
    """

    through: int
    summary: str
    pinned: tuple[int, ...] = ()
    decisions: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    kind: Literal["compacted"] = "compacted"


Record: TypeAlias = (
    RunBegan
    | MessageAdded
    | ModelTurn
    | CallIntended
    | CallEnded
    | UsageAdded
    | ApprovalQuestion
    | ApprovalAnswer
    | StateSet
    | OutputsTrimmed
    | MessagesCompacted
    | StopDecided
    | RunEnded
)
