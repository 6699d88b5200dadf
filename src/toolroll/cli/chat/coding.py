"""The coding agent in a chat: each message is a run of it in the same project."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.agent.result import RunResult
from toolroll.agent.run import close_models
from toolroll.agent.setup import Setup
from toolroll.cli.chat.chat import run_chat
from toolroll.cli.chat.talk import About, Conversation, Note
from toolroll.cli.making import Making, make_agent
from toolroll.cli.places import workspace_deps
from toolroll.workspace.workspace import Workspace

if TYPE_CHECKING:
    from toolroll.cli.chat.mentions import Outgoing
    from toolroll.cli.session import Session
    from toolroll.cli.telling import Teller
    from toolroll.journal.sqlite import SqliteJournal

FIRST: Final = "Ask about this project, or say what to change. @path brings a file along, /help tells the rest."


def chat_about_code(session: "Session", making: Making, *, yes: bool) -> int:
    """Chat about a project until the person leaves; the exit code."""

    @asynccontextmanager
    async def opens(journal: "SqliteJournal") -> AsyncIterator[CodeTalk]:
        talk = CodeTalk(making, journal, yes=yes)
        try:
            yield talk
        finally:
            await talk.aclose()

    return run_chat(session, opens)


class CodeTalk:
    """Talks about one project. The model is kept for the whole chat, all else is made anew for each message.

    So an "always", a tool that is trusted meanwhile, or a new AGENTS.md counts from the next message on.
    """

    def __init__(self, making: Making, journal: "SqliteJournal", *, yes: bool = False) -> None:
        self._making, self._journal, self._yes = making, journal, yes
        self._model = make_agent(making, journal, yes=yes).setup.model
        self._workspace = _workspace(Path(making.root))
        self._conversation = Conversation()

    @property
    def about(self) -> About:
        """The agent as it would answer now."""
        return About(
            name="code",
            model=self._making.model,
            tools=self._making.entries(),
            workspace=self._workspace,
            conversation=self._conversation,
            first=FIRST,
            is_unasked=self._yes,
        )

    async def say(self, message: "Outgoing", teller: "Teller", note: Note) -> RunResult[object]:
        """Answer a message."""
        return await self._conversation.say(self._setup(), message, teller.hear, note)

    async def go_on(self, teller: "Teller", note: Note) -> RunResult[object]:
        """Go on with the last run."""
        return await self._conversation.go_on(self._setup(), teller.hear, note)

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on; an error leaves the one there is."""
        given = {key: value for key, value in asdict(self._making).items() if key not in ("folder", "model")}
        making = Making.here(**given, model=name)
        model = make_agent(making, self._journal, yes=self._yes).setup.model
        await close_models([self._model])
        self._making, self._model = making, model

    def forget(self) -> None:
        """Begin anew."""
        self._conversation = Conversation()

    async def aclose(self) -> None:
        """Close what the chat held open."""
        self._workspace.close()
        await close_models([self._model])

    def _setup(self) -> Setup:
        agent = make_agent(self._making, self._journal, yes=self._yes, connect=False)
        return replace(agent.setup, model=self._model)


def _workspace(root: Path) -> Workspace:
    deps = workspace_deps(root, os.environ)
    return Workspace.of_user(root, environment=os.environ, deny=deps["deny"], limits=deps["limits"])  # type: ignore[arg-type]  # what it says they are
