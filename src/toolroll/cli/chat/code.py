"""The coding agent in a chat: each message is a run of it in the same project."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolroll.agent.agent import Agent
from toolroll.agent.result import RunResult
from toolroll.agent.run import close_models
from toolroll.apps.code import PLAN, AtLimit, build_code_agent, list_code_tools
from toolroll.apps.models import absolute_model_name, connect_model
from toolroll.apps.project import Project
from toolroll.apps.run_log import RunLog
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.cli.chat.chat import run_chat
from toolroll.cli.chat.conversation import ChatInfo, Conversation
from toolroll.cli.chat.mentions import OutgoingMessage
from toolroll.cli.driver import RunDriver
from toolroll.cli.piped_input import PipedInput
from toolroll.cli.session import Session
from toolroll.journal.conversations import ConversationSummary
from toolroll.packs.catalog import CatalogEntry

if TYPE_CHECKING:
    from toolroll.apps.mcp_servers import ServerPool

GREETING: Final = "Ask about this project, or say what to change. @file attaches a file; /help lists commands."


def chat_about_code(
    session: Session,
    spec: AgentSpec,
    project: Project,
    surface: Surface,
    *,
    earlier: ConversationSummary | None = None,
    plans: bool = False,
) -> int:
    """Chat about a project until the person leaves, from the beginning or after `earlier`; return the exit code.

    With `plans` it begins in plan mode: nothing is changed until the person says so.
    """

    @asynccontextmanager
    async def open_agent(journal: RunLog) -> AsyncIterator[CodeChat]:
        chat = CodeChat(spec, project, surface, journal)
        chat.plan(is_on=plans)
        try:
            if earlier is not None:
                await chat.reopen(earlier)
            yield chat
        finally:
            await chat.aclose()

    return run_chat(session, open_agent, earlier)


def answer_once(
    session: Session,
    spec: AgentSpec,
    text: str,
    project: Project,
    surface: Surface,
    *,
    earlier: ConversationSummary | None,
    piped: PipedInput | None,
) -> int:
    """Answer one prompt, after an `earlier` conversation or with what was `piped` in; return the exit code."""
    driver = RunDriver(session, shows_deeds=not spec.read_only)

    async def work(journal: RunLog) -> RunResult[object]:
        limit = AtLimit.ASK if driver.can_ask(stdin_is_taken=piped is not None) else AtLimit.ANSWER
        chat = CodeChat(spec, project, surface, journal, at_limit=limit)
        try:
            if earlier is not None:
                await chat.reopen(earlier)
            if piped is not None:
                surface.note(f"Attached: {piped.description}.")
            result = await chat.say(OutgoingMessage(text=text, piped=piped), driver)
            while (wants := driver.wants_more(result, stdin_is_taken=piped is not None)) is True:
                result = await chat.go_on(driver)
            return result if wants is None else await chat.sum_up(driver)
        finally:
            await chat.aclose()

    return driver.run(work)


class CodeChat:
    """Answers about one project. The model is connected once for the whole chat; the agent is built for each message.

    So an "always", a tool that is trusted meanwhile, or a new AGENTS.md counts from the next message on.
    """

    def __init__(
        self,
        spec: AgentSpec,
        project: Project,
        surface: Surface,
        journal: RunLog,
        *,
        at_limit: AtLimit = AtLimit.ASK,
    ) -> None:
        self._at_limit = at_limit
        self._is_planning = False
        self._spec, self._project, self._surface, self._journal = spec, project, surface, journal
        self._model = connect_model(spec.model, surface.environment, settings=project.settings)
        self._conversation = Conversation()
        self._servers: ServerPool | None = None

    @property
    def info(self) -> ChatInfo:
        """Return the agent as it would answer now."""
        return ChatInfo(
            name="code",
            model=self._spec.model,
            list_tools=self._list_tools,
            workspace=self._project.workspace,
            conversation=self._conversation,
            greeting=GREETING,
            reopen=self.reopen,
            sum_up=self.sum_up,
            plan=self.plan,
            is_planning=self._is_planning,
            is_unasked=self._spec.yes,
            temporary_rules=self._surface.temporary_rules,
            learn_servers=self._learn_servers,
        )

    async def say(self, message: OutgoingMessage, driver: RunDriver) -> RunResult[object]:
        """Answer a message."""
        with self._open_project() as project:
            agent = await self._build_agent(project)
            return await self._conversation.say(agent, message, driver)

    async def go_on(self, driver: RunDriver) -> RunResult[object]:
        """Continue the last run."""
        with self._open_project() as project:
            return await self._conversation.go_on(await self._build_agent(project), driver)

    def plan(self, *, is_on: bool) -> None:
        """Go into plan mode, in which there is no tool that changes anything, or out of it."""
        self._is_planning = is_on

    @property
    def _current_spec(self) -> AgentSpec:
        return replace(self._spec, read_only=True, is_plan=True, system=PLAN) if self._is_planning else self._spec

    async def sum_up(self, driver: RunDriver) -> RunResult[object]:
        """Have the last run, which a limit has stopped, end with an answer to what is there."""
        with self._open_project() as project:
            return await self._conversation.go_on(await self._build_agent(project, AtLimit.NOW), driver)

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on; an error leaves the one there is."""
        spec = replace(self._spec, model=absolute_model_name(name))
        model = connect_model(spec.model, self._surface.environment)
        await close_models([self._model])
        self._spec, self._model = spec, model

    async def reopen(self, found: ConversationSummary) -> None:
        """Go on with an earlier conversation in the place of this one."""
        conversation = Conversation()
        conversation.reopen(found, await self._journal.read(found.last.run_id))
        self._conversation = conversation

    def forget(self) -> None:
        """Start a new conversation."""
        self._conversation = Conversation()

    async def aclose(self) -> None:
        """Close the model's connections, and end MCP servers."""
        await close_models([self._model])
        if self._servers is not None:
            self._servers.close()

    def _list_tools(self) -> Sequence[CatalogEntry]:
        with self._open_project() as project:
            return [
                *list_code_tools(self._current_spec, project=project, surface=self._surface),
                *project.server_tools(self._surface, read_only=self._current_spec.read_only),
            ]

    async def _learn_servers(self) -> "ServerPool | None":
        with self._open_project() as project:
            return await self._use_servers(project)

    async def _use_servers(self, project: Project) -> "ServerPool | None":
        """Find the MCP servers of this moment; those that were there before stay open."""
        await project.learn_servers(self._surface)
        self._servers = project.detach_servers()
        return self._servers

    def _open_project(self) -> Project:
        return Project.open(self._project.root, os.environ, servers=self._servers)

    async def _build_agent(self, project: Project, at_limit: AtLimit | None = None) -> Agent[None]:
        await self._use_servers(project)
        agent = build_code_agent(
            self._current_spec,
            project=project,
            surface=self._surface,
            journal=self._journal,
            model=self._model,
            at_limit=at_limit or self._at_limit,
        )
        project.recover_changes(agent.setup.tools, self._surface)
        return agent
