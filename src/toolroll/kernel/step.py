"""All the calls of one model turn: asked about together, run side by side, answered in order.

Calls that only read run concurrently. Calls that change something run one after another, in the model's order.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from toolroll.kernel.approval import ApprovalRequest, Decision
from toolroll.kernel.ask import ask
from toolroll.kernel.context import Run, ToolContext
from toolroll.kernel.execute import Asking, admit, run, settle, show
from toolroll.kernel.messages import ToolCall, ToolMessage
from toolroll.kernel.permit import Permit
from toolroll.kernel.result import ToolResult
from toolroll.kernel.tool import Tool
from toolroll.kernel.toolset import Toolset
from toolroll.safe.limits import MAX_CALLS_PER_STEP


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """A call that a person has answered; the answer is checked against the world when its turn comes."""

    asking: Asking
    request: ApprovalRequest
    decision: Decision | None


@dataclass(slots=True, kw_only=True)
class _Work:
    """One call on its way, and what is known of it so far."""

    call: ToolCall
    ctx: ToolContext
    tool: Tool | None
    state: Permit | Asking | _Answered | ToolResult

    @property
    def changes(self) -> bool:
        """Whether it must wait for its turn among the calls that change something."""
        return self.tool is not None and self.tool.core.effect != "reads"


OnResult = Callable[[ToolCall, ToolResult], Awaitable[None] | None]
"""Hears of a result the moment it is there; what it awaits (keeping the result, say) is waited for."""


async def execute_step(
    tools: Toolset, calls: Sequence[ToolCall], of: Run, *, on_result: OnResult | None = None
) -> list[ToolResult]:
    """A result for every call, in their order. `on_result` hears of each as it finishes."""
    works = [_admit(tools, call, of, number) for number, call in enumerate(unique_ids(calls, of.make_id))]
    await _ask_together(works, of)
    await _run_all(works, on_result or _nobody)
    return [_ended(work) for work in works]


def messages_of(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[ToolMessage]:
    """The messages that answer the calls."""
    pairs = zip(calls, results, strict=True)
    return [result.to_message(call_id=call.id, name=call.name) for call, result in pairs]


def unique_ids(calls: Sequence[ToolCall], make_id: Callable[[], str]) -> list[ToolCall]:
    """The calls with ids that are there and differ: providers have sent empty and repeated ones."""
    seen: set[str] = set()
    found: list[ToolCall] = []
    for call in calls:
        unique = call if call.id and call.id not in seen else replace(call, id=f"call_{make_id()}")
        seen.add(unique.id)
        found.append(unique)
    return found


def _nobody(_call: ToolCall, _result: ToolResult) -> None:
    return None


def _admit(tools: Toolset, call: ToolCall, of: Run, number: int) -> _Work:
    ctx = of.context(call.id)
    tool = tools.get(call.name)
    if number >= MAX_CALLS_PER_STEP:
        text = f"More than {MAX_CALLS_PER_STEP} calls in one turn; this one was not run. Call it again in the next."
        return _Work(call=call, ctx=ctx, tool=None, state=ToolResult.failure(text, code="too_many_calls"))
    if tool is None:
        return _Work(call=call, ctx=ctx, tool=None, state=tools.unknown(call.name))
    return _Work(call=call, ctx=ctx, tool=tool, state=admit(tool, call.arguments, ctx))


async def _ask_together(works: Sequence[_Work], of: Run) -> None:
    shown: list[tuple[_Work, Asking, ApprovalRequest]] = []
    for work in works:
        if isinstance(work.state, Asking):
            asking, request = work.state, await show(work.state, work.ctx)
            if isinstance(request, ToolResult):
                work.state = request
            else:
                shown.append((work, asking, request))
    if shown:
        decisions = await ask(of, [request for _, _, request in shown])
        for (work, asking, request), decision in zip(shown, decisions, strict=True):
            work.state = _Answered(asking=asking, request=request, decision=decision)


async def _run_all(works: Sequence[_Work], on_result: OnResult) -> None:
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    if len(works) == 1:
        await _run_one(works[0], on_result)
        return
    async with asyncio.TaskGroup() as group:
        for work in works:
            if not work.changes:
                group.create_task(_run_one(work, on_result))
        group.create_task(_run_in_order([work for work in works if work.changes], on_result))


async def _run_in_order(works: Sequence[_Work], on_result: OnResult) -> None:
    for work in works:
        await _run_one(work, on_result)


async def _run_one(work: _Work, on_result: OnResult) -> None:
    if isinstance(work.state, _Answered):
        answered = work.state
        work.state = await settle(answered.asking, answered.request, answered.decision, work.ctx)
    if isinstance(work.state, Permit):
        assert work.tool is not None
        work.state = await run(work.tool, work.call.arguments, work.state, work.ctx)
    heard = on_result(work.call, _ended(work))
    if heard is not None:
        await heard


def _ended(work: _Work) -> ToolResult:
    assert isinstance(work.state, ToolResult)
    return work.state
