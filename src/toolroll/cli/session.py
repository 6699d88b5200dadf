"""One invocation of the command: how it answers, and where the answer goes; and the exit codes."""

import io
import os
import stat
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
    WRONG_USAGE: "usage error",
    NEEDS_APPROVAL: "an approval was needed, but nobody could be asked",
    STOPPED_BY_LIMIT: "stopped by a limit",
    INTERRUPTED: "interrupted",
}

_ESCAPED: Final = frozenset(map(chr, (*range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))))
"""DEL, C1 controls, separators of lines, and what embeds, overrides or isolates directions."""

_STDOUT: Final = 1
_STDERR: Final = 2


def is_dumb_terminal() -> bool:
    """Return whether the terminal has said that it can do nothing but show text."""
    return os.environ.get("TERM") == "dumb"


@dataclass(slots=True, kw_only=True)
class Session:
    """How this command answers: as JSON or as text, with tracebacks or without.

    `plain` is for screen readers and dumb terminals: no colours, nothing that moves, one line a thing. In a chat
    (`is_chat`) no command to resume a run is suggested: the person writes the next message. With `prints`, the answer
    alone is shown, and nobody is asked. With `verbose`, calls are shown with their arguments as they are. `theme` is
    "auto", "dark" or "light". `error_label` stands before errors, and `interrupted_message` is shown after
    Ctrl-C: a command may speak another language.
    """

    json: bool = False
    debug: bool = False
    plain: bool = field(default_factory=is_dumb_terminal)
    is_chat: bool = False
    prints: bool = False
    verbose: bool = False
    theme: str = "auto"
    has_vi_keys: bool = False
    rings: bool = False
    told: set[str] = field(default_factory=set)
    error_label: str = "Error"
    interrupted_message: str = "Interrupted."
    _out: TextIO | None = field(default=None, repr=False)

    @property
    def out(self) -> TextIO:
        """Return where the answer goes."""
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

    def set_up_logging(self) -> None:
        """Send the log, with the tracebacks of failed tools, to stderr with `--debug`, and nowhere else.

        asyncio's too: after a second Ctrl-C it logs the task that nobody waits for any more.
        """
        import logging  # noqa: PLC0415 - an interpreter start of its own: not for --help

        handler = logging.StreamHandler(sys.stderr) if self.debug else logging.NullHandler()
        for name in ("toolroll", "asyncio", "mcp"):
            logger = logging.getLogger(name)
            logger.addHandler(handler)
            logger.propagate = False

    def write(self, text: str) -> None:
        """Write text without anything that a terminal would obey; into a file, as it is.

        A pipe may end at a terminal (`| head`, `| less -R`): there controls are spelled out, and nothing else.
        """
        self._put(self.make_safe(text))

    def write_data(self, text: str) -> None:
        """Write what is for a program, such as an export: as it is, unless a terminal shows it."""
        self._put(_safe(text) if self.out.isatty() else text)

    def show(self, text: str, *, hang: int = 0) -> None:
        """Write words for people: as `write` does, and at a terminal long lines are broken between words.

        What goes on stands at least `hang` columns from the edge.
        """
        safe = self.make_safe(text)
        self._put(_fitted(safe, self.out, hang=hang) if self.out.isatty() else safe)

    def make_safe(self, text: str) -> str:
        """Return a text for people as it may be written to stdout."""
        if self.out.isatty():
            return _safe(text)
        return text if _is_file(self.out) else _safe(text, in_pipe=True)

    def _put(self, text: str) -> None:
        self.out.write(text if text.endswith("\n") else f"{text}\n")
        self.out.flush()

    def write_json(self, value: object) -> None:
        """Write one JSON object, on one line; what a terminal would obey is escaped, and reads back the same."""
        import json  # noqa: PLC0415 - see `_safe`

        text = json.dumps(value, ensure_ascii=not self._speaks_utf8, separators=(",", ":"))
        if not text.isprintable():
            # JSON itself escapes the controls below U+0020 only.
            text = "".join(char if char not in _ESCAPED else f"\\u{ord(char):04x}" for char in text)
        self.out.write(text + "\n")
        self.out.flush()

    def fail(self, code: str, message: str) -> None:
        """Say what went wrong: as JSON on stdout, or in words on stderr, also where stdout takes nothing any more."""
        from toolroll.safe.secrets.redact import redact_shown  # noqa: PLC0415 - only after an error

        message = redact_shown(message)
        if self.json:
            with suppress(OSError):
                self.write_json({"error": {"code": code, "message": message}})
                return
        with suppress(OSError):
            click.echo(_fitted(f"{self.error_label}: {_safe(message)}", _standard("stderr")), err=True)

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


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # no descriptor, as in tests
        return False


def _safe(text: str, *, in_pipe: bool = False) -> str:
    from toolroll.safe.text import controls_safe, terminal_safe  # noqa: PLC0415 - with json a third of an interpreter start: not for --help

    return controls_safe(text) if in_pipe else terminal_safe(text)


def _fitted(text: str, stream: TextIO | None, *, hang: int = 0) -> str:
    from toolroll.cli.render.prose import fit  # noqa: PLC0415 - as above

    return fit(text, stream, hang=hang)


def _standard(name: Literal["stdout", "stderr"]) -> TextIO | None:
    """The stream of that name; None where the process was started with it closed (`>&-`)."""
    stream: TextIO | None = getattr(sys, name)
    return stream


def wants_plain() -> bool:
    """Return whether the command that runs now shall be plain; for those that are not handed its session."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return is_dumb_terminal() if session is None else session.plain


def is_in_chat() -> bool:
    """Return whether the command that runs now is a chat."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return session is not None and session.is_chat


def ring() -> None:
    """Ring the bell of the terminal, if the person has asked for that."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    if session is not None and session.rings and not session.plain and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()


def wanted_theme() -> str:
    """Return which theme the command that runs now shall have: "auto", "dark" or "light"."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return "auto" if session is None else session.theme


def debug_option(command: F) -> F:
    """Add `--debug`, which may stand before or after the name of the command.

    Here, and not in `options`: the root command has it, and `--help` imports no more than it must.
    """
    text = "Show the traceback when something fails."
    return click.option("--debug", is_flag=True, expose_value=False, callback=_note_debug, help=text)(command)


def _note_debug(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.debug = True
