"""The `toolroll` command: one table of commands, and the outermost handler of whatever goes wrong."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Final, NoReturn

import click

from toolroll._version import __version__
from toolroll.cli.lazy import LazyCommand, LazyGroup
from toolroll.cli.session import DONE, EXIT_CODES, FAILED, INTERRUPTED, WRONG_USAGE, Session, debug_option
from toolroll.cli.startup import prepare
from toolroll.cli.termination import ended_by_signals
from toolroll.errors import ToolFailure, ToolrollError, UsageError

_MAX_COLUMNS: Final = 80
_OUTPUT_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What writing to a full disk, or to a terminal that is gone, fails with; then no file is named."""

_REFUSALS: Final = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, *_OUTPUT_ERRORS
)  # fmt: skip
"""What the system says of a file or folder that nobody can use as it is; other errors of it are mistakes of ours."""

_COMMANDS: Final = {
    "code": LazyCommand(place="toolroll.cli.commands.code:code", summary="Explore and change a project with an agent."),
    "explore": LazyCommand(
        place="toolroll.cli.commands.explore:explore", summary="Research an idea; write a document about it."
    ),
    "write": LazyCommand(place="toolroll.cli.ghostpen.main:ghostpen", summary="Write a post in your own voice."),
    "tools": LazyCommand(
        place="toolroll.cli.commands.tools:tools", summary="List the tools; show what a model reads about one."
    ),
    "call": LazyCommand(place="toolroll.cli.commands.tools:call", summary="Call one tool without a model."),
    "run": LazyCommand(place="toolroll.cli.commands.run:run", summary="Answer a prompt with a model and tools."),
    "runs": LazyCommand(
        place="toolroll.cli.commands.runs:runs", summary="List, show, resume, fork or export recorded runs."
    ),
    "stats": LazyCommand(place="toolroll.cli.commands.runs:stats", summary="Show figures about tools and models."),
    "jobs": LazyCommand(place="toolroll.cli.commands.jobs:jobs", summary="List, watch, cancel or answer queued work."),
    "worker": LazyCommand(place="toolroll.cli.commands.jobs:worker", summary="Do the queued work."),
    "serve": LazyCommand(
        place="toolroll.cli.commands.serve:serve", summary="Open the page in a browser; serve the HTTP API."
    ),
    "tokens": LazyCommand(place="toolroll.cli.commands.serve:tokens", summary="Manage the tokens of the HTTP service."),
    "mcp": LazyCommand(place="toolroll.cli.commands.mcp:mcp", summary="Serve tools to other programs over MCP."),
    "outputs": LazyCommand(
        place="toolroll.cli.commands.outputs:outputs", summary="List, read and search the outputs of tools."
    ),
    "changes": LazyCommand(place="toolroll.cli.commands.changes:changes", summary="List the changes in a project."),
    "undo": LazyCommand(place="toolroll.cli.commands.changes:undo", summary="Revert a change; later work stays."),
    "redo": LazyCommand(place="toolroll.cli.commands.changes:redo", summary="Make a change again that was undone."),
    "index": LazyCommand(place="toolroll.cli.commands.index:index", summary="Build the index of a project's symbols."),
    "policy": LazyCommand(
        place="toolroll.cli.commands.policy:policy", summary="See what runs unasked here; forget rules."
    ),
    "trust": LazyCommand(
        place="toolroll.cli.commands.trust:trust", summary="Choose which of a project's own tools to trust."
    ),
    "config": LazyCommand(place="toolroll.cli.commands.config:config", summary="See and change settings; store keys."),
    "doctor": LazyCommand(
        place="toolroll.cli.commands.doctor:doctor", summary="Show what works, what is missing, how to fix it."
    ),
    "completion": LazyCommand(
        place="toolroll.cli.commands.completion:completion", summary="Print completion for bash, zsh or fish."
    ),
    "demo": LazyCommand(
        place="toolroll.cli.commands.demo:demo", summary="Watch an agent change a sample project; no key needed."
    ),
}

_EPILOG: Final = (
    "\b\nStart with:\n  toolroll demo    watch an agent\n  toolroll doctor  check your setup\n"
    "  toolroll code 'What is in here?'\n"
    "\n\b\nExit codes:\n"
    + "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
    + '\n\nErrors go to stderr; with --json they are {"error": {"code", "message"}} on stdout.'
)


_WIDENING: Final = ("--yes", "--force")

_OVERVIEW: Final = """\
toolroll: agents with tools that ask before they change anything.

Applications
  toolroll code               explore and change the project in this folder
  toolroll explore            research an idea; write a document about it
  toolroll write              write posts in your own voice (ghostpen)
  toolroll serve              the same in a browser, on this machine

Begin
  toolroll demo               watch an agent at work; no key needed
  toolroll doctor             see what works, what is missing, how to fix it
  toolroll config             settings and keys

Look back
  toolroll code --continue    go on with the last chat in this folder
  toolroll runs, changes, undo, redo, outputs, stats

More: tools, call, run, jobs, worker, tokens, mcp, index, policy, trust,
completion. 'toolroll --help' says what each does, 'toolroll NAME --help' how."""
"""What `toolroll` alone says: it fits on 24 lines of 80 columns."""


