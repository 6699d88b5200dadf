"""What `toolroll demo` does: an agent finds a definition, proposes an edit and applies it; then the edit is undone.

Everything is real (the tools, the index, the diff, the binding of a yes to what was shown, the run log, the undo), on a
copy of a sample project, but for two sides that are recorded: what the model says, and, without `--ask`, what the
person answers.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from rich.console import Console

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event
from toolroll.agent.history.replay import replay
from toolroll.agent.result import RunResult
from toolroll.cli.render.demo import DemoScreen
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.approver import TerminalApprover
from toolroll.cli.terminal.terminal import open_terminal
from toolroll.errors import UsageError
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision
from toolroll.models.scripted_file import scripted_file
from toolroll.packs.code.agent import code_agent
from toolroll.workspace.changes.recovery import open_history
from toolroll.workspace.changes.undo import plan_undo, undo
from toolroll.workspace.workspace import Workspace

PROMPT: Final = (
    "Zero cups should read 'no tea at all'. Where is that written, who depends on it, and can you change it?"
)
CHANGED: Final = "src/services/format.js"
_SAMPLE: Final = Path(__file__).parents[2] / "packs" / "code"
_MAX_COLUMNS: Final = 88
"""Wider lines of text are hard to read; a terminal may be as wide as it likes."""
_NEXT: Final = """\
toolroll code 'What is in here?' --model sonnet
toolroll call search_files '{"pattern": "TODO"}'
toolroll changes, toolroll undo
toolroll runs list"""


def play_demo(session: Session, *, ask: bool) -> int:
    """Play the demo; return the exit code."""
    session.set_up_logging()
    colours: Literal["auto"] | None = None if session.plain else "auto"
    console = None if session.json else Console(color_system=colours, highlight=False, width=_columns())
    with tempfile.TemporaryDirectory(prefix="toolroll-demo-") as place:
        played = asyncio.run(Demo(DemoScreen(console), Path(place), _person() if ask else None).run())
    if session.json:
        session.write_json(played)
    return DONE


def _columns() -> int | None:
    width = Console().width
    return _MAX_COLUMNS if width > _MAX_COLUMNS else None


def _person() -> Approver:
    terminal = open_terminal(os.environ)
    if terminal is None:
        raise UsageError("--ask needs a terminal, where somebody can answer. Leave it out to watch.")
    return TerminalApprover(terminal, environment=os.environ)


class ScriptedApprover:
    """Stands for the person: shows the question as a terminal does, and approves it."""

    def __init__(self, screen: DemoScreen) -> None:
        self._screen = screen

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Show and approve each request."""
        for request in requests:
            self._screen.ask(request)
        return [Approve() for _ in requests]


class Demo:
    """Plays the demo from its first scene to its last, in a folder that is deleted afterwards."""

    def __init__(self, screen: DemoScreen, folder: Path, person: Approver | None) -> None:
        self._screen = screen
        self._root = folder / "tea-board"
        self._state = folder / "state"
        self._journal = folder / "runs.db"
        self._person = person or ScriptedApprover(screen)
        self._calls: list[dict[str, object]] = []

    async def run(self) -> dict[str, object]:
        """Play the demo; return what happened, as data."""
        shutil.copytree(_SAMPLE / "sample", self._root)
        before = self._text()
        self._screen.open(self._root, PROMPT)
        result = await self._agent_run()
        after = self._text()
        self._screen.applied(CHANGED, after)
        undone = await asyncio.to_thread(self._undo)
        self._screen.undone(undone, is_back=self._text() == before)
        is_same = await self._replay(result.run_id)
        self._screen.close(len(result.steps), is_same=is_same, advice=_NEXT)
        return {
            "prompt": PROMPT,
            "calls": self._calls,
            "answer": result.text,
            "before": before,
            "after": after,
            "undone": self._text() == before,
            "replay_is_same": is_same,
        }

    async def _agent_run(self) -> RunResult[object]:
        journal = SqliteJournal(self._journal)
        try:
            async with self._agent(journal) as agent:
                return await agent.start(PROMPT, listener=self._on_event, stream=True).wait()
        finally:
            journal.close()

    def _on_event(self, event: Event) -> None:
        self._screen.on_event(event)
        if event.event == "tool_result":
            self._calls.append(
                {
                    "name": event.call.name,
                    "arguments": event.call.arguments,
                    "is_error": event.result.is_error,
                    "content": event.result.text,
                }
            )

    def _agent(self, journal: SqliteJournal) -> Agent[None]:
        def open_here() -> Iterator[Workspace]:
            # Its state beside the copy, not among the person's own files.
            with Workspace(self._root, state=self._state) as workspace:
                yield workspace

        return code_agent(
            self._root,
            model=scripted_file(_SAMPLE / "demo.json"),
            approver=self._person,
            journal=journal,
            overrides={"code.workspace": open_here},
        )

    def _undo(self) -> list[str]:
        with Workspace(self._root, state=self._state) as workspace:
            history, _ = open_history(workspace)
            with history:
                if not history.changes():
                    return []  # the person has said no
                plan = plan_undo(workspace, history)
                undo(workspace, history, plan, run_id="demo")
        return [plan.describe(step) for step in plan.steps]

    async def _replay(self, run_id: str) -> bool:
        journal = SqliteJournal(self._journal)
        try:
            return (await replay(self._agent(journal), run_id)).is_same
        finally:
            journal.close()

    def _text(self) -> str:
        return (self._root / CHANGED).read_text(encoding="utf-8")
