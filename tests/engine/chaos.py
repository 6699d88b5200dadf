"""Workers that are killed, stopped and cut off at random, on PostgreSQL, and what came of their jobs.

`python -m tests.engine.chaos URL FOLDER work` is one worker. `python -m tests.engine.chaos JOBS STEPS WORKERS` starts a
server of its own, does the whole, and prints the figures. Each job is a run of so many turns of a model, each with a
change that must be made once; what happens is also written down in a file, which no database can lose.
"""

import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from tests.support.postgres import Cluster

from toolroll.agent.agent import Agent
from toolroll.agent.run import is_on_record
from toolroll.agent.stop import step_count_is
from toolroll.engine.engine import Ending, Ticket
from toolroll.engine.postgres import PostgresEngine
from toolroll.errors import JournalRefused
from toolroll.journal.postgres import PostgresJournal, open_journal
from toolroll.journal.records import ModelTurn
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import CallOutcome
from toolroll.kernel.define.decorator import define_tool
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call, Line, ScriptedModel
from toolroll.postgres import presence as presences
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database
from toolroll.postgres.presence import Presence

SLOTS = 4
CALL_S = float(os.environ.get("CHAOS_CALL_S", "0.02"))
"""Before and after a change: it can be killed there."""

SILENCE_S = float(os.environ.get("CHAOS_SILENCE_S", presences.SILENCE_S))


def note(folder: Path, run_id: str, line: str) -> None:
    """Write down that something happened, so that it survives whoever did it."""
    fd = os.open(folder / run_id, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, f"{time.time()} {line}\n".encode())
    os.close(fd)


def read_notes(folder: Path, run_id: str) -> list[tuple[float, str]]:
    """Everything that was written down about a run."""
    path = folder / run_id
    lines = path.read_text().splitlines() if path.exists() else []
    return [(float(at), what) for at, _, what in (line.partition(" ") for line in lines)]


class Yes:
    """A person who says yes."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Yes to each."""
        return [Approve() for _ in requests]


def make_agent(journal: PostgresJournal, folder: Path, run_id: str, steps: int) -> Agent:
    """The agent of a job."""

    async def change(_given: object, ctx: ToolContext) -> str:
        await asyncio.sleep(CALL_S)
        note(folder, run_id, f"effect {ctx.call_id}")
        await asyncio.sleep(CALL_S)
        return "changed"

    async def find(ctx: ToolContext) -> CallOutcome:
        is_done = any(what == f"effect {ctx.call_id}" for _, what in read_notes(folder, run_id))
        return CallOutcome(state="done", text="changed") if is_done else CallOutcome(state="not_done")

    def play(request: ModelRequest) -> Line:
        step = sum(message.role == "assistant" for message in request.messages) + 1
        note(folder, run_id, f"paid {step}")
        return "All done." if step > steps else [Call("change", {}, id=f"change_{step}")]

    schema = {"type": "object", "properties": {}}
    tool = define_tool(
        name="change", description="Change it.", input=schema, execute=change, effect="writes", outcome=find
    )
    return Agent(
        model=ScriptedModel(play),
        tools=[tool],
        stop_when=step_count_is(steps + 5),
        approver=Yes(),
        journal=journal,
        outputs="off",
        make_id=lambda: run_id,
        loop_guard=False,
    )


async def work(url: str, folder: Path, steps: int) -> None:
    """Be a worker until somebody ends it."""
    database = Database(parse_address(url))
    presence = Presence(database, silence_s=SILENCE_S, restart_s=4 * SILENCE_S)
    with closing(PostgresJournal(database, folder=folder / "data", presence=presence)) as journal:

        async def drive(run_id: str) -> Ending:
            agent = make_agent(journal, folder, run_id, steps)
            begun = await is_on_record(journal, run_id)
            result = await (agent.resume(run_id) if begun else agent.run("Go."))
            if result.stop_reason != "answer":
                raise JournalRefused(f"The run ended with {result.stop_reason}.")
            return "done"

        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await PostgresEngine(journal.database, journal.presence).work(drive, slots=SLOTS, stop=stop)


@dataclass(slots=True, kw_only=True)
class Report:
    """What happened, and what must not have."""

    jobs: int
    seconds: float = 0.0
    done: int = 0
    kills: int = 0
    stops: int = 0
    restarts: int = 0
    cuts: int = 0
    retried_dead: int = 0
    effects_missing: int = 0
    effects_twice: int = 0
    paid_again: int = 0
    """Model calls that were paid after their answer was on record."""
    in_flight_again: int = 0
    """Model calls that were paid a second time, because the answer of the first never got on record."""
    takeovers: list[float] = field(default_factory=list)

    @property
    def median_takeover(self) -> float:
        """Seconds between a kill and the next claim of a job that the killed worker drove."""
        return statistics.median(self.takeovers) if self.takeovers else 0.0


