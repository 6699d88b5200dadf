"""XE6, XF8: whatever system call is the last one, or fails, the content is the old or the new, and nothing is lost."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.safe.faults import ERRORS, Call, FaultLoop, Outcome

from toolroll.safe.paths.names import parse_path
from toolroll.safe.paths.root import Root

State = dict[str, bytes | None]
"""The files below a folder with their content, and its folders with None."""

NEW = b"new " * 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An operation with the states that it may leave: the first is the one before, the last the one after it."""

    operation: str
    states: tuple[State, ...]
    killed_only: tuple[State, ...] = ()


FOLDER: State = {"f": None}
CASES = {
    "replace": Case(
        operation='root.write_file(p("f/a"), b"new " * 5000)',
        states=(FOLDER | {"f/a": b"old"}, FOLDER | {"f/a": NEW}),
    ),
    "write": Case(
        operation='root.write_file(p("f/a"), b"new " * 5000)',
        states=(FOLDER, FOLDER | {"f/a": NEW}),
    ),
    "create": Case(
        operation='root.create_file(p("f/a"), b"new " * 5000, mode=0o600)',
        states=(FOLDER, FOLDER | {"f/a": NEW}),
    ),
    "remove": Case(
        operation='root.remove_file(p("f/a"))',
        states=(FOLDER | {"f/a": b"old"}, FOLDER),
    ),
    "make": Case(
        operation='root.make_folders(p("f/g/h"))',
        states=(FOLDER, FOLDER | {"f/g": None}, FOLDER | {"f/g": None, "f/g/h": None}),
    ),
}
READING = {
    "read": 'root.read_bytes(p("f/a"), limit_bytes=10)',
    "read through a link": 'root.read_bytes(p("link/a"), limit_bytes=10)',
    "list": '[(e.name, e.problem) for e in root.list_folder(p("f"))]',
}


def lay_out(folder: Path, state: State) -> Path:
    folder.mkdir()
    for name, content in state.items():
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)
    return folder


def state_of(folder: Path) -> State:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def sweep(folder: Path) -> int:
    with Root(folder) as root:
        return root.sweep_temporary() + root.sweep_temporary(parse_path("f"))


def runs(
    loop: FaultLoop, folder: Path, state: State, actions: tuple[str, ...]
) -> Iterator[tuple[Call, str, Path, Outcome]]:
    """Every call with every action, two at a time, each in a folder of its own."""
    lay_out(folder / "warm-up", state)
    calls = loop.calls(lay_out(folder / "dry", state))
    # A close that is made to fail is not made at all: the descriptor is lost by strace, not by us.
    jobs = [(call, action) for call in calls for action in actions if "KILL" in action or call.name != "close"]
    places = [lay_out(folder / f"{index}", state) for index in range(len(jobs))]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = pool.map(lambda job, place: loop.run(place, *job), jobs, places)
        for (call, action), place, outcome in zip(jobs, places, outcomes, strict=True):
            yield call, action, place, outcome


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "logs").mkdir()
    return tmp_path / "runs"


@pytest.mark.strace
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_killed_at_any_system_call(folder: Path, name: str) -> None:
    """XE6: old or new, never mixed; what is left beside it is swept."""
    case = CASES[name]
    loop = FaultLoop(operation=case.operation, logs=folder.parent / "logs")
    reached = []
    swept = 0
    for call, _, place, outcome in runs(loop, folder, case.states[0], ("signal=KILL",)):
        assert outcome.end == "killed", (call, outcome)
        swept += sweep(place)
        assert state_of(place) in case.states + case.killed_only, call
        reached.append(state_of(place))
    assert state_of(folder / "dry") == case.states[-1]
    # It was killed before the change and after it, and where there is a temporary file, also while there was one.
    assert case.states[0] in reached
    assert case.states[-1] in reached
    assert (swept > 0) == (name in {"replace", "write", "create"})


@pytest.mark.strace
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_failing_at_any_system_call(folder: Path, name: str) -> None:
    """XF8: a typed error or success, no descriptor lost, no temporary file left."""
    case = CASES[name]
    loop = FaultLoop(operation=case.operation, logs=folder.parent / "logs")
    ends = set()
    for call, action, place, outcome in runs(loop, folder, case.states[0], tuple(f"error={error}" for error in ERRORS)):
        what = (call, action, outcome)
        assert not outcome.end.startswith("traceback"), what
        assert outcome.leaked == 0, what
        # What an injected error keeps from being removed stays: that one is for the sweep.
        assert sweep(place) == 0 or call.name.startswith("unlink"), what
        assert state_of(place) in case.states, what
        if outcome.end == "done":
            assert state_of(place) == case.states[-1], what
        ends.add(outcome.end)
    assert "file_system" in ends


@pytest.mark.strace
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", READING)
def test_reading_from_a_failing_disk(folder: Path, name: str) -> None:
    """XF8: all of the content or a typed error; an entry that could not be looked at says so."""
    loop = FaultLoop(operation=READING[name], logs=folder.parent / "logs")
    state: State = FOLDER | {"f/a": b"old", "f/b": b"old"}
    whole = {"list": "[('a', None), ('b', None)]"}.get(name, "b'old'")
    seen = set()

    def with_link(place: Path) -> Path:
        (place / "link").symlink_to("f")
        return place

    for place in ("warm-up", "dry"):
        with_link(lay_out(folder / place, state))
    calls = [call for call in loop.calls(folder / "dry") if call.name != "close"]
    jobs = [(call, f"error={error}") for call in calls for error in ERRORS]
    with ThreadPoolExecutor(max_workers=2) as pool:
        for job, outcome in zip(jobs, pool.map(lambda job: loop.run(folder / "dry", *job), jobs), strict=True):
            assert not outcome.end.startswith("traceback"), (job, outcome)
            assert outcome.leaked == 0, (job, outcome)
            if outcome.end == "done":
                marked = [outcome.seen.replace(repr(error), "None") for error in ERRORS]
                assert whole in marked, (job, outcome)
            seen.add(outcome.seen)
    assert whole in seen
    assert "None" in seen
    assert name != "list" or any("EIO" in one for one in seen)
