"""How a run is shown while it goes: live on a terminal, as text with a line for each call, or as lines of JSON."""

import os
import sys
from typing import Any, Protocol, TypeVar

from toolroll.agent.events import Event
from toolroll.agent.result import RunResult
from toolroll.cli.render.json import JsonRenderer
from toolroll.cli.render.plain import AnswerRenderer, PlainRenderer
from toolroll.cli.render.prose import notify
from toolroll.cli.session import FAILED, Session
from toolroll.errors import ToolrollError

T_contra = TypeVar("T_contra", contravariant=True)


class Renderer(Protocol[T_contra]):
    """Shows work while it goes, and what it came to: a `RunResult`, or what a surface of its own comes to."""

    def on_event(self, event: Event, /) -> None:
        """Show one event, at once."""
        ...

    def finish(self, outcome: T_contra, error: ToolrollError | None = None, /) -> int:
        """Show how it ended; return the exit code of the command."""
        ...

    def close(self) -> None:
        """Show all that came, and leave nothing on the screen that is not to stay; also after `finish`, and twice."""
        ...


def make_renderer(session: Session, *, model: str = "") -> Renderer[RunResult[Any]]:
    """Return the renderer that the person asked for; `model` is the name to show until the run has its own.

    The live one is for a terminal that is both stdout and stderr: on two there would be no order to show things in.
    """
    if session.json:
        return JsonRenderer(session)
    if session.prints:
        return AnswerRenderer(session)
    if not is_live(session):
        return PlainRenderer(session)
    from toolroll.cli.render.live.renderer import LiveRenderer  # noqa: PLC0415 - rich and Markdown: only where they are used

    return LiveRenderer(session, model=model, environment=os.environ)


def is_live(session: Session) -> bool:
    """Return whether a run is drawn: for a person at one terminal, who has not asked for plain lines."""
    out, err = session.out, sys.stderr
    if session.json or session.plain or err is None or not (out.isatty() and err.isatty()):
        return False
    return os.fstat(out.fileno()).st_rdev == os.fstat(err.fileno()).st_rdev


class TolerantRenderer:
    """Passes everything on to a renderer. If its output fails (a closed pipe, a full disk), the run goes on."""

    def __init__(self, session: Session, renderer: Renderer[RunResult[Any]]) -> None:
        self._session, self._renderer = session, renderer
        self._problem: OSError | None = None

    def on_event(self, event: Event, /) -> None:
        """Show one event, if that is possible."""
        try:
            self._renderer.on_event(event)
        except OSError as error:
            self._give_up(error)

    def finish(self, result: RunResult[Any], error: ToolrollError | None = None, /) -> int:
        """Show how it ended; a failure where not everything could be shown, with the run that has it all."""
        code = FAILED
        try:
            code = self._renderer.finish(result, error)
        except OSError as problem:
            self._give_up(problem)
        if self._problem is None:
            return code
        why = self._problem.strerror or type(self._problem).__name__
        notify(
            f"Error: The answer could not be written: {why}. It is in the run log: toolroll runs export {result.run_id}"
        )
        return code or FAILED

    def close(self) -> None:
        """Leave nothing on the screen, where there still is one."""
        try:
            self._renderer.close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, problem: OSError) -> None:
        self._problem = self._problem or problem
        self._session.give_up()
