"""The calls of one client as a run: through the one executor, on record, with their outputs kept."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from toolroll.agent.approvals import NOT_YET, content_change, effect_of, preview_call
from toolroll.agent.context.outputs import store_result
from toolroll.agent.loop.state import Change
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision
from toolroll.kernel.call.context import Ledger, Run, ToolContext, random_id
from toolroll.kernel.call.error_result import describe_failure
from toolroll.kernel.call.events import KernelEvent, Progress, StateChanged
from toolroll.kernel.call.execute import execute
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall, ToolMessage
from toolroll.kernel.define.tool import Toolset
from toolroll.kernel.depends.dependency import Overrides
from toolroll.mcp.server.approver import ClientApprover, ClientCall, decide_all
from toolroll.mcp.server.resources import DocumentSource
from toolroll.mcp.server.run_record import RunRecord
from toolroll.outputs.cut import CONTEXT_BYTES
from toolroll.outputs.store import OutputStore
from toolroll.safe.limits import APPROVAL_TIMEOUT_S

SHORT_CHARACTERS: Final = CONTEXT_BYTES // 4
"""A text of so many characters fits, whatever they are: a character has up to four bytes."""
MAX_PENDING: Final = 1_000
"""Questions of one client that wait for an answer; the oldest are forgotten, and asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, and how: the same for every client of a server."""

    tools: Toolset
    deps: Mapping[str, object] = field(default_factory=dict)
    overrides: Overrides = field(default_factory=dict)
    policy: Policy | None = None
    approver: Approver | None = None
    """Who decides about calls; None asks the person behind the client."""
    journal: Journal | None = None
    outputs: Path | None = None
    """The folder in which whole outputs are kept; None keeps none."""
    record: Mapping[str, object] = field(default_factory=dict)
    """What the run log has about how the server was started."""
    approval_seconds: float = APPROVAL_TIMEOUT_S
    """How long a question waits; no answer is a no."""
    documents: Sequence[DocumentSource] = ()
    """What clients can read beside the tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What became of a call: its result, and what of it a model reads."""

    result: ToolResult
    message: ToolMessage


class ServedRun:
    """One client's calls, side by side as they come. Close it when the client is gone."""

    def __init__(self, serving: Serving, client: str) -> None:
        self.run_id: str = random_id()
        self.outputs: OutputStore | None = None
        self._serving = serving
        self._record = RunRecord(serving.journal, self.run_id, client, serving.tools, serving.record)
        self._calls: dict[str, ClientCall] = {}
        self._pending: dict[str, str] = {}
        self._approved: dict[str, Change] = {}
        self._started: dict[str, float] = {}
        self._working: set[str] = set()
        self._cancelled: set[str] = set()
        self._background: set[asyncio.Task[None]] = set()
        if serving.outputs is not None:
            secrets: Sequence[str] = getattr(serving.journal, "secrets", ())
            self.outputs = OutputStore(serving.outputs, run_id=self.run_id, secrets=secrets)
        self._run = _ServerRun(
            run_id=self.run_id,
            deps=serving.deps,
            overrides=serving.overrides,
            policy=serving.policy,
            approver=_RecordedApprover(self, serving.approver or ClientApprover(self._calls, self._record)),
            ledger=_CallLedger(self),
            on_event=self._on_event,
        )
        self._run.served = self

    def request_of(self, call_id: str) -> ServerRequestContext[Any, Any]:
        """Return the request of a call that is on its way."""
        return self._calls[call_id].ctx

    @property
    def is_busy(self) -> bool:
        """Return whether a call of the client is on its way."""
        return bool(self._calls or self._background)

    def take_pending(self, call_id: str) -> str | None:
        """Return the digest of what was asked about this call, once: an answer counts once."""
        return self._pending.pop(call_id, None)

    def add_pending(self, call_id: str, digest: str) -> None:
        """Note that the client was asked about a call, and may call again with the answer."""
        while len(self._pending) >= MAX_PENDING:
            self._pending.pop(next(iter(self._pending)))
        self._pending[call_id] = digest

    async def look(self, tools: Toolset, call: ToolCall, client_call: ClientCall) -> ToolResult:
        """Run a tool that lists something for the client, and is not on record."""
        self._calls[call.id] = client_call
        try:
            return await self._run_tool(tools, call)
        finally:
            self._calls.pop(call.id, None)
            self._started.pop(call.id, None)

    async def call(self, call: ToolCall, client_call: ClientCall, *, tools: Toolset | None = None) -> Answered | None:
        """Run one call; None if the client has to ask the person first, and call again."""
        self._calls[call.id] = client_call
        self._record.open_call(call)
        self._working.add(call.id)
        work = asyncio.create_task(self._execute(call, client_call, tools or self._serving.tools))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self._cancelled.add(call.id)
            # The client has cancelled the call, or is gone. Its task is cancelled once, and waited for by `close`.
            work.cancel()
            self._background.add(task := asyncio.ensure_future(self._end_cancelled(call, work)))
            task.add_done_callback(self._background.discard)
            raise

    async def close(self) -> None:
        """End the run: what still runs is cancelled, and the end is on record."""
        if self._background:
            await asyncio.wait(self._background)
        await self._run.aclose()
        await self._record.end()
        if self.outputs is not None:
            self.outputs.close()

    async def _execute(self, call: ToolCall, client_call: ClientCall, tools: Toolset) -> Answered | None:
        begun = perf_counter()
        try:
            result = await self._run_tool(tools, call)
            if client_call.question is not None:
                self.add_pending(call.id, client_call.question.digest)
                return None
            duration_ms = (perf_counter() - self._started.pop(call.id, begun)) * 1_000
            message = result.to_message(call_id=call.id, name=call.name)
            if self.outputs is not None and not _is_short(result):
                message = await store_result(self.outputs, message, CONTEXT_BYTES, result.whole)
            await self._record.end_call(call, message, result, duration_ms)
            await client_call.flush_progress()
            return Answered(result=result, message=message)
        finally:
            self._calls.pop(call.id, None)
            self._working.discard(call.id)
            self._cancelled.discard(call.id)
            self._approved.pop(call.id, None)
            self._started.pop(call.id, None)

    async def _run_tool(self, tools: Toolset, call: ToolCall) -> ToolResult:
        """Run one call by the one executor: without the group of tasks that the calls of a turn share."""
        tool = tools.get(call.name)
        if tool is None:
            return tools.unknown(call.name)
        ctx = self._run.context(call.id)
        try:
            return await execute(tool, call.arguments, ctx)
        except asyncio.CancelledError as error:
            me = asyncio.current_task()
            if me is None or call.id in self._cancelled or call.id not in self._working:
                raise
            me.uncancel()  # the tool did that to itself: nobody else cancels the task of a call
            return describe_failure(error, tool, ctx)

    async def _end_cancelled(self, call: ToolCall, work: "asyncio.Future[Answered | None]") -> None:
        await asyncio.wait([work])
        if work.cancelled() or work.exception() is not None:
            result = ToolResult.failure("The client cancelled the call.", code="interrupted")
            await self._record.end_call(call, result.to_message(call_id=call.id, name=call.name), result, 0.0)

    def _on_event(self, event: KernelEvent) -> None:
        if isinstance(event, Progress):
            if (call := self._calls.get(event.call_id)) is not None:
                call.report_progress(event.fraction, event.message)
        elif isinstance(event, StateChanged):
            self._record.add_state(event.name, event.value)

    async def ask(self, requests: Sequence[ApprovalRequest], approver: Approver) -> list[Decision]:
        """Ask about calls: the question is on record before it is shown, the answer before it counts."""
        await self._record.add_questions(requests)
        decisions = await decide_all(approver, requests)
        for request, decision in zip(requests, decisions, strict=True):
            if decision is not NOT_YET:
                await self._record.add_answer(request, decision)
            if isinstance(decision, Approve) and decision.arguments is None:
                self._approved[request.call_id] = content_change(request.preview, decision.edited)
        return decisions

    async def begin_call(self, call: ToolCall) -> None:
        """Note that a call runs now; that of a change is on record before it runs."""
        self._started[call.id] = perf_counter()
        tool = self._serving.tools.get(call.name)
        if tool is None or self._serving.journal is None or (effect := effect_of(tool)) == "reads":
            return
        change = self._approved.pop(call.id, None)
        if change is None and effect == "writes":
            shown = await preview_call(tool, call, self._run)
            change = None if isinstance(shown, ToolResult) else content_change(shown.preview)
        await self._record.begin_call(call, effect, change or (None, None))


def _is_short(result: ToolResult) -> bool:
    """Whether the client gets all of it: then there is nothing to read later, and a file costs more than the call."""
    return result.whole is None and isinstance(result.content, str) and len(result.content) <= SHORT_CHARACTERS


class _ServerRun(Run):
    """The kernel's run; the tools that read outputs back find the store through it."""

    served: ServedRun


class _RecordedApprover:
    def __init__(self, served: ServedRun, approver: Approver) -> None:
        self._served, self._approver = served, approver

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return await self._served.ask(requests, self._approver)


class _CallLedger(Ledger):
    def __init__(self, served: ServedRun) -> None:
        self._served = served

    async def intent(self, call: ToolCall, /) -> None:
        await self._served.begin_call(call)


def request_of_call(ctx: ToolContext) -> ServerRequestContext[Any, Any]:
    """Return the MCP request behind a call, for a tool that is only for MCP clients."""
    assert isinstance(ctx.run, _ServerRun)
    return ctx.run.served.request_of(ctx.call_id)


def store_of_call(ctx: ToolContext) -> OutputStore:
    """Return the outputs of the client that makes this call."""
    assert isinstance(ctx.run, _ServerRun)
    assert ctx.run.served.outputs is not None
    return ctx.run.served.outputs
