"""Run all the calls of one model turn: ask about them together, run them side by side, answer them in order.

Calls that only read run concurrently. Calls that change something run one after another, in the model's order.
"""

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from toolroll.kernel.approval.ask_person import Unanswered
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import ApprovalRequest, Decision
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.error_result import describe_failure, shape_failure
from toolroll.kernel.call.execute import Asking, Locating, admit, judge_located, run_call, settle, show
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.failures import log_failure
from toolroll.safe.limits import MAX_CALLS_PER_STEP

if TYPE_CHECKING:
    from toolroll.kernel.define.tool import Tool, Toolset


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decided:
    """A call that a person has answered; the answer is checked against the world when its turn comes."""

    asking: Asking
    request: ApprovalRequest
    decision: Decision | Unanswered


@dataclass(slots=True, kw_only=True)
class _Work:
    """One call on its way, and what is known of it so far."""

    call: ToolCall
    ctx: ToolContext
    tool: "Tool | None"
    state: Permit | Asking | Locating | _Decided | ToolResult

    @property
    def changes(self) -> bool:
        """Return whether it must wait for its turn among the calls that change something."""
        state = self.state.asking if isinstance(self.state, _Decided) else self.state
        return isinstance(state, Permit | Asking) and state.changes


OnResult = Callable[[ToolCall, ToolResult], Awaitable[None] | None]
"""Hears of a result the moment it is there; what it awaits (keeping the result, say) is waited for."""


async def execute_step(
    tools: "Toolset", calls: Sequence[ToolCall], run: Run, *, on_result: OnResult | None = None
) -> list[ToolResult]:
    """Return a result for every call, in their order. `on_result` is called with each as it finishes.

    An error that `on_result` raises is raised here too, when all calls have ended: they are not to suffer from it.
    """
    known = () if len(calls) == 1 else tuple(tool for call in calls if (tool := tools.get(call.name)) is not None)
    works = [_admit(tools, call, run, number, known) for number, call in enumerate(make_ids_unique(calls, run.make_id))]
    for work in works:
        if isinstance(work.state, Locating):
            work.state = await judge_located(work.state, work.ctx)
    await _ask_together(works, run)
    await _run_all(works, on_result)
    return [_result(work) for work in works]


def make_ids_unique(calls: Sequence[ToolCall], make_id: Callable[[], str], taken: Iterable[str] = ()) -> list[ToolCall]:
    """Return the calls with ids that differ from each other and from those `taken` by earlier turns.

    Providers have sent empty, repeated and reused ones. Calls that are fine keep their ids.
    """
    seen = set(taken)
    found: list[ToolCall] = []
    for call in calls:
        name = call.id
        if not name or name in seen:
            name = _free_id(f"call_{make_id()}", seen)
        seen.add(name)
        found.append(call if name == call.id else replace(call, id=name))
    return found


def _free_id(name: str, seen: Container[str]) -> str:
    # A source of ids that repeats itself (a test's fixed one) must not make two calls one.
    if name not in seen:
        return name
    return next(longer for number in count(2) if (longer := f"{name}_{number}") not in seen)


def _admit(tools: "Toolset", call: ToolCall, run: Run, number: int, siblings: Sequence["Tool"]) -> _Work:
    ctx = run.context(call.id)
    tool = tools.get(call.name)
    if number >= MAX_CALLS_PER_STEP:
        text = f"More than {MAX_CALLS_PER_STEP} calls in one turn; this one was not run. Call it again in the next."
        return _Work(call=call, ctx=ctx, tool=None, state=ToolResult.failure(text, code="too_many_calls"))
    if tool is None:
        return _Work(call=call, ctx=ctx, tool=None, state=tools.unknown(call.name))
    return _Work(call=call, ctx=ctx, tool=tool, state=admit(tool, call.arguments, ctx, siblings))


async def _ask_together(works: Sequence[_Work], run: Run) -> None:
    shown: list[tuple[_Work, Asking, ApprovalRequest]] = []
    for work in works:
        if isinstance(work.state, Asking):
            asking, request = work.state, await show(work.state, work.ctx)
            if isinstance(request, ToolResult):
                work.state = request
            else:
                shown.append((work, asking, request))
    if shown:
        decisions = await run.ask([request for _, _, request in shown])
        for (work, asking, request), decision in zip(shown, decisions, strict=True):
            work.state = _Decided(asking=asking, request=request, decision=decision)


async def _run_all(works: Sequence[_Work], on_result: OnResult | None) -> None:
    caller = asyncio.current_task()
    assert caller is not None
    running = _StepRunner(caller, on_result)
    in_order = [work for work in works if work.changes]
    async with asyncio.TaskGroup() as group:
        for work in works:
            if not work.changes:
                group.create_task(running.run_one(work))
        if in_order:
            group.create_task(running.run_in_turn(in_order))
    if running.error is not None:
        raise running.error


class _StepRunner:
    """The calls of a step while they run: none of them can take another one down."""

    def __init__(self, caller: "asyncio.Task[object]", on_result: OnResult | None) -> None:
        self._caller = caller
        self._on_result = on_result
        self.error: Exception | None = None

    async def run_in_turn(self, works: Sequence[_Work]) -> None:
        for work in works:
            await self.run_one(work)

    async def run_one(self, work: _Work) -> None:
        me = asyncio.current_task()
        try:
            await _finish(work)
        except (asyncio.CancelledError, GeneratorExit) as error:
            if self._is_ending(me):
                raise
            assert me is not None
            me.uncancel()  # the tool did that to itself, and its siblings go on
            assert work.tool is not None
            work.state = describe_failure(error, work.tool, work.ctx)
        if work.tool is not None:
            work.state = shape_failure(_result(work), work.tool)
        if self._on_result is not None:
            await self._report(work, self._on_result)

    def _is_ending(self, me: "asyncio.Task[object] | None") -> bool:
        """Return whether the whole step is being cancelled, or this part of it thrown away."""
        return me is not asyncio.current_task() or self._caller.cancelling() > 0

    async def _report(self, work: _Work, on_result: OnResult) -> None:
        try:
            waiting = on_result(work.call, _result(work))
            if waiting is not None:
                await waiting
        except Exception as error:  # noqa: BLE001 - raised again when all calls have ended
            self.error = self.error or error
            log_failure(work.ctx.logger, error, "who listens to results failed on that of %s", work.call.name)


async def _finish(work: _Work) -> None:
    if isinstance(work.state, _Decided):
        answered = work.state
        work.state = await settle(answered.asking, answered.request, answered.decision, work.ctx)
    if isinstance(work.state, Permit):
        assert work.tool is not None
        work.state = await run_call(work.tool, work.call.arguments, work.state, work.ctx)


def _result(work: _Work) -> ToolResult:
    assert isinstance(work.state, ToolResult)
    return work.state
