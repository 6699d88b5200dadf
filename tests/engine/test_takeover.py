"""Workers that are killed: another one drives what they drove, and gives up what kills each of them (D10, D11)."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.engine.test_contract import WAIT_S, has_state, until, working

from toolroll.engine.engine import MAX_ATTEMPTS, Ending, Ticket
from toolroll.engine.local import LocalEngine


def drive_for_ever(path: Path) -> None:
    """A worker in a process of its own, whose jobs never end."""

    async def drive(_run_id: str) -> Ending:
        await asyncio.Event().wait()
        return "done"

    asyncio.run(LocalEngine(path, poll_s=0.005).work(drive, slots=10, stop=asyncio.Event()))


async def kill_worker(path: Path, has_begun: Callable[[], Awaitable[None]]) -> None:
    process = multiprocessing.get_context("spawn").Process(target=drive_for_ever, args=(path,))
    process.start()
    assert process.pid is not None
    try:
        await has_begun()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.join(WAIT_S)


async def test_D11_what_a_killed_worker_drove_is_driven_by_another(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    engine = LocalEngine(path, poll_s=0.005)
    for run_id in ("a", "b"):
        await engine.submit(Ticket(run_id=run_id))

    async def both_run() -> None:
        await has_state(engine, "a", "running")
        await has_state(engine, "b", "running")

    await kill_worker(path, both_run)
    driven = []

    async def drive(run_id: str) -> Ending:
        driven.append(run_id)
        return "done"

    async with working(engine, drive):
        await has_state(engine, "a", "done")
        await has_state(engine, "b", "done")
    assert sorted(driven) == ["a", "b"]


async def test_D12_a_job_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    engine = LocalEngine(path, poll_s=0.005)
    await engine.submit(Ticket(run_id="a"))
    for attempt in range(1, MAX_ATTEMPTS + 1):

        async def begun(count: int = attempt) -> None:
            async def met() -> bool:
                [row] = await engine.list_jobs(["a"])
                return row.state == "running" and row.attempts == count

            await until(met)

        await kill_worker(path, begun)
        assert engine.take_over() == 1

    [row] = await engine.list_jobs(["a"])
    assert (row.state, row.error) == ("dead", f"The worker ended in the middle of it, {MAX_ATTEMPTS} times.")
