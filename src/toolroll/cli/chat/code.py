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
from toolroll.cli.chat.conversation import ChatInfo, Conversation, Note
from toolroll.cli.spec import AgentSpec, build_agent
from toolroll.cli.workspace_settings import workspace_deps
from toolroll.workspace.workspace import Workspace

if TYPE_CHECKING:
    from toolroll.cli.chat.mentions import OutgoingMessage
    from toolroll.cli.render.renderer import Renderer
    from toolroll.cli.session import Session
    from toolroll.journal.sqlite import SqliteJournal

FIRST: Final = "Ask about this project, or say what to change. @path brings a file along, /help tells the rest."


def chat_about_code(session: "Session", spec: AgentSpec, *, yes: bool) -> int:
    """Chat about a project until the person leaves; the exit code."""

    @asynccontextmanager
    async def opens(journal: "SqliteJournal") -> AsyncIterator[CodeChat]:
        talk = CodeChat(spec, journal, yes=yes)
        try:
            yield talk
        finally:
            await talk.aclose()

    return run_chat(session, opens)


class CodeChat:
    """Talks about one project. The model is kept for the whole chat, all else is made anew for each message.

    So an "always", a tool that is trusted meanwhile, or a new AGENTS.md counts from the next message on.
    """

    def __init__(self, spec: AgentSpec, journal: "SqliteJournal", *, yes: bool = False) -> None:
        self._spec, self._journal, self._yes = spec, journal, yes
        self._model = build_agent(spec, journal, yes=yes).setup.model
        self._workspace = _workspace(Path(spec.root))
        self._conversation = Conversation()

    @property
    def about(self) -> ChatInfo:
        """The agent as it would answer now."""
        return ChatInfo(
            name="code",
            model=self._spec.model,
            tools=self._spec.entries(),
            workspace=self._workspace,
            conversation=self._conversation,
            first=FIRST,
            is_unasked=self._yes,
        )

    async def say(self, message: "OutgoingMessage", renderer: "Renderer", note: Note) -> RunResult[object]:
        """Answer a message."""
        return await self._conversation.say(self._setup(), message, renderer.on_event, note)

    async def go_on(self, renderer: "Renderer", note: Note) -> RunResult[object]:
        """Go on with the last run."""
        return await self._conversation.go_on(self._setup(), renderer.on_event, note)

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on; an error leaves the one there is."""
        given = {key: value for key, value in asdict(self._spec).items() if key not in ("folder", "model")}
        spec = AgentSpec.from_options(**given, model=name)
        model = build_agent(spec, self._journal, yes=self._yes).setup.model
        await close_models([self._model])
        self._spec, self._model = spec, model

    def forget(self) -> None:
        """Begin anew."""
        self._conversation = Conversation()

    async def aclose(self) -> None:
        """Close what the chat held open."""
        self._workspace.close()
        await close_models([self._model])

    def _setup(self) -> Setup:
        agent = build_agent(self._spec, self._journal, yes=self._yes, connect=False)
        return replace(agent.setup, model=self._model)


def _workspace(root: Path) -> Workspace:
    deps = workspace_deps(root, os.environ)
    return Workspace.of_user(root, environment=os.environ, deny=deps["deny"], limits=deps["limits"])  # type: ignore[arg-type]  # what it says they are
