"""A run as its records tell it: the state it was in, rebuilt fact by fact, up to the last complete one."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, cast

from toolroll.agent.ask_model import Turn, make_turn
from toolroll.agent.calls import make_log, recorded_result
from toolroll.agent.cost import Bill, total_cost
from toolroll.agent.result import SubRun, ToolCallLog
from toolroll.agent.state import RunState
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    MessagesCompacted,
    ModelTurn,
    OutputsTrimmed,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
    StopDecided,
    UsageAdded,
)
from toolroll.kernel.data.labels import LABELS_KEY, read_labels
from toolroll.kernel.data.messages import ToolCall
from toolroll.models.model import ModelResponse, StopKind

PAUSED: Final = frozenset({"approval_pending", "failed", "interrupted"})
"""Ends in the middle of something: what was begun goes on, and limits go on counting."""


@dataclass(slots=True, kw_only=True)
class CallFacts:
    """What is on record of a call that has no result: what it set out to do, was asked about, was answered.

    `used` is the answer by which it set out.
    """

    intended: CallIntended | None = None
    used: ApprovalAnswer | None = None
    asked: ApprovalQuestion | None = None
    decided: ApprovalAnswer | None = None


@dataclass(slots=True, kw_only=True)
class OpenTurn:
    """The last turn of the model, which nothing has closed yet."""

    answered: ModelTurn
    turn: Turn
    ended: dict[str, CallEnded] = field(default_factory=dict)
    spent: dict[tuple[str, int], UsageAdded] = field(default_factory=dict)

    @property
    def open_calls(self) -> list[ToolCall]:
        """The calls without a result."""
        return [call for call in self.turn.calls if call.id not in self.ended]


class RebuiltRun:
    """Takes record after record into the state of a run; knows at the end where it stands."""

    def __init__(self, state: RunState, records: Iterable[Record]) -> None:
        self.state = state
        self.turn: OpenTurn | None = None
        self.finished: RunEnded | None = None
        self.stopped: StopDecided | None = None
        self.facts: dict[str, CallFacts] = {}
        self.kept: dict[str, object] = {}
        self._unspent: list[UsageAdded] = []
        inherited = 0
        for number, record in enumerate(records):
            if isinstance(record, RunBegan):
                inherited = record.inherited
            self._take(record)
            if number and number == inherited:
                self._forked()
        for spent in self._unspent:
            self._spend(spent)
        if not self.is_paused:
            self.close_turn()

    @property
    def is_paused(self) -> bool:
        """Whether the run was ended in the middle of something, or never ended at all."""
        return self.finished is None or self.finished.stop_reason in PAUSED

    @property
    def pending(self) -> dict[str, ApprovalQuestion]:
        """The questions that wait for an answer, by call."""
        open_calls = self.turn.open_calls if self.turn is not None else ()
        facts = ((call.id, self.facts.get(call.id)) for call in open_calls)
        return {
            call_id: known.asked
            for call_id, known in facts
            if known is not None and known.asked is not None and known.decided is None
        }

    def close_turn(self) -> None:
        """The last turn is over, with all that was made of it."""
        if self.turn is None:
            return
        turn, self.turn = self.turn, None
        for ended in turn.ended.values():
            self.state.conversation.answer(ended.result)
        logs = self._guarded(turn)
        for spent in turn.spent.values():
            self._spend(spent)
        answered, steps = turn.answered, self.state.steps
        step = self.state.budget.end_step(turn.turn.text, logs, closing=answered.closing)
        slowest_ms = max((ended.duration_ms for ended in turn.ended.values()), default=0.0)
        bill = Bill.of(total_cost([answered.cost, *(spent.cost for spent in turn.spent.values())]))
        steps[-1] = replace(step, duration_s=answered.duration_s + slowest_ms / 1000, bill=bill)

    def count_anew(self) -> None:
        """A limit is behind us, or somebody said something new: limits and patience begin again."""
        self.state.budget.counted_from = len(self.state.steps)
        self.state.nudges.clear()

    def count_spent(self, turn: OpenTurn) -> None:
        """Count what sub-agents used in calls that are over; those of the others count again when they go on."""
        for spent in turn.spent.values():
            if not spent.call_id or spent.call_id in turn.ended:
                self._spend(spent)

    def _take(self, record: Record) -> None:
        match record:
            case MessageAdded():
                self._said(record)
            case ModelTurn():
                self._answered(record)
            case CallEnded() if self.turn is not None:
                self.turn.ended[record.result.call_id] = record
            case UsageAdded():
                self._spent(record)
            case OutputsTrimmed() | MessagesCompacted():
                self._changed(record)
            case StopDecided():
                self.stopped = record
            case RunEnded():
                self.finished = record
            case StateSet():
                self._kept(record)
            case CallIntended() | ApprovalQuestion() | ApprovalAnswer():
                self._call(record)
            case _:
                return

    def _forked(self) -> None:
        """What was taken over from another run ends here; how that one went on is none of this one's business."""
        self.close_turn()
        self.count_anew()
        self.stopped = self.finished = None

    def _spent(self, record: UsageAdded) -> None:
        if not record.call_id:  # for a compaction, which belongs to the turn that comes next
            self._unspent.append(record)
        elif self.turn is not None:
            self.turn.spent[record.run_id, record.step] = record

    def _kept(self, record: StateSet) -> None:
        self.kept[record.name] = record.value
        if record.name == LABELS_KEY:
            self.state.run.labels |= read_labels(record.value)

    def _said(self, record: MessageAdded) -> None:
        self.close_turn()
        if self.finished is not None or record.about is None:
            self.count_anew()
            self.stopped = None
        self.finished = None
        if record.about is not None:
            self.state.nudges[record.about] = self.state.nudges.get(record.about, 0) + 1
        hear = self.state.add_message if record.about is None else self.state.add_own_message
        hear(record.message)

    def _answered(self, record: ModelTurn) -> None:
        self.close_turn()
        if not self.is_paused:
            self.count_anew()
            self.stopped = None
        self.finished = None
        self._look()
        self.state.conversation.append(record.message)
        self.state.window.answered(record.usage)
        self.state.budget.answered(record.usage)
        spent = {(one.run_id, one.step): one for one in self._unspent}
        self.turn = OpenTurn(answered=record, turn=make_turn(self.state, recorded_response(record)), spent=spent)
        self._unspent.clear()

    def _look(self) -> None:
        """What the model was sent next is what there was then."""
        self.state.window.look(self.state.conversation.legal())
        self.state.window.sends()

    def _changed(self, record: OutputsTrimmed | MessagesCompacted) -> None:
        self.close_turn()
        self._look()
        if isinstance(record, OutputsTrimmed):
            self.state.window.trim(record)
        else:
            self.state.window.compact(record, self.state.conversation.legal())

    def _call(self, record: CallIntended | ApprovalQuestion | ApprovalAnswer) -> None:
        call_id = record.call.id if isinstance(record, CallIntended) else record.call_id
        facts = self.facts.setdefault(call_id, CallFacts())
        match record:
            case CallIntended():  # the answer that led here is used up: it counts once
                facts.intended, facts.used, facts.asked, facts.decided = record, facts.decided, None, None
            case ApprovalQuestion():
                facts.asked, facts.decided = record, None
            case _:
                facts.decided = record

    def _guarded(self, turn: OpenTurn) -> tuple[ToolCallLog, ...]:
        ran = [call for call in turn.turn.calls if call.id in turn.ended and turn.ended[call.id].code != "not_run"]
        if not ran:
            return ()
        self.state.guard.begin(ran)
        results = {call.id: recorded_result(turn.ended[call.id]) for call in ran}
        for call in ran:
            self.state.guard.add_result(call, results[call.id])
        self.state.guard.end(results)
        return tuple(make_log(call, results[call.id], turn.ended[call.id].duration_ms) for call in ran)

    def _spend(self, spent: UsageAdded) -> None:
        sub = SubRun(
            name=spent.name,
            run_id=spent.run_id,
            call_id=spent.call_id,
            usage=spent.usage,
            bill=Bill.of(spent.cost),
        )
        self.state.budget.spent_by(sub)


def recorded_response(record: ModelTurn) -> ModelResponse:
    """The turn as the model gave it."""
    return ModelResponse(
        message=record.message, stop=cast("StopKind", record.stop), usage=record.usage, stop_detail=record.stop_detail
    )