class Chaos:
    """Some workers, and somebody who does them harm."""

    def __init__(self, cluster: Cluster, folder: Path, *, jobs: int, steps: int, workers: int, seed: int) -> None:
        self._cluster, self._folder, self._steps = cluster, folder, steps
        self._url = cluster.address
        self._random = random.Random(seed)
        self._ids = [f"run-{number}" for number in range(jobs)]
        self._workers = [self._start() for _ in range(workers)]
        self._stopped: list[tuple[float, subprocess.Popen[bytes]]] = []
        self._lost: dict[str, tuple[float, int]] = {}
        self._harms: Counter[str] = Counter()
        self.report = Report(jobs=jobs)

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.engine.chaos", self._url, str(self._folder), str(self._steps)]
        with (self._folder / "errors.log").open("ab") as log:
            return subprocess.Popen(command, stderr=log)

    async def run(
        self,
        *,
        kill_s: float = 1.0,
        stop_s: float = 7.0,
        pause_s: float = 5.0,
        restart_s: float = 20.0,
        limit_s: float,
        most: int = 1_000,
    ) -> Report:
        """Harm them until all jobs are done, each way at most so often; then look at what they did."""
        begun = time.monotonic()
        with closing(open_journal(parse_address(self._url), folder=self._folder / "own", secrets=())) as journal:
            engine = PostgresEngine(journal.database, journal.presence)
            for run_id in self._ids:
                await engine.submit(Ticket(run_id=run_id))
            due = {"kill": kill_s, "stop": stop_s, "restart": restart_s, "cut": 3.0}
            every = dict(due)
            while not await self._is_done(engine):
                now = time.monotonic() - begun
                assert now < limit_s, f"not done after {limit_s} s: {self.report}"
                for harm, at in due.items():
                    if now >= at and self._harms[harm] < most:
                        self._harms[harm] += 1
                        due[harm] = now + every[harm]
                        await asyncio.to_thread(self._harm, harm, pause_s)
                self._wake()
                await asyncio.sleep(0.1)
            self.report.seconds = time.monotonic() - begun
            self.close()
            await self._check(journal)
        return self.report

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.kill()
            worker.wait()

    async def _is_done(self, engine: PostgresEngine) -> bool:
        rows = await engine.list_jobs()
        for row in rows:
            if row.state == "dead":
                self.report.retried_dead += await engine.retry(row.run_id)
            lost_at, pid = self._lost.get(row.run_id, (0.0, 0))
            is_taken = row.state == "done" or (row.state == "running" and f"-{pid}-" not in str(row.worker))
            if lost_at and is_taken:
                self.report.takeovers.append(time.time() - lost_at)
                del self._lost[row.run_id]
        self.report.done = sum(row.state == "done" for row in rows)
        return self.report.done == len(self._ids)

    def _harm(self, harm: str, pause_s: float) -> None:
        if harm == "restart":
            self.report.restarts += 1
            self._cluster.restart(self._random.choice(["INT", "QUIT"]))
        elif harm == "cut":
            self._cut()
        else:
            held = [worker for _, worker in self._stopped]
            victim = self._random.choice([one for one in self._workers if one not in held])
            if harm == "kill":
                self._kill(victim)
            elif len(held) < len(self._workers) - 1:
                self.report.stops += 1
                victim.send_signal(signal.SIGSTOP)
                self._stopped.append((time.monotonic() + pause_s, victim))

    def _kill(self, victim: "subprocess.Popen[bytes]") -> None:
        self.report.kills += 1
        with psycopg.connect(self._url, options="-c search_path=toolroll") as db:
            running = "select run_id from jobs where state = 'running' and worker like %s"
            driven = db.execute(running, (f"%-{victim.pid}-%",)).fetchall()
        victim.kill()
        victim.wait()
        self._lost |= {run_id: (time.time(), victim.pid) for [run_id] in driven}
        self._workers[self._workers.index(victim)] = self._start()

    def _cut(self) -> None:
        self.report.cuts += 1
        with psycopg.connect(self._url, autocommit=True) as db:
            pids = db.execute("select pid from pg_stat_activity where application_name like 'toolroll%'").fetchall()
            for [pid] in self._random.sample(pids, len(pids) // 3):
                db.execute("select pg_terminate_backend(%s)", (pid,))

    def _wake(self) -> None:
        for until, worker in list(self._stopped):
            if time.monotonic() >= until:
                worker.send_signal(signal.SIGCONT)
                self._stopped.remove((until, worker))

    async def _check(self, journal: PostgresJournal) -> None:
        for run_id in self._ids:
            notes = read_notes(self._folder, run_id)
            effects = Counter(what for _, what in notes if what.startswith("effect"))
            expected = {f"effect change_{step}" for step in range(1, self._steps + 1)}
            self.report.effects_missing += len(expected - effects.keys())
            self.report.effects_twice += sum(count > 1 for count in effects.values())
            times = await journal.times(run_id)
            turns = [number for number, record in await journal.read(run_id) if isinstance(record, ModelTurn)]
            for step, number in enumerate(turns, 1):
                paid = [at for at, what in notes if what == f"paid {step}"]
                self.report.paid_again += sum(at > times[number] for at in paid)
                self.report.in_flight_again += len(paid) - 1


async def measure(jobs: int, steps: int, workers: int) -> Report:
    """Do the whole at that size."""
    with Cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        chaos = Chaos(cluster, Path(folder), jobs=jobs, steps=steps, workers=workers, seed=1)
        try:
            return await chaos.run(limit_s=900)
        finally:
            chaos.close()


if __name__ == "__main__":
    if sys.argv[1].startswith("postgresql:"):
        asyncio.run(work(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
    else:
        found = asyncio.run(measure(*map(int, sys.argv[1:])))
        takeovers = sorted(found.takeovers)
        shown = {name: getattr(found, name) for name in Report.__dataclass_fields__ if name != "takeovers"}
        figures = {"takeovers": len(takeovers), "median": found.median_takeover, "worst": takeovers[-1:]}
        print(json.dumps(shown | figures))
