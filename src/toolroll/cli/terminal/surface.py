"""The terminal as a surface that agents are started from: notes go to stderr, the person is asked at the keyboard."""

import os
from functools import partial
from typing import TYPE_CHECKING

from toolroll.apps.surface import Note, Surface
from toolroll.cli.render.prose import notify
from toolroll.home.settings import Settings
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.apps.permissions import RuleMemory
    from toolroll.kernel.approval.request import Approver


def terminal_surface(*, stdin_is_taken: bool = False) -> Surface:
    """Return the terminal as a surface; with `stdin_is_taken` the input of the command came through stdin."""
    return Surface(
        environment=os.environ, notify=show_note, make_approver=partial(_make_approver, stdin_is_taken=stdin_is_taken)
    )


def show_note(note: Note) -> None:
    """Write a note to stderr."""
    notify(f"{note.kind.capitalize()}: {terminal_safe(note.text)}")


def show_setting_notes(settings: Settings, surface: Surface) -> None:
    """Show what the person should know about the settings, once a command."""
    for text in settings.notes:
        surface.note(text)


def _make_approver(memory: "RuleMemory | None", timeout_s: float, *, stdin_is_taken: bool) -> "Approver | None":
    from toolroll.cli.terminal.approve import TerminalApprover  # noqa: PLC0415 - rich: only where somebody is asked
    from toolroll.cli.terminal.terminal import open_terminal  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return None
    return TerminalApprover(terminal, environment=os.environ, memory=memory, timeout_s=timeout_s)
