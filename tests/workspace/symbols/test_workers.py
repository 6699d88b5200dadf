"""Worker processes: a parser that crashes or hangs costs one file, and nothing stays behind."""

import io
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from toolroll.errors import UsageError
from toolroll.workspace.symbols import worker as worker_program
from toolroll.workspace.symbols import workers as workers_module
from toolroll.workspace.symbols.symbol import REPLY, REQUEST
from toolroll.workspace.symbols.worker import limit_self, serve
from toolroll.workspace.symbols.workers import Reply, Task, Workers

# Stands in for the program: echoes what it got, unless the file says what to do.
STAND_IN = """
import os, signal, struct, sys, time
while head := sys.stdin.buffer.read(8):
    words, size = struct.unpack(">II", head)
    sys.stdin.buffer.read(words)
    data = sys.stdin.buffer.read(size)
    if data == b"crash": os.kill(os.getpid(), signal.SIGSEGV)
    if data == b"slow": os.kill(os.getpid(), signal.SIGPROF)
    if data == b"hang": time.sleep(100)
    if data == b"close": os.close(1); time.sleep(100)
    if data.startswith(b"once:") and not os.path.exists(data[5:]):
        open(data[5:], "w").close(); os.kill(os.getpid(), signal.SIGKILL)
    body = b"%d" % os.getpid()
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body); sys.stdout.buffer.flush()
"""


def tasks(*contents: bytes) -> Iterator[tuple[bytes, Task]]:
    return ((data, Task(operation="extract", language="python", data=data)) for data in contents)


@pytest.fixture
def standing_in() -> Iterator[Workers]:
    workers = Workers(most=2, command=[sys.executable, "-c", STAND_IN])
    yield workers
    workers.close()


def ask(workers: Workers, *contents: bytes) -> dict[bytes, Reply]:
    return dict(workers.map(tasks(*contents), expected=len(contents)))


def test_C21_files_are_parsed_in_a_process_of_its_own() -> None:
    workers = Workers()
    reply = ask(workers, b"def f(): pass\n")[b"def f(): pass\n"]
    workers.close()
    assert reply.value == [[["f", "function", 1, 5, 1, 1, None, "def f()", None, 1]], [], False]


def test_C21_occurrences_are_found_there_too() -> None:
    workers = Workers()
    task = Task(operation="occurrences", language="python", data=b"x = 1 # x\n", name="x")
    [(_, reply)] = workers.map(iter([(1, task)]), expected=1)
    workers.close()
    assert reply.value == [[1, 1, "x = 1 # x"]]


def test_C21_the_workspace_cannot_bring_modules_for_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    workers = Workers()
    assert ask(workers, b"")[b""].failure is None
    workers.close()


def test_C21_a_crash_costs_that_file_only(standing_in: Workers) -> None:
    found = ask(standing_in, b"a", b"crash", b"b")
    assert [found[data].failure for data in (b"a", b"crash", b"b")] == [None, "crashed", None]


def test_C21_a_file_past_its_time_is_told_apart(standing_in: Workers) -> None:
    assert ask(standing_in, b"slow")[b"slow"].failure == "timed out"


