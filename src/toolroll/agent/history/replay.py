"""Replaying a recorded run: the recorded turns of the model, the tools of today, and every difference between them.

No model is asked and nothing is paid. Tools that only read run for real. Calls of tools that change something are
answered from the record, unless the caller asks for them too (`effects=`), as a test with a folder of its own does. The
recorded run itself is not changed.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias

from toolroll.agent.approvals import effect_of, recorded_decision
from toolroll.agent.choices import with_recorded_settings
from toolroll.agent.context.outputs import open_outputs
from toolroll.agent.events import Event, StepFinished
from toolroll.agent.history.differences import NOTHING, Difference, Outline, compare_steps, compare_tools, outline
from toolroll.agent.history.rebuild import PAUSED, recorded_response
from toolroll.agent.history.resume import GOING_ON
from toolroll.agent.hooks import Hooks
from toolroll.agent.loop.loop import run_loop
from toolroll.agent.loop.state import RunState
from toolroll.agent.options import Setup
from toolroll.agent.result import RunResult
from toolroll.agent.run import new_run, run_to_end
from toolroll.errors import ModelError, OutputMissing, UsageError
from toolroll.journal.journal import MemoryJournal, Recording
from toolroll.journal.records import (
    ApprovalAnswer,
    CallEnded,
    CallIntended,
    MessageAdded,
    MessagesCompacted,
    ModelTurn,
    OutputsTrimmed,
    Record,
    RunBegan,
    RunEnded,
)
from toolroll.kernel.approval.request import ApprovalRequest, Decision, Effect, Reject
from toolroll.kernel.data.messages import OutputRef, Part, ToolCall, ToolMessage
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import ScriptedModel
from toolroll.outputs.reader import StoredOutput
from toolroll.outputs.store import OutputStore

if TYPE_CHECKING:
    from toolroll.agent.agent import Agent


READS: Final[tuple[Effect, ...]] = ("reads",)
NOT_ON_RECORD: Final = "[not run: there is no result of this call on record]"
_NEVER_RAN: Final = frozenset({"interrupted", "secret_lost", "unknown_outcome"})
"""Calls that a crash or a person kept from being run: they are the same again only if they are not run again."""
Changes: TypeAlias = dict[int, list[OutputsTrimmed | MessagesCompacted]]
"""What was done to the context, by how many turns the model had taken before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """What came of playing a run again. `result` is None where it could not be played to an end."""

    run_id: str
    differences: tuple[Difference, ...]
    steps: int
    calls_run: int
    calls_from_record: int
    notes: tuple[str, ...] = ()
    result: RunResult[object] | None = None

    @property
    def is_same(self) -> bool:
        """Return whether nothing differs."""
        return not self.differences


async def replay(agent: "Agent[object]", run_id: str, *, effects: Container[Effect] = READS) -> ReplayReport:
    """Run the agent again with the recorded answers of the model; every difference is reported with its place.

    Calls of tools with one of `effects` run for real, and are approved as they were then; all others, and sub-agents,
    are answered from the record.
    """
    journal = agent.setup.journal
    if journal is None:
        raise UsageError("Only a run with a journal can be replayed. Give the agent journal=SqliteJournal(path).")
    recording = (await journal.read(run_id)).before_damage()  # what came after it can be compared with nothing
    parts = {row.run_id for row in await journal.runs() if row.parent == run_id}
    with TemporaryDirectory(prefix="toolroll-replay-") as folder:
        choice = _RecordedCalls(effects, parts)
        return await _Replay(agent.setup, recording, choice, Path(folder)).report()


@dataclass(slots=True, kw_only=True)
class _Part:
    """A run up to an end of it: what was said, how many turns followed, and how it ended."""

    said: list[MessageAdded] = field(default_factory=list)
    turns: int = 0
    finished: RunEnded | None = None
    is_inherited: bool = False
    """Of a fork: the other run may have come to an end there, this one went on."""


class RecordedOutputs(OutputStore):
    """Keeps outputs in a folder of its own under the references they had then; what is not there is read from before.

    Results must come out the same, and the references are a part of them.
    """

    def __init__(self, folder: Path, *, run_id: str, records: Iterable[Record], before: OutputStore) -> None:
        super().__init__(folder, run_id=run_id)
        self._before = before
        self._refs = {one.result.call_id: one.result.output_ref for one in records if isinstance(one, CallEnded)}

    def keep(self, call_id: str, tool: str, content: str | bytes | tuple[Part, ...]) -> OutputRef | None:
        """Keep it under the reference of then; not at all if it was not."""
        ref = self._refs.get(call_id)
        if ref is None:
            return None
        self._make_id = lambda: ref.id
        return super().keep(call_id, tool, content)

    def open(self, ref_id: str) -> StoredOutput:
        """Return the output as it is now; that of then for a call that was not run again."""
        try:
            return super().open(ref_id)
        except OutputMissing:
            return self._before.open(ref_id)


