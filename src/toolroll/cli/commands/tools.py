"""`toolroll tools`: which tools there are, and what a model reads about each."""

from typing import Final

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import output_options, source_options

_tool_argument: Final = click.argument("name", shell_complete=lazily("toolroll.cli.completers:complete_tools"))


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
