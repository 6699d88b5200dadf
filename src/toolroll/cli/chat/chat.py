"""A chat at the terminal: messages in, answers told as they come, until the person leaves (S1)."""

import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.chat.commands import Commands
from toolroll.cli.chat.history import MessageHistory
from toolroll.cli.chat.input import LineInput, open_input
from toolroll.cli.chat.mentions import OutgoingMessage, attach_files, describe_attachments
from toolroll.cli.chat.parse import UnknownCommand, parse_command, remove_escapes
from toolroll.cli.chat.suggestions import FileNames, Suggester
from toolroll.cli.interrupts import Interrupts
from toolroll.cli.render.renderer import Renderer, TolerantRenderer, make_renderer
from toolroll.cli.session import DONE, Session
from toolroll.cli.spec import open_journal
from toolroll.errors import ModelError, ToolrollError
from toolroll.models.catalog import ALIASES
from toolroll.safe.text import one_line, terminal_safe

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.cli.chat.conversation import ChatAgent, ChatInfo, Note
    from toolroll.journal.sqlite import SqliteJournal

PROMPT: Final = "> "
AGAIN: Final = "Arrow-up brings your message back."
AGAIN_IN_PLAIN: Final = "Write your message again."
MAX_NAME_CHARACTERS: Final = 60
MIN_COLUMNS: Final = 20

Opens = Callable[["SqliteJournal"], AbstractAsyncContextManager["ChatAgent"]]


def run_chat(session: Session, opens: Opens) -> int:
    """Chat until the person leaves; the exit code. `opens` gives the application that answers."""
    import asyncio  # noqa: PLC0415 - five interpreter starts: not for --help

    session.chats = True
    return asyncio.run(_chatted(session, opens))


async def _chatted(session: Session, opens: Opens) -> int:
    journal = open_journal(os.environ)
    try:
        async with opens(journal) as talk:
            return await Chat(session, talk, journal).run()
    finally:
        journal.close()


class Chat:
    """One chat."""

    def __init__(self, session: Session, talk: "ChatAgent", journal: "SqliteJournal") -> None:
        self._session, self._talk = session, talk
        self._commands = Commands(session, talk, journal, self._send)
        self._lines = self._opened()
        self._stopping = Interrupts()

    def _opened(self) -> LineInput:
        about = self._talk.about
        lines = open_input(
            self._session,
            past=MessageHistory.of_user(about.name, os.environ),
            suggesting=Suggester(
                commands=self._commands.known,
                arguments={"model": tuple(ALIASES)},
                names=None if about.workspace is None else FileNames(workspace=about.workspace),
            ),
        )
        assert lines is not None  # `check_terminal` has looked
        return lines

    async def run(self) -> int:
        """Message after message; the exit code."""
        _say(_greeting(self._talk.about))
        with self._stopping.listening():
            while (text := await self._lines.read(PROMPT)) is not None:
                if not await self._take(text):
                    break
        return DONE

    async def _take(self, text: str) -> bool:
        """Whether the chat goes on after this."""
        parsed = parse_command(text, self._commands.known)
        if isinstance(parsed, UnknownCommand):
            meant = f"Did you mean /{parsed.nearest}?" if parsed.nearest else "See /help."
            self._session.fail("usage", f"There is no command /{parsed.name}. {meant}")
        elif parsed is not None and parsed.name == "exit":
            return False
        elif parsed is not None:
            await self._told(self._commands.do(parsed.name, parsed.rest))
        elif text.strip():
            await self._told(self._send(text))
        return True

    async def _told(self, work: Awaitable[None]) -> None:
        """Do it; what goes wrong is told, and the chat goes on."""
        try:
            await work
        except ToolrollError as error:
            self._session.fail(error.code, error.message)
        except click.ClickException as error:
            self._session.fail("usage", error.format_message())

    async def _send(self, text: str) -> None:
        about = self._talk.about
        message = OutgoingMessage(text=remove_escapes(text))
        if about.workspace is not None:
            message = await attach_files(text, about.workspace)
        for name in describe_attachments(message.files):
            _say(f"· attached {name}")
        result = await self._answered(partial(self._talk.say, message))
        while result is not None and self._wants_more(result):
            result = await self._answered(self._talk.go_on)

    async def _answered(
        self, work: "Callable[[Renderer, Note], Awaitable[RunResult[object] | None]]"
    ) -> "RunResult[object] | None":
        """The end of one run, told; None where it broke off, or where nothing ran."""
        import asyncio  # noqa: PLC0415 - who waits for this has loaded it

        renderer = TolerantRenderer(self._session, make_renderer(self._session, model=self._talk.about.model))
        try:
            with self._stopping.answering():
                result = await work(renderer, self._stopping.note)
        except ModelError as error:
            renderer.close()
            self._tell_failure(renderer, error)
            return None
        except (asyncio.CancelledError, KeyboardInterrupt):
            self._stopping.settle()
            renderer.close()
            self._tell_end(renderer)
            return None
        else:
            if result is not None:
                renderer.finish(result)
            return result
        finally:
            renderer.close()  # whatever ends an answer: the terminal is left as it was

    def _tell_failure(self, renderer: Renderer, error: ModelError) -> None:
        """In one line where the model has said nothing; else with what there is."""
        again = AGAIN_IN_PLAIN if self._session.plain else AGAIN
        told = type(error)(f"{error.message} {again}")
        result = self._stopping.result
        if result is None or not result.steps:
            self._session.fail(told.code, told.message)
        else:
            renderer.finish(result, told)

    def _tell_end(self, renderer: Renderer) -> None:
        result = self._stopping.result
        if result is None:
            _say("Interrupted.")
        else:
            renderer.finish(result)

    def _wants_more(self, result: "RunResult[object]") -> bool:
        from toolroll.cli.commands.code import wants_more  # noqa: PLC0415 - which imports this for a chat

        try:
            return wants_more(self._session, result)
        except KeyboardInterrupt:
            click.echo("", err=True)  # the cursor is behind the question
            return False


def _greeting(about: "ChatInfo") -> str:
    where = "" if about.workspace is None else f" in {about.workspace.root}"
    return f"toolroll {about.name}{where}, with {one_line(about.model, MAX_NAME_CHARACTERS)}\n{about.first}"


def _say(text: str) -> None:
    wrap = TextWrapper(width=max(get_terminal_size().columns - 1, MIN_COLUMNS), break_on_hyphens=False)
    lines = [line for part in terminal_safe(text).split("\n") for line in wrap.wrap(part)]
    click.echo(click.style("\n".join(lines), dim=True), err=True)
