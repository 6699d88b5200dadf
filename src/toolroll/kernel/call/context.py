"""The context of a call: the run it belongs to, and what is the call's own.

Time, ids, logging, dependencies and everybody who must be asked come in through here, so that a test can replace each.
"""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from threading import get_ident
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from toolroll.kernel.approval.ask_person import Unanswered, ask_person
from toolroll.kernel.approval.consent import CONSENTED_KEY, FRAGMENTS_KEY, Consent, Outflow, as_outflow
from toolroll.kernel.approval.request import ApprovalRequest, Approver, Decision, Preview, Target, check_approver
from toolroll.kernel.call.events import ApprovalRequested, KernelEvent, Progress, StateChanged
from toolroll.kernel.data.labels import ALL_LABELS, LABELS_KEY, NO_LABELS, Labels
from toolroll.kernel.depends.dependency import DependencyKey, Depends, Overrides
from toolroll.kernel.depends.overrides import read_overrides
from toolroll.kernel.depends.resolve import ValueStore, provide
from toolroll.kernel.failures import is_being_cancelled, log_failure

if TYPE_CHECKING:
    import asyncio
    import logging
    from types import TracebackType

    from toolroll.kernel.approval.policy import Policy
    from toolroll.kernel.call.result import ToolResult
    from toolroll.kernel.data.messages import ToolCall

T = TypeVar("T")

LOGGER_NAME: Final = "toolroll.tools"


Receiver: TypeAlias = Callable[[str, Mapping[str, object], str], Awaitable[object]]
"""Returns the result of a call that is answered from outside: `receive(call_id, arguments, why)`. Where there is none
yet, the run waits, and nobody reads what is returned."""


class Ledger(Protocol):
    """Records each call that runs: before it does, and afterwards."""

    async def intent(self, call: "ToolCall", /) -> None:
        """Record that the call is about to run. If this raises, the call does not run."""
        ...

    async def outcome(self, call: "ToolCall", result: "ToolResult", /) -> None:  # noqa: ARG002 - for who records it
        """Record how the call ended. A ledger that inherits from this class may leave it out."""
        return None  # noqa: RET501 - a body, so that it can be inherited


def utc_now() -> datetime:
    """Return the time now, with its zone."""
    return datetime.now(UTC)


def random_id() -> str:
    """Return an id that nobody can guess: 128 random bits."""
    return os.urandom(16).hex()


class Run:
    """What the calls of one run share. Close it (or use `async with`) to tear down run-scoped dependencies."""

    def __init__(
        self,
        *,
        run_id: str | None = None,
        deps: Mapping[str, object] | None = None,
        overrides: Overrides | None = None,
        policy: "Policy | None" = None,
        approver: Approver | None = None,
        ledger: Ledger | None = None,
        on_event: Callable[[KernelEvent], None] | None = None,
        clock: Callable[[], datetime] = utc_now,
        make_id: Callable[[], str] = random_id,
        logger: "logging.Logger | None" = None,
        consent: Consent | Outflow | None = None,
    ) -> None:
        self.run_id: str = run_id or make_id()
        self.deps: Mapping[str, object] = MappingProxyType(dict(deps or {}))
        self.overrides: Overrides = MappingProxyType(read_overrides(overrides or {}))
        self.policy = policy
        if approver is not None:
            check_approver(approver)
        self.approver = approver
        self.ledger = ledger
        self.clock = clock
        self.make_id = make_id
        self._logger = logger
        self.values: ValueStore = ValueStore()
        self.cancelled = False
        self.stopping = False
        """Whether the run ends after the calls that are running: one that can be ended without harm ends now."""
        self.labels: Labels = NO_LABELS
        self.said: tuple[str, ...] | None = None
        """What the person has said in this run, in their own words; None where there is no conversation."""
        self.outflow: Outflow | None = as_outflow(consent)
        self.receive: Receiver | None = None
        """Asks for results that come from outside; None where nothing can wait for one."""
        self.calls = 0  # that got a context so far: those of one turn get theirs before any of them is answered
        self._on_event = on_event
        self._state: dict[str, object] = {}

    @property
    def logger(self) -> "logging.Logger":
        """Return the logger to which tools and the executor write for operators."""
        if self._logger is None:
            import logging  # noqa: PLC0415 - most programs that import toolroll never need it

            self._logger = logging.getLogger(LOGGER_NAME)
        return self._logger

    @property
    def state(self) -> Mapping[str, object]:
        """Return what is stored with the run by name, such as the todos."""
        return MappingProxyType(self._state)

    def set_state(self, name: str, value: object) -> None:
        """Keep a value with the run; everybody who watches is told."""
        self._state[name] = value
        self.emit(StateChanged(name=name, value=value))

    def add_labels(self, labels: Labels) -> None:
        """Add the labels of results to the run; nothing takes them out again."""
        if not labels <= self.labels:
            self.labels |= labels
            self.set_state(LABELS_KEY, sorted(self.labels))

    def add_private_text(self, text: str) -> None:
        """Note a text in the prompts that is not the person's own words, such as a file: private, and untrusted."""
        self.labels |= ALL_LABELS
        if self.outflow is not None:
            self.outflow.private.add(text)

    def take_consent(self, call_id: str, arguments: object) -> str | None:
        """Count a call that could carry private text out if a consent covers it; else return why none does."""
        if self.outflow is None:
            return ""
        why = self.outflow.take(call_id, arguments)
        if why is None:
            self.note_consented()
        return why

    def note_consented(self) -> None:
        """Store how many calls went out by consent: a resumed run goes on counting from there."""
        if self.outflow is not None and self._state.get(CONSENTED_KEY, 0) != self.outflow.calls:
            self.set_state(CONSENTED_KEY, self.outflow.calls)
            fragments = [self.outflow.fragments.words, self.outflow.fragments.keys]
            if fragments != self._state.get(FRAGMENTS_KEY, [0, 0]):
                self.set_state(FRAGMENTS_KEY, fragments)

    def emit(self, event: KernelEvent) -> None:
        """Report an event."""
        if self._on_event is not None:
            self._on_event(event)

    def report(self, event: KernelEvent) -> None:
        """Report an event; a listener that breaks, or tries to exit the program, changes nothing for who reports it."""
        try:
            self.emit(event)
        except BaseException as error:
            if is_being_cancelled(error):
                raise
            log_failure(self.logger, error, "a listener failed on %s", event.event)

    async def ask(self, requests: Sequence[ApprovalRequest]) -> Sequence[Decision | Unanswered]:
        """Ask the approver about these requests; return a decision for each, or why there is none."""
        for request in requests if self.approver is not None else ():
            self.report(ApprovalRequested(request=request))
        return await ask_person(self.approver, requests, self.logger)

    def context(self, call_id: str | None = None) -> "ToolContext":
        """Return the context of one more call."""
        return ToolContext(run=self, call_id=call_id)

    async def aclose(self) -> None:
        """Tear down what was made for the run."""
        await self.values.aclose()

    async def __aenter__(self) -> "Run":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await self.aclose()


