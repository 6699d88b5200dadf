"""`toolroll runs`: list, show, resume, fork, replay, export and delete runs; `toolroll stats`: figures about them."""

from typing import Final

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import agent_options, complete_models, event_options, limit_option, output_options, yes_option

_run_argument: Final = click.argument(
    "run_id", metavar="ID", shell_complete=lazily("toolroll.cli.actions.completion:complete_runs")
)

_other_model: Final = click.option(
    "--model", metavar="NAME", shell_complete=complete_models, help="Another model than before."
)

_approve_all: Final = yes_option("Approve every call that would be asked about.")


@click.group()
def runs() -> None:
    """List the recorded runs; show, resume, fork, replay, export or delete one.

    \b
    Examples:
      toolroll runs list              list the runs, with ids
      toolroll runs show 3f9c         show what happened in one
      toolroll runs resume 3f9c       continue it
    """


@runs.command("list", short_help="List the latest runs and chats.")
@limit_option(20)
@click.option("--all", "all_runs", is_flag=True, help="List each run of a chat by itself.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.runs.listing:list_runs")
def list_runs() -> None:
    """List the latest runs: when each began, how it ended, its steps, prompt, application, model, cost and folder.

    A chat is one line, with the id of its latest run. A fork names the run that it was made from.

    \b
    Examples:
      toolroll runs list --limit 5
      toolroll runs list --all
    """


@runs.command(short_help="Show what happened in a run.")
@_run_argument
@click.option("--context", is_flag=True, help="Show what the model would be sent next, and how large that is.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.runs.show:show_run")
def show() -> None:
    """Show what happened in the run ID, record by record. The beginning of an id is enough.

    \b
    Examples:
      toolroll runs show 3f9c
      toolroll runs show 3f9c --context
    """


@runs.command(short_help="Continue a run.")
@_run_argument
@click.option("--prompt", metavar="TEXT", help="Continue with this prompt. Unfinished calls are then not run.")
@click.option("--approve", multiple=True, metavar="CALL", help="Approve this call, which the run has named.")
@click.option("--reject", multiple=True, metavar="CALL[=WHY]", help="Reject this call, and say why.")
@click.option("--force", is_flag=True, help="Try once more although the last attempts died.")
@_other_model
@agent_options
@_approve_all
@event_options
@click.pass_obj
@body("toolroll.cli.actions.runs.resume:resume_run")
def resume() -> None:
    """Continue the run ID: where it ended, with an answer to its question, or with another prompt.

    What is recorded is neither paid nor run again. If something has changed since a question was asked, it is asked
    again. If a change may have been made before a crash, toolroll checks the file, or asks you.

    \b
    Examples:
      toolroll runs resume 3f9c
      toolroll runs resume 3f9c --approve call_7 --reject 'call_8=not this file'
    """


@runs.command(short_help="Replay a run, and show what differs.")
@_run_argument
@agent_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.runs.recorded_agent:replay_run")
def replay() -> None:
    """Replay the run ID with the recorded answers of its model, offline, and show every difference.

    Tools that only read are run. Those that change something are not: their results are taken from the record. The exit
    code is 0 when nothing differs, 1 otherwise.

    \b
    Examples:
      toolroll runs replay 3f9c
      toolroll runs replay 3f9c --from my_tools.py
    """


@runs.command(short_help="Start a new run from a step of a run.")
@_run_argument
@click.option(
    "--at",
    required=True,
    type=click.IntRange(min=0),
    metavar="STEP",
    help="Start after this step; 0 is the beginning.",
)
@_other_model
@click.option("--prompt", metavar="TEXT", help="Continue with this prompt; at step 0, instead of the first one.")
@agent_options
@_approve_all
@event_options
@click.pass_obj
@body("toolroll.cli.actions.runs.recorded_agent:fork_run")
def fork() -> None:
    """Start a new run from after step STEP of the run ID, with another model or prompt.

    It starts with the conversation as it was then, the todos, and what tools had read and answered; nothing of that is
    paid or run again. Limits start anew. The run ID stays as it is. Files stay as they are now: see 'toolroll undo'.

    \b
    Examples:
      toolroll runs fork 3f9c --at 2 --model opus
      toolroll runs fork 3f9c --at 0 --prompt 'Do it without a new dependency.'
    """


@runs.command(short_help="Write a run to a file.")
@_run_argument
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "html"]), help="The format (default: by the name of the file)."
)
@click.option("--output", default="-", metavar="FILE", help="The file (default: '-', which is stdout).")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.runs.export:export_run")
def export() -> None:
    """Write the run ID to a file: as lines of JSON, or as one page for a browser.

    Both have the run with its sub-runs, without secrets. The page needs and loads nothing else; it cuts long texts, and
    says where to find them in full. For a damaged run, everything that can be read is written, with a note.

    \b
    Examples:
      toolroll runs export 3f9c --output run.html
      toolroll runs export 3f9c | jq 'select(.kind == "ended")'
    """


@runs.command(short_help="Delete runs for good.")
@click.argument(
    "run_ids", nargs=-1, metavar="[ID]...", shell_complete=lazily("toolroll.cli.actions.completion:complete_runs")
)
@click.option(
    "--older-than",
    type=click.IntRange(min=0),
    metavar="DAYS",
    help="All runs that nothing was added to for this many days.",
)
@click.option("--force", is_flag=True, help="Also those that wait for an answer.")
@yes_option("Do it without asking.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.runs.delete:delete_runs")
def delete() -> None:
    """Delete runs with their sub-runs and the outputs of their tools. Lists what would be deleted, and asks.

    A run that is still going is not deleted. What runs changed in a project stays, and can still be undone.

    \b
    Examples:
      toolroll runs delete 3f9c 81ab
      toolroll runs delete --older-than 90 --yes
    """


@click.command()
@click.option("--since", type=click.IntRange(min=1), metavar="DAYS", help="Only the last DAYS days.")
@click.option("--tool", metavar="NAME", help="Only this tool.")
@click.option("--model", metavar="NAME", help="Only runs with this model.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.stats:show_statistics")
def stats() -> None:
    """Show what tools and models did over all runs: calls, failures, times, tokens, cost, and your answers.

    Times are percentiles, exact to 1 %. What a fork inherits is counted in the run where it happened.

    \b
    Examples:
      toolroll stats --since 30
      toolroll stats --tool read_file --json
    """