class _Replay:
    def __init__(self, setup: Setup, recording: Recording, choice: "_RecordedCalls", folder: Path) -> None:
        self._recording = recording
        self._folder = folder
        self._records = [record for _, record in recording]
        self._setup = setup
        self._tape = MemoryJournal()
        self._known = choice.choose(setup, recording.run_id, self._records)
        self._stop_at: int | None = None
        self._not_an_end = 0
        self._state = self._new_state()

    async def report(self) -> ReplayReport:
        """Play all of it, then compare."""
        state = self._state
        failure: ModelError | None = None
        result: RunResult[object] | None = None
        from_record = set(self._known)
        try:
            result = await run_to_end(state, self._play)
        except ModelError as error:  # the recorded answers are used up
            failure = error
        taped = await self._tape.read(state.run.run_id)
        now = [record for number, record in taped if number != self._not_an_end]
        return ReplayReport(
            run_id=state.run.run_id,
            differences=tuple(self._differences(now, from_record, failure)),
            steps=sum(isinstance(record, ModelTurn) for record in now),
            calls_run=sum(isinstance(record, CallEnded) for record in now),
            calls_from_record=len(from_record) - len(state.known),
            notes=self._recording.notes,
            result=result,
        )

    def _new_state(self) -> RunState:
        answers = [record for record in self._records if isinstance(record, ModelTurn)]
        origin = next((one.message.origin for one in answers if one.message.origin), self._setup.model.origin)
        setup = replace(
            self._setup,
            model=ScriptedModel([recorded_response(one) for one in answers], origin=origin),
            journal=self._tape,
            outputs="off",
            approver=_Answers(self._records),
            retry=RetryRule(retries=0),
            hooks=_without_model_hooks(self._setup.hooks),
        )
        setup = with_recorded_settings(setup, self._recording, None)  # of the script, which takes any
        run_id = self._recording.run_id
        state = new_run(setup, (), self._on_event, run_id=run_id, outputs=self._outputs(run_id))
        began = self._records[0] if self._records else None
        state.closes_inside = isinstance(began, RunBegan) and began.closes_inside
        state.changes = recorded_changes(self._records)
        state.known.update(self._known)
        return state

    def _outputs(self, run_id: str) -> RecordedOutputs | None:
        before = open_outputs(self._setup, run_id, None)
        if before is None:
            return None
        return RecordedOutputs(self._folder, run_id=run_id, records=self._records, before=before)

    async def _play(self) -> RunResult[object]:
        state = self._state
        turns = 0
        result: RunResult[object] | None = None
        for part in _parts(self._records):
            for said in part.said:
                state.add_message(said.message)
                await state.record(said)
            turns += part.turns
            # What was cut off must be cut off again: there are no more answers, or they belong to another question.
            is_cut = part.finished is None or part.finished.stop_reason in PAUSED
            self._stop_at = turns if is_cut else None
            state.stop_requested = is_cut and part.turns == 0
            state.budget.counted_from = len(state.steps)
            state.nudges.clear()
            result = await run_loop(state)
            if part.is_inherited:
                self._not_an_end = len(await self._tape.read(state.run.run_id))
        assert result is not None
        return result

    def _on_event(self, event: Event) -> None:
        if isinstance(event, StepFinished) and event.step.number == self._stop_at:
            self._state.stop_requested = True

    def _differences(
        self, now: Sequence[Record], from_record: Container[str], failure: ModelError | None
    ) -> Iterator[Difference]:
        before, after = outline(self._records), outline(now)
        tools = {tool.name: tool.fingerprint for tool in self._state.setup.definitions}
        for began in self._records:
            if isinstance(began, RunBegan):
                yield from compare_tools(began, self._setup.system, tools)
        last = before[-1].finished[-1:]
        is_cut = not last or last[0].stop_reason in PAUSED
        yield from compare_steps(before, after, is_cut=is_cut, not_run=from_record)
        if failure is not None:
            yield Difference(step=len(after), what="model call", recorded=NOTHING, now="one more")
        else:
            yield from _compare_ends(before, after)


