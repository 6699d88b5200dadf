"""Bars of jobs: how many have ended, and where those are that run (R31)."""

import io
from dataclasses import replace

from toolroll.apps.explore import ExploreOptions
from toolroll.apps.jobs import JobRequest, JobStatus, LimitWait, StepProgress
from toolroll.cli.render.job_bars import MAX_BARS, JobBars, describe_progress
from toolroll.engine.engine import JobRow, JobState
from toolroll.packs.research.exploration import Job


def status(number: int, state: JobState, *, title: str = "Tea") -> JobStatus:
    row = JobRow(
        run_id=f"job-{number}",
        queue="default",
        key=None,
        state=state,
        priority=0,
        attempts=1,
        not_before=0,
        created=0,
        updated=0,
    )
    steps = (StepProgress(name="initialize", state="done"), StepProgress(name="write", state="running"))
    options = ExploreOptions(idea=title, mode="exploration", model="m")
    return JobStatus(row=row, request=JobRequest(explore=options), job=Job.new(), steps=steps)


def test_R31_a_bar_says_the_step_and_the_title_and_obeys_nobody() -> None:
    assert describe_progress(status(1, "running")) == "write  Tea"
    waits = replace(status(1, "running"), limit=LimitWait(name="acme", until="later"))
    assert describe_progress(waits) == "waits for the rate limit of acme  Tea"
    assert "\x1b" not in describe_progress(status(1, "running", title="a\x1b[2Jb [red]c"))


def test_R31_only_running_jobs_have_bars_and_only_so_many() -> None:
    bars = JobBars(io.StringIO())
    bars.update([*(status(number, "running") for number in range(20)), status(20, "done")])
    assert len(bars._bars) == MAX_BARS
    assert (bars._progress.tasks[0].completed, bars._progress.tasks[0].total) == (1, 21)
    assert {(task.completed, task.total) for task in bars._progress.tasks[1:]} == {(1, 2)}
    bars.update([status(number, "done") for number in range(21)])
    assert bars._bars == {}
    assert bars._progress.tasks[0].completed == 21
