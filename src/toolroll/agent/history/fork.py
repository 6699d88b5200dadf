"""Forking a run: a new run that begins with the first steps of a recorded one.

The new run gets copies of the records of those steps, and so all that stands in them: the conversation, the state of
the run, its labels, and which content of which files it had seen. Nothing later is copied. The recorded run is only
read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.agent.choices import with_recorded_settings
from toolroll.agent.context.outputs import add_output_tools, open_outputs
from toolroll.agent.history.rebuild import PAUSED
from toolroll.agent.options import Setup
from toolroll.agent.run import is_on_record
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.codec import encode
from toolroll.journal.journal import Journal, Recording, SupportsIsHeld
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
    UsageAdded,
)
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import UserMessage
from toolroll.models.settings import SettingsLike
from toolroll.outputs.store import inherit_outputs

_NAME: Final = re.compile(rb"[A-Za-z0-9_-]+")
"""What a reference to an output looks like, wherever it stands."""


async def fork_run(
    setup: Setup,
    forked: str,
    *,
    at: int,
    replaces_prompt: bool = False,
    run_id: str | None = None,
    settings: SettingsLike | None = None,
) -> str:
    """Record a new run with the first `at` steps of another one, ready to be resumed, and return its id.

    Limits begin anew. What the inherited steps used stands in the result as it stood there; it is not paid again. With
    `replaces_prompt` a fork at step 0 leaves out the prompt of the other run.
    """
    journal = setup.journal
    if journal is None:
        raise UsageError("Only a run with a journal can be forked. Give the agent journal=SqliteJournal(path).")
    recording = (await journal.read(forked)).before_damage()
    await _check(journal, recording)
    inherited = first_steps(recording, at)
    if at == 0 and replaces_prompt:
        inherited = _without_prompt(inherited)
    first = next((record for _, record in recording if isinstance(record, RunBegan)), None)
    made = run_id or (setup.make_id or random_id)()
    if await is_on_record(journal, made):
        raise JournalRefused(f"There is a run {made!r} already. Fork under another id.")
    setup = with_recorded_settings(_with_outputs(setup, forked, made, inherited), recording, settings)
    began = RunBegan(
        model=setup.model.origin.model,
        system=setup.system,
        tools={tool.name: tool.fingerprint for tool in setup.definitions},
        settings=setup.record or {},
        chosen=setup.chosen,
        model_settings={} if setup.settings is None else setup.settings.to_record(),
        forked_from=forked,
        at=at,
        inherited=len(inherited),
        earlier=0 if first is None else first.earlier,
        closes_inside=first is not None and first.closes_inside,
    )
    try:
        await journal.append(made, began, *inherited)
    finally:
        await journal.release(made)
    return made


async def _check(journal: Journal, recording: Recording) -> None:
    run_id = recording.run_id
    if isinstance(journal, SupportsIsHeld) and await journal.is_held(run_id):
        raise JournalRefused(f"Run {run_id} is going on. Wait until it ends, or stop it, and fork it then.")
    for _, record in recording.records[:1]:
        if isinstance(record, RunBegan) and record.parent is not None:
            raise JournalRefused(f"Run {run_id} is a part of run {record.parent}. Fork that one.")


def first_steps(recording: Recording, at: int) -> tuple[Record, ...]:
    """Return the records of the first `at` complete steps, without the one that begins the run.

    Of a damaged run all steps before the damage can be had.
    """
    records = [record for _, record in recording if not isinstance(record, RunBegan)]
    steps = _steps(records)
    if not 0 <= at <= len(steps):
        raise UsageError(_out_of_range(recording, at, len(steps)))
    if at == 0:
        return tuple(record for record in records[: _count_opening(records)] if isinstance(record, MessageAdded))
    return tuple(records[: steps[at - 1].end])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """Where a turn of the model and all that was made of it ends among the records."""

    end: int
    is_complete: bool


def _steps(records: Sequence[Record]) -> list[_Step]:
    """The complete steps. Only the last turn can be unfinished: whatever follows on a turn has closed it."""
    found = list(_turns(records))
    return found if not found or found[-1].is_complete else found[:-1]


def _turns(records: Sequence[Record]) -> Iterator[_Step]:
    places = [place for place, record in enumerate(records) if isinstance(record, ModelTurn)]
    for place, following in zip(places, [*places[1:], len(records)], strict=False):
        answered = records[place]
        assert isinstance(answered, ModelTurn)
        after = records[place + 1 : following]
        ended = {record.result.call_id for record in after if isinstance(record, CallEnded)}
        closed = following < len(records) or any(_closes(record) for record in after)
        yield _Step(
            end=place + 1 + _count_own(after),
            is_complete=closed or all(call.id in ended for call in answered.message.calls),
        )


def _count_own(after: Sequence[Record]) -> int:
    """How many of the records after a turn are about its calls. What is kept with the run stands before its call's."""
    own = 0
    for number, record in enumerate(after, start=1):
        if isinstance(record, MessageAdded):
            break
        if isinstance(record, CallIntended | ApprovalQuestion | ApprovalAnswer | CallEnded) or (
            isinstance(record, UsageAdded) and record.call_id
        ):
            own = number
    return own


def _closes(record: Record) -> bool:
    return isinstance(record, MessageAdded) or (isinstance(record, RunEnded) and record.stop_reason not in PAUSED)


def _count_opening(records: Sequence[Record]) -> int:
    return next((place for place, record in enumerate(records) if isinstance(record, ModelTurn)), len(records))


def _out_of_range(recording: Recording, at: int, steps: int) -> str:
    whole = f"has {steps} complete steps" if steps != 1 else "has 1 complete step"
    damage = f" {' '.join(recording.notes)}" if recording.is_damaged else ""
    return f"Run {recording.run_id} {whole}, so it cannot be forked at {at}. Name a step from 0 to {steps}.{damage}"


def _without_prompt(opening: tuple[Record, ...]) -> tuple[Record, ...]:
    last = opening[-1:]
    is_prompt = last and isinstance(last[0], MessageAdded) and isinstance(last[0].message, UserMessage)
    return opening[:-1] if is_prompt else opening


def _with_outputs(setup: Setup, run_id: str, made: str, inherited: Sequence[Record]) -> Setup:
    """The setup as a run of it has it; outputs that the inherited records name can be read from the new run."""
    outputs = open_outputs(setup, made, None)
    if outputs is not None:
        named = {name.decode("ascii") for record in inherited for name in _names(record)}
        inherit_outputs(outputs.folder, of_run=run_id, to_run=made, named=named, archive=outputs.archive)
        outputs.close()
    return add_output_tools(setup, outputs)


def _names(record: Record) -> Iterator[bytes]:
    encoded = encode(record)
    for text in (encoded.body, *encoded.contents.values()):
        yield from _NAME.findall(text)
