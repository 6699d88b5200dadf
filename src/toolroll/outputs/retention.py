"""Collecting old outputs: by the age of their run, then by what all of them take. Never those of a live run."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.outputs.format import PACK
from toolroll.outputs.run_folder import GONE_PREFIX, remove_folder
from toolroll.safe.paths.files import PRIVATE_FILE_MODE

MAX_AGE_S: Final = 30 * 24 * 3600
"""A run that nobody went on with for a month will hardly be gone on with."""
MIN_RUNS: Final = 50
"""The outputs of the latest runs stay whatever their age: to a clock that is a month ahead for an hour, all are old."""
MAX_TOTAL_BYTES: Final = 4 << 30
"""On the disk of a laptop nobody misses 4 GiB; a day of heavy use keeps about one."""
PAUSE_S: Final = 24 * 3600
"""Between two collections: looking through a month of outputs takes a second."""

_STAMP: Final = ".collected"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OldRun:
    path: Path
    used: float
    byte_size: int
    is_gone: bool


def collect(
    folder: Path,
    *,
    now: float,
    max_age_s: float = MAX_AGE_S,
    max_total_bytes: int = MAX_TOTAL_BYTES,
    min_runs: int = MIN_RUNS,
) -> int:
    """Remove the outputs of runs that are too old, then of the oldest until the rest fits; tells how many runs.

    A run is as old as its latest output. Live ones stay whatever they take, and count. The latest `min_runs` are never
    too old.
    """
    runs = sorted(_runs(folder), key=lambda run: run.used)
    total = sum(run.byte_size for run in runs)
    removed = 0
    for left, run in zip(range(len(runs), 0, -1), runs, strict=True):
        is_too_old = run.used < now - max_age_s and (left > min_runs or run.is_gone)
        if (is_too_old or total > max_total_bytes) and remove_folder(run.path):
            total -= run.byte_size
            removed += 1
    return removed


def collect_when_due(folder: Path, *, now: float) -> int:
    """Collect with the usual limits, once a day at most; trouble is left for another day."""
    stamp = folder / _STAMP
    with suppress(OSError):
        if stamp.exists() and abs(now - stamp.stat().st_mtime) < PAUSE_S:
            return 0
        if not folder.exists():
            return 0
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE_MODE))
        os.utime(stamp, (now, now))
        return collect(folder, now=now, min_runs=MIN_RUNS)
    return 0


def _runs(folder: Path) -> Iterator[_OldRun]:
    with os.scandir(folder) as entries:
        paths = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    for path in paths:
        with suppress(OSError):
            # What is half gone belongs to a collector that was killed, or is still at work: it is as old as can be.
            is_gone = path.name.startswith(GONE_PREFIX)
            yield _OldRun(path=path, used=0.0 if is_gone else _last_used(path), byte_size=_size(path), is_gone=is_gone)


def _last_used(path: Path) -> float:
    pack = path / PACK  # adding to it leaves the time of the folder as it was
    return max(path.stat().st_mtime, pack.stat().st_mtime if pack.exists() else 0.0)


def _size(path: Path) -> int:
    return sum(_file_sizes(path))


def _file_sizes(path: Path) -> Iterator[int]:
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):  # gone meanwhile
                yield (Path(folder) / name).lstat().st_size
