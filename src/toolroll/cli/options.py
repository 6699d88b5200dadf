"""Options and kinds of arguments that several commands share."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import click

from toolroll.cli.lazy import lazily
from toolroll.cli.session import Session, debug_option

F = TypeVar("F", bound=Callable[..., Any])

complete_models: Final = lazily("toolroll.cli.actions.config:complete_models")

_ALMOST: Final = 0.6
"""'lst', 'lists' and 'shwo' are nearer to a command than that; 'tea' and 'blockchain' are not."""

_MEANT: Final = frozenset({"--yes", "--queue", "--at", "--every", "--mode", "--context", "--update", "--two-phase"})
"""Options that only an idea has: who writes one of them means an idea."""

_NEGATIVE: Final = re.compile(r"-[0-9][0-9.e]*")


def output_options(command: F) -> F:
    """Add `--json`, `--plain` and `--debug`."""
    return _add_output(command, "Answer with one JSON object on stdout; errors too.")


def event_options(command: F) -> F:
    """Add the same, and `--verbose`, to a command that shows a run while it goes."""
    text = "Show the arguments, time and size of every call as they are."
    verbose = click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_note_verbose, help=text)
    return _add_output(verbose(command), "Write every event as a line of JSON to stdout; errors too.")


def root_option(command: F) -> F:
    """Add `--root`: the project."""
    folder = click.Path(path_type=Path, exists=True, file_okay=False)
    text = "The project's folder (default: the current folder)."
    return click.option("--root", type=folder, metavar="DIR", help=text)(command)


def model_option(command: F) -> F:
    """Add `--model`."""
    text = "sonnet, openai:NAME, ollama:NAME, scripted:FILE, ... (default: TOOLROLL_MODEL)."
    return click.option("--model", metavar="NAME", shell_complete=complete_models, help=text)(command)


def source_options(command: F) -> F:
    """Add `--pack` and `--from`: where tools are from."""
    pack = click.option("--pack", "packs", multiple=True, metavar="NAME", help="Only the tools of this pack.")
    text = "Only the tools in this Python file or module. Its code runs."
    source = click.option("--from", "sources", multiple=True, metavar="FILE_OR_MODULE", help=text)
    return pack(source(command))


def agent_options(command: F) -> F:
    """Add what an agent is built from, but for its model: `--tools`, `--pack`, `--from`, `--system`, `--max-steps`."""
    tools = click.option("--tools", metavar="A,B,...", help="Only these tools.")
    system = click.option("--system", metavar="TEXT", help="The system prompt.")
    steps = click.option(
        "--max-steps", type=click.IntRange(min=1), metavar="N", help="Stop after this many model calls (default: 10)."
    )
    return tools(source_options(system(steps(command))))


def yes_option(text: str) -> Callable[[F], F]:
    """Return what adds `--yes`, with what it means for that command."""
    return click.option("--yes", is_flag=True, help=text)


def research_options(command: F) -> F:
    """Add `--ideas`, `--repo` and `--branch`: where research is kept."""
    folder = click.Path(path_type=Path, file_okay=False)
    ideas = click.option("--ideas", type=folder, metavar="DIR", help="The folder of all ideas (default: ./ideas).")
    repo = click.option("--repo", metavar="OWNER/NAME", help="Keep research in a GitHub repository (GITHUB_TOKEN).")
    branch = click.option("--branch", metavar="NAME", help="The branch of --repo (default: its default branch).")
    return ideas(repo(branch(command)))


def limit_option(default: int) -> Callable[[F], F]:
    """Return what adds `--limit` to a command that lists something."""
    return click.option(
        "--limit",
        default=default,
        type=click.IntRange(min=1),
        metavar="N",
        help=f"Show at most this many (default: {default}).",
    )


class QuotedCommand(click.Command):
    """Takes one text; who forgot the quotation marks around it is reminded of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options and the text; refuse what is left over."""
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            arguments = "argument" if len(left) == 1 else "arguments"
            text = f"Got unexpected extra {arguments} ({' '.join(left)})."
            raise click.UsageError(f"{text} Put a text of several words in quotation marks.", ctx)
        return left


class NumbersCommand(click.Command):
    """Takes -5 for a number: no option of ours is a digit."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments as click does."""
        ctx.ignore_unknown_options = any(_NEGATIVE.fullmatch(word) for word in args)
        return super().parse_args(ctx, args)


class DefaultGroup(click.Group):
    """A group with a command that may be left out: words that name no other command belong to it."""

    default: ClassVar[str] = "run"
    _help: Final = ("-h", "--help")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of that command before words that do not begin with one."""
        if not args or (args[0] not in self.commands and args[0] not in self._help):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class IdeaGroup(DefaultGroup):
    """A group whose default command takes an idea; one word alone may be a command that was mistyped."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Ask about one word that is no command before a model is paid for it; `run WORD` says that it is meant."""
        is_alone = bool(args) and all(word.startswith("-") for word in args[1:2])  # else quotation marks are missing
        is_word = is_alone and not args[0].startswith("-") and not any(map(str.isspace, args[0]))
        if is_word and args[0] not in self.commands and not ctx.resilient_parsing:
            self._check_word(ctx, args[0], is_meant=any(word.partition("=")[0] in _MEANT for word in args))
        return super().parse_args(ctx, args)

    def _check_word(self, ctx: click.Context, word: str, *, is_meant: bool) -> None:
        from difflib import get_close_matches  # noqa: PLC0415 - an interpreter start's third: not for --help

        path = ctx.command_path
        meant = get_close_matches(word.casefold(), self.commands, n=1, cutoff=_ALMOST)
        if meant:
            told = f"There is no command '{word}'. Did you mean '{path} {meant[0]}'?"
            raise click.UsageError(f"{told} If it is an idea: '{path} run {word}'.", ctx)
        if not is_meant and not _is_meant(f"'{word}' is one word and no command. Explore it as an idea?"):
            raise click.UsageError(f"There is no command '{word}'. If it is an idea: '{path} run {word}'.", ctx)


def _is_meant(question: str) -> bool:
    """Ask a person at the terminal; where nobody is there, nothing is meant."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()):
        return False
    return click.confirm(question, default=False, err=True)


def _add_output(command: F, text: str) -> F:
    option = click.option("--json", is_flag=True, expose_value=False, callback=_note_json, help=text)
    text = "Nothing that moves, no colours: for screen readers."
    plain = click.option("--plain", is_flag=True, expose_value=False, callback=_note_plain, help=text)
    return option(plain(debug_option(command)))


def _note_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.json = True


def _note_verbose(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.verbose = True


def _note_plain(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's shape
    session = context.find_object(Session)
    if session is not None and value:
        session.plain = True
    if session is not None and session.plain:
        context.color = False
