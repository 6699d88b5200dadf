"""What one run of the command shares: how it answers, where the answer goes, and the options that every command has."""

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TextIO, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

DONE: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
NEEDS_APPROVAL: Final = 3
STOPPED_BY_LIMIT: Final = 4
INTERRUPTED: Final = 130

EXIT_CODES: Final = {
    DONE: "done",
    FAILED: "failed",
    WRONG_USAGE: "the command makes no sense as written",
    NEEDS_APPROVAL: "an approval was needed, and nobody could be asked",
    STOPPED_BY_LIMIT: "stopped by a limit",
    INTERRUPTED: "interrupted",
}

_STDOUT: Final = 1
_STDERR: Final = 2


def is_dumb_terminal() -> bool:
    """Whether the terminal has said that it can do nothing but show text."""
    return os.environ.get("TERM") == "dumb"


@dataclass(slots=True, kw_only=True)
class Session:
    """How this command answers: as JSON or as text, with tracebacks or without.

    `plain` is for screen readers and dumb terminals: no colours, nothing that moves, one line a thing. In a chat
    (`chats`) nobody is told how to go on with a run from the shell: they write on. `error_word` stands before errors,
    `interrupted_words` are said after Ctrl-C: a command may speak another language.
    """

    json: bool = False
    debug: bool = False
    plain: bool = field(default_factory=is_dumb_terminal)
    chats: bool = False
    error_word: str = "Error"
    interrupted_words: str = "Interrupted."
    _out: TextIO | None = field(default=None, repr=False)

    @property
    def out(self) -> TextIO:
        """Where the answer goes."""
        return self._out or _standard("stdout") or io.StringIO()

    def claim_stdout(self) -> None:
        """Keep stdout for the answer alone: from here on, whatever a tool or its children print goes to stderr.

        For the rest of the process: a tool that timed out may still be printing when the answer is written.
        """
        stdout, stderr = _standard("stdout"), _standard("stderr")
        if stdout is not None:
            stdout.flush()
        kept = None if stdout is None else os.dup(_STDOUT)
        os.dup2(os.open(os.devnull, os.O_WRONLY) if stderr is None else _STDERR, _STDOUT)
        # Opened only now: it would have got the number 1 of a stdout that is closed.
        self._out = os.fdopen(os.open(os.devnull, os.O_WRONLY) if kept is None else kept, "w", encoding="utf-8")
        sys.stdout = sys.stderr

    def write(self, text: str) -> None:
        """Write text as it is, or, at a terminal, without anything that a terminal would obey."""
        self._put(_safe(text) if self.out.isatty() else text)

    def show(self, text: str, *, hang: int = 0) -> None:
        """Write words for people: as `write` does, and at a terminal long lines are broken between words.

        What goes on stands at least `hang` columns from the edge.
        """
        self._put(_fitted(_safe(text), self.out, hang=hang) if self.out.isatty() else text)

    def _put(self, text: str) -> None:
        self.out.write(text if text.endswith("\n") else f"{text}\n")
        self.out.flush()

    def write_json(self, value: object) -> None:
        """Write one JSON object, on one line."""
        import json  # noqa: PLC0415 - see `_safe`

        self.out.write(json.dumps(value, ensure_ascii=not self._speaks_utf8, separators=(",", ":")) + "\n")
        self.out.flush()

    def fail(self, code: str, message: str) -> None:
        """Say what went wrong: as JSON on stdout, or in words on stderr, also where stdout takes nothing any more."""
        if self.json:
            with suppress(OSError):
                self.write_json({"error": {"code": code, "message": message}})
                return
        with suppress(OSError):
            click.echo(_fitted(f"{self.error_word}: {_safe(message)}", _standard("stderr")), err=True)

    def finish(self) -> OSError | None:
        """Write out what is still held back; the error when it cannot be written, and then it is given up for good.

        Left to the interpreter it would fail there: with a complaint in its own words, and its own exit code 120.
        """
        problem: OSError | None = None
        for stream in filter(None, (_standard("stdout"), self._out)):
            try:
                stream.flush()
            except OSError as error:
                problem = error
                _swallow(stream)
        return problem

    def give_up(self) -> None:
        """Write nowhere from now on that takes nothing any more; what it still held back is lost."""
        for stream in filter(None, (self.out, _standard("stderr"))):
            try:
                stream.flush()
            except OSError:
                _swallow(stream)

    @property
    def _speaks_utf8(self) -> bool:
        return (self.out.encoding or "").casefold().replace("-", "") == "utf8"


def _swallow(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _safe(text: str) -> str:
    from toolroll.safe.text import terminal_safe  # noqa: PLC0415 - with json a third of an interpreter start: not for --help

    return terminal_safe(text)


def _fitted(text: str, stream: TextIO | None, *, hang: int = 0) -> str:
    from toolroll.cli.render.prose import fit  # noqa: PLC0415 - as above

    return fit(text, stream, hang=hang)


def _standard(name: Literal["stdout", "stderr"]) -> TextIO | None:
    """The stream of that name; None where the process was started with it closed (`>&-`)."""
    stream: TextIO | None = getattr(sys, name)
    return stream


def _note_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.json = True


def _note_debug(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.debug = True


def _note_plain(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.plain = True
    if session is not None and session.plain:
        context.color = False


def wants_plain() -> bool:
    """Whether the command that runs now shall be plain; for those that are not handed its session."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return is_dumb_terminal() if session is None else session.plain


def debug_option(command: F) -> F:
    """Adds `--debug`, which may stand before or after the name of the command."""
    told = "Show the traceback when something fails."
    return click.option("--debug", is_flag=True, expose_value=False, callback=_note_debug, help=told)(command)


def output_options(command: F) -> F:
    """Adds `--json`, `--plain` and `--debug`."""
    return _output(command, "Answer with one JSON object on stdout, errors too.")


def event_options(command: F) -> F:
    """The same for a command that tells of a run while it goes."""
    return _output(command, "Tell every event as a line of JSON on stdout, errors too.")


def _output(command: F, told: str) -> F:
    option = click.option("--json", is_flag=True, expose_value=False, callback=_note_json, help=told)
    told = "Nothing that moves, no colours: for screen readers."
    plain = click.option("--plain", is_flag=True, expose_value=False, callback=_note_plain, help=told)
    return option(plain(debug_option(command)))


def source_options(command: F) -> F:
    """Adds `--pack` and `--from`: where tools are looked for."""
    pack = click.option("--pack", "packs", multiple=True, metavar="NAME", help="Only the tools of this pack.")
    told = "Only the tools in this Python file or module. Its code runs."
    source = click.option("--from", "sources", multiple=True, metavar="FILE_OR_MODULE", help=told)
    return pack(source(command))
