"""`toolroll outputs`: list, read and search the full outputs of tools."""

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import limit_option, output_options


@click.group()
def outputs() -> None:
    """Read the outputs of tools in full: a conversation may hold only a part of them.

    \b
    Examples:
      toolroll outputs list           list the outputs, with references
      toolroll outputs show 3f9c      show one of them
    """


@outputs.command("list", short_help="List the latest outputs.")
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    shell_complete=lazily("toolroll.cli.actions.completion:complete_runs"),
    help="Only those of this run; the beginning of its id is enough.",
)
@limit_option(20)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.outputs:list_outputs")
def list_outputs() -> None:
    """List the latest outputs: the reference, when, how large, and which tool in which run.

    \b
    Example:
      toolroll outputs list --run 3f9c
    """


@outputs.command(short_help="Read an output.")
@click.argument("ref_id", metavar="REF")
@click.option("--offset", default=0, type=click.IntRange(min=0), metavar="N", help="Lines to skip.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Lines to show, at most 2,000.")
@click.option("--column", default=0, type=click.IntRange(min=0), metavar="N", help="Bytes of the first line to skip.")
@click.option("--raw", is_flag=True, help="All of it, byte for byte, without line numbers.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.outputs:show_output")
def show() -> None:
    """Show the output REF by lines, as a model reads it. The beginning of a reference is enough.

    \b
    Examples:
      toolroll outputs show 3f9c --offset 2000
      toolroll outputs show 3f9c --raw | less
    """


@outputs.command(short_help="Search an output.")
@click.argument("ref_id", metavar="REF")
@click.argument("pattern")
@click.option("--regex", is_flag=True, help="Read PATTERN as a regular expression.")
@click.option(
    "-B", "--before", default=0, type=click.IntRange(min=0), metavar="N", help="Lines before each match, at most 100."
)
@click.option(
    "-A", "--after", default=0, type=click.IntRange(min=0), metavar="N", help="Lines after each match, at most 100."
)
@click.option(
    "--max-matches", default=50, type=click.IntRange(min=1), metavar="N", help="Matching lines to show, at most 1,000."
)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.outputs:search_output")
def grep() -> None:
    """Search the output REF for the text PATTERN. The exit code is 1 when no line matches.

    \b
    Examples:
      toolroll outputs grep 3f9c Error -B 2 -A 5
      toolroll outputs grep 3f9c 'line [0-9]+' --regex
    """
