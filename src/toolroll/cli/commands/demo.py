"""`toolroll demo`: watch an agent change a sample project; no key needed."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options


@click.command()
@click.option("--ask", is_flag=True, help="Answer the approval question yourself, as in real use.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.demo:play_demo")
def demo() -> None:
    """Watch an agent change a sample project: find, read, propose, approve, apply, undo, replay.

    Needs no key and no network, and leaves nothing behind. What the model says is recorded; the rest really happens.

    \b
    Examples:
      toolroll demo
      toolroll demo --ask
    """
