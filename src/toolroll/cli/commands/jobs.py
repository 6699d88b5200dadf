"""`toolroll jobs`: list, show, watch, cancel, retry and answer queued work; `toolroll worker`: do it."""

from collections.abc import Callable
from typing import Any, Final

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import limit_option, output_options

_job_argument: Final = click.argument("job_id", metavar="ID")
_states: Final = ("queued", "running", "waiting", "done", "dead", "cancelled")


def _action(place: str) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Return what gives a command its body and the options that all of them have."""
    return lambda signature: output_options(click.pass_obj(body(place)(signature)))


@click.group()
def jobs() -> None:
    """List the queued work; show, watch, cancel, retry or answer a job.

    'toolroll explore IDEA --queue' queues work, and 'toolroll worker' does it.

    \b
    Examples:
      toolroll jobs list              list the jobs, with ids
      toolroll jobs watch             follow them until all have ended
      toolroll jobs retry 3f9c        try again what was given up
    """


@jobs.command("list", short_help="List the jobs.")
@click.option("--state", type=click.Choice(_states), multiple=True, help="Only jobs in this state.")
@limit_option(50)
@_action("toolroll.cli.actions.jobs:list_jobs")
def list_jobs() -> None:
    """List the jobs, the newest first: id, state, step, and what was asked for.

    Jobs that were given up are 'dead': 'toolroll jobs retry' tries them again.

    \b
    Examples:
      toolroll jobs list
      toolroll jobs list --state dead --json
    """


@jobs.command(short_help="Show a job with its steps and questions.")
@_job_argument
@_action("toolroll.cli.actions.jobs:show_job")
def show() -> None:
    """Show the job ID: its steps, its runs, what it asks, and how it ended. The beginning of an id is enough.

    \b
    Example:
      toolroll jobs show 3f9c
    """


@jobs.command(short_help="Follow jobs until they end or wait.")
@click.argument("job_ids", metavar="[ID]...", nargs=-1)
@_action("toolroll.cli.actions.jobs:watch_jobs")
def watch() -> None:
    """Follow these jobs, or all that are open, until each has ended or waits for an answer.

    At a terminal, bars show the steps of the jobs that run; elsewhere, and with --plain, every change of a job is a
    line. With --json you get one object at the end. Ctrl-C ends the watching, and nothing else. The exit code is 1 if
    a job was given up, and 3 if one waits for an answer.

    \b
    Examples:
      toolroll jobs watch
      toolroll jobs watch 3f9c --json
    """


@jobs.command(short_help="Cancel a job.")
@_job_argument
@_action("toolroll.cli.actions.jobs:cancel_job")
def cancel() -> None:
    """Cancel the job ID. One that runs ends within seconds; what it has done so far is on record.

    \b
    Example:
      toolroll jobs cancel 3f9c
    """


@jobs.command(short_help="Try a dead or cancelled job again.")
@_job_argument
@_action("toolroll.cli.actions.jobs:retry_job")
def retry() -> None:
    """Queue the job ID again, which was given up or cancelled. What it has finished is not paid again.

    \b
    Example:
      toolroll jobs retry 3f9c
    """


@jobs.command(short_help="Tell the webhook of a job once more.")
@_job_argument
@_action("toolroll.cli.actions.jobs:notify_again")
def notify() -> None:
    """Tell the webhook of the job ID once more that it is done, waits, or was given up. It keeps its message id.

    'toolroll jobs show' lists every try. The exit code is 1 if the address did not take it.

    \b
    Example:
      toolroll jobs notify 3f9c
    """


@jobs.command(short_help="Approve a call that a job asks about.")
@_job_argument
@click.argument("call_id", metavar="[CALL]", required=False)
@_action("toolroll.cli.actions.jobs:approve_call")
def approve() -> None:
    """Approve what the job ID asks about, as 'toolroll jobs show' shows it; CALL is needed if it asks about several.

    If the file has changed since the question was asked, the job asks again.

    \b
    Example:
      toolroll jobs approve 3f9c call_7
    """


@jobs.command(short_help="Reject a call that a job asks about.")
@_job_argument
@click.argument("call_id", metavar="[CALL]", required=False)
@click.option("--why", metavar="TEXT", help="Tell the model why.")
@_action("toolroll.cli.actions.jobs:reject_call")
def reject() -> None:
    """Reject what the job ID asks about; the model is told why, and goes on.

    \b
    Example:
      toolroll jobs reject 3f9c call_7 --why 'Not this file'
    """


@jobs.group(short_help="List and remove what is explored again and again.")
def schedules() -> None:
    """List and remove what is explored again and again. 'toolroll explore IDEA --every 1d' adds a schedule.

    \b
    Examples:
      toolroll jobs schedules list
      toolroll jobs schedules remove 3f9c
    """


@schedules.command("list", short_help="List the schedules.")
@_action("toolroll.cli.actions.schedules:list_schedules")
def list_schedules() -> None:
    """List the schedules, the newest first: id, interval, next time, and the idea.

    \b
    Example:
      toolroll jobs schedules list
    """


@schedules.command(short_help="Remove a schedule.")
@click.argument("schedule_id", metavar="ID")
@_action("toolroll.cli.actions.schedules:remove_schedule")
def remove() -> None:
    """Remove the schedule ID; the beginning of an id is enough. A job that it has queued stays.

    \b
    Example:
      toolroll jobs schedules remove 3f9c
    """


@click.command()
@click.option(
    "--concurrency", type=click.IntRange(min=1, max=1_000), default=4, metavar="N", help="Jobs at a time (default: 4)."
)
@click.option("--queues", metavar="A,B,...", help="Only jobs of these queues.")
@click.option("--drain", is_flag=True, help="End when no job is left to be done.")
@_action("toolroll.cli.actions.worker:run_worker")
def worker() -> None:
    """Do the queued work. Several workers may share the queue.

    After Ctrl-C or SIGTERM it finishes its jobs and ends; after the second, it ends at once. Another worker then
    continues its jobs, as after a crash, and nothing that was finished is paid again. With --json the only output is
    one object at the end, with the number of jobs by how they ended.

    \b
    Examples:
      toolroll worker
      toolroll worker --concurrency 8 --drain
    """
