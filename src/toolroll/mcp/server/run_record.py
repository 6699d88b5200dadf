"""What the run log has of a client's calls: a turn for each, what a person was asked, and what came of it.

The client stands where the model of an agent stands. A call that reads is on record when it has ended, one that changes
something before it begins.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from toolroll.agent.approvals import question_text
from toolroll.agent.loop.state import Change
from toolroll.journal.journal import Journal
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    ModelTurn,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
)
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Effect, content_hash
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Origin, ToolCall, ToolMessage, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.kernel.define.tool import Toolset

WIRE: Final = "mcp"
"""The wire format under which the turns of a client are on record."""
MCP_KIND: Final = "mcp"
"""The kind of the run in its settings: no agent can be built again from them."""

UNANSWERED: Final = "The client is gone, and nobody has answered. Nothing was done."


class RunRecord:
    """The records of one client's run; of a server without a journal, none. It begins with the first call."""

    def __init__(
        self, journal: Journal | None, run_id: str, client: str, tools: Toolset, settings: Mapping[str, object]
    ) -> None:
        self._journal = journal
        self._run_id = run_id
        self._client = client
        self._tools = tools
        self._settings = settings
        self._is_begun = False
        self._turns: set[str] = set()
        self._states: list[Record] = []
        self._calls: dict[str, ToolCall] = {}
        self._asked: dict[str, str] = {}
        self._lock = asyncio.Lock()

    def open_call(self, call: ToolCall) -> None:
        """Note a call whose turn is recorded with the first record about it."""
        self._calls[call.id] = call

    async def begin_call(self, call: ToolCall, effect: Effect, change: Change) -> None:
        """Record that a call which changes something runs now."""
        base, target = change
        await self._append(call.id, CallIntended(call=call, effect=effect, base=base, target=target))

    async def add_questions(self, requests: Sequence[ApprovalRequest]) -> None:
        """Record what a person is asked; a question that a client brings back is on record already."""
        for one in requests:
            if self._asked.get(one.call_id) == one.digest:
                continue
            self._asked[one.call_id] = one.digest
            asked = ApprovalQuestion(
                call_id=one.call_id,
                tool=one.tool,
                digest=one.digest,
                preview=question_text(one),
                why=one.why,
                change=content_hash(one.preview.text),
                arguments=one.arguments,
            )
            await self._append(one.call_id, asked)

    async def add_answer(self, request: ApprovalRequest, decision: Decision) -> None:
        """Record what the person answered."""
        is_yes = isinstance(decision, Approve)
        answer = ApprovalAnswer(
            call_id=request.call_id,
            digest=request.digest,
            decision="approve" if is_yes else "reject",
            reason=None if isinstance(decision, Approve) else decision.reason,
        )
        await self._append(request.call_id, answer)

    def add_state(self, name: str, value: object) -> None:
        """Note a value that is stored with the run; recorded with the next record."""
        self._states.append(StateSet(name=name, value=value))

    async def end_call(self, call: ToolCall, message: ToolMessage, result: ToolResult, duration_ms: float) -> None:
        """Record the result of a call."""
        await self._append(call.id, CallEnded(result=message, code=result.code, duration_ms=duration_ms))
        self._turns.discard(call.id)
        self._calls.pop(call.id, None)
        self._asked.pop(call.id, None)

    async def end(self) -> None:
        """Record that the client is gone, if it has called anything, and let go of the run."""
        if self._journal is None or not self._is_begun:
            return
        for call_id in [*self._turns]:
            call, result = self._calls[call_id], ToolResult.failure(UNANSWERED, code="needs_approval")
            await self.end_call(call, result.to_message(call_id=call_id, name=call.name), result, 0.0)
        ended = RunEnded(stop_reason="done", stop_detail="the client is gone", text="", has_answer=False)
        async with self._lock:
            await self._journal.append(self._run_id, ended)
            await self._journal.release(self._run_id)

    async def _append(self, call_id: str, record: Record) -> None:
        if self._journal is None:
            return
        async with self._lock:  # the order of records is the order in which they became true
            records = [*self._begin(), *self._begin_turn(call_id), *self._states, record]
            self._states.clear()
            await self._journal.append(self._run_id, *records)

    def _begin(self) -> list[Record]:
        if self._is_begun:
            return []
        self._is_begun = True
        tools = {tool.name: tool.definition.fingerprint for tool in self._tools}
        began = RunBegan(model=self._client, system="", tools=tools, settings=self._settings, closes_inside=True)
        return [began, MessageAdded(message=UserMessage.of(f"(calls of an MCP client: {self._client})"))]

    def _begin_turn(self, call_id: str) -> list[Record]:
        if call_id in self._turns:
            return []
        self._turns.add(call_id)
        origin = Origin(wire=WIRE, model=self._client)
        message = AssistantMessage(blocks=(CallBlock(call=self._calls[call_id]),), origin=origin)
        turn = ModelTurn(message=message, stop="tool_calls", stop_detail="", usage=Usage(), cost=0.0, duration_s=0.0)
        return [turn]
