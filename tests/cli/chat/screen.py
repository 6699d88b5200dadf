"""A chat at a pseudo-terminal: keys are sent, and the screen is read as a person sees it."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pydantic_core import to_jsonable_python
from tests.support.programs import environment, toolroll
from tests.support.project import Project
from tests.support.terminal import Pseudo

from toolroll.journal.journal import Recording
from toolroll.journal.records import MessageAdded, RunBegan, RunEnded
from toolroll.journal.sqlite import SqliteJournal

UP, ALT_ENTER, CTRL_C, CTRL_D, TAB, ENTER = b"\x1b[A", b"\x1b\r", b"\x03", b"\x04", b"\t", b"\r"


class Screen(Pseudo):
    """A program whose screen is waited for, instead of what it wrote: a line editor writes in pieces."""

    def shows(self, *texts: str, times: int = 1) -> None:
        """Wait until all of these are on the screen, wherever they are folded."""
        for text in texts:
            self.waits_until(lambda text=text: self.whole.count(text) >= times, text)  # type: ignore[misc]

    @property
    def whole(self) -> str:
        """The screen as one text; a line that is full goes on in the next one."""
        width = self.screen.columns
        return "".join(line if len(line.rstrip()) == width else f"{line.rstrip()}\n" for line in self.screen.display)

    def waits(self) -> None:
        """Wait until the next message can be typed."""
        self._read_until(lambda: self._line_of_cursor() == ">", "an empty prompt")

    def asks(self, text: str) -> None:
        """Wait until the cursor stands behind this question, however often it was asked before."""
        self._read_until(lambda: self._line_of_cursor().endswith(text), f"the question {text}")

    def _line_of_cursor(self) -> str:
        return self.display[self.screen.cursor.y]

    def say(self, text: str, *then: str) -> None:
        """Write a message and send it, then wait for what is on the screen, and for the next prompt."""
        self.waits()
        self.send(text.encode() + ENTER)
        if then:
            self.shows(*then)

    def paste(self, text: str) -> None:
        """What a terminal sends for a paste."""
        self.send(b"\x1b[200~" + text.encode() + b"\x1b[201~")


def recorded(project: Project) -> list[Recording]:
    """The runs on record, the oldest first."""

    async def read() -> list[Recording]:
        with closing(SqliteJournal(project.home / "data" / "runs.db")) as journal:
            return [await journal.read(row.run_id) for row in reversed(list(await journal.runs()))]

    return asyncio.run(read())


def chat_of(recording: Recording) -> object:
    """The chat that a run belongs to."""
    return next(record.settings.get("chat") for _, record in recording if isinstance(record, RunBegan))


def state_of(recording: Recording) -> str:
    """How a run ended."""
    return next((record.stop_reason for _, record in recording if isinstance(record, RunEnded)), "unfinished")


def said_in(recording: Recording) -> list[str]:
    """All that was said before a run's first turn and after, as JSON."""
    return [
        json.dumps(to_jsonable_python(one.message), ensure_ascii=False)
        for _, one in recording
        if isinstance(one, MessageAdded)
    ]


def chat(
    project: Project, *arguments: str, columns: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
) -> Screen:
    """A chat in the project."""
    return at_screen(project.home, project.root, *toolroll(*arguments), columns=columns, rows=rows, env=env)


def at_screen(
    home: Path, folder: Path, *command: str, columns: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
) -> Screen:
    """A program at a terminal."""
    known = environment(home, **(env or {}))
    return Screen(command, env=known, cwd=folder, columns=columns, rows=rows, stdout_on_terminal=True)
