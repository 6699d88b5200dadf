"""The events that the kernel reports while calls run; surfaces show them, the journal records them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolroll.kernel.approval.request import ApprovalRequest, Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A tool reports how far it is; `fraction` is between 0 and 1 if it knows."""

    call_id: str
    message: str
    fraction: float | None = None
    event: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested:
    """A call waits for a person."""

    request: ApprovalRequest
    event: Literal["approval_requested"] = "approval_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecided:
    """The person (or nobody in time) has decided."""

    request: ApprovalRequest
    decision: Decision
    event: Literal["approval_decided"] = "approval_decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged:
    """A value that is stored with the run has changed, such as the todos."""

    name: str
    value: object
    event: Literal["state_changed"] = "state_changed"


KernelEvent: TypeAlias = Progress | ApprovalRequested | ApprovalDecided | StateChanged
