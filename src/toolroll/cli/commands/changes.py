"""`toolroll changes`, `undo` and `redo`: what tools changed in a project, and reverting it (C31)."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import limit_option, output_options, root_option, yes_option

F = TypeVar("F", bound=Callable[..., Any])

_complete_runs: Final = lazily("toolroll.cli.actions.completion:complete_runs")


def _revert_options(command: F) -> F:
    """Add the options that `undo` and `redo` share."""
    text = "Only this file: its latest change, or its part of CHANGE or --run."
    file = click.option("--file", "path", metavar="PATH", help=text)
    merge = click.option("--merge", is_flag=True, help="Keep later work in the same files where the two do not touch.")
    return root_option(file(merge(yes_option("Do it without asking.")(output_options(command)))))


@click.command()
@root_option
@click.option("--run", "run_id", metavar="ID", shell_complete=_complete_runs, help="Only the changes of this run.")
@click.option("--file", "path", metavar="PATH", help="Only the changes of this file.")
@limit_option(20)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.changes:list_changes")
def changes() -> None:
    """List what tools have changed in a project, the latest change first.

    \b
    Examples:
      toolroll changes
      toolroll changes --file src/main.js --json
    """


@click.command()
@click.argument("change", required=False)
@click.option("--run", "run_id", metavar="ID", shell_complete=_complete_runs, help="Everything that this run changed.")
@_revert_options
@click.pass_obj
@body("toolroll.cli.actions.changes:undo_change")
def undo() -> None:
    """Revert CHANGE (default: the latest change or redo). Later work is never overwritten.

    Lists what would happen, shows the diff, and asks. 'toolroll changes' lists the changes. The first 4 characters of
    an id are enough where no other id begins with them.

    \b
    Examples:
      toolroll undo
      toolroll undo 34a873204eb0
      toolroll undo --run 4cb9e3ac803b --yes
    """


@click.command()
@click.argument("change", required=False)
@click.option(
    "--run", "run_id", metavar="ID", shell_complete=_complete_runs, help="Everything of this run that was undone."
)
@_revert_options
@click.pass_obj
@body("toolroll.cli.actions.changes:redo_change")
def redo() -> None:
    """Make the undone CHANGE again (default: the one undone last). Later work is never overwritten.

    \b
    Examples:
      toolroll redo
      toolroll redo 34a873204eb0 --yes
      toolroll redo --run 4cb9e3ac803b --yes
    """
