"""What the engine of jobs costs (D14): a durable step, jobs a second, waiting approvals, and a long queue.

    python benchmarks/engine.py [--save]

A server of its own is started for it (`tests/support/postgres.py`), which waits for no disk. A bare DBOS step stands
beside ours, in the same minute. Temporal is not here: it needs a server that is no Python package.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks import kit
from tests.support.postgres import Cluster

from toolroll.engine.engine import Ending, Ticket
from toolroll.engine.local import LocalEngine
from toolroll.engine.postgres import PostgresEngine
from toolroll.journal.journal import Journal, MemoryJournal
from toolroll.journal.postgres import PostgresJournal, open_journal
from toolroll.journal.records import StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.postgres.address import parse_address

STEPS = 500
JOBS = 1_000
SUBMIT_S = 6.0
WAITING = 1_000
QUEUED = 10_000
WORKERS = (1, 2, 4)
DBOS_STEPS = """
import sys, time, logging
from dbos import DBOS, DBOSPortableJSONSerializer
DBOS(config={"name": "bench", "system_database_url": sys.argv[1], "log_level": "ERROR",
             "serializer": DBOSPortableJSONSerializer()})
@DBOS.step()
def step(number): return number
@DBOS.workflow()
def flow(count):
    begun = time.perf_counter()
    for number in range(count): step(number)
    return time.perf_counter() - begun
DBOS.launch()
flow(20)
print(1000 * flow(int(sys.argv[2])) / int(sys.argv[2]))
DBOS.destroy()
"""


async def time_step(journal: Journal) -> float:
    """Milliseconds of a durable step: one record, on record when it returns."""
    record = StateSet(name="step", value={"number": 1})
    for _ in range(20):
        await journal.append("run", record)
    rounds = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(STEPS // 5):
            await journal.append("run", record)
        rounds.append(1000 * (time.perf_counter() - begun) / (STEPS // 5))
    return median(rounds)


@contextmanager
def opened(url: str) -> Iterator[PostgresJournal]:
    """The run log in the database, as a process opens it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_journal(parse_address(url), folder=Path(folder), secrets=())) as journal,
    ):
        yield journal


async def done(_run_id: str) -> Ending:
    """A job with nothing to do."""
    return "done"


async def wait(_run_id: str) -> Ending:
    """A job that waits for a person."""
    return "waiting"


async def until_empty(engine: PostgresEngine | LocalEngine) -> None:
    """Return when no job is open."""
    while any(row.state in ("queued", "running") for row in await engine.list_jobs()):  # noqa: ASYNC110 - no event
        await asyncio.sleep(0.02)


async def work_until(
    engine: PostgresEngine | LocalEngine, drive: Callable[[str], Awaitable[Ending]], state: str
) -> float:
    """Seconds until no job is open; `state` is how they end."""
    stop, begun = asyncio.Event(), time.perf_counter()
    work = asyncio.create_task(engine.work(drive, slots=16, stop=stop))
    await until_empty(engine)
    seconds = time.perf_counter() - begun
    stop.set()
    await work
    assert {row.state for row in await engine.list_jobs()} >= {state}
    return seconds


async def time_claims(url: str, waiting: int) -> float:
    """Milliseconds of a look of a worker that finds nothing to do, beside so many jobs that wait."""
    with opened(url) as journal:
        engine = PostgresEngine(journal.database, journal.presence)
        if waiting:
            for number in range(waiting):
                await engine.submit(Ticket(run_id=f"wait-{number}"))
            await work_until(engine, wait, "waiting")
        begun = time.perf_counter()
        for _ in range(200):
            await engine._look(done, 1, (), asyncio.Event())  # noqa: SLF001 - what is measured
        return 1000 * (time.perf_counter() - begun) / 200


async def time_jobs(url: str, workers: int) -> float:
    """Jobs a second, with so many worker processes."""
    with opened(url) as journal:
        engine = PostgresEngine(journal.database, journal.presence)
        command = [sys.executable, __file__, "--worker", url]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(workers)]  # noqa: ASYNC220 - at once
        try:
            for one in started:
                assert one.stdout is not None
                one.stdout.readline()
            begins = time.time() + SUBMIT_S  # all are queued by then
            for number in range(JOBS):
                await engine.submit(Ticket(run_id=f"{workers}-{number}", not_before=begins))
            assert time.time() < begins
            await until_empty(engine)
            return JOBS / (time.time() - begins)
        finally:
            for one in started:
                one.kill()
                one.communicate()


async def time_queue(engine: PostgresEngine | LocalEngine) -> float:
    """Seconds to queue ten thousand ideas."""
    begun = time.perf_counter()
    for number in range(QUEUED):
        await engine.submit(Ticket(run_id=f"idea-{number}", key=f"key-{number}"))
    return time.perf_counter() - begun


async def be_worker(url: str) -> None:
    """Drive jobs until somebody ends it."""
    with opened(url) as journal:
        journal.presence.hold()
        print("ready", flush=True)
        await PostgresEngine(journal.database, journal.presence).work(done, slots=16, stop=asyncio.Event())


async def measure(cluster: Cluster) -> list[str]:
    """All figures, as lines of tables."""
    url = cluster.address
    with tempfile.TemporaryDirectory() as folder:
        with closing(SqliteJournal(Path(folder) / "runs.db")) as file, opened(url) as log:
            steps = [await time_step(MemoryJournal()), await time_step(file), await time_step(log)]
        with closing(LocalEngine(Path(folder) / "jobs.db")) as local:
            local_queue = await time_queue(local)
    found = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", DBOS_STEPS, url, str(STEPS)], check=True, capture_output=True, text=True
    )
    names = ("in memory", "SQLite", "PostgreSQL", "a bare DBOS step")
    lines = ["| a durable step | ms |", "|---|---|"]
    lines += [f"| {name} | {ms:.2f} |" for name, ms in zip(names, [*steps, float(found.stdout)], strict=True)]
    lines += ["", f"| workers | jobs a second ({JOBS:,} empty jobs, 16 at a time each) |", "|---|---|"]
    for workers in WORKERS:
        lines.append(f"| {workers} | {await time_jobs(url, workers):.0f} |")
    idle = await time_claims(url, 0)
    waiting = await time_claims(url, WAITING)
    with opened(url) as log:
        queue = await time_queue(PostgresEngine(log.database, log.presence))
    lines += ["", "| | |", "|---|---|"]
    lines.append(f"| a look of an idle worker | {idle:.2f} ms |")
    lines.append(f"| the same beside {WAITING:,} waiting approvals | {waiting:.2f} ms |")
    lines.append(f"| {QUEUED:,} ideas queued, SQLite | {local_queue:.1f} s |")
    lines.append(f"| {QUEUED:,} ideas queued, PostgreSQL | {queue:.1f} s |")
    return lines


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="What the engine of jobs costs.")
    parser.add_argument("--save", action="store_true", help="write the figures to RESULTS.md")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        asyncio.run(be_worker(given.worker))
        return
    with Cluster() as cluster:
        lines = asyncio.run(measure(cluster))
    print("\n".join(lines))
    if given.save:
        kit.save("engine", "\n".join(lines))


if __name__ == "__main__":
    main()
