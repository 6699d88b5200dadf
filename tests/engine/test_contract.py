"""What every engine promises; each test runs on each of them (D10, D12, D13)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from tests.support.clock import Clock

from toolroll.engine.engine import (
    LEFT_PAUSE_S,
    MAX_ATTEMPTS,
    Drive,
    Ending,
    Engine,
    JobLeft,
    JobRefused,
    JobState,
    Ticket,
)
from toolroll.engine.local import LocalEngine
from toolroll.engine.postgres import PostgresEngine
from toolroll.errors import NetworkFailed
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database
from toolroll.postgres.presence import Presence

WAIT_S = 60.0
"""Until a test gives up; on a quiet machine each wait takes some milliseconds."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["local", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Engine]:
    if request.param == "local":
        with closing(LocalEngine(tmp_path / "jobs.db", clock=clock, poll_s=0.005)) as local:
            yield local
        return
    with closing(Database(parse_address(request.getfixturevalue("database_url")))) as database:
        presence = Presence(database)
        yield PostgresEngine(database, presence, clock=clock, poll_s=0.005)
        presence.close()


@asynccontextmanager
async def working(engine: Engine, drive: Drive, *, slots: int = 1, queues: tuple[str, ...] = ()) -> AsyncIterator[None]:
    stop = asyncio.Event()
    work = asyncio.create_task(engine.work(drive, slots=slots, queues=queues, stop=stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(work, WAIT_S)


async def until(met: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not await met():
            await asyncio.sleep(0.005)


async def has_state(engine: Engine, run_id: str, state: JobState) -> None:
    async def met() -> bool:
        return [row.state for row in await engine.list_jobs([run_id])] == [state]

    await until(met)


class Driver:
    """Drives runs by a list of how each attempt ends: with an ending, or with an error."""

    def __init__(self, *endings: Ending | Exception) -> None:
        self.endings = list(endings)
        self.driven: list[str] = []

    async def __call__(self, run_id: str) -> Ending:
        self.driven.append(run_id)
        ending = self.endings.pop(0) if self.endings else "done"
        if isinstance(ending, Exception):
            raise ending
        return ending


async def test_D10_a_submitted_run_is_driven_once(engine: Engine) -> None:
    drive = Driver()
    await engine.submit(Ticket(run_id="a"))
    async with working(engine, drive):
        await has_state(engine, "a", "done")

    assert drive.driven == ["a"]


async def test_D12_submitting_a_ticket_twice_is_submitting_it_once(engine: Engine) -> None:
    drive = Driver()
    for _ in range(2):
        await engine.submit(Ticket(run_id="a", cause=3))
    async with working(engine, drive):
        await has_state(engine, "a", "done")
        await engine.submit(Ticket(run_id="a", cause=3))
        await engine.submit(Ticket(run_id="b"))
        await has_state(engine, "b", "done")

    assert drive.driven == ["a", "b"]


async def test_D12_a_key_has_one_open_job(engine: Engine) -> None:
    assert await engine.submit(Ticket(run_id="a", key="tea")) == "a"
    assert await engine.submit(Ticket(run_id="b", key="tea")) == "a"
    assert [row.run_id for row in await engine.list_jobs()] == ["a"]
    async with working(engine, Driver()):
        await has_state(engine, "a", "done")

    assert await engine.submit(Ticket(run_id="b", key="tea")) == "b"


async def test_D12_higher_priorities_come_first_then_the_older(engine: Engine) -> None:
    drive = Driver()
    for run_id, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 9)):
        await engine.submit(Ticket(run_id=run_id, priority=priority))
    async with working(engine, drive):
        await has_state(engine, "c", "done")

    assert drive.driven == ["d", "b", "a", "c"]


async def test_D12_a_delayed_job_waits_for_its_time(engine: Engine, clock: Clock) -> None:
    drive = Driver()
    await engine.submit(Ticket(run_id="late", not_before=clock() + 60))
    await engine.submit(Ticket(run_id="now"))
    async with working(engine, drive):
        await has_state(engine, "now", "done")
        assert [row.state for row in await engine.list_jobs(["late"])] == ["queued"]
        clock.advance(61)
        await has_state(engine, "late", "done")


async def test_D12_a_failed_attempt_is_repeated_after_a_pause_then_given_up(engine: Engine, clock: Clock) -> None:
    drive = Driver(*[NetworkFailed(f"No route, {n}.") for n in range(MAX_ATTEMPTS)])
    await engine.submit(Ticket(run_id="a"))
    pauses = []
    async with working(engine, drive):
        for attempt in range(1, MAX_ATTEMPTS):

            async def failed(count: int = attempt) -> bool:
                [row] = await engine.list_jobs(["a"])
                return row.state == "queued" and len(drive.driven) == count and bool(row.error)

            await until(failed)
            [row] = await engine.list_jobs(["a"])
            pauses.append(round(row.not_before - clock()))
            clock.advance(row.not_before - clock())
        await has_state(engine, "a", "dead")
        [row] = await engine.list_jobs(["a"])
        assert (row.attempts, row.error) == (MAX_ATTEMPTS, f"No route, {MAX_ATTEMPTS - 1}.")

        assert await engine.retry("a")
        await has_state(engine, "a", "done")

    assert pauses == [2, 4, 8, 16]


async def test_D12_a_job_that_cannot_succeed_is_given_up_at_once(engine: Engine) -> None:
    drive = Driver(JobRefused("There is no such model."))
    await engine.submit(Ticket(run_id="a"))
    async with working(engine, drive):
        await has_state(engine, "a", "dead")

    assert drive.driven == ["a"]


async def test_D10_a_job_that_is_left_for_a_newer_worker_stays_queued_and_loses_no_attempt(
    engine: Engine, clock: Clock
) -> None:
    await engine.submit(Ticket(run_id="a"))
    async with working(engine, Driver(*[JobLeft("Update toolroll.")] * MAX_ATTEMPTS)):
        for _ in range(MAX_ATTEMPTS):

            async def is_left() -> bool:
                [row] = await engine.list_jobs(["a"])
                return (row.state, row.attempts, row.error) == ("queued", 0, "Update toolroll.") and (
                    row.not_before > clock()
                )

            await until(is_left)
            clock.advance(LEFT_PAUSE_S)
        await has_state(engine, "a", "done")


async def test_D12_an_unknown_error_ends_no_worker(engine: Engine) -> None:
    drive = Driver(ZeroDivisionError("oh"))
    await engine.submit(Ticket(run_id="a"))
    await engine.submit(Ticket(run_id="b"))
    async with working(engine, drive):
        await has_state(engine, "b", "done")

    [row] = await engine.list_jobs(["a"])
    assert (row.state, row.error) == ("queued", "ZeroDivisionError: oh")


async def test_D13_a_waiting_job_holds_no_slot_and_its_answer_queues_it(engine: Engine) -> None:
    drive = Driver("waiting")
    await engine.submit(Ticket(run_id="a"))
    await engine.submit(Ticket(run_id="b"))
    async with working(engine, drive):
        await has_state(engine, "b", "done")
        assert [row.state for row in await engine.list_jobs(["a"])] == ["waiting"]
        await engine.submit(Ticket(run_id="a", cause=7))
        await has_state(engine, "a", "done")

    assert drive.driven == ["a", "b", "a"]


async def test_D13_an_answer_while_the_job_still_runs_is_not_lost(engine: Engine) -> None:
    driven, may_end = [], asyncio.Event()

    async def drive(run_id: str) -> Ending:
        driven.append(run_id)
        if len(driven) == 1:
            await may_end.wait()
            return "waiting"
        return "done"

    await engine.submit(Ticket(run_id="a"))
    async with working(engine, drive):
        await has_state(engine, "a", "running")
        await engine.submit(Ticket(run_id="a", cause=7))
        may_end.set()
        await has_state(engine, "a", "done")

    assert driven == ["a", "a"]


async def test_D12_slots_and_the_limit_of_a_queue_are_never_exceeded(engine: Engine) -> None:
    running = {"x": 0, "y": 0}
    most = {"x": 0, "y": 0}

    async def drive(run_id: str) -> Ending:
        queue = run_id[0]
        running[queue] += 1
        most[queue] = max(most[queue], running[queue])
        await asyncio.sleep(0.01)
        running[queue] -= 1
        return "done"

    await engine.limit_queue("x", 2)
    for n in range(8):
        await engine.submit(Ticket(run_id=f"x{n}", queue="x"))
        await engine.submit(Ticket(run_id=f"y{n}", queue="y"))
    async with working(engine, drive, slots=5):

        async def all_done() -> bool:
            return {row.state for row in await engine.list_jobs()} == {"done"}

        await until(all_done)

    assert most["x"] == 2
    assert most["y"] > 2


async def test_D12_a_worker_takes_only_the_queues_it_is_told(engine: Engine) -> None:
    drive = Driver()
    await engine.submit(Ticket(run_id="a", queue="here"))
    await engine.submit(Ticket(run_id="b", queue="elsewhere", priority=9))
    async with working(engine, drive, queues=("here",)):
        await has_state(engine, "a", "done")

    assert drive.driven == ["a"]


@pytest.mark.parametrize("state", ["queued", "running", "waiting"])
async def test_D12_an_open_job_can_be_cancelled_and_retried(engine: Engine, state: JobState) -> None:
    starts = 0

    async def drive(_run_id: str) -> Ending:
        nonlocal starts
        starts += 1
        if state == "running" and starts == 1:
            await asyncio.Event().wait()
        return "waiting" if state == "waiting" and starts == 1 else "done"

    if state == "queued":
        await engine.submit(Ticket(run_id="a"))
        assert await engine.cancel("a")
    async with working(engine, drive):
        if state != "queued":
            await engine.submit(Ticket(run_id="a"))
            await has_state(engine, "a", state)
            assert await engine.cancel("a")
        await has_state(engine, "a", "cancelled")
        assert not await engine.cancel("a")
        assert await engine.retry("a")
        await has_state(engine, "a", "done")


async def test_D12_a_job_is_not_retried_beside_an_open_one_of_its_key(engine: Engine) -> None:
    await engine.submit(Ticket(run_id="a", key="tea"))
    await engine.cancel("a")
    await engine.submit(Ticket(run_id="b", key="tea"))

    assert not await engine.retry("a")
    assert not await engine.retry("unknown")


async def test_D10_a_worker_that_stops_finishes_what_it_drives_and_begins_nothing(engine: Engine) -> None:
    may_end, stop, driven = asyncio.Event(), asyncio.Event(), []

    async def drive(run_id: str) -> Ending:
        driven.append(run_id)
        stop.set()
        await may_end.wait()
        return "done"

    await engine.submit(Ticket(run_id="a"))
    await engine.submit(Ticket(run_id="b"))
    work = asyncio.create_task(engine.work(drive, slots=1, stop=stop))
    await has_state(engine, "a", "running")
    may_end.set()
    await asyncio.wait_for(work, WAIT_S)

    assert {row.run_id: row.state for row in await engine.list_jobs()} == {"a": "done", "b": "queued"}


async def test_D10_a_worker_that_is_cancelled_gives_its_jobs_back(engine: Engine) -> None:
    async def drive(_run_id: str) -> Ending:
        await asyncio.Event().wait()
        return "done"

    await engine.submit(Ticket(run_id="a"))
    work = asyncio.create_task(engine.work(drive, slots=1, stop=asyncio.Event()))
    await has_state(engine, "a", "running")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work

    [row] = await engine.list_jobs()
    assert (row.state, row.attempts, row.worker) == ("queued", 0, None)
