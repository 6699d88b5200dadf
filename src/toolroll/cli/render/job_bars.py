"""Jobs at a terminal: a bar for all of them, and one for each that runs, as long as they are followed."""

from collections.abc import Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from toolroll.apps.jobs import JobStatus
from toolroll.safe.text import one_line, terminal_safe

MAX_BARS: Final = 12
"""So many running jobs fit on a small screen with what stands above them."""
MAX_TITLE_CHARACTERS: Final = 40
_BAR_COLUMNS: Final = 20
_OVER: Final = ("done", "dead", "cancelled", "waiting")


class JobBars:
    """Bars that move. Use `with`; `update` shows where the jobs are."""

    def __init__(self, out: TextIO) -> None:
        self._progress = Progress(
            BarColumn(bar_width=_BAR_COLUMNS),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(file=out),
            transient=True,
        )
        self._all = self._progress.add_task("jobs", total=None)
        self._bars: dict[str, TaskID] = {}

    def __enter__(self) -> "JobBars":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, statuses: Sequence[JobStatus]) -> None:
        """Show where these jobs are: how many have ended, and the steps of those that run."""
        ended = sum(status.row.state in _OVER for status in statuses)
        self._progress.update(self._all, completed=ended, total=len(statuses), description="jobs")
        running = [status for status in statuses if status.row.state == "running"][:MAX_BARS]
        for job_id in self._bars.keys() - {status.row.run_id for status in running}:
            self._progress.remove_task(self._bars.pop(job_id))
        for status in running:
            self._show(status)

    def _show(self, status: JobStatus) -> None:
        job_id, total = status.row.run_id, len(status.steps)
        if job_id not in self._bars:
            self._bars[job_id] = self._progress.add_task("", total=total)
        done = sum(step.state == "done" for step in status.steps)
        self._progress.update(self._bars[job_id], completed=done, total=total, description=describe_progress(status))


def describe_progress(status: JobStatus) -> str:
    """Return the words behind a bar: the step that is being done, or what it waits for, and what was asked for."""
    active = next((step.name for step in status.steps if step.state == "running"), "")
    where = active if status.limit is None else f"waits for the rate limit of {status.limit.name}"
    title = one_line(status.request.title, MAX_TITLE_CHARACTERS)
    return terminal_safe(f"{where}  {title}".strip())
