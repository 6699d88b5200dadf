"""Make runs for tests and call tools in them, through the whole executor.

A run has a fixed clock and counted ids, and records its events; an approver and a ledger record what they are asked.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from toolroll.errors import UsageError
from toolroll.kernel.approval.consent import Consent, Outflow
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision, Reject
from toolroll.kernel.call.context import Ledger, Run
from toolroll.kernel.call.events import KernelEvent
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.depends.dependency import Overrides
from toolroll.kernel.threads import is_in_event_loop

Answers: TypeAlias = Decision | Iterable[Decision] | Callable[[ApprovalRequest], Decision]
"""One decision for all requests, one for each in turn, or a function that makes them."""

Event = TypeVar("Event", bound=KernelEvent)
_YES: Final = Approve()
START: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""What a fixed clock shows unless it is told otherwise."""

_STANDS_STILL: Final = timedelta(0)


class RecordingApprover:
    """An approver that answers as told (yes to everything by default) and keeps all it was asked.

    `batches` holds the requests as they came together, `requests` all of them in order. When the decisions run out, it
    has not said yes: the call then ends with `needs_approval`, and the text says that the approver failed.
    """

    def __init__(self, decisions: Answers = _YES) -> None:
        self.batches: list[tuple[ApprovalRequest, ...]] = []
        self._answer = _make_answer(decisions)

    @property
    def requests(self) -> list[ApprovalRequest]:
        """Return every request so far."""
        return [request for batch in self.batches for request in batch]

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Return one decision for each request, in their order."""
        self.batches.append(tuple(requests))
        return [self._answer(request) for request in requests]


def _make_answer(decisions: Answers) -> Callable[[ApprovalRequest], Decision]:
    if isinstance(decisions, (Approve, Reject)):
        return lambda _: decisions
    if callable(decisions):
        return decisions
    prepared = iter(decisions)

    def answer(request: ApprovalRequest) -> Decision:
        decision = next(prepared, None)
        if decision is None:
            raise UsageError(f"RecordingApprover has no decision left for {request.tool}. Prepare one more.")
        return decision

    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One thing a ledger was told: that a call is about to run, or how it ended."""

    kind: Literal["intent", "outcome"]
    """`intent` before the call, `outcome` after it."""
    call: ToolCall
    """The call."""
    result: ToolResult | None = None
    """The result, for an outcome."""


class RecordingLedger:
    """A ledger that keeps every intent and outcome in `rows`, in the order they were told."""

    def __init__(self) -> None:
        self.rows: list[LedgerRow] = []

    async def intent(self, call: ToolCall, /) -> None:
        """Record that the call is about to run."""
        self.rows.append(LedgerRow(kind="intent", call=call))

    async def outcome(self, call: ToolCall, result: ToolResult, /) -> None:
        """Record how the call ended."""
        self.rows.append(LedgerRow(kind="outcome", call=call, result=result))


class RunOptions(TypedDict, total=False):
    """The options of `Run`."""

    run_id: str | None
    """The id of the run; by default a new one."""
    deps: Mapping[str, object] | None
    """Values that tools find in `ctx.deps`."""
    overrides: Overrides | None
    """Providers that replace others, by provider, id or key."""
    policy: Policy | None
    """Rules that allow, deny or ask."""
    approver: Approver | None
    """Answers questions about calls."""
    ledger: Ledger | None
    """Is told of each call before and after it runs."""
    on_event: Callable[[KernelEvent], None] | None
    """Called with every event."""
    clock: Callable[[], datetime]
    """Returns the time."""
    make_id: Callable[[], str]
    """Returns new ids."""
    logger: logging.Logger
    """The logger that tools get."""
    consent: Consent | Outflow | None
    """A person's consent to calls out of a run with private text."""


class RecordedRun(Run):
    """A run that keeps its events."""

    def __init__(self, **options: Unpack[RunOptions]) -> None:
        super().__init__(**options)
        self.events: list[KernelEvent] = []

    def emit(self, event: KernelEvent) -> None:
        """Report an event, and keep it."""
        self.events.append(event)
        super().emit(event)


@overload
def recorded_events(run: RecordedRun) -> list[KernelEvent]: ...


@overload
def recorded_events(run: RecordedRun, kind: type[Event]) -> list[Event]: ...


def recorded_events(run: RecordedRun, kind: type[Event] | None = None) -> Sequence[KernelEvent]:
    """Return the events of the run so far, all or those of one kind: `recorded_events(run, Progress)`."""
    return [event for event in run.events if kind is None or isinstance(event, kind)]


def fixed_clock(start: datetime = START, *, step: timedelta = _STANDS_STILL) -> Callable[[], datetime]:
    """Make a clock for `Run(clock=...)` that shows `start` and goes on by `step` each time it is read."""
    if start.tzinfo is None:
        raise UsageError(f"A clock needs a time with its zone, not {start!r}. Write datetime(..., tzinfo=UTC).")
    reads = count()
    return lambda: start + next(reads) * step


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    """Make ids for `Run(make_id=...)` that count: `id_1`, `id_2`, and so on."""
    numbers = count(1)
    return lambda: f"{prefix}_{next(numbers)}"


def make_run(**options: Unpack[RunOptions]) -> RecordedRun:
    """Make a run that is always the same: `run_1`, a clock that stands still, counted ids, and recorded events.

    Whoever is asked says yes, unless there is another `approver`; with `approver=None` there is nobody to ask.
    """
    fixed = RunOptions(run_id="run_1", clock=fixed_clock(), make_id=counting_ids(), approver=RecordingApprover())
    return RecordedRun(**(fixed | options))


async def call_tool(tool: Tool, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """Return what a model would get for these arguments. Without a run, make one for this call and close it after."""
    _check(tool, run)
    raw = dump_json(arguments)
    if run is not None:
        return await tool.execute_raw(raw, run.context())
    async with make_run() as fresh:
        return await tool.execute_raw(raw, fresh.context())


def _check(tool: object, run: object) -> None:
    if not isinstance(tool, Tool):
        raise UsageError(f"Only a tool can be called like this, not {tool!r}. Make one of it: tool(...).")
    if run is not None and not isinstance(run, Run):
        raise UsageError(
            f"Arguments are given by name: call({tool.name}, name=...). What stands second is a Run, not {run!r}."
        )


def call(tool: Tool, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """Do what `call_tool` does, for code that is not async; each call has an event loop of its own."""
    if not is_in_event_loop():
        return asyncio.run(call_tool(tool, run, **arguments))
    raise UsageError("call() starts an event loop, and one is running here. Write: await call_tool(...)")
