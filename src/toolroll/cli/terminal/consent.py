"""A yes that a command needs before it acts, asked for at the terminal."""

import os
from collections.abc import Sequence

from toolroll.cli.render.rows import Row
from toolroll.cli.session import FAILED, NEEDS_APPROVAL, Session


def ask_consent(session: Session, question: str, *, rows: Sequence[Row] = (), nobody: str, refused: str) -> int | None:
    """Show `rows` to their end, and ask; return None after a yes, and the exit code of the command otherwise.

    `nobody` is the error where nobody can be asked, `refused` the one after a no.
    """
    from toolroll.cli.terminal.approve import confirm, show_all  # noqa: PLC0415 - rich: only where somebody is asked
    from toolroll.cli.terminal.terminal import interruptible, open_terminal  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ)
    if terminal is None:
        session.fail("needs_approval", nobody)
        return NEEDS_APPROVAL
    with interruptible():
        if (not rows or show_all(terminal, rows)) and confirm(terminal, question):
            return None
    session.fail("rejected", refused)
    return FAILED