def _without_model_hooks(hooks: Hooks | None) -> Hooks | None:
    """Return the hooks for a run whose turns are on record: they were changed then, and are not again."""
    if hooks is None:
        return None
    kept = Hooks(hooks.all)
    kept.model = ()
    return kept


class _Answers:
    """An approver that says what the person said then; what it was asked is compared later."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._decided = {record.call_id: record for record in records if isinstance(record, ApprovalAnswer)}

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """The recorded decisions; no to what was never asked."""
        return [self._decision(self._decided.get(request.call_id)) for request in requests]

    def _decision(self, decided: ApprovalAnswer | None) -> Decision:
        if decided is None:
            return Reject("nobody was asked about this then")
        return recorded_decision(decided)


class _RecordedCalls:
    """Chooses the calls that are not run again but answered from the record."""

    def __init__(self, effects: Container[Effect], parts: Container[str]) -> None:
        self._effects = effects
        self._parts = parts

    def choose(self, setup: Setup, run_id: str, records: Sequence[Record]) -> dict[str, CallEnded]:
        """Return the recorded results by call id."""
        ended = {record.result.call_id: record for record in records if isinstance(record, CallEnded)}
        turns = [record for record in records if isinstance(record, ModelTurn)]
        left = [call for call in (turns[-1].message.calls if turns else ()) if call.id not in ended]
        ended |= {call.id: _unfinished_result(call) for call in left}
        begun = {record.call.id for record in records if isinstance(record, CallIntended)}
        return {
            call_id: record
            for call_id, record in ended.items()
            if f"{run_id}.{call_id}" in self._parts
            or _was_settled(record, has_begun=call_id in begun)
            or self._is_left_out(setup, record)
        }

    def _is_left_out(self, setup: Setup, record: CallEnded) -> bool:
        tool = setup.tools.get(record.result.name)
        return record.code != "not_run" and tool is not None and effect_of(tool) not in self._effects


def _was_settled(record: CallEnded, *, has_begun: bool) -> bool:
    """Whether a resumed run gave the call its result without running it, because nobody knew whether it had run.

    A call that runs takes time. So a success without time was found out, and a rejection of a call that had begun was
    the answer to whether it should run again.
    """
    if record.code in _NEVER_RAN:
        return True
    is_success = record.code is None and not record.result.is_error
    return record.duration_ms == 0 and (is_success or (record.code == "rejected" and has_begun))


def _unfinished_result(call: ToolCall) -> CallEnded:
    message = ToolMessage(call_id=call.id, name=call.name, content=NOT_ON_RECORD, is_error=True)
    return CallEnded(result=message, code=None, duration_ms=0.0)


def _parts(records: Sequence[Record]) -> list[_Part]:
    """The run from one end to the next. Where it was only paused, and went on with the same, there was no end."""
    parts = [_Part()]
    inherited = records[0].inherited if records and isinstance(records[0], RunBegan) else 0
    for number, record in enumerate(records):
        if inherited and number == inherited + 1:
            parts[-1].is_inherited = True
            parts.append(_Part())
        part = parts[-1]
        match record:
            case MessageAdded(about=about) if about in (None, GOING_ON):
                if part.finished is not None:
                    parts.append(part := _Part())
                part.said.append(record)
            case ModelTurn():
                if part.finished is not None and part.finished.stop_reason not in PAUSED:
                    parts.append(part := _Part())
                part.finished = None
                part.turns += 1
            case RunEnded():
                part.finished = record
            case _:
                continue
    return parts


def _compare_ends(before: Sequence[Outline], now: Sequence[Outline]) -> Iterator[Difference]:
    """How each part ended; what was cut off has no end to compare."""
    ends = [[(step, end) for step, one in enumerate(run) for end in one.finished] for run in (before, now)]
    recorded, played = ([(step, end) for step, end in run if end.stop_reason not in PAUSED] for run in ends)
    for (step, end), (_, other) in zip(recorded, played, strict=False):
        for what in ("stop_reason", "stop_detail", "text"):
            if getattr(end, what) != getattr(other, what):
                yield Difference(step=step, what=what, recorded=getattr(end, what), now=getattr(other, what))


def recorded_changes(records: Iterable[Record]) -> Changes:
    """Return all recorded changes."""
    found: Changes = {}
    turns = 0
    for record in records:
        if isinstance(record, ModelTurn):
            turns += 1
        elif isinstance(record, (OutputsTrimmed, MessagesCompacted)):
            found.setdefault(turns, []).append(record)
    return found
