"""The terminal as a surface that agents are started from: notes go to stderr, the person is asked at the keyboard."""

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolroll.apps.surface import Note, Surface
from toolroll.cli.render.prose import notify
from toolroll.cli.render.rows import Row
from toolroll.cli.session import FAILED, NEEDS_APPROVAL, Session, is_in_chat
from toolroll.home.settings import Settings
from toolroll.lazy import load
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.apps.permissions import RuleMemory
    from toolroll.kernel.approval.request import Approver


def terminal_surface(*, stdin_is_taken: bool = False, asks: bool = True) -> Surface:
    """Return the terminal as a surface; with `stdin_is_taken` the input of the command came through stdin.

    Without `asks` nobody is asked, also where somebody is there, and only warnings are shown.
    """
    if not asks:
        return Surface(environment=os.environ, notify=_show_warning)
    return Surface(
        environment=os.environ,
        notify=show_note,
        make_approver=partial(_make_approver, stdin_is_taken=stdin_is_taken),
        ask=partial(ask_person, stdin_is_taken=stdin_is_taken),
    )


def show_note(note: Note) -> None:
    """Write a note to stderr."""
    notify(f"{note.kind.capitalize()}: {terminal_safe(note.text)}")


def _show_warning(note: Note) -> None:
    if note.kind == "warning":
        show_note(note)


def show_setting_notes(settings: Settings, surface: Surface) -> None:
    """Show what the person should know about the settings, once a command."""
    for text in settings.notes:
        surface.note(text)


def is_person_there(*, stdin_is_taken: bool = False) -> bool:
    """Return whether somebody can be asked."""
    return load("toolroll.cli.terminal.terminal:open_terminal")(os.environ, stdin_is_taken=stdin_is_taken) is not None


def ask_person(question: str, *, rows: Sequence[Row] = (), stdin_is_taken: bool = False) -> bool | None:
    """Show `rows` to their end, and ask; return whether the answer was yes, and None where nobody is there."""
    from toolroll.cli.terminal.approver import ask_yes_or_no  # noqa: PLC0415 - rich: only where somebody is asked

    return ask_yes_or_no(question, rows=rows, stdin_is_taken=stdin_is_taken)


def ask_consent(session: Session, question: str, *, rows: Sequence[Row] = (), nobody: str, refused: str) -> int | None:
    """Show `rows` to their end, and ask; return None after a yes, and the exit code of the command otherwise.

    `nobody` is the error where nobody can be asked, `refused` the one after a no.
    """
    answer = ask_person(question, rows=rows)
    if answer is None:
        session.fail("needs_approval", nobody)
        return NEEDS_APPROVAL
    if not answer:
        session.fail("rejected", refused)
        return FAILED
    return None


def _make_approver(memory: "RuleMemory | None", timeout_s: float, *, stdin_is_taken: bool) -> "Approver | None":
    from toolroll.cli.terminal.approver import make_approver  # noqa: PLC0415 - rich: only where somebody is asked

    # In an open chat somebody is there: a limit is for runs that nobody sits before (S12).
    return make_approver(memory, None if is_in_chat() else timeout_s, stdin_is_taken=stdin_is_taken)
