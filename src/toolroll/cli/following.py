"""Who tells of an exploration while it goes, and what is to be known of its runs afterwards."""

import os
from typing import Protocol

from toolroll.agent.events import Event, RunFinished, RunStarted
from toolroll.agent.result import RunResult
from toolroll.cli.exploring import JsonListener, PlainListener
from toolroll.cli.prose import tell
from toolroll.cli.session import Session
from toolroll.cli.telling import is_live


class Listener(Protocol):
    """Somebody who tells of an exploration while it goes."""

    def hear(self, event: Event, /) -> None:
        """Tell of one event, at once."""
        ...

    def close(self) -> None:
        """Leave nothing on the screen that is not to stay; also twice."""
        ...


def listener_for(session: Session, *, model: str = "") -> Listener:
    """The one that the person asked for; `model` is the name to show until the run says its own."""
    if session.json:
        return JsonListener(session)
    if not is_live(session):
        return PlainListener()
    from toolroll.cli.live.exploring import LiveListener  # noqa: PLC0415 - rich: only where it is used

    return LiveListener(session, model=model, environment=os.environ)


class Following:
    """Tells of an exploration, and keeps what is to be known of its runs."""

    def __init__(self, session: Session, *, model: str) -> None:
        self._session = session
        self._listener = listener_for(session, model=model)
        self.count = 0
        """How many events were told."""
        self.run_id: str | None = None
        self.results: list[RunResult[object]] = []

    def hear(self, event: Event, /) -> None:
        """Tell of one event."""
        self.count += 1
        match event:
            case RunStarted(run_id=run_id):
                self.run_id = run_id
            case RunFinished(result=result):
                self.results.append(result)
            case _:
                pass
        self._listener.hear(event)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._listener.close()

    @property
    def was_stopped(self) -> bool:
        """Whether somebody has stopped the last run."""
        return bool(self.results) and self.results[-1].stop_reason == "interrupted"

    def tell_how_to_go_on(self) -> None:
        """Nothing that was paid for is lost: say how to get on with it."""
        if self.run_id is not None and not self._session.json:
            tell(f"Go on with: toolroll runs resume {self.run_id}")