class ToolContext:
    """What one call may use: dependencies, clock, logger, progress, and whether it was cancelled."""

    is_tool_context: ClassVar[bool] = True

    __slots__ = (
        "_cancelled",
        "_home",
        "_values",
        "approved",
        "batch",
        "call_id",
        "denied_paths",
        "edited_arguments",
        "has_unread_edit",
        "number",
        "run",
        "targets",
        "unasked_paths",
    )

    def __init__(self, *, run: Run | None = None, call_id: str | None = None) -> None:
        self.run: Run = run or Run()
        self.call_id: str = call_id if call_id is not None else self.run.make_id()
        self.run.calls += 1
        self.number: int = self.run.calls
        self.approved: Preview | None = None
        self.targets: tuple[Target, ...] = ()
        """Where the paths of the call led when it was judged; empty where nothing had to be judged."""
        self.denied_paths: tuple[str, ...] = ()
        """Patterns of paths that rules keep from this call: it shows nothing of what they fit, named or not."""
        self.unasked_paths: tuple[str, ...] = ()
        """Those of `denied_paths` that a person would be asked about, if the call named them."""
        self.edited_arguments: str | None = None  # those of a person, as JSON, in the place of the model's
        self.has_unread_edit: bool = False  # of a person, which the tool has not looked at so far
        self.batch: str | None = None
        """What calls share that a person allowed together."""
        self._cancelled = False
        self._values: ValueStore | None = None
        self._home: tuple[asyncio.AbstractEventLoop, int] | None = None  # and the thread that it runs in

    @property
    def run_id(self) -> str:
        """Return the id of the run that this call belongs to."""
        return self.run.run_id

    @property
    def preview(self) -> Preview | None:
        """Return what a person or a rule allowed this call to change; with the person's text if they edited it."""
        if self.approved is not None:
            self.has_unread_edit = False
        return self.approved

    @preview.setter
    def preview(self, preview: Preview | None) -> None:
        self.approved = preview

    @property
    def deps(self) -> Mapping[str, object]:
        """Return the plain mapping of values that the run was given."""
        return self.run.deps

    @property
    def logger(self) -> "logging.Logger":
        """Return the logger to which tools and the executor write for operators."""
        return self.run.logger

    @property
    def cancelled(self) -> bool:
        """Return whether the result is no longer wanted. A long sync tool looks here between its steps."""
        return self._cancelled or self.run.cancelled

    @property
    def values(self) -> ValueStore:
        """Return the dependencies made for this call."""
        if self._values is None:
            self._values = ValueStore()
        return self._values

    def now(self) -> datetime:
        """Return the time, from the run's clock."""
        return self.run.clock()

    def cancel(self) -> None:
        """Tell the tool that nobody waits for it any more."""
        self._cancelled = True

    def progress(self, message: str, fraction: float | None = None) -> None:
        """Report how far the call is. Works from threads too."""
        event = Progress(call_id=self.call_id, message=message, fraction=fraction)
        if self._home is None or self._home[1] == get_ident():
            self.run.emit(event)
            return
        try:
            self._home[0].call_soon_threadsafe(self.run.report, event)
        except RuntimeError:  # the loop has closed: nobody is left to be told
            return

    async def resolve(self, key: DependencyKey[T]) -> T:
        """Return the value behind the key: an override with its id, or what `create` makes."""
        value: Any = await provide(Depends(key, key.scope), self)
        return value  # type: ignore[no-any-return]  # the key says which type `create` makes

    def runs_on(self, loop: "asyncio.AbstractEventLoop") -> None:
        """Note the loop and thread that the call runs on: events from other threads must cross over to it."""
        self._home = loop, get_ident()

    async def aclose(self) -> None:
        """Tear down what was made for this call."""
        if self._values is not None:
            try:
                await self._values.aclose()
            finally:
                self._values = None
