"""`toolroll tools`: which tools there are, and what a model reads about each; `toolroll call`: call one."""

from pathlib import Path
from typing import Final

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import output_options, research_options, root_option, source_options, yes_option

_tool_argument: Final = click.argument("name", shell_complete=lazily("toolroll.cli.actions.completion:complete_tools"))


@click.group()
def tools() -> None:
    """List the tools, and show what a model reads about one.

    \b
    Examples:
      toolroll tools list
      toolroll tools show read_file
    """


@tools.command("list", short_help="List the tools with their effect.")
@source_options
@click.option("--by-use", is_flag=True, help="Put those first that you use and approve most.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.list_tools:list_tools")
def list_tools() -> None:
    """List the tools, each with its effect and the first sentence of its description.

    \b
    Examples:
      toolroll tools list
      toolroll tools list --from my_tools.py --json
    """


@tools.command()
@_tool_argument
@source_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.tools:show_tool")
def show() -> None:
    """Show what a tool does, what it takes, and where it is from.

    \b
    Example:
      toolroll tools show read_file
    """


@tools.command(short_help="Print the JSON Schema of a tool's arguments.")
@_tool_argument
@click.option("--strict", is_flag=True, help="The form for strict tool calling.")
@click.option(
    "--provider", type=click.Choice(["openai", "anthropic"]), help="Whose strict form (with --strict; default: openai)."
)
@source_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.tools:show_schema")
def schema() -> None:
    """Print the JSON Schema (draft-07) of a tool's arguments, or its strict form.

    \b
    Examples:
      toolroll tools schema write_todos
      toolroll tools schema write_todos --strict --provider anthropic
    """


@click.command()
@_tool_argument
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
