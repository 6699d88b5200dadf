"""`toolroll policy`: what runs unasked, what is asked about, what never runs; and forgetting an "always" (C35)."""

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import output_options, root_option, source_options


@click.group()
def policy() -> None:
    """Show what tools may do here without asking, and forget what you always allowed.

    \b
    Examples:
      toolroll policy list
      toolroll policy explain edit src/main.js
    """


@policy.command("list", short_help="List the rules that count in a project.")
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.policy:list_rules")
def list_rules() -> None:
    """List the rules that count in a project: what the settings deny, and what you always allow.

    The numbers are for 'toolroll policy forget'.

    \b
    Example:
      toolroll policy list --root ~/project
    """


@policy.command(short_help="Show what would happen to a call, and why.")
@click.argument("tool", shell_complete=lazily("toolroll.cli.actions.completion:complete_tools"))
@click.argument("path", required=False)
@root_option
@source_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.policy:explain_call")
def explain() -> None:
    """Show whether TOOL on PATH runs, is asked about or never runs, and which rule decides.

    \b
    Examples:
      toolroll policy explain edit src/main.js
      toolroll policy explain read_file .env
    """


@policy.command(short_help="Forget an 'always'.")
@click.argument("number", type=click.IntRange(min=1))
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.policy:forget_rule")
def forget() -> None:
    """Forget the rule NUMBER of 'toolroll policy list': from now on you are asked again.

    \b
    Example:
      toolroll policy forget 1
    """
