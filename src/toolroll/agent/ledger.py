"""What a run writes down around its calls: that one is about to run, and what it would change."""

import inspect
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from toolroll.agent.events import CallStarted
from toolroll.agent.preview import change_of, effect_of, preview_now
from toolroll.agent.state import Change, RunState
from toolroll.journal.records import Intended
from toolroll.kernel.approval.request import ApprovalRequest, Approver, Decision, Effect
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool

if TYPE_CHECKING:
    import asyncio


class CallLedger:
    """The kernel's ledger of one run. A call that reads may simply be run again, so only changes are recorded."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    async def intent(self, call: ToolCall, /) -> None:
        """The call runs now, after everybody who had to be asked."""
        state = self._state
        if state.setup.journal is not None:
            tool = state.setup.tools.get(call.name)
            assert tool is not None
            effect = effect_of(tool)
            if effect != "reads":
                base, target = await self._change(tool, call, effect)
                intended = Intended(call=call, effect=effect, base=base, target=target)
                if state.intended.pop(call.id, None) != intended:
                    await state.record(intended)
        state.started[call.id] = perf_counter()
        if state.spans is not None:
            state.spans.begin(call)
        state.emit(CallStarted(call=call))

    async def _change(self, tool: Tool, call: ToolCall, effect: Effect) -> Change:
        """The hashes before and after; where nobody was shown a preview, one is made for them."""
        known = self._state.approved.pop(call.id, None)
        if known is not None or effect != "writes":
            return known or (None, None)
        shown = await preview_now(tool, call, self._state.run)
        return (None, None) if isinstance(shown, ToolResult) else change_of(shown.preview)

    async def outcome(self, call: ToolCall, result: ToolResult, /) -> None:
        """Nothing: who hears of the result keeps it, with what the model reads of it."""


class OneAtATime:
    """An approver that is asked one question after another, also by sub-agents that run side by side."""

    def __init__(self, approver: Approver) -> None:
        self.approver = approver
        self._lock: asyncio.Lock | None = None

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """One decision for each request, in their order."""
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            answer = self.approver.decide(requests)
            return await answer if inspect.isawaitable(answer) else answer
