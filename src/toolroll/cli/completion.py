"""`toolroll completion`: the script that lets a shell complete commands, options and names of tools (S6)."""

from typing import Final, Literal, TypeAlias

import click

from toolroll.cli.session import DONE, Session, output_options

Shell: TypeAlias = Literal["bash", "zsh", "fish"]

VARIABLE: Final = "_TOOLROLL_COMPLETE"
HOW: Final[dict[Shell, str]] = {
    "bash": "toolroll completion bash > ~/.local/share/bash-completion/completions/toolroll",
    "zsh": "toolroll completion zsh > ~/.zfunc/_toolroll   (with ~/.zfunc in fpath, before compinit in ~/.zshrc)",
    "fish": "toolroll completion fish > ~/.config/fish/completions/toolroll.fish",
}
"""How each is installed, in words for a comment."""


@click.command()
@click.argument("shell", type=click.Choice(list(HOW)))
@output_options
@click.pass_context
def completion(context: click.Context, shell: Shell) -> int:
    """Print the script with which a shell completes commands, options, and names of tools, runs and profiles.

    How to install it stands on top of the script.

    \b
    Examples:
      toolroll completion zsh > ~/.zfunc/_toolroll
      source <(toolroll completion bash)
      toolroll completion fish | source
    """
    session = context.ensure_object(Session)
    script = script_for(shell, context.find_root().command)
    if session.json:
        session.write_json({"shell": shell, "script": script, "install": HOW[shell]})
    else:
        session.write(script)
    return DONE


def script_for(shell: Shell, command: click.Command) -> str:
    """The script, with a comment on top that says how to install it."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - not for --help

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(command, {}, "toolroll", VARIABLE)
    # Not `made.source()`: that one starts bash to ask for its version, and this may be for another machine.
    script = (made.source_template % made.source_vars()).strip()
    comment = f"# Completion of toolroll for {shell}. To install it:\n#   {HOW[shell]}"
    if shell != "zsh":
        return f"{comment}\n{script}\n"
    first, _, rest = script.partition("\n")  # compinit looks at the first line for what it is about
    return f"{first}\n{comment}\n{rest}\n"
