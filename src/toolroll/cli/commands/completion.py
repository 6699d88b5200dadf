"""`toolroll completion` and `ghostpen completion`: the scripts that let a shell complete what each can be told (S6)."""

from typing import Final, Literal, TypeAlias

import click

from toolroll.cli.session import DONE, Session, output_options

Shell: TypeAlias = Literal["bash", "zsh", "fish"]
Program: TypeAlias = Literal["toolroll", "ghostpen"]

HOW: Final[dict[Shell, str]] = {
    "bash": "{0} completion bash > ~/.local/share/bash-completion/completions/{0}",
    "zsh": "{0} completion zsh > ~/.zfunc/_{0}   (with ~/.zfunc in fpath, before compinit in ~/.zshrc)",
    "fish": "{0} completion fish > ~/.config/fish/completions/{0}.fish",
}
"""How each is installed, in words for a comment, with the name of the program left open."""


@click.command()
@click.argument("shell", type=click.Choice(list(HOW)))
@output_options
@click.pass_obj
def completion(session: Session, shell: Shell) -> int:
    """Print the script with which a shell completes commands, options, and names of tools, runs and profiles.

    How to install it stands on top of the script. 'ghostpen completion' prints the one for ghostpen.

    \b
    Examples:
      toolroll completion zsh > ~/.zfunc/_toolroll
      source <(toolroll completion bash)
      toolroll completion fish | source
    """
    return _printed(session, shell, "toolroll")


@click.command("completion")
@click.argument("shell", type=click.Choice(list(HOW)))
@output_options
@click.pass_obj
def ghostpen_completion(session: Session, shell: Shell) -> int:
    """Print the script with which a shell completes commands, options, platforms and profiles of ghostpen.

    How to install it stands on top of the script.

    \b
    Examples:
      ghostpen completion zsh > ~/.zfunc/_ghostpen
      source <(ghostpen completion bash)
      ghostpen completion fish | source
    """
    return _printed(session, shell, "ghostpen")


def _printed(session: Session, shell: Shell, program: Program) -> int:
    script = script_for(shell, program)
    if session.json:
        session.write_json({"shell": shell, "script": script, "install": HOW[shell].format(program)})
    else:
        session.write(script)
    return DONE


def script_for(shell: Shell, program: Program) -> str:
    """The script, with a comment on top that says how to install it."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - not for --help

    kind = get_completion_class(shell)
    assert kind is not None
    # The variable is the one that click looks for in a program of that name.
    made = kind(click.Command(program), {}, program, f"_{program.upper()}_COMPLETE")
    # Not `made.source()`: that one starts bash to ask for its version, and this may be for another machine.
    script = (made.source_template % made.source_vars()).strip()
    comment = f"# Completion of {program} for {shell}. To install it:\n#   {HOW[shell].format(program)}"
    if shell != "zsh":
        return f"{comment}\n{script}\n"
    first, _, rest = script.partition("\n")  # compinit looks at the first line for what it is about
    return f"{first}\n{comment}\n{rest}\n"
