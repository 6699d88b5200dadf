"""A chat at the terminal: messages in, answers shown as they come, until the person leaves (S1)."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, closing
from shutil import get_terminal_size
from textwrap import TextWrapper
from time import monotonic
from typing import Any, Final, TypeAlias

import click

from toolroll.agent.result import RunResult
from toolroll.apps.run_log import RunLog, open_journal
from toolroll.cli.actions.runs.listing import ID_CHARACTERS
from toolroll.cli.chat.commands import LEAVING, Commands
from toolroll.cli.chat.conversation import ChatAgent, ChatInfo
from toolroll.cli.chat.history import MessageHistory
from toolroll.cli.chat.input import LineInput, open_input
from toolroll.cli.chat.mentions import OutgoingMessage, attach_files, describe_attachments
from toolroll.cli.chat.parse import UnknownCommand, parse_command, remove_escapes
from toolroll.cli.chat.reopen import show_last_words
from toolroll.cli.chat.status import ChatFigures
from toolroll.cli.chat.suggestions import FileNames, Suggester
from toolroll.cli.driver import Interrupts, RunDriver
from toolroll.cli.session import DONE, FAILED, INTERRUPTED, Session, ring
from toolroll.cli.terminal.message_queue import QUEUE
from toolroll.cli.termination import is_ending
from toolroll.errors import ModelError, ToolrollError
from toolroll.journal.conversations import ConversationSummary
from toolroll.models.catalog import ALIASES
from toolroll.safe.text import one_line, terminal_safe

PROMPT: Final = "> "
AGAIN: Final = "Arrow-up brings your message back."
AGAIN_IN_PLAIN: Final = "Write your message again."
MAX_NAME_CHARACTERS: Final = 60
MIN_COLUMNS: Final = 20
LONG_S: Final = 10.0
"""After an answer that took longer, somebody may look elsewhere."""

OpenAgent: TypeAlias = Callable[[RunLog], AbstractAsyncContextManager[ChatAgent]]


def run_chat(session: Session, open_agent: OpenAgent, earlier: ConversationSummary | None = None) -> int:
    """Chat until the person leaves; return the exit code.

    `open_agent` gives the application that answers; it knows the `earlier` conversation, if that is continued.
    """
    session.is_chat = True
    return asyncio.run(_run(session, open_agent, earlier))


async def _run(session: Session, open_agent: OpenAgent, earlier: ConversationSummary | None) -> int:
    with closing(open_journal(os.environ)) as journal:
        async with open_agent(journal) as agent:
            return await Chat(session, agent, journal, earlier).run()


class Chat:
    """One chat."""

    def __init__(
        self,
        session: Session,
        agent: ChatAgent,
        journal: RunLog,
        earlier: ConversationSummary | None = None,
    ) -> None:
        self._session, self._agent, self._earlier = session, agent, earlier
        self._figures = ChatFigures(None if earlier is None else earlier.cost)
        self._commands = Commands(session, agent, journal, self._send, self._figures)
        self._input = self._open_input()
        self._interrupts = Interrupts()

    async def run(self) -> int:
        """Read message after message; return the exit code."""
        _say(_format_greeting(self._agent.info))
        if self._earlier is not None:
            show_last_words(self._session, self._agent.info.conversation.messages, self._earlier)
        with self._interrupts.listen():
            while (text := await self._input.read(PROMPT)) is not None:
                if not await self._handle(text):
                    break
        self._say_how_to_return()
        return DONE

    def _say_how_to_return(self) -> None:
        info = self._agent.info
        if info.reopen is not None and info.conversation.chat_id:
            command, chat_id = f"  toolroll {info.name}", info.conversation.chat_id[:ID_CHARACTERS]
            _say(f"· Come back with:\n{command} --continue\n{command} --resume {chat_id}")

    def _open_input(self) -> LineInput:
        info = self._agent.info
        lines = open_input(
            self._session,
            history=MessageHistory.from_environment(info.name, os.environ),
            suggester=Suggester(
                commands=self._commands.known,
                arguments={"model": tuple(ALIASES)},
                names=None if info.workspace is None else FileNames(workspace=info.workspace),
            ),
            status=lambda: self._figures.format(self._agent.info, get_terminal_size().columns),
        )
        assert lines is not None  # `check_terminal` has looked
        return lines

    async def _handle(self, text: str) -> bool:
        """Handle a message or a command; return whether the chat goes on after it."""
        parsed = parse_command(text, self._commands.known)
        if isinstance(parsed, UnknownCommand):
            hint = f"Did you mean /{parsed.nearest}?" if parsed.nearest else "See /help."
            self._session.fail("usage", f"There is no command /{parsed.name}. {hint}")
        elif parsed is not None and parsed.name in LEAVING:
            return False
        elif parsed is not None:
            await self._show_errors(self._commands.do(parsed.name, parsed.rest))
        elif text.strip():
            await self._show_errors(self._send(text))
        return True

    async def _show_errors(self, work: Awaitable[None]) -> None:
        """Do the work; show its errors, and go on chatting."""
        try:
            await work
        except ToolrollError as error:
            self._session.fail(error.code, error.message)
        except click.ClickException as error:
            self._session.fail("usage", error.format_message())

    async def _send(self, text: str) -> None:
        info = self._agent.info
        message = OutgoingMessage(text=remove_escapes(text))
        if info.workspace is not None:
            message = await attach_files(text, info.workspace)
        for name in describe_attachments(message.files):
            _say(f"· attached {name}")
        result = await self._answer(lambda driver: self._agent.say(message, driver))
        wants: bool | None = None
        while result is not None and (wants := self._wants_more(result)) is True:
            result = await self._answer(self._agent.go_on)
        if result is not None and wants is False and info.sum_up is not None:
            await self._answer(info.sum_up)

    async def _answer(self, work: Callable[[RunDriver], Awaitable[RunResult[Any] | None]]) -> RunResult[Any] | None:
        """Return the result of one run, which was shown; None where it broke off, or where nothing ran."""
        driver = ChatDriver(self._session, model=self._agent.info.model, interrupts=self._interrupts)
        began_s = monotonic()
        await driver.finish(work(driver))
        if monotonic() - began_s > LONG_S:
            ring()
        ended = driver.outcome or self._interrupts.result
        if ended is not None:
            self._figures.add(ended)
        if driver.outcome is None:
            QUEUE.set_aside()  # after a Ctrl-C or an error the next message may be another one
        return driver.outcome

    def _wants_more(self, result: RunResult[Any]) -> bool | None:
        try:
            return RunDriver(self._session).wants_more(result)
        except KeyboardInterrupt:
            if is_ending():
                raise
            click.echo("", err=True)  # the cursor is behind the question
            return None


class ChatDriver(RunDriver):
    """Drives the run that answers one message; whatever ends it, the chat goes on."""

    def end_early(self, error: ModelError | None) -> int:
        """Show what there is of the answer; in one line where the model has said nothing."""
        self.renderer.close()
        result = self.interrupts.result
        if error is None:
            if result is None:
                _say(self.session.interrupted_message)
            else:
                self.renderer.finish(result)
            return INTERRUPTED
        again = AGAIN_IN_PLAIN if self.session.plain else AGAIN
        failure = type(error)(f"{error.message} {again}")
        if result is not None and result.steps:
            return self.renderer.finish(result, failure)
        self.session.fail(failure.code, failure.message)
        return FAILED


def _format_greeting(info: ChatInfo) -> str:
    where = "" if info.workspace is None else f" in {info.workspace.root}"
    return f"toolroll {info.name}{where}, with {one_line(info.model, MAX_NAME_CHARACTERS)}\n{info.greeting}"


def _say(text: str) -> None:
    wrapper = TextWrapper(width=max(get_terminal_size().columns - 1, MIN_COLUMNS), break_on_hyphens=False)
    lines = [line for part in terminal_safe(text).split("\n") for line in wrapper.wrap(part)]
    click.echo(click.style("\n".join(lines), dim=True), err=True)
