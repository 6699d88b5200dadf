"""`toolroll run`: answer a prompt with a model and tools."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import QuotedCommand, agent_options, event_options, model_option, yes_option


@click.command(cls=QuotedCommand)
@click.argument("prompt")
@model_option
@agent_options
@yes_option("Approve every call that would be asked about.")
@event_options
@click.pass_obj
@body("toolroll.cli.actions.run:run_prompt")
def run() -> None:
    """Answer PROMPT with a model and tools ('-' reads it from stdin).

    Tools are offered only if you name them, with --tools, --pack or --from.

    The model's words go to stdout as they come, a line for each tool call to stderr. With --json every event is a line
    {"index", "event", ...} on stdout, the last one run_finished.

    A tool that changes something asks first, at the terminal. Where nobody can be asked, the run stops with exit code
    3, and 'toolroll runs resume' continues it with the answer. Ctrl-C stops a run; it can be resumed, too.

    \b
    Examples:
      toolroll run 'What is in notes.txt?' --model sonnet --from my_tools.py
      toolroll run 'Plan my day.' --model ollama:qwen3 --tools write_todos,done
    """
