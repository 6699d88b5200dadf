"""`toolroll stats`: figures about tools and models over all runs."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options


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
