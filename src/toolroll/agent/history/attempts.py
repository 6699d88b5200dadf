"""Count the attempts to resume a run that dies each time, and give up before they go on without end.

Each attempt is recorded with how far the run had come, its parts included. If the next one finds it no further, the one
before has died. A record of an attempt is not a step of the run, and a new prompt, an answer to a question or `force`
is a person's own word, which always counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from toolroll.agent.history.rebuild import RebuiltRun
from toolroll.agent.loop.finish import finish_run
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Ending, RunResult
from toolroll.journal.journal import Journal, Recording, RunRow
from toolroll.journal.records import CallEnded, MessageAdded, ModelTurn, StateSet

MAX_FRUITLESS_ATTEMPTS: Final = 3
"""A machine that was switched off twice is bad luck; what dies three times at the same place dies of that place."""
ATTEMPTS_KEY: Final = "attempts"
"""The name under which a run keeps its attempts."""
GAVE_UP: Final = (
    "{count} attempts in a row to resume this run died before it came any further. Resume it with another prompt, "
    "which leaves the unfinished calls out, or try once more with force."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """How many attempts in a row came to nothing, and how far the run had come at the last one."""

    count: int = 0
    progress: int = -1


def read_attempts(value: object) -> Attempts:
    """Return the attempts as they are recorded; none if they are not."""
    if not isinstance(value, Mapping):
        return Attempts()
    count, progress = value.get("count"), value.get("progress")
    if not isinstance(count, int) or not isinstance(progress, int):
        return Attempts()
    return Attempts(count=count, progress=progress)


async def measure_progress(journal: Journal, recording: Recording) -> int:
    """Return how much of a run is done, its parts included: a number that grows with every step."""
    own = sum(isinstance(record, MessageAdded | ModelTurn | CallEnded) for _, record in recording)
    return own + _count_parts(await journal.runs(), recording.run_id)


def _count_parts(rows: Sequence[RunRow], run_id: str) -> int:
    wanted, records = {run_id}, 0
    for row in sorted(rows, key=lambda row: row.began):  # a part begins after its caller
        if row.parent in wanted:
            wanted.add(row.run_id)
            records += row.records
    return records


async def begin_attempt(rebuilt: RebuiltRun, progress: int, *, is_forced: bool) -> bool:
    """Record another attempt; False if there were too many that came to nothing."""
    known = read_attempts(rebuilt.values.get(ATTEMPTS_KEY))
    has_given_up = rebuilt.end is not None and rebuilt.end.stop_reason == "gave_up"
    fruitless = known.count if known.progress == progress else 0
    if not is_forced and (has_given_up or fruitless >= MAX_FRUITLESS_ATTEMPTS):
        return False
    attempts = Attempts(count=1 if is_forced else fruitless + 1, progress=progress)
    await rebuilt.state.record(StateSet(name=ATTEMPTS_KEY, value=asdict(attempts)))
    return True


async def give_up(rebuilt: RebuiltRun) -> RunResult[object]:
    """End the run with a state that says so; it stays where it is, and can still be continued on a person's word."""
    state: RunState = rebuilt.state
    rebuilt.close_turn()
    count = MAX_FRUITLESS_ATTEMPTS
    detail = f"died at {count} attempts in a row"
    return await finish_run(state, Ending(reason="gave_up", detail=detail, text=f"({GAVE_UP.format(count=count)})"))
