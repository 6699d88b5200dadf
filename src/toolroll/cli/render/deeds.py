"""The last line of a run that could have changed something: what was done, whatever the model says of it."""

from typing import Any

from toolroll.agent.events import CallFinished, Event
from toolroll.agent.result import RunResult
from toolroll.cli.render.prose import notify
from toolroll.cli.render.renderer import Renderer
from toolroll.errors import ToolrollError


class Deeds:
    """Counts the calls of a run, and what they have changed."""

    def __init__(self) -> None:
        self.calls = self.failed = self.changes = self.added = self.removed = 0

    def note(self, event: Event) -> None:
        """Count a call that has ended; one that has changed files says so in its facts."""
        if not isinstance(event, CallFinished):
            return
        self.calls += 1
        self.failed += event.result.is_error
        facts = event.result.facts or {}
        match facts:
            case {"change": str(), "added": int(added), "removed": int(removed)} if not event.result.is_error:
                self.changes += 1
                self.added += added
                self.removed += removed

    def describe(self) -> str:
        """Return what was done, on one line."""
        calls = "no calls" if not self.calls else "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        failed = f" ({self.failed:,} failed)" if self.failed else ""
        if not self.changes:
            return f"{calls}{failed}, nothing was changed"
        changes = "1 change" if self.changes == 1 else f"{self.changes:,} changes"
        return f"{calls}{failed}, {changes} of files (+{self.added:,} -{self.removed:,})"


class DeedsRenderer:
    """Passes everything on to a renderer, and says last what was done."""

    def __init__(self, renderer: Renderer[RunResult[Any]]) -> None:
        self._renderer = renderer
        self._deeds = Deeds()

    def on_event(self, event: Event, /) -> None:
        """Show one event."""
        self._deeds.note(event)
        self._renderer.on_event(event)

    def finish(self, result: RunResult[Any], error: ToolrollError | None = None, /) -> int:
        """Show how it ended, then what was done; what waits for an answer is not done yet."""
        code = self._renderer.finish(result, error)
        if not result.pending:
            notify(f"· {self._deeds.describe()}", dim=bool(self._deeds.changes))
        return code

    def close(self) -> None:
        """Leave nothing on the screen."""
        self._renderer.close()
