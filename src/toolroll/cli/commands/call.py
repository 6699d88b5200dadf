"""`toolroll call`: call one tool without a model."""

from pathlib import Path

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import output_options, research_options, root_option, source_options, yes_option


@click.command()
@click.argument("name", shell_complete=lazily("toolroll.cli.completers:complete_tools"))
@click.argument("arguments", default="{}", metavar="[JSON]")
@yes_option("Approve the call if it would be asked about.")
@root_option
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The folder of the writing tools."
)
@research_options
@source_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.call:call_tool")
def call() -> None:
    """Call the tool NAME with arguments as JSON ('-' reads them from stdin).

    The output is exactly what a model would read. With --json it is {"tool", "is_error", "content", "output_ref"}; the
    content is the value itself. Whatever the tool itself prints goes to stderr.

    A tool that changes something asks first, at the terminal. Where nobody can be asked it does not run, and the exit
    code is 3.

    \b
    Examples:
      toolroll call done '{"message": "Finished."}'
      toolroll call search_files '{"pattern": "TODO"}' --root ~/project
      echo '{"path": "a.txt"}' | toolroll call read_it - --from my_tools.py
    """
