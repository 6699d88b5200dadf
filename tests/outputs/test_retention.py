"""Collecting: by age, by size, never a live run; and the lock that says which one lives."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolroll.errors import FileSystemRefused, OutputMissing
from toolroll.home.folders import find_folders
from toolroll.outputs import run_folder as place
from toolroll.outputs.format import PACK
from toolroll.outputs.retention import MAX_AGE_S, MIN_RUNS, PAUSE_S, collect, collect_when_due
from toolroll.outputs.run_folder import RunFolder, outputs_folder, remove_folder
from toolroll.outputs.store import OutputStore

NOW = 2_000_000_000.0


def old_run(folder: Path, run_id: str, *, age_s: float, size: int = 1_000) -> Path:
    """A run that ended: its folder."""
    with OutputStore(folder, run_id=run_id) as store:
        ref = store.keep("call", "tool", "x" * size)
        assert ref is not None
        path = store.open(ref.id).path.parent
    for one in (*path.iterdir(), path):
        os.utime(one, (NOW - age_s, NOW - age_s))
    return path


def test_K57_runs_are_collected_by_age(tmp_path: Path) -> None:
    old, young = old_run(tmp_path, "old", age_s=MAX_AGE_S + 1), old_run(tmp_path, "young", age_s=MAX_AGE_S - 60)
    assert collect(tmp_path, now=NOW, min_runs=0) == 1
    assert (old.exists(), young.exists()) == (False, True)
    assert collect(tmp_path, now=NOW, min_runs=0) == 0


def test_XC6_a_clock_that_is_far_ahead_takes_no_output_of_the_latest_runs(tmp_path: Path) -> None:
    runs = [old_run(tmp_path, str(age), age_s=age) for age in range(MIN_RUNS + 3)]
    ahead = NOW + 100 * 24 * 3600
    assert collect_when_due(tmp_path, now=ahead) == 3
    assert collect_when_due(tmp_path, now=NOW) == 0
    assert collect_when_due(tmp_path, now=NOW - ahead) == 0
    assert [run.exists() for run in runs] == [True] * MIN_RUNS + [False] * 3


def test_K57_a_run_is_as_old_as_its_latest_short_output(tmp_path: Path) -> None:
    """They go into one file, and adding to that does not change the time of its folder."""
    run = old_run(tmp_path, "one", age_s=2 * MAX_AGE_S)
    os.utime(run / PACK, (NOW, NOW))
    assert collect(tmp_path, now=NOW, min_runs=0) == 0
    os.utime(run / PACK, (0, 0))
    assert collect(tmp_path, now=NOW, min_runs=0) == 1


def test_K57_the_oldest_go_until_the_rest_fits(tmp_path: Path) -> None:
    runs = [old_run(tmp_path, str(age), age_s=age, size=10_000) for age in (50, 40, 30, 20)]
    assert collect(tmp_path, now=NOW, max_total_bytes=25_000) == 2
    assert [run.exists() for run in runs] == [False, False, True, True]


def test_K57_a_live_run_is_never_collected(tmp_path: Path) -> None:
    gone = old_run(tmp_path, "gone", age_s=MAX_AGE_S + 1)
    with OutputStore(tmp_path, run_id="live") as store:
        ref = store.keep("call", "tool", "x" * 10_000)
        assert ref is not None
        os.utime(store.open(ref.id).path.parent, (0, 0))
        assert collect(tmp_path, now=NOW, max_total_bytes=0) == 1
        assert store.open(ref.id).content() == "x" * 10_000
    assert not gone.exists()
    assert collect(tmp_path, now=NOW, min_runs=0) == 1
    with pytest.raises(OutputMissing):
        store.open(ref.id)


def test_K57_a_run_of_another_process_lives_until_that_dies(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from toolroll.outputs.store import OutputStore
store = OutputStore(Path(sys.argv[1]), run_id="live")
print(store.keep("call", "tool", "text").id, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert len(process.stdout.readline()) == 33
        assert collect(tmp_path, now=NOW + 2 * MAX_AGE_S, max_total_bytes=0) == 0
        process.kill()
    assert collect(tmp_path, now=NOW + 2 * MAX_AGE_S, min_runs=0) == 1


def test_K57_a_run_resumed_after_a_long_time_does_not_collect_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolroll.outputs.retention.MIN_RUNS", 0)
    old, other = (
        old_run(tmp_path, "old", age_s=2 * MAX_AGE_S, size=5_000),
        old_run(tmp_path, "other", age_s=2 * MAX_AGE_S),
    )
    [name] = [one.name for one in old.iterdir()]
    with OutputStore(tmp_path, run_id="old", clock=lambda: NOW) as store:
        os.utime(tmp_path / ".collected", (0, 0))
        assert store.open(name).content() == "x" * 5_000
    assert not other.exists()


def test_K57_collecting_happens_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.outputs.retention.MIN_RUNS", 0)
    assert collect_when_due(tmp_path / "nothing", now=NOW) == 0
    assert not (tmp_path / "nothing").exists()
    old_run(tmp_path, "one", age_s=2 * MAX_AGE_S)
    os.utime(tmp_path / ".collected", (NOW - PAUSE_S, NOW - PAUSE_S))
    assert collect_when_due(tmp_path, now=NOW) == 1
    old_run(tmp_path, "two", age_s=2 * MAX_AGE_S)
    os.utime(tmp_path / ".collected", (NOW, NOW))
    assert collect_when_due(tmp_path, now=NOW + 60) == 0
    # A clock that was wrong once does not stop it for good.
    os.utime(tmp_path / ".collected", (2 * NOW, 2 * NOW))
    assert collect_when_due(tmp_path, now=NOW) == 1


def test_K57_trouble_while_collecting_is_left_for_another_day(tmp_path: Path) -> None:
    (tmp_path / ".collected").mkdir()
    os.utime(tmp_path / ".collected", (0, 0))
    assert collect_when_due(tmp_path, now=NOW) == 0


def test_K57_what_a_killed_collector_left_goes_with_the_next(tmp_path: Path) -> None:
    left = old_run(tmp_path, "left", age_s=0).rename(tmp_path / ".gone-1")
    assert collect(tmp_path, now=NOW, min_runs=0) == 1
    assert not left.exists()


def test_K57_files_and_links_are_not_touched(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "outputs", tmp_path / "elsewhere"
    for one in (folder, elsewhere):
        one.mkdir()
    (folder / "link").symlink_to(elsewhere)
    (folder / "file").write_text("")
    assert collect(folder, now=NOW, max_total_bytes=-1) == 0
    assert sorted(one.name for one in folder.iterdir()) == ["file", "link"]


def test_a_folder_that_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remove_folder(tmp_path / "nothing") is False
    folder = old_run(tmp_path, "run", age_s=0)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "rename", refuse)
    assert remove_folder(folder) is False
    assert folder.exists()


def test_a_folder_removed_at_the_last_moment_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, real, lost = RunFolder(tmp_path / "run"), fcntl.flock, iter([True, True, False])

    def flock(fd: int, operation: int) -> None:
        if operation == fcntl.LOCK_SH and next(lost):
            (tmp_path / "run").rmdir()
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    assert folder.hold() == tmp_path / "run"
    assert folder.hold().is_dir()
    assert remove_folder(tmp_path / "run") is False
    folder.release()
    assert not folder.is_held
    assert remove_folder(tmp_path / "run") is True


def test_a_folder_removed_again_and_again_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "is_same_folder", lambda *_: False)
    with pytest.raises(FileSystemRefused, match="again and again"):
        RunFolder(tmp_path / "run").hold()
    assert remove_folder(tmp_path / "run") is False


def test_releasing_what_was_never_held_does_nothing(tmp_path: Path) -> None:
    RunFolder(tmp_path / "run").release()
    assert not (tmp_path / "run").exists()


def test_outputs_are_with_the_users_data(tmp_path: Path) -> None:
    folders = find_folders({"TOOLROLL_HOME": str(tmp_path)})
    assert outputs_folder(folders) == tmp_path / "data" / "outputs"
