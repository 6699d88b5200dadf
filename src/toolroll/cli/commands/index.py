"""`toolroll index`: build the index of a project's symbols (S7, C21)."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options, root_option


@click.command()
@root_option
@click.option("--rebuild", is_flag=True, help="Build it from scratch.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.index:build_index")
def index() -> None:
    """Build the index of a project's symbols, or bring it up to date.

    Tools do that by themselves when they need it. Ctrl-C stops it; what was found until then is kept.

    \b
    Examples:
      toolroll index
      toolroll index --root ../other --rebuild --json
    """
