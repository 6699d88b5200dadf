"""`toolroll code`: an agent that explores and changes a project, each change with a person's approval."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import QuotedCommand, event_options, model_option, root_option, yes_option


@click.command(cls=QuotedCommand)
@click.argument("prompt", required=False)
@root_option
@model_option
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop and ask after this many model calls (default: 30).",
)
@yes_option("Approve every change unseen. Changes can be undone.")
@click.option("--read-only", is_flag=True, help="Explore only: offer no tool that changes anything.")
@click.option("--plan", "plans", is_flag=True, help="Explore and propose; change nothing until /go in the chat.")
@click.option("--continue", "continued", is_flag=True, help="Go on with the last chat in this folder.")
@click.option(
    "--resume",
    "resumed",
    is_flag=False,
    flag_value="?",
    metavar="[ID]",
    help="Go on with an earlier chat: the one of this ID, or one from a list.",
)
@click.option("-p", "--print", "prints", is_flag=True, help="Print the answer and nothing else; ask nobody.")
@click.option("--queue", is_flag=True, help="Queue it for 'toolroll worker'; its changes wait for your answer.")
@click.option("--webhook", metavar="URL", help="Tell this address when the queued task is done, or waits (https).")
@event_options
@click.pass_obj
@body("toolroll.cli.actions.code:run_code")
def code() -> None:
    """Do what PROMPT asks in a project: find, read, explain, change ('-' reads it from stdin).

    Without a PROMPT, at a terminal, a chat begins; /help there lists its commands. What is piped in beside a PROMPT is
    attached to it; with -p and no PROMPT, it is the prompt.

    Every change is shown as a diff, and made only if you approve it; 'toolroll undo' reverts it. Where nobody can be
    asked, the run stops with exit code 3, and 'toolroll runs resume' continues it with the answer. With --json every
    event is a line {"index", "event", ...} on stdout, the last one run_finished.

    AGENTS.md in the project's folder is read as instructions. The project's own tools are used only after
    'toolroll trust add'.

    \b
    Examples:
      toolroll code 'Where is DatabaseService defined?' --model sonnet
      toolroll code 'Add a comment on top of main.js' --root ~/project
      toolroll code 'List all TODOs' --read-only --json
      git diff | toolroll code 'Review this'
      toolroll code --continue
    """
