"""Parse in worker processes: parsers hold the interpreter's lock, and one that crashes takes its process along.

Processes are started when they are first needed, never more than there are cores; one of them stays for the next
file, as starting one takes longer than most files. No event loop, and no `multiprocessing`: that would import the
caller's main module again.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Generic, Literal, TypeVar

from toolroll.errors import ToolrollError
from toolroll.safe.programs.run import minimal_environment
from toolroll.workspace.symbols.symbol import REPLY, REQUEST

K = TypeVar("K")
Failure = Literal["crashed", "timed out"]

MAX_WORKERS: Final = 8
REPLY_S: Final = 60.0  # a worker ends itself after 5 s of processor time; this is for one that gets none
ENDING_S: Final = 5.0  # for one whose pipe broke, as it does a moment before it is gone: longer on a busy machine
FILES_A_WORKER: Final = 16  # fewer than that are parsed sooner than another process has started
_PROGRAM: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from toolroll.workspace.symbols.worker import main; main()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One file for a worker."""

    operation: Literal["extract", "occurrences"]
    language: str
    data: bytes
    name: str = ""
    """Whose occurrences are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of it: plain values, or how it failed."""

    value: object = None
    failure: Failure | None = None


class _WorkerGone(Exception):
    """The process is gone, or had to be killed."""


class Worker:
    """One process, asked by one thread at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a program of ours
            command,
            cwd="/",
            env=minimal_environment(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout

    def ask(self, task: Task) -> Reply:
        """Return the reply; where there is a failure in it, the process is gone."""
        words = json.dumps({"operation": task.operation, "language": task.language, "name": task.name}).encode()
        try:
            self._send(REQUEST.pack(len(words), len(task.data)) + words + task.data)
            [size] = REPLY.unpack(self._receive(REPLY.size))
            return Reply(value=json.loads(self._receive(size)))
        except (_WorkerGone, OSError):
            return Reply(failure=self._failure())

    def kill(self) -> None:
        """End the process now; whoever waits for its reply gets a failure. Any thread may say so."""
        self._process.kill()

    def end(self) -> None:
        """End the process and forget it."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self._replies.close()

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._requests.write(rest) or 0 :]

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            ready, _, _ = select.select([self._replies], [], [], REPLY_S)
            piece = os.read(self._replies.fileno(), size - len(received)) if ready else b""
            if not piece:
                raise _WorkerGone
            received += piece
        return bytes(received)

    def _failure(self) -> Failure:
        is_hanging = True
        with suppress(subprocess.TimeoutExpired):
            is_hanging = self._process.wait(ENDING_S) == -signal.SIGPROF
        self.end()
        return "timed out" if is_hanging else "crashed"


class Workers:
    """Some workers, each started when it is first needed. Threads may share them."""

    def __init__(self, *, most: int | None = None, command: Sequence[str] | None = None) -> None:
        self._most = most or min(MAX_WORKERS, len(os.sched_getaffinity(0)))
        self._command = tuple(command or _own_command())
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._closed = False

    def map(self, tasks: Iterator[tuple[K, Task]], *, expected: int) -> Generator[tuple[K, Reply], None, None]:
        """Yield the reply to each task, in no order. Leaving the iteration early ends the processes at work."""
        run = _Run(self, tasks, min(self._most, expected // FILES_A_WORKER + 1))
        try:
            yield from run.results()
        finally:
            run.stop()

    def take(self) -> Worker:
        """Return a worker that waits, or a new one."""
        with self._lock:
            return self._idle.pop() if self._idle else Worker(self._command)

    def give_back(self, worker: Worker) -> None:
        """Keep one for the next file; more would take memory for nothing."""
        with self._lock:
            keep = not self._idle and not self._closed
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.end()

    def close(self) -> None:
        """End every process that waits."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for worker in idle:
            worker.end()


class _Run(Generic[K]):
    """One pass over some tasks: a thread for each worker."""

    def __init__(self, workers: Workers, tasks: Iterator[tuple[K, Task]], count: int) -> None:
        self._workers = workers
        self._tasks = tasks
        self._reading = threading.Lock()
        self._stopped = threading.Event()
        self._results: SimpleQueue[tuple[K, Reply] | BaseException | None] = SimpleQueue()
        # So many replies wait to be taken at most: whoever writes them down may be slower than all workers.
        self._room = threading.Semaphore(4 * count)
        self._at_work: set[Worker] = set()
        self._enlisting = threading.Lock()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]

    def results(self) -> Iterator[tuple[K, Reply]]:
        for thread in self._threads:
            thread.start()
        running = len(self._threads)
        while running:
            result = self._results.get()
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                raise result
            else:
                self._room.release()
                yield result

    def stop(self) -> None:
        with self._enlisting:
            self._stopped.set()
            for worker in self._at_work:
                worker.kill()
        for thread in self._threads:
            self._room.release()
            if thread.ident is not None:  # else it could not be started, which is being raised
                thread.join()

    def _work(self) -> None:
        worker: Worker | None = None
        try:
            while (item := self._next()) is not None:
                key, task = item
                worker, reply = self._ask(worker, task)
                self._room.acquire()
                self._results.put((key, reply))
        except (ToolrollError, OSError) as error:
            self._results.put(error)
        finally:
            if worker is not None:
                self._dismiss(worker)
                self._workers.give_back(worker)
            self._results.put(None)

    def _next(self) -> tuple[K, Task] | None:
        with self._reading:  # files are read one after the other: two cannot be in memory for one worker
            return None if self._stopped.is_set() else next(self._tasks, None)

    def _ask(self, worker: Worker | None, task: Task) -> tuple[Worker | None, Reply]:
        """Return a second try for a file at which the process went down: somebody else may have killed it."""
        reply = Reply(failure="crashed")
        for _ in range(2):
            if worker is None:
                worker = self._workers.take()
                self._enlist(worker)
            reply = worker.ask(task)
            if reply.failure is None:
                return worker, reply
            self._dismiss(worker)
            worker = None
            if reply.failure == "timed out" or self._stopped.is_set():
                break
        return None, reply

    def _enlist(self, worker: Worker) -> None:
        """Let `stop` reach a worker; one that was started while it ran would be waited for in vain."""
        with self._enlisting:
            self._at_work.add(worker)
            if self._stopped.is_set():
                worker.kill()

    def _dismiss(self, worker: Worker) -> None:
        with self._enlisting:
            self._at_work.discard(worker)


def _own_command() -> Sequence[str]:
    """Return this interpreter without the working folder and its settings: a workspace could bring its own `json`."""
    folders = [folder for folder in sys.path if Path(folder).is_absolute()]
    return [sys.executable, "-I", "-c", _PROGRAM, json.dumps(folders)]
