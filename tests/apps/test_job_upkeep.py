"""What a process that was killed between two stores has left is found and queued, once (D11)."""

import asyncio
import multiprocessing
import os
import signal
from pathlib import Path

import pytest
from tests.apps.test_jobs import EDIT, READ, exploration, status_of, task, work
from tests.apps.test_jobs import local_store as store

from toolroll.apps.job_upkeep import JobUpkeep
from toolroll.apps.jobs import JobStore
from toolroll.apps.webhooks import WebhookSender
from toolroll.engine.engine import Ticket
from toolroll.engine.local import LocalEngine
from toolroll.journal.sqlite import SqliteJournal

__all__ = ["store"]

WAIT_S = 60.0


class DyingEngine(LocalEngine):
    """An engine whose process is killed before it queues anything."""

    async def submit(self, ticket: Ticket, /) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ticket.run_id


def die_while_queueing(folder: Path, answered: str | None) -> None:
    dying = JobStore(journal=SqliteJournal(folder / "runs.db"), engine=DyingEngine(folder / "jobs.db"))

    async def queue() -> None:
        if answered is None:
            await dying.submit(exploration(folder, "# Tea"), priority=7)
        else:
            await dying.answer(await dying.read(await dying.find(answered)), "edit_1", is_yes=True)

    asyncio.run(queue())


def kill_while_queueing(folder: Path, answered: str | None = None) -> None:
    process = multiprocessing.get_context("spawn").Process(target=die_while_queueing, args=(folder, answered))
    process.start()
    process.join(WAIT_S)
    assert process.exitcode == -signal.SIGKILL


class FailingEngine(LocalEngine):
    """An engine that queues nothing."""

    async def submit(self, ticket: Ticket, /) -> str:
        raise InterruptedError(ticket.run_id)


async def leave_job(folder: Path) -> None:
    """Leave what a killed process leaves, in a moment."""
    journal = SqliteJournal(folder / "runs.db")
    with pytest.raises(InterruptedError):
        await JobStore(journal=journal, engine=FailingEngine(folder / "jobs.db")).submit(exploration(folder, "# Tea"))
    journal.close()


@pytest.fixture
def upkeep(store: JobStore, tmp_path: Path) -> JobUpkeep:
    return JobUpkeep(store, WebhookSender(store.journal, {"TOOLROLL_HOME": str(tmp_path / "home")}))


async def test_D11_a_job_that_was_recorded_and_not_queued_is_queued_as_it_was_meant(
    store: JobStore, upkeep: JobUpkeep, tmp_path: Path
) -> None:
    kill_while_queueing(tmp_path)
    assert await store.list() == []
    assert await upkeep.queue_left() == 1
    assert await upkeep.queue_left() == 0
    [row] = await store.list()
    assert (row.state, row.priority) == ("queued", 7)
    await work(store, tmp_path, until=("done",))
    assert await upkeep.queue_left() == 0


async def test_D13_an_answer_that_was_recorded_and_not_queued_is_not_lost(
    store: JobStore, upkeep: JobUpkeep, tmp_path: Path
) -> None:
    job_id, _ = await store.submit(task(tmp_path, READ, EDIT, "Done."))
    await work(store, tmp_path, until=("waiting",))
    assert await upkeep.queue_left() == 0
    kill_while_queueing(tmp_path, answered=job_id)
    assert (await store.find(job_id)).state == "waiting"
    assert await upkeep.queue_left() == 1
    await work(store, tmp_path, until=("done",))
    assert (tmp_path / "project" / "a.py").read_text() == "x = 2\n"
    assert (await status_of(store, job_id)).result == "Done."


async def test_D11_what_a_living_process_is_about_to_queue_is_left_to_it(
    store: JobStore, upkeep: JobUpkeep, tmp_path: Path
) -> None:
    await leave_job(tmp_path)
    [run] = await store.journal.runs()
    other = SqliteJournal(tmp_path / "runs.db")
    try:
        assert await other.acquire(run.run_id)
        assert await upkeep.queue_left() == 0
        await other.release(run.run_id)
    finally:
        other.close()
    assert await upkeep.queue_left() == 1


async def test_D12_of_two_left_jobs_for_one_idea_one_is_queued(
    store: JobStore, upkeep: JobUpkeep, tmp_path: Path
) -> None:
    for _ in range(2):
        await leave_job(tmp_path)
    await upkeep.queue_left()
    assert len(await store.list()) == 1
    assert await upkeep.queue_left() == 0


async def test_D11_a_queue_that_was_lost_is_filled_from_the_record(
    store: JobStore, upkeep: JobUpkeep, tmp_path: Path
) -> None:
    done, _ = await store.submit(exploration(tmp_path, "# Tea"))
    await work(store, tmp_path, until=("done",))
    left, _ = await store.submit(exploration(tmp_path, "# Tea", idea="Coffee"))
    engine = LocalEngine(tmp_path / "new.db", poll_s=0.005)
    try:
        anew = JobStore(journal=store.journal, engine=engine)
        await JobUpkeep(anew, WebhookSender(store.journal, {})).queue_left()
        assert [row.run_id for row in await anew.list()] == [left]
    finally:
        engine.close()
    assert done != left
