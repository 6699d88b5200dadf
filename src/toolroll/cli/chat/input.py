"""Messages from the keyboard: with a line editor at a terminal, line by line where everything shall be plain."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

import click

from toolroll.cli.chat.parse import MAX_MESSAGE_CHARACTERS, describe_too_long, spell_out_hidden
from toolroll.cli.render.prose import notify
from toolroll.cli.terminal.keyboard import TYPED_AHEAD, Came
from toolroll.cli.terminal.message_queue import QUEUE
from toolroll.cli.terminal.terminal import Terminal, interruptible, open_terminal, without_wakeups
from toolroll.cli.termination import is_ending
from toolroll.errors import ToolrollError, UsageError
from toolroll.messages import Template
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from prompt_toolkit.shortcuts import PromptSession

    from toolroll.cli.chat.history import MessageHistory
    from toolroll.cli.chat.suggestions import Suggester
    from toolroll.cli.session import Session

T = TypeVar("T")

Warn: TypeAlias = Callable[[str], None]
"""Shows a note beside what is typed."""

MORE: Final = "\\"
"""At the end of a line: the message goes on in the next one."""
PRESSES_TO_LEAVE: Final = 2

NOTE: Final = Template("note", "Note: {note}")
AHEAD: Final = Template("typed_ahead", "This was typed or pasted at a question, and was not sent: {text}")
PASTED: Final = Template("pasted_lines", "These {count} lines are one message. Enter sends it; Ctrl-C discards it.")

# What a terminal sends for arrows, Home, Page Up, F5: in a plain line they do nothing, and nobody means them as text.
_KEYS: Final = re.compile(r"\x1b(?:\[[0-9;]*[A-HPQRSZ~]|O[A-Za-z])")


_AS_BEFORE: Final = "\x1b[?2004l\x1b[?7h\x1b[?25h"
"""No marks around what is pasted, long lines are folded, the cursor is seen."""

NO_TERMINAL: Final = (
    "There is no {what}, and no terminal to chat at. Write it behind the command{more}, or start this at a terminal."
)


def check_terminal(session: "Session", *, what: str, more: str = "") -> None:
    """Raise `UsageError` where nobody can chat: no terminal, or an answer for a program is wanted."""
    if session.json:
        raise UsageError(f"--json is for one {what}: write it behind the command. A chat is for people.")
    if open_terminal(os.environ) is None:
        raise UsageError(NO_TERMINAL.format(what=what, more=more))


class _Reads(Protocol):
    async def read(self, prompt: str) -> str | None: ...


class LineInput:
    """Reads messages. Enter sends; Alt-Enter, or a backslash at the end of a line, begins a new line.

    What is pasted stays one message. Ctrl-C clears the line, and pressed twice on an empty one it leaves, as Ctrl-D
    does.
    """

    def __init__(self, reads: _Reads, warn: Warn | None = None) -> None:
        self._reads = reads
        self._warn = warn or _make_warn(str)

    async def read(self, prompt: str) -> str | None:
        """Return the next message, with all spelled out in it that cannot be seen; None when the person leaves."""
        while (text := await self._reads.read(prompt)) is not None:
            safe = spell_out_hidden(text)
            if len(safe) <= MAX_MESSAGE_CHARACTERS:
                return safe
            self._warn(describe_too_long(safe))
        return None


def open_input(
    session: "Session",
    *,
    history: "MessageHistory | None" = None,
    suggester: "Suggester | None" = None,
    environment: Mapping[str, str] = os.environ,
    translate: Callable[[str], str] = str,
    status: Callable[[], str] | None = None,
) -> LineInput | None:
    """Return what reads from the person at the terminal, or None; `translate` puts notes into their language.

    `status` gives the line below the prompt.
    """
    terminal = open_terminal(environment)
    if terminal is None:
        return None
    warn = _make_warn(translate)
    return LineInput(
        _Plain(terminal, warn)
        if session.plain
        else _Edited(history, suggester, warn, status, has_vi_keys=session.has_vi_keys),
        warn,
    )


class _Edited:
    """The line editor; it is made when the first message is read."""

    def __init__(
        self,
        history: "MessageHistory | None",
        suggester: "Suggester | None",
        warn: Warn,
        status: Callable[[], str] | None,
        *,
        has_vi_keys: bool = False,
    ) -> None:
        self._has_vi_keys = has_vi_keys
        self._history, self._suggester, self._warn, self._status = history, suggester, warn, status
        self._session: PromptSession[str] | None = None

    async def read(self, prompt: str) -> str | None:
        queued = QUEUE.take_line()
        if queued is not None:
            click.echo(f"{prompt}{terminal_safe(queued)}", err=True)
            self._use_history(lambda history: history.add(queued), None)
            return queued
        if self._session is None:
            self._session = self._open()
        try:
            text = await self._session.prompt_async(
                prompt, default=_take_ahead() + QUEUE.take_rest(), handle_sigint=False
            )
        except EOFError:
            return None
        except BaseException:  # a signal in the midst of drawing, after which the editor undoes only half of it
            with suppress(OSError):
                click.echo(_AS_BEFORE, err=True, nl=False, color=True)
            raise
        self._use_history(lambda history: history.add(text), None)
        return text

    def _open(self) -> "PromptSession[str]":
        from toolroll.cli.chat.prompt import make_prompt_session  # noqa: PLC0415 - 0.4 s: only for who chats

        nothing: list[str] = []
        texts = self._use_history(lambda history: history.texts(), nothing)
        return make_prompt_session(
            texts=texts,
            suggester=self._suggester,
            warn=self._warn,
            status=self._status,
            has_vi_keys=self._has_vi_keys,
        )

    def _use_history(self, work: "Callable[[MessageHistory], T]", otherwise: T) -> T:
        """What is done with what is kept for the arrow keys; where it cannot be, that is told once."""
        if self._history is None:
            return otherwise
        try:
            return work(self._history)
        except ToolrollError as error:
            self._history = None
            self._warn(f"What you write is not kept for the arrow keys: {error.message}")
            return otherwise


class _Plain:
    """The terminal's own lines: nothing is drawn but what is typed."""

    def __init__(self, terminal: Terminal, warn: Warn) -> None:
        self._terminal, self._warn = terminal, warn

    async def read(self, prompt: str) -> str | None:
        if ahead := _take_ahead():
            self._warn(AHEAD(text=ahead))
        presses = 0
        while presses < PRESSES_TO_LEAVE:
            try:
                with without_wakeups(), interruptible():
                    return self._message(prompt)
            except KeyboardInterrupt:
                if is_ending():
                    raise
                presses += 1
                click.echo("", err=True)
        return None

    def _message(self, prompt: str) -> str | None:
        # What was typed while an answer came is a message a line; what comes at once now is one.
        is_ahead = self._terminal.is_ahead()
        lines: list[str] = []
        before: Came = "nothing"
        while (typed := self._terminal.line(prompt if before == "nothing" else "")) is not None:
            line = _KEYS.sub("", typed).rstrip()
            now = "nothing" if is_ahead else self._terminal.more()
            is_typed = now == "nothing" and before != "lines"
            lines.append(line.removesuffix(MORE) if is_typed else line)
            if is_typed and not line.endswith(MORE):
                return "\n".join(lines).rstrip("\n")
            if now == "nothing" and before == "lines":
                self._warn(PASTED(count=len(lines)))
            before = now
        return None


def _take_ahead() -> str:
    """Return what was typed or pasted at a question and did not answer it; it may be meant as a message."""
    return spell_out_hidden(_KEYS.sub("", TYPED_AHEAD.take()))[:MAX_MESSAGE_CHARACTERS]


def _make_warn(translate: Callable[[str], str]) -> Warn:
    return lambda text: notify(terminal_safe(translate(NOTE(note=text))))
