"""Research in a chat: the first message is the idea and makes the document, the others are questions about it."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.agent.agent import Agent
from toolroll.agent.result import RunResult
from toolroll.agent.run import close_models
from toolroll.apps.explore import (
    ExploreOptions,
    ask_for_searches,
    build_question_agent,
    list_research_tools,
    make_research_options,
    open_source,
)
from toolroll.apps.models import absolute_model_name, connect_model
from toolroll.apps.project import Project
from toolroll.apps.run_log import RunLog
from toolroll.cli.chat.chat import run_chat
from toolroll.cli.chat.conversation import ChatInfo, Conversation
from toolroll.cli.chat.mentions import OutgoingMessage
from toolroll.cli.driver import RunDriver
from toolroll.cli.render.exploration import ExplorationRenderer
from toolroll.cli.session import Session
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.errors import ModelError
from toolroll.kernel.approval.consent import as_outflow
from toolroll.kernel.data.labels import ALL_LABELS
from toolroll.kernel.data.messages import AssistantMessage, Message, TextBlock, UserMessage
from toolroll.packs.catalog import CatalogEntry
from toolroll.packs.research.agent import ResearchOptions
from toolroll.packs.research.exploration import ExplorationResult, Plan, explore
from toolroll.packs.research.source import ResearchSource

if TYPE_CHECKING:
    from toolroll.apps.mcp_servers import ServerPool

GREETING: Final = "Write the idea to explore. Your next messages are questions about it; /new starts another one."


def chat_about_ideas(session: Session, options: ExploreOptions, *, yes: bool = False) -> int:
    """Chat about ideas until the person leaves; return the exit code."""
    with Project.open(Path.cwd(), os.environ, flags={"model": options.model or None}) as project:
        chosen = options.with_model(project)
        session.set_up_logging()

        @asynccontextmanager
        async def open_agent(journal: RunLog) -> AsyncIterator[ExploreChat]:
            async with open_source(chosen.place, os.environ) as source:
                chat = ExploreChat(session, chosen, source, project, journal, yes=yes)
                try:
                    yield chat
                finally:
                    await chat.aclose()

        return run_chat(session, open_agent)


class ExploreChat:
    """Answers about one idea at a time."""

    def __init__(
        self,
        session: Session,
        options: ExploreOptions,
        source: ResearchSource,
        project: Project,
        journal: RunLog,
        *,
        yes: bool = False,
    ) -> None:
        self._session, self._options, self._source = session, options, source
        self._project, self._journal, self._surface = project, journal, terminal_surface()
        self._model = connect_model(options.model, os.environ, settings=project.settings)
        self._conversation = Conversation()
        self._yes = yes
        self._consented: ResearchOptions = {"model": self._model}

    @property
    def info(self) -> ChatInfo:
        """Return the agent as it would answer now."""
        return ChatInfo(
            name="explore",
            model=self._options.model,
            list_tools=self._list_tools,
            conversation=self._conversation,
            greeting=GREETING,
            learn_servers=self._learn_servers,
        )

    async def say(self, message: OutgoingMessage, driver: RunDriver) -> RunResult[object] | None:
        """Explore the idea, or answer a question about it."""
        await self._learn_servers()
        if not self._conversation.messages:
            await self._explore(message.text, driver)
            return None
        return await self._conversation.say(self._build_agent(), message, driver)

    async def go_on(self, driver: RunDriver) -> RunResult[object]:
        """Continue the last answer."""
        return await self._conversation.go_on(self._build_agent(), driver)

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on; an error leaves the one there is."""
        options = replace(self._options, model=absolute_model_name(name))
        model = connect_model(options.model, os.environ)
        await self.aclose()
        self._options, self._model = options, model

    def forget(self) -> None:
        """Take the next message for an idea again."""
        self._conversation = Conversation()
        self._consented = {"model": self._model}

    async def aclose(self) -> None:
        """Close the model's connections."""
        await close_models([self._model])

    async def _explore(self, idea: str, driver: RunDriver) -> None:
        options = replace(self._options, idea=idea)
        renderer = ExplorationRenderer(self._session, model=options.model)
        done = await self._follow(options, renderer, driver)
        if done is None:
            click.echo(self._session.interrupted_message, err=True)
        else:
            renderer.finish(done)
            self._begin(idea, done, renderer)

    async def _follow(
        self, options: ExploreOptions, renderer: ExplorationRenderer, driver: RunDriver
    ) -> ExplorationResult | None:
        """Return what the exploration came to; None where the person has stopped it."""
        made = self._make_options(options)
        made["on_event"] = renderer.on_event
        made["on_open"] = driver.interrupts.watch
        try:
            return await explore(options.request, self._source, prepare=self._ask_for_searches, **made)
        except ModelError:
            if renderer.was_stopped:
                return None
            raise
        finally:
            driver.interrupts.watch(None)
            renderer.close()
            if renderer.results and renderer.results[-1].stop_reason in ("failed", "interrupted"):
                renderer.suggest_resume()

    def _ask_for_searches(self, planned: Plan, options: ResearchOptions) -> ResearchOptions:
        """Ask once for the exploration and the questions about it, which count together."""
        made = ask_for_searches(planned, options, surface=self._surface, yes=self._yes)
        made["consent"] = as_outflow(made.get("consent"))
        self._consented = made
        return made

    def _begin(self, idea: str, done: ExplorationResult, renderer: ExplorationRenderer) -> None:
        """Begin the conversation with the run that wrote the document, or with a document that was there."""
        document = AssistantMessage(blocks=(TextBlock(text=done.content),), origin=self._model.origin)
        messages: tuple[Message, ...] = (UserMessage.of(idea), document)
        if renderer.results:
            messages = renderer.results[-1].messages
        self._conversation.begin(messages, [one.run_id for one in renderer.results], ALL_LABELS)

    async def _learn_servers(self) -> "ServerPool | None":
        await self._project.learn_servers(self._surface)
        return self._project.servers

    def _list_tools(self) -> Sequence[CatalogEntry]:
        return list_research_tools(self._make_options(self._options))

    def _make_options(self, options: ExploreOptions) -> ResearchOptions:
        return make_research_options(
            options,
            model=self._model,
            source=self._source,
            project=self._project,
            surface=self._surface,
            journal=self._journal,
        )

    def _build_agent(self) -> Agent[None]:
        made = self._make_options(self._options)
        made["consent"] = self._consented.get("consent")
        made["own_search"] = self._consented.get("own_search", False)
        return build_question_agent(made)
