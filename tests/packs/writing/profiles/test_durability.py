"""Profiles and feedback survive kills and each other: nothing is lost, torn or skipped (XJ1, XJ2, XE6, XF8)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.packs.writing.profiles.samples import NOW, draft, fields, put
from tests.packs.writing.profiles.test_schema import old_fields
from tests.safe.faults import ERRORS, SOURCE, Call, FaultLoop, Outcome

from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.profile_format import encode_profile
from toolroll.packs.writing.profiles.store import ProfileStore

FULL = "TOOLROLL_ROUNDS" in os.environ
PROCESSES = 8
COUNTS = 1_000 if FULL else 100
UPDATES = 1_000 if FULL else 10
SOME = 4
"""System calls that are tried in CI, evenly spread; all of them with TOOLROLL_ROUNDS."""
CHANGING = {
    "fchmod", "fchown", "fsync", "ftruncate", "link", "linkat", "mkdir", "mkdirat", "openat", "pwrite64", "rename",
    "renameat", "renameat2", "unlink", "unlinkat", "write",
}  # fmt: skip

COUNTING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from toolroll.packs.writing.profiles.feedback import FeedbackStore
store = FeedbackStore(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    store.track("too_formal", f"{sys.argv[3]}/{number}", now=datetime.now(UTC))
"""
UPDATING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from toolroll.packs.writing.profiles.store import ProfileStore
store = ProfileStore(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    tone = f"{sys.argv[3]}/{number}"
    store.update("default", {"voice.tone": tone}, reason=tone, now=datetime.now(UTC))
"""


def started(code: str, data: Path, rounds: int) -> list[subprocess.Popen[bytes]]:
    """Eight processes that do the same at once."""
    command = [sys.executable, "-c", code, str(data), str(rounds)]
    return [subprocess.Popen([*command, str(number)]) for number in range(PROCESSES)]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_XJ1_W19_eight_processes_that_count_at_once_lose_nothing(tmp_path: Path) -> None:
    store, children = FeedbackStore(tmp_path / "data"), started(COUNTING, tmp_path / "data", COUNTS)
    seen = [0]
    while any(child.poll() is None for child in children):
        entry = store.entries().get("too_formal")  # a torn file would be refused
        seen.append(entry.count if entry else 0)
    assert [child.returncode for child in children] == [0] * PROCESSES
    assert seen == sorted(seen)
    entry = store.entries()["too_formal"]
    assert (entry.count, len(entry.history)) == (PROCESSES * COUNTS, 10)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_XJ1_XJ2_eight_processes_that_update_at_once_skip_no_version(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    store.create(draft(), now=NOW)
    children = started(UPDATING, tmp_path, UPDATES)
    seen = [1]
    while any(child.poll() is None for child in children):
        seen.append(store.read("default").profile.version)
    assert [child.returncode for child in children] == [0] * PROCESSES
    assert seen == sorted(seen)
    profile = store.read("default").profile
    assert profile.version == PROCESSES * UPDATES + 1
    newest = [entry.version for entry in profile.changelog][1:]
    assert newest == list(range(newest[0], profile.version + 1))


CHILD = """
import os, sys
sys.path.insert(0, {source!r})
from datetime import UTC, datetime
from pathlib import Path
from toolroll.errors import ToolrollError
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.safe.paths import openat2
import _strptime, hashlib, json.encoder
openat2.is_available()
now = datetime(2026, 2, 9, 10, 0, tzinfo=UTC)
profiles, feedback = ProfileStore(Path(sys.argv[1])), FeedbackStore(Path(sys.argv[1]))
profiles.read("default"), feedback.entries()
before, end = os.listdir("/proc/self/fd"), None
os.getppid()
try:
    {operation}
    end = "done"
except ToolrollError as error:
    end = error.code
os.getppid()
print(end, len(os.listdir("/proc/self/fd")) - len(before), None, sep="\\n")
"""
OPERATIONS = {
    "update": 'profiles.update("default", {"voice.tone": "new"}, reason="r", now=now)',
    "track": 'feedback.track("other", "new", now=now)',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLoop(FaultLoop):
    """The fault loop around a change of a store; it needs the libraries that the kernel stands on."""

    def _run(self, folder: Path, around: list[str]) -> Outcome:
        script = CHILD.format(source=str(SOURCE), operation=self.operation)
        python = [sys.executable, "-I", "-c", script, str(folder)]
        done = subprocess.run([*around, *python], capture_output=True, text=True, check=False, timeout=200)
        if done.returncode == -9:
            return Outcome(end="killed", leaked=0, seen="")
        assert (done.returncode, done.stderr) == (0, "")
        end, leaked, seen = done.stdout.splitlines()
        return Outcome(end=end, leaked=int(leaked), seen=seen)


def lay_out(place: Path) -> Path:
    """A profile of an older format, which an update has to keep as a backup too, and a count."""
    put(place, encode_profile(old_fields()))
    FeedbackStore(place).track("other", "old", now=NOW)
    return place


def versions(place: Path) -> tuple[int, int]:
    """What is there: the version of the profile, and the count; whatever cannot be read raises."""
    return ProfileStore(place).read("default").profile.version, FeedbackStore(place).entries()["other"].count


def check_left(place: Path, operation: str) -> bool:
    """Whether the change has happened: all of it or nothing; then the next one works, and sweeps."""
    version, count = versions(place)
    changed = (version, count) == ((2, 1) if operation == "update" else (1, 2))
    assert changed or (version, count) == (1, 1)
    backups = [path.read_bytes() for path in (place / "profiles").glob("backups/default-*.json")]
    assert backups in ([], [encode_profile(old_fields())])
    assert backups or version == 1, "nothing is replaced before it is kept"
    ProfileStore(place).update("default", {"voice.tone": "next"}, reason="r", now=NOW)
    FeedbackStore(place).track("other", "next", now=NOW)
    assert versions(place) == (version + 1, count + 1)
    assert not list(place.glob(".toolroll-*")) + list(place.glob("profiles/.toolroll-*"))
    assert json.loads((place / "profiles" / "default.json").read_text())["changelog"][-1]["version"] == version + 1
    return changed


def spread(calls: list[Call]) -> list[Call]:
    return calls if FULL else [*calls[:: max(1, len(calls) // SOME)], calls[-1]]


def jobs_of(
    loop: StoreLoop, folder: Path, actions: tuple[str, ...], lay_out: Callable[[Path], Path] = lay_out
) -> list[tuple[Call, str, Path, Outcome]]:
    """Every call that changes something, with every action, two at a time, each in a folder of its own."""
    (folder / "logs").mkdir()
    lay_out(folder / "warm-up")
    calls = [call for call in loop.calls(lay_out(folder / "dry")) if call.name in CHANGING]
    jobs = [(call, action) for call in spread(calls) for action in actions]
    places = [lay_out(folder / f"{number}") for number in range(len(jobs))]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda job, place: loop.run(place, *job), jobs, places))
    return [(*job, place, outcome) for job, place, outcome in zip(jobs, places, outcomes, strict=True)]


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_XJ2_XE6_killed_at_any_system_call(tmp_path: Path, operation: str) -> None:
    loop = StoreLoop(operation=OPERATIONS[operation], logs=tmp_path / "logs")
    ends = set()
    for call, _, place, outcome in jobs_of(loop, tmp_path, ("signal=KILL",)):
        assert outcome.end == "killed", call
        ends.add(check_left(place, operation))
    assert ends == {False, True}, "killed before it had happened, and after"


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_XJ2_failing_at_any_system_call(tmp_path: Path, operation: str) -> None:
    loop = StoreLoop(operation=OPERATIONS[operation], logs=tmp_path / "logs")
    actions = tuple(f"error={error}" for error in (ERRORS if FULL else ERRORS[:1]))
    ends = set()
    for call, action, place, outcome in jobs_of(loop, tmp_path, actions):
        assert outcome.leaked == 0, (call, action, outcome)
        changed = check_left(place, operation)
        assert changed or outcome.end != "done", (call, action, outcome)
        ends.add(outcome.end)
    assert "file_system" in ends


GIVING_WAY = {
    "replace": (
        "from toolroll.packs.writing.profiles.profile_format import parse_foreign_profile; "
        "profiles.put(parse_foreign_profile(NEW), replace=True)"
    ),
    "delete": 'profiles.delete("old")',
}


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("operation", GIVING_WAY)
def test_XJ2_XE6_killed_while_a_profile_gives_way_to_another_or_to_none(tmp_path: Path, operation: str) -> None:
    new = encode_profile(fields(profile_name="old", version=7))
    old = encode_profile(fields(profile_name="old"))

    def lay_out_old(place: Path) -> Path:
        put(lay_out(place), old, "old")
        return place

    def left(place: Path) -> bytes | None:
        path = place / "profiles" / "old.json"
        return path.read_bytes() if path.exists() else None

    done = new if operation == "replace" else None
    loop = StoreLoop(operation=GIVING_WAY[operation].replace("NEW", repr(new)), logs=tmp_path / "logs")
    ends = set()
    for call, _, place, outcome in jobs_of(loop, tmp_path, ("signal=KILL",), lay_out_old):
        assert outcome.end == "killed", call
        assert left(place) in (old, done), call
        kept = [path.read_bytes() for path in (place / "profiles").glob("backups/old-*.json")]
        assert kept in ([], [old])
        assert kept or left(place) == old, "nothing is replaced before it is kept"
        ends.add(left(place) == old)
        ProfileStore(place).update("default", {"voice.tone": "next"}, reason="r", now=NOW)
        assert not list(place.glob("profiles/**/.toolroll-*"))
    assert ends == {False, True}, "killed before it had happened, and after"
