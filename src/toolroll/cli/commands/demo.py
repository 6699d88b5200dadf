"""`toolroll demo`: an agent finds a definition, asks who imports it, proposes an edit, applies it, and it is undone.

Everything is real (the tools, the index, the diff, the binding of a yes to what was shown, the run log, the undo), on a
copy of a sample project, but for two sides that are written down: what the model says, and, unless it is asked for with
`--ask`, what the person answers.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
from rich.console import Console

from toolroll.cli.render.demo import DemoScreen
from toolroll.cli.session import DONE, Session, output_options
from toolroll.errors import UsageError
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision

if TYPE_CHECKING:
    from toolroll.agent.agent import Agent
    from toolroll.agent.events import Event
    from toolroll.agent.result import RunResult
    from toolroll.journal.sqlite import SqliteJournal

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


@click.command()
@click.option("--ask", is_flag=True, help="Be asked about the change yourself, as in real use.")
@output_options
@click.pass_obj
def demo(session: Session, *, ask: bool) -> int:
    """See an agent change a sample project: find, read, propose, approve, apply, undo, replay.

    Needs no key and no network, and leaves nothing behind. What the model says is recorded; the rest really happens.

    \b
    Examples:
      toolroll demo
      toolroll demo --ask
    """
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - as in every command that runs tools

    set_up_log(session)
    colours: Literal["auto"] | None = None if session.plain else "auto"
    console = None if session.json else Console(color_system=colours, highlight=False, width=_columns())
    with tempfile.TemporaryDirectory(prefix="toolroll-demo-") as place:
        told = asyncio.run(Demo(DemoScreen(console), Path(place), _person() if ask else None).run())
    if session.json:
        session.write_json(told)
    return DONE


def _columns() -> int | None:
    width = Console().width
    return _MAX_COLUMNS if width > _MAX_COLUMNS else None


def _person() -> Approver:
    from toolroll.cli.terminal.approve import TerminalApprover  # noqa: PLC0415 - only where somebody is asked
    from toolroll.cli.terminal.terminal import open_terminal  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ)
    if terminal is None:
        raise UsageError("--ask needs a terminal, where somebody can answer. Leave it out to watch.")
    return TerminalApprover(terminal, environment=os.environ)


class ScriptedApprover:
    """The person of this demo: sees the question as a terminal shows it, and says yes."""

    def __init__(self, stage: DemoScreen) -> None:
        self._stage = stage

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Yes to each."""
        for request in requests:
            self._stage.ask(request)
        return [Approve() for _ in requests]


class Demo:
    """The demo from its first scene to its last, in a folder that is gone afterwards."""

    def __init__(self, stage: DemoScreen, folder: Path, person: Approver | None) -> None:
        self._stage = stage
        self._root = folder / "tea-board"
        self._state = folder / "state"
        self._journal = folder / "runs.db"
        self._person = person or ScriptedApprover(stage)
        self._calls: list[dict[str, object]] = []

    async def run(self) -> dict[str, object]:
        """Play it; what happened, as data."""
        shutil.copytree(_SAMPLE / "sample", self._root)
        before = self._text()
        self._stage.open(self._root, PROMPT)
        result = await self._agent_run()
        after = self._text()
        self._stage.applied(CHANGED, after)
        undone = await asyncio.to_thread(self._undo)
        self._stage.undone(undone, is_back=self._text() == before)
        is_same = await self._replay(result.run_id)
        self._stage.close(len(result.steps), is_same=is_same, advice=_NEXT)
        return {
            "prompt": PROMPT,
            "calls": self._calls,
            "answer": result.text,
            "before": before,
            "after": after,
            "undone": self._text() == before,
            "replay_is_same": is_same,
        }

    async def _agent_run(self) -> "RunResult[object]":
        from toolroll.agent.run import execute_run, initial_messages, new_run  # noqa: PLC0415 - these bring pydantic: not for --help
        from toolroll.journal.sqlite import SqliteJournal  # noqa: PLC0415 - as above

        journal = SqliteJournal(self._journal)
        try:
            async with self._agent(journal) as agent:
                # Not as a stream: what the model says is to stand before the question that it leads to.
                return await execute_run(new_run(agent.setup, initial_messages(PROMPT, ()), self._hear, stream=True))
        finally:
            journal.close()

    def _hear(self, event: "Event") -> None:
        self._stage.on_event(event)
        if event.event == "tool_result":
            self._calls.append(
                {
                    "name": event.call.name,
                    "arguments": event.call.arguments,
                    "is_error": event.result.is_error,
                    "content": event.result.text,
                }
            )

    def _agent(self, journal: "SqliteJournal") -> "Agent[None]":
        from toolroll.models.scripted_file import scripted_file  # noqa: PLC0415 - as above
        from toolroll.packs.code.agent import code_agent  # noqa: PLC0415 - as above
        from toolroll.workspace.workspace import Workspace  # noqa: PLC0415 - as above

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
        from toolroll.workspace.changes.recovery import open_history  # noqa: PLC0415 - as above
        from toolroll.workspace.changes.undo import plan_undo, undo  # noqa: PLC0415 - as above
        from toolroll.workspace.workspace import Workspace  # noqa: PLC0415 - as above

        with Workspace(self._root, state=self._state) as workspace:
            history, _ = open_history(workspace)
            with history:
                if not history.changes():
                    return []  # the person has said no
                plan = plan_undo(workspace, history)
                undo(workspace, history, plan, run_id="demo")
        return [str(step) for step in plan.steps]

    async def _replay(self, run_id: str) -> bool:
        from toolroll.agent.history.replay import replay  # noqa: PLC0415 - as above
        from toolroll.journal.sqlite import SqliteJournal  # noqa: PLC0415 - as above

        journal = SqliteJournal(self._journal)
        try:
            return (await replay(self._agent(journal), run_id)).is_same
        finally:
            journal.close()

    def _text(self) -> str:
        return (self._root / CHANGED).read_text(encoding="utf-8")
