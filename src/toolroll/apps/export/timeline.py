"""The records of a run as a person sees them: turns of the model with their calls, and what was between."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from toolroll.journal.journal import Recording
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    ModelTurn,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
    UsageAdded,
)


@dataclass(slots=True, kw_only=True)
class CallView:
    """One call: what was to be done, what a person was asked and said, what came of it."""

    call_id: str
    name: str
    arguments: str = ""
    asked: list[ApprovalQuestion] = field(default_factory=list)
    decided: list[ApprovalAnswer] = field(default_factory=list)
    ended: CallEnded | None = None
    index: int = 0
    at: float | None = None


@dataclass(slots=True, kw_only=True)
class TurnView:
    """One step: the model's turn, its calls, and what was kept with the run meanwhile."""

    number: int
    index: int
    at: float | None
    answered: ModelTurn
    calls: dict[str, CallView]
    kept: list[StateSet] = field(default_factory=list)
    is_inherited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """Anything else, as it is on record."""

    index: int
    at: float | None
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class DamageView:
    """The place of a record that cannot be read."""

    index: int
    why: str


Entry: TypeAlias = TurnView | NoteView | DamageView


def build_timeline(recording: Recording, times: Mapping[int, float]) -> list[Entry]:
    """Return all of a run in order, with the places of records that cannot be read."""
    damage = [DamageView(index=number, why=why) for number, why in recording.damaged]
    return sorted([*_entries(recording.records, times), *damage], key=lambda entry: entry.index)


def find_end(recording: Recording) -> RunEnded | None:
    """Return how a run ended; None where it goes on. What is kept with one that is over does not begin it anew."""
    last = next((record for _, record in reversed(recording.records) if not isinstance(record, StateSet)), None)
    return last if isinstance(last, RunEnded) else None


def _entries(records: Sequence[tuple[int, Record]], times: Mapping[int, float]) -> list[Entry]:
    found: list[Entry] = []
    turn: TurnView | None = None
    steps = 0
    inherited = next((record.inherited for _, record in records if isinstance(record, RunBegan)), 0)
    for number, record in records:
        if isinstance(record, ModelTurn):
            steps += 1
            turn = _turn(record, number, times, steps)
            turn.is_inherited = 1 < number <= inherited + 1
            found.append(turn)
        elif turn is None or not _belongs(turn, number, record, times.get(number)):
            found.append(NoteView(index=number, at=times.get(number), record=record))
    return found


def iterate_turns(found: Sequence[Entry]) -> Iterator[TurnView]:
    """Yield only the steps."""
    return (one for one in found if isinstance(one, TurnView))


def _turn(record: ModelTurn, index: int, times: Mapping[int, float], number: int) -> TurnView:
    calls = {
        call.id: CallView(call_id=call.id, name=call.name, arguments=call.arguments, index=index)
        for call in record.message.calls
    }
    return TurnView(number=number, index=index, at=times.get(index), answered=record, calls=calls)


def _belongs(turn: TurnView, index: int, record: Record, at: float | None) -> bool:
    """Take a record that is about the turn or a call of it; a call that was renamed is known by its records only."""
    match record:
        case StateSet():
            turn.kept.append(record)
        case ApprovalQuestion():
            _call(turn, record.call_id, record.tool).asked.append(record)
        case ApprovalAnswer() if record.call_id in turn.calls:
            turn.calls[record.call_id].decided.append(record)
        case CallIntended():
            call = _call(turn, record.call.id, record.call.name)
            call.arguments = record.call.arguments
        case CallEnded():
            call = _call(turn, record.result.call_id, record.result.name)
            call.ended, call.index, call.at = record, index, at
        case UsageAdded():
            return bool(record.call_id)
        case _:
            return False
    return True


def _call(turn: TurnView, call_id: str, name: str) -> CallView:
    return turn.calls.setdefault(call_id, CallView(call_id=call_id, name=name))
