"""Telling that never breaks a run: where nobody reads any more the run goes on, and is kept."""

from toolroll.agent.events import Event
from toolroll.agent.result import RunResult
from toolroll.cli.prose import tell
from toolroll.cli.session import FAILED, Session
from toolroll.cli.telling import Teller
from toolroll.errors import ToolrollError


class SteadyTeller:
    """Passes all on to a teller. Once its output takes nothing (a closed pipe, a full disk) the rest goes nowhere."""

    def __init__(self, session: Session, teller: Teller) -> None:
        self._session, self._teller = session, teller
        self._problem: OSError | None = None

    def hear(self, event: Event, /) -> None:
        """Tell of one event, if that can be."""
        try:
            self._teller.hear(event)
        except OSError as error:
            self._give_up(error)

    def end(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Tell how it ended; a failure where not all could be told, with the run that has it all."""
        code = FAILED
        try:
            code = self._teller.end(result, error)
        except OSError as problem:
            self._give_up(problem)
        if self._problem is None:
            return code
        why = self._problem.strerror or type(self._problem).__name__
        told = f"Error: The answer could not be written: {why}. It is kept: toolroll runs export {result.run_id}"
        tell(told)
        return code or FAILED

    def close(self) -> None:
        """Leave nothing on the screen, where there still is one."""
        try:
            self._teller.close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, problem: OSError) -> None:
        self._problem = self._problem or problem
        self._session.give_up()
