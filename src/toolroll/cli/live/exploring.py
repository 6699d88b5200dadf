"""An exploration told on a terminal while it goes: the document is written into a file, and only counted here."""

from rich.text import Text

from toolroll.agent.events import CallStarted, Event, StepFinished
from toolroll.cli.exploring import found_line
from toolroll.cli.live.teller import LiveTeller


class LiveListener(LiveTeller):
    """Calls as they happen, sources as they are found, how much is written, and a line of figures at the bottom."""

    def _note(self, event: Event) -> None:
        super()._note(event)
        if isinstance(event, CallStarted | StepFinished):
            self._written.clear()

    def _note_state(self, name: str, value: object) -> None:
        found = found_line(name, value)
        if found:
            self._say(found)

    def _write(self, text: str) -> None:
        self._thought = ""
        self._written.append(text)

    def _preview_lines(self, columns: int) -> list[Text]:
        del columns
        count = sum(map(len, self._written))
        return [Text(f"▸ writing: {count:,} characters", style="dim")] if count else []
