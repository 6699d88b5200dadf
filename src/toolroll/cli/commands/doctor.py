"""`toolroll doctor`: what works, what is missing, what is broken, and how to fix it."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options, root_option


@click.command()
@root_option
@click.option("--online", is_flag=True, help="Look for a local Ollama, too. Nothing else leaves this machine.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.doctor.report:check_everything")
def doctor() -> None:
    """Show what works here (ok), what is not set up (-), what to look at (!), what is BROKEN, and how to fix it.

    Keys are named, never shown. The exit code is 1 when something is broken; what is not set up is fine.

    \b
    Examples:
      toolroll doctor
      toolroll doctor --online --json
    """