@click.group(cls=LazyGroup, lazy=_COMMANDS, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@debug_option
@click.version_option(__version__, message="%(prog)s %(version)s")
def root() -> None:
    """Typed tools for agents: what a model can call, you can call here."""


def main(
    arguments: Sequence[str] | None = None, *, root: click.Command | None = None, name: str = "toolroll"
) -> NoReturn:
    """Run the command, or another program's `root`, and end the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a letter that the locale does not have is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
    session = Session(json=wants_json(given))
    with ended_by_signals():
        prepare(given, os.environ)
        code = _flush(run(given, session, root, name), session)
    sys.exit(code)


def run(arguments: list[str], session: Session, program: click.Command | None = None, name: str = "toolroll") -> int:
    """Run one command, and return its exit code; every error is reported in the same way."""
    try:
        _check_letters(arguments)
        outcome = (program or root).main(
            arguments,
            name,
            standalone_mode=False,
            obj=session,
            color=_colour(),
            terminal_width=_text_columns(),
        )
    except Exception as error:  # noqa: BLE001 - the outermost handler: nothing gets past it untold
        if session.debug:
            sys.__excepthook__(*sys.exc_info())
        return report_error(error, session)
    except KeyboardInterrupt:
        return report_error(click.Abort(), session)
    return outcome if isinstance(outcome, int) else 0


def _flush(code: int, session: Session) -> int:
    """The exit code, once all of the answer is where it belongs."""
    problem = session.finish()
    if problem is None:
        return code
    if code == DONE and not isinstance(problem, BrokenPipeError):
        report_error(problem, session)
    return code or FAILED


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether `--json` was given: it counts also for what cannot even be parsed."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def _check_letters(arguments: Sequence[str]) -> None:
    """Refuse arguments that the locale has no letters for: a model would be told other words, and other files named."""
    encoding = sys.getfilesystemencoding()
    if encoding == "utf-8" or all(map(_is_text, arguments)):
        return
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or "C"
    raise UsageError(
        f"An argument has letters that the locale {locale!r} ({encoding}) does not have. Set LC_ALL=C.UTF-8, or "
        "PYTHONUTF8=1."
    )


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:  # bytes that could not be decoded stand in it as surrogates
        return False
    return True


def report_error(error: Exception, session: Session) -> int:
    """Show an error the way the session asks for, and return the exit code that belongs to it."""
    match error:
        case click.Abort():
            session.fail("interrupted", session.interrupted_message)
            return INTERRUPTED
        case click.UsageError():
            return _report_usage_error(error, session)
        case click.ClickException():
            session.fail("failed", error.format_message())
            return error.exit_code
        case ToolrollError():
            code = error.failure_code if isinstance(error, ToolFailure) else error.code
            from toolroll.messages import for_person  # noqa: PLC0415 - only after an error

            session.fail(code, for_person(error.message))
            return WRONG_USAGE if isinstance(error, UsageError) else FAILED
        case OSError(filename=None, strerror=str(why)) if error.errno in _OUTPUT_ERRORS:
            session.fail("output", f"The answer could not be written: {why}.")
            return FAILED
        case OSError(filename=str(place)) if error.errno in _REFUSALS:
            from toolroll.safe.paths.os_errors import file_error  # noqa: PLC0415 - only after an error

            return report_error(file_error(error, place), session)
        case _:
            said = _describe_unexpected(error)
            what = f"{type(error).__name__}: {said}" if said else type(error).__name__
            session.fail("unexpected", f"Something unexpected went wrong: {what}. Add --debug to see where.")
            return FAILED


def _describe_unexpected(error: BaseException) -> str:
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.strerror}: '{error.filename}'"  # without its number


def _report_usage_error(error: click.UsageError, session: Session) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not session.json:
        is_root = error.ctx.command is root
        click.echo(_OVERVIEW if is_root else error.format_message(), err=True)
        return WRONG_USAGE
    if isinstance(error, click.NoSuchOption):  # no slip of the finger leads to more rights
        safe = [one for one in error.possibilities or () if one not in _WIDENING]
        error = click.NoSuchOption(error.option_name, error.message, safe, error.ctx)
    command = error.ctx.command_path if error.ctx else "toolroll"
    what = "A command is missing." if isinstance(error, click.exceptions.NoArgsIsHelpError) else error.format_message()
    is_question = len(getattr(error, "possibilities", None) or ()) == 1  # "Did you mean '--from'?"
    sentence = what if is_question else f"{what.rstrip('.')}."
    session.fail("usage", f"{sentence} Try '{command} --help'.")
    return WRONG_USAGE


def _text_columns() -> int:
    """How wide help and lists are: click's own measure, but on narrow terminals too, where it stops at 50."""
    return min(get_terminal_size().columns, _MAX_COLUMNS) - 2


def _colour() -> bool | None:
    """False where colours are not wanted; None leaves it to whether there is a terminal."""
    return False if os.environ.get("NO_COLOR") else None
