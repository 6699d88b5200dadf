"""The `ghostpen` program, which is `toolroll write`: posts in a person's own voice, and the profiles for them."""

from collections.abc import Sequence
from typing import Final, NoReturn

import click

from toolroll._version import __version__
from toolroll.cli.lazy import LazyCommand, LazyGroup
from toolroll.cli.session import debug_option

DEFAULT: Final = "write"
_OWN: Final = ("-h", "--help", "--version")
_ALMOST: Final = 0.85
"""'profil', 'analyse' and 'stat' are nearer to a command than that; 'profit' and 'state' are not."""

_PLACE: Final = "toolroll.cli.profile.commands"
_COMMANDS: Final = {
    "write": LazyCommand(place="toolroll.cli.write:write", summary="Write a post; 'write' can be left out."),
    "init": LazyCommand(place=f"{_PLACE}:init", summary="Make your style profile from your posts."),
    "profile": LazyCommand(place=f"{_PLACE}:profile", summary="Make, list, show, edit and remove profiles."),
    "analyze": LazyCommand(place=f"{_PLACE}:analyze", summary="Compare posts with a profile; propose changes."),
    "stats": LazyCommand(place=f"{_PLACE}:stats", summary="How drafts fared, and what is said of them."),
    "feedback": LazyCommand(place=f"{_PLACE}:feedback", summary="List and reset the feedback that was counted."),
}


class DefaultLazyGroup(LazyGroup):
    """A lazy group whose first word, where it is none of its commands, belongs to the one that is meant then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of that command before words that do not begin with one; a name that was mistyped is told."""
        if not args or (args[0] not in _COMMANDS and args[0] not in _OWN):
            if not ctx.resilient_parsing:
                _check_word(ctx, args[:1])
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


def _check_word(ctx: click.Context, first: Sequence[str]) -> None:
    """One word that is almost a command is hardly what a post is about, and a model that is asked costs money."""
    from difflib import get_close_matches  # noqa: PLC0415 - an interpreter start's third: not for --help

    for word in first:
        if (meant := get_close_matches(word, _COMMANDS, n=1, cutoff=_ALMOST)) and not word.startswith("-"):
            told = f"There is no command '{word}'. Did you mean 'ghostpen {meant[0]}'?"
            raise click.UsageError(f"{told} A post about it: 'ghostpen -- {word}'.", ctx)


@click.group(
    "write",
    cls=DefaultLazyGroup,
    lazy=_COMMANDS,
    subcommand_metavar="REQUEST | COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@debug_option
@click.version_option(__version__, message="%(prog)s %(version)s")
def ghostpen() -> None:
    """Write posts in your own voice: 'ghostpen REQUEST' drafts, you say what to change.

    \b
    Examples:
      ghostpen --demo                                   watch it, no key needed
      ghostpen init --from my-posts.txt                 your style profile
      ghostpen 'post about our first year for LinkedIn'
      ghostpen write --help                             all options
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run `ghostpen` and end the process with its exit code."""
    from toolroll.cli.main import main as run_main  # noqa: PLC0415 - the two know each other

    run_main(arguments, root=ghostpen, name="ghostpen")
