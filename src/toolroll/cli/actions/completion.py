"""What `toolroll completion` does: it prints the script for a shell, with a comment that says how to install it."""

from typing import Final, Literal, TypeAlias

import click
from click.shell_completion import get_completion_class

from toolroll.cli.session import DONE, Session

Shell: TypeAlias = Literal["bash", "zsh", "fish"]
Program: TypeAlias = Literal["toolroll", "ghostpen"]

INSTALL: Final[dict[Shell, str]] = {
    "bash": "{0} completion bash > ~/.local/share/bash-completion/completions/{0}",
    "zsh": "{0} completion zsh > ~/.zfunc/_{0}   (with ~/.zfunc in fpath, before compinit in ~/.zshrc)",
    "fish": "{0} completion fish > ~/.config/fish/completions/{0}.fish",
}
"""How each script is installed, with the name of the program left open."""


def print_toolroll_script(session: Session, shell: Shell) -> int:
    """Print the script for toolroll; return the exit code."""
    return _print_script(session, shell, "toolroll")


def print_ghostpen_script(session: Session, shell: Shell) -> int:
    """Print the script for ghostpen; return the exit code."""
    return _print_script(session, shell, "ghostpen")


def _print_script(session: Session, shell: Shell, program: Program) -> int:
    script = make_script(shell, program)
    if session.json:
        session.write_json({"shell": shell, "script": script, "install": INSTALL[shell].format(program)})
    else:
        session.write(script)
    return DONE


def make_script(shell: Shell, program: Program) -> str:
    """Return the script, with a comment on top that says how to install it."""
    kind = get_completion_class(shell)
    assert kind is not None
    # The variable is the one that click looks for in a program of that name.
    made = kind(click.Command(program), {}, program, f"_{program.upper()}_COMPLETE")
    # Not `made.source()`: that one starts bash to ask for its version, and this may be for another machine.
    script = (made.source_template % made.source_vars()).strip()
    comment = f"# Completion of {program} for {shell}. To install it:\n#   {INSTALL[shell].format(program)}"
    if shell != "zsh":
        return f"{comment}\n{script}\n"
    first, _, rest = script.partition("\n")  # compinit looks at the first line for what it is about
    return f"{first}\n{comment}\n{rest}\n"
