"""`toolroll completion` and `ghostpen completion`: the scripts for completion in a shell (S6)."""

from typing import Final

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options

_SHELLS: Final = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@output_options
@click.pass_obj
@body("toolroll.cli.actions.completion:print_toolroll_script")
def completion() -> None:
    """Print the script with which a shell completes commands, options, and names of tools, runs and profiles.

    The top of the script says how to install it. 'ghostpen completion' prints the script for ghostpen.

    \b
    Examples:
      toolroll completion zsh > ~/.zfunc/_toolroll
      source <(toolroll completion bash)
      toolroll completion fish | source
    """


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@output_options
@click.pass_obj
@body("toolroll.cli.actions.completion:print_ghostpen_script")
def ghostpen_completion() -> None:
    """Print the script with which a shell completes commands, options, platforms and profiles of ghostpen.

    The top of the script says how to install it.

    \b
    Examples:
      ghostpen completion zsh > ~/.zfunc/_ghostpen
      source <(ghostpen completion bash)
      ghostpen completion fish | source
    """
