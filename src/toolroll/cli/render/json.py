"""A run as lines of JSON: every event with its index, the last one `run_finished`."""

from collections.abc import Mapping

from toolroll.agent.event_json import dump_event, result_fields
from toolroll.agent.events import Event, RunFinished
from toolroll.agent.result import RunResult
from toolroll.cli.render.result import exit_code
from toolroll.cli.session import Session
from toolroll.errors import ToolrollError


class JsonRenderer:
    """Writes every event as one line of JSON with its index; the last one is `run_finished`, with the error, if any."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def on_event(self, event: Event, /) -> None:
        """Write one event; the end is written by `finish`."""
        if not isinstance(event, RunFinished):
            self._write(dump_event(event))

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Write the last line."""
        fields = result_fields(result)
        if error is not None:
            fields["error"] = {"code": error.code, "message": error.message}
        self._write({"event": "run_finished", **fields})
        return exit_code(result, error)

    def close(self) -> None:
        """Do nothing: every line was written at once."""

    def _write(self, fields: Mapping[str, object]) -> None:
        self._index += 1
        self._session.write_json({"index": self._index, **fields})