def test_C21_a_process_that_never_answers_is_killed(standing_in: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(workers_module, "REPLY_S", 0.5)
        patch.setattr(workers_module, "ENDING_S", 0.01)
        found = ask(standing_in, b"hang", b"close")
    assert [found[data].failure for data in (b"hang", b"close")] == ["timed out", "timed out"]
    assert ask(standing_in, b"a")[b"a"].failure is None


def test_C21_a_process_that_somebody_killed_is_replaced(standing_in: Workers, tmp_path: Path) -> None:
    data = b"once:" + os.fsencode(tmp_path / "mark")
    assert ask(standing_in, data)[data].failure is None


def test_C21_one_process_stays_for_the_next_file(standing_in: Workers) -> None:
    first, second = ask(standing_in, b"a")[b"a"].value, ask(standing_in, b"b")[b"b"].value
    assert first == second


def test_C21_many_files_go_to_all_workers_and_all_but_one_end(standing_in: Workers) -> None:
    contents = [b"%d" % n for n in range(200)]
    pids = {reply.value for reply in ask(standing_in, *contents).values()}
    assert 1 <= len(pids) <= 2
    standing_in.close()
    assert not any(is_running(int(str(pid))) for pid in pids)


def test_C21_leaving_early_ends_the_processes(standing_in: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    with closing(standing_in.map(tasks(b"a", *[b"hang"] * 40), expected=41)) as replies:
        pid = int(str(next(replies)[1].value))
    assert time.monotonic() - began < 30
    standing_in.close()
    assert not is_running(pid)


def test_C21_a_process_that_starts_while_others_are_ended_ends_too(
    standing_in: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go_on = threading.Event(), threading.Event()
    take = standing_in.take

    def take_slowly() -> workers_module.Worker:
        worker = take()
        if started.is_set():  # the second one: its thread is held up where it is not known yet
            go_on.wait()
        started.set()
        return worker

    monkeypatch.setattr(standing_in, "take", take_slowly)
    monkeypatch.setattr(workers_module, "REPLY_S", 600.0)
    replies = standing_in.map(tasks(b"a", *[b"hang"] * 40), expected=41)
    next(replies)
    threading.Timer(0.1, go_on.set).start()
    replies.close()  # or the test runs into its time limit


def test_C21_nothing_is_started_for_nothing(standing_in: Workers) -> None:
    assert ask(standing_in) == {}
    replies = standing_in.map(tasks(b"a"), expected=1)
    replies.close()


def test_C21_an_error_of_whoever_reads_the_files_arrives(standing_in: Workers) -> None:
    def failing() -> Iterator[tuple[bytes, Task]]:
        yield from tasks(b"a")
        raise UsageError("no more")

    with pytest.raises(UsageError, match="no more"):
        list(standing_in.map(failing(), expected=2))


def test_C21_replies_wait_for_a_slow_reader(standing_in: Workers) -> None:
    read: list[int] = []

    def counted() -> Iterator[tuple[int, Task]]:
        for number in range(100):
            read.append(number)
            yield number, Task(operation="extract", language="python", data=b"a")

    with closing(standing_in.map(counted(), expected=1)) as replies:
        next(replies)
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            threading.Event().wait(0.01)
        assert len(read) < 20


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def request(operation: str, data: bytes, name: str = "") -> bytes:
    words = json.dumps({"operation": operation, "language": "python", "name": name}).encode()
    return REQUEST.pack(len(words), len(data)) + words + data


def test_C21_the_program_answers_one_request_after_the_other() -> None:
    replies = io.BytesIO()
    serve(io.BytesIO(request("extract", b"x = 1\n") + request("occurrences", b"x = 1\n", "x") + b"torn"), replies)
    data, values = replies.getvalue(), []
    while data:
        [size] = REPLY.unpack(data[: REPLY.size])
        values.append(json.loads(data[REPLY.size :][:size]))
        data = data[REPLY.size + size :]
    assert values[0] == [[["x", "variable", 1, 1, 1, 1, None, "x = 1", None, 1]], [], False]
    assert values[1] == [[1, 1, "x = 1"]]
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_C21_the_program_limits_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(resource, "setrlimit", lambda what, limits: asked.update({what: limits}))
    limits = {resource.RLIMIT_AS: (1, resource.RLIM_INFINITY), resource.RLIMIT_CORE: (5, 7)}
    monkeypatch.setattr(resource, "getrlimit", lambda what: limits[what])
    limit_self()
    assert asked == {
        resource.RLIMIT_AS: (worker_program.MEMORY_BYTES, resource.RLIM_INFINITY),
        resource.RLIMIT_CORE: (0, 7),
    }


def test_C21_the_program_serves_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_program, "limit_self", lambda: None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(request("extract", b""))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    worker_program.main()
    sys.stdout.flush()
    assert sys.stdout.buffer.tell() > 0
