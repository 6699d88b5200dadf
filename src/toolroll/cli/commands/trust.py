"""`toolroll trust`: which of a project's own files may be used."""

from typing import Final

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import output_options, root_option, yes_option

_path_argument: Final = click.argument(
    "path", shell_complete=lazily("toolroll.cli.actions.completion:complete_project_files")
)


@click.group()
def trust() -> None:
    """Choose which of a project's own files may be used: tools (.toolroll/tools), settings, MCP servers (.mcp.json).

    The code of tools runs as you. Only exactly the content that you have looked at is trusted.

    \b
    Examples:
      toolroll trust list
      toolroll trust add .toolroll/tools/deploy.py
    """


@trust.command("list", short_help="List the project's own files, and which are trusted.")
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.trust:list_files")
def list_files() -> None:
    """List the tool files and settings of a project, and whether each is trusted as it is.

    \b
    Example:
      toolroll trust list --root ~/project
    """


@trust.command(short_help="Trust a file as it is now.")
@_path_argument
@root_option
@yes_option("Trust it without showing it: you have looked at it.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.trust:trust_file")
def add() -> None:
    """Trust the content that the file PATH has now; it is shown first, and you are asked.

    Settings may name a model, a check, limits, and paths to deny; a file that sets anything else is refused. "data" is
    the folder in which ghostpen finds profiles and posts; it is trusted whatever it holds.

    \b
    Examples:
      toolroll trust add .toolroll/tools/deploy.py
      toolroll trust add .toolroll/settings.toml
      toolroll trust add data
    """


@trust.command(short_help="Trust a file no longer.")
@_path_argument
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.trust:distrust_file")
def remove() -> None:
    """Trust the file PATH no longer, whatever it holds.

    \b
    Example:
      toolroll trust remove .toolroll/tools/deploy.py
    """
