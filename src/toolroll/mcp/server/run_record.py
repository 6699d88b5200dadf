"""What the run log has of a client's calls: a turn for each, what a person was asked, and what came of it.

The client stands where the model of an agent stands. A call that reads is on record when it has ended, one that changes
something before it begins.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from toolroll.agent.approvals import question_text, recorded_decision
from toolroll.agent.loop.state import Change
from toolroll.apps.client_questions import CLIENT_KIND
from toolroll.errors import JournalRefused
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
MCP_KIND: Final = CLIENT_KIND
"""The kind of the run in its settings: no agent can be built again from them."""

ANSWER_ATTEMPTS: Final = 40
ANSWER_SECONDS: Final = 0.05
"""Between attempts to write while another process records an answer, which takes milliseconds."""
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
        self._outside: dict[str, int] = {}
        self._answered: set[str] = set()
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
            self._outside.pop(one.call_id, None)  # what was asked before has changed
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

    @property
    def can_hand_out(self) -> bool:
        """Return whether a question can be answered by another process: only where there is a record."""
        return self._journal is not None

    async def hand_out(self, request: ApprovalRequest) -> None:
        """Let another process answer a question: until it is answered, nobody holds the run longer than a record."""
        assert self._journal is not None
        if request.call_id in self._outside:
            return
        async with self._lock:
            self._outside[request.call_id] = len(await self._journal.read(self._run_id))
            await self._journal.release(self._run_id)

    async def take_answer(self, request: ApprovalRequest) -> Decision | None:
        """Return what another process has recorded as the answer to exactly this question; None if nothing yet."""
        assert self._journal is not None
        after = self._outside.get(request.call_id)
        if after is None:
            return None
        for _, record in await self._journal.read(self._run_id, after=after):
            if isinstance(record, ApprovalAnswer) and (record.call_id, record.digest) == (
                request.call_id,
                request.digest,
            ):
                self._outside.pop(request.call_id, None)
                self._answered.add(request.call_id)
                return recorded_decision(record)
        return None

    async def add_answer(self, request: ApprovalRequest, decision: Decision) -> None:
        """Record what the person answered; what another process has recorded stands there already."""
        if request.call_id in self._answered:
            self._answered.discard(request.call_id)
            return
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
        self._outside.pop(call.id, None)

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
            await self._write(self._journal, records)

    async def _write(self, journal: Journal, records: Sequence[Record]) -> None:
        if not self._outside:
            await journal.append(self._run_id, *records)
            return
        # Whoever answers holds the run for that moment.
        for attempt in range(ANSWER_ATTEMPTS):
            try:
                await journal.append(self._run_id, *records)
            except JournalRefused:
                if attempt + 1 == ANSWER_ATTEMPTS:
                    raise
                await asyncio.sleep(ANSWER_SECONDS)
            else:
                await journal.release(self._run_id)
                return

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
