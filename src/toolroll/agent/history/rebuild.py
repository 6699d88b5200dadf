"""Rebuilding the state of a run from its records, up to the last complete one."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, cast

from toolroll.agent.cost import Bill, total_cost
from toolroll.agent.loop.ask_model import Turn, make_turn
from toolroll.agent.loop.call_log import make_log
from toolroll.agent.loop.calls import recorded_result
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import SubRun, ToolCallLog
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
from toolroll.kernel.approval.consent import CONSENTED_KEY, FRAGMENTS_KEY
from toolroll.kernel.data.labels import LABELS_KEY, read_labels
from toolroll.kernel.data.messages import ToolCall, ToolResults
from toolroll.models.model import ModelResponse, StopKind

PAUSED: Final = frozenset({"approval_pending", "failed", "gave_up", "interrupted"})
"""Stop reasons that leave a turn unfinished: a resumed run completes it, and its limits continue to count."""


@dataclass(slots=True, kw_only=True)
class CallFacts:
    """What is recorded of a call that has no result.

    `used` is the answer with which the call was started, if it was.
    """

    intent: CallIntended | None = None
    used: ApprovalAnswer | None = None
    question: ApprovalQuestion | None = None
    answer: ApprovalAnswer | None = None

    @property
    def had_leave_asked(self) -> bool:
        """Return whether the call needed approval when made: somebody was asked, or it was to change something."""
        was_asked = self.question is not None and self.question.waits_for == "approval"
        return was_asked or (self.intent is not None and self.intent.effect != "reads")

    @property
    def awaits_result(self) -> bool:
        """Return whether the call has begun, and waits for a result from outside."""
        return self.question is not None and self.question.waits_for == "result"


@dataclass(slots=True, kw_only=True)
class OpenTurn:
    """The last turn of the model, as long as no later record has closed it."""

    record: ModelTurn
    turn: Turn
    results: dict[str, CallEnded] = field(default_factory=dict)
    usage: dict[tuple[str, int], UsageAdded] = field(default_factory=dict)

    @property
    def open_calls(self) -> list[ToolCall]:
        """Return the calls without a result."""
        return [call for call in self.turn.calls if call.id not in self.results]


class RebuiltRun:
    """Applies every record to the state of a run. Afterwards the attributes say where the run stands.

    `turn` is the turn that is still open, `end` how the run ended unless it has continued since, `stop` why the model
    was asked for a last answer, `facts` what is known of calls without a result, and `values` the state of the run.
    """

    def __init__(self, state: RunState, records: Iterable[Record]) -> None:
        self.state = state
        self.turn: OpenTurn | None = None
        self.end: RunEnded | None = None
        self.stop: StopDecided | None = None
        self.facts: dict[str, CallFacts] = {}
        self.values: dict[str, object] = {}
        self.system: str | None = None
        self._early_usage: list[UsageAdded] = []
        inherited = earlier = 0
        for number, record in enumerate(records):
            if isinstance(record, RunBegan):
                inherited, earlier, self.system = record.inherited, record.earlier, record.system
                state.closes_inside = record.closes_inside
            if self.is_paused and not isinstance(record, StateSet):
                self.end = None  # the run continued: how it was paused is behind it
            self._apply(record)
            if earlier and isinstance(record, MessageAdded):
                earlier -= 1
                if earlier == 0:
                    self.state.mark_earlier(number)
            if number and number == inherited:
                self._end_inherited()
        for usage in self._early_usage:
            self._add_usage(usage)
        if not self.is_paused:
            self.close_turn()

    @property
    def is_paused(self) -> bool:
        """Return whether the run ended in the middle of a turn, or has not ended at all."""
        return self.end is None or self.end.stop_reason in PAUSED

    @property
    def pending(self) -> dict[str, ApprovalQuestion]:
        """Return the questions without an answer, by call id."""
        open_calls = self.turn.open_calls if self.turn is not None else ()
        known = ((call.id, self.facts.get(call.id)) for call in open_calls)
        return {
            call_id: facts.question
            for call_id, facts in known
            if facts is not None and facts.question is not None and facts.answer is None
        }

    def close_turn(self) -> None:
        """Complete the open turn with the results that are recorded."""
        if self.turn is None:
            return
        turn, self.turn = self.turn, None
        for ended in turn.results.values():
            self.state.conversation.answer(ended.result)
        logs = self._replay_guard(turn)
        for usage in turn.usage.values():
            self._add_usage(usage)
        record, steps = turn.record, self.state.steps
        step = self.state.budget.end_step(turn.turn.text, logs, closing=record.closing, is_cut=turn.turn.is_cut)
        slowest_ms = max((ended.duration_ms for ended in turn.results.values()), default=0.0)
        bill = Bill.from_usd(total_cost([record.cost, *(usage.cost for usage in turn.usage.values())]))
        steps[-1] = replace(step, duration_s=record.duration_s + slowest_ms / 1000, bill=bill)

    def reset_limits(self) -> None:
        """Count steps, tokens and reminders from here on: a limit was reached, or a new message came."""
        self.state.budget.counted_from = len(self.state.steps)
        self.state.nudges.clear()

    def add_finished_usage(self, turn: OpenTurn) -> None:
        """Count what sub-agents used in calls that are over; the others count it when they continue."""
        for usage in turn.usage.values():
            if not usage.call_id or usage.call_id in turn.results:
                self._add_usage(usage)

    def _apply(self, record: Record) -> None:
        match record:
            case MessageAdded():
                self._on_message(record)
            case ModelTurn():
                self._on_model_turn(record)
            case CallEnded() if self.turn is not None:
                self.turn.results[record.result.call_id] = record
                self.state.add_private_texts(ToolResults(results=(record.result,)))
            case UsageAdded():
                self._on_usage(record)
            case OutputsTrimmed() | MessagesCompacted():
                self._on_context_change(record)
            case StopDecided():
                self.stop = record
            case RunEnded():
                self.end = record
            case StateSet():
                self._on_state(record)
            case CallIntended() | ApprovalQuestion() | ApprovalAnswer():
                self._on_call(record)
            case _:
                return

    def _end_inherited(self) -> None:
        """End the records that a fork took over: how the other run went on does not matter here."""
        self.close_turn()
        self.reset_limits()
        self.stop = self.end = None

    def _on_usage(self, record: UsageAdded) -> None:
        if not record.call_id:  # of a compaction, which belongs to the next turn
            self._early_usage.append(record)
        elif self.turn is not None:
            self.turn.usage[record.run_id, record.step] = record

    def _on_state(self, record: StateSet) -> None:
        self.values[record.name] = record.value
        if record.name == LABELS_KEY:
            self.state.run.labels |= read_labels(record.value)
        elif record.name == CONSENTED_KEY and self.state.run.outflow is not None:
            self.state.run.outflow.restore(record.value)
        elif record.name == FRAGMENTS_KEY and self.state.run.outflow is not None:
            self.state.run.outflow.restore_fragments(record.value)

    def _on_message(self, record: MessageAdded) -> None:
        self.close_turn()
        if self.end is not None or record.about is None:
            self.reset_limits()
            self.stop = None
        self.end = None
        if record.about is None:
            self.state.add_message(record.message)
        else:
            self.state.nudges[record.about] = self.state.nudges.get(record.about, 0) + 1
            self.state.add_own_message(record.message)

    def _on_model_turn(self, record: ModelTurn) -> None:
        self.close_turn()
        if not self.is_paused:
            self.reset_limits()
            self.stop = None
        self.end = None
        self._send_window()
        self.state.conversation.append(record.message)
        self.state.window.add_usage(record.usage)
        self.state.budget.add_turn(record.usage)
        self.state.budget.pauses = record.pauses
        usage = {(one.run_id, one.step): one for one in self._early_usage}
        self.turn = OpenTurn(record=record, turn=make_turn(self.state, recorded_response(record)), usage=usage)
        self._early_usage.clear()

    def _send_window(self) -> None:
        """Count the messages so far as sent."""
        self.state.window.look(self.state.conversation.legal())
        self.state.window.mark_sent()

    def _on_context_change(self, record: OutputsTrimmed | MessagesCompacted) -> None:
        self.close_turn()
        self._send_window()
        if isinstance(record, OutputsTrimmed):
            self.state.window.trim(record)
        else:
            self.state.compact(record)

    def _on_call(self, record: CallIntended | ApprovalQuestion | ApprovalAnswer) -> None:
        call_id = record.call.id if isinstance(record, CallIntended) else record.call_id
        facts = self.facts.setdefault(call_id, CallFacts())
        match record:
            case CallIntended():  # the answer that led here is used up: it counts once
                facts.intent, facts.used, facts.question, facts.answer = record, facts.answer, None, None
            case ApprovalQuestion(waits_for="result"):
                facts.question, facts.used, facts.answer = record, facts.answer or facts.used, None
            case ApprovalQuestion():
                facts.question, facts.answer = record, None
            case _:
                facts.answer = record

    def _replay_guard(self, turn: OpenTurn) -> tuple[ToolCallLog, ...]:
        """Show the loop guard the calls of a turn; return their figures."""
        ran = [call for call in turn.turn.calls if call.id in turn.results and turn.results[call.id].code != "not_run"]
        if not ran:
            return ()
        self.state.guard.begin(ran)
        results = {call.id: recorded_result(turn.results[call.id]) for call in ran}
        for call in ran:
            self.state.guard.add_result(call, results[call.id])
        self.state.guard.end(results)
        return tuple(make_log(call, results[call.id], turn.results[call.id].duration_ms) for call in ran)

    def _add_usage(self, record: UsageAdded) -> None:
        self.state.budget.add_sub_run(
            SubRun(
                name=record.name,
                run_id=record.run_id,
                call_id=record.call_id,
                usage=record.usage,
                bill=Bill.from_usd(record.cost),
            )
        )


def recorded_response(record: ModelTurn) -> ModelResponse:
    """Return the turn as the model gave it."""
    return ModelResponse(
        message=record.message, stop=cast("StopKind", record.stop), usage=record.usage, stop_detail=record.stop_detail
    )
