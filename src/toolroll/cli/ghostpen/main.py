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

_PLACE: Final = "toolroll.cli.ghostpen.commands"
_COMMANDS: Final = {
    "write": LazyCommand(place="toolroll.cli.ghostpen.write:write", summary="Write a post; 'write' can be left out."),
    "init": LazyCommand(place=f"{_PLACE}:init", summary="Create your style profile from your posts."),
    "profile": LazyCommand(place=f"{_PLACE}:profile", summary="Create, list, show, edit and delete profiles."),
    "posts": LazyCommand(
        place="toolroll.cli.ghostpen.post_commands:posts", summary="List, show, copy and open the posts you saved."
    ),
    "analyze": LazyCommand(place=f"{_PLACE}:analyze", summary="Compare posts with a profile; propose changes."),
    "stats": LazyCommand(place=f"{_PLACE}:stats", summary="Show accepted drafts, and your usual complaints."),
    "feedback": LazyCommand(place=f"{_PLACE}:feedback", summary="List or delete the feedback on drafts."),
    "serve": LazyCommand(place="toolroll.cli.ghostpen.serve:serve", summary="Open a page to write on."),
    "completion": LazyCommand(
        place="toolroll.cli.commands.completion:ghostpen_completion", summary="Print completion for bash, zsh or fish."
    ),
}
_GROUPS: Final = frozenset({"profile", "posts", "feedback"})
_MEANT: Final = frozenset({"--yes", "--profile", "--mix", "--platform", "--notion", "--post-lang"})
"""Options that only a post has: who writes one of them means a post."""


class DefaultLazyGroup(LazyGroup):
    """A lazy group whose first word, where it is none of its commands, belongs to the one that is meant then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of that command before words that do not begin with one; a name that was mistyped is told.

        Options before the name of a command are moved behind it: nobody means a post about 'stats' by them.
        """
        if not args and ctx.resilient_parsing:  # Tab at the first word, which may become the name of a command
            return super().parse_args(ctx, args)
        if not args or (args[0] not in _COMMANDS and args[0] not in _OWN):
            options, words = self._split_options(ctx, args)
            if words and words[0] in _COMMANDS:
                return super().parse_args(ctx, _move_options(options, words))
            if not ctx.resilient_parsing:
                is_meant = any(word.partition("=")[0] in _MEANT for word in args)
                _check_word(ctx, words, is_meant=is_meant or self._count_words(ctx, words) != 1)
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; of options that lack a value click tells without saying of which command they are."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand or DEFAULT
            command = self.get_command(ctx, name)
            if error.ctx is None and command is not None:
                error.ctx = click.Context(command, info_name=name, parent=ctx)
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options; for a shell that completes, also those of the command that is meant."""
        own = super().get_params(ctx)
        if not ctx.resilient_parsing:
            return own
        names = {one.name for one in own}
        return [*own, *(one for one in self._options(ctx) if one.name not in names)]

    def _options(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of the command that is meant where none is named."""
        write = self.get_command(ctx, DEFAULT)
        assert write is not None  # it is in the list
        return [one for one in write.params if isinstance(one, click.Option)]

    def _count_words(self, ctx: click.Context, args: Sequence[str]) -> int:
        """Return how many words there are beside options and their values."""
        options_only = click.Command(DEFAULT, params=self._options(ctx))
        try:
            return len(options_only.make_parser(click.Context(options_only)).parse_args(list(args))[1])
        except click.UsageError:
            return 0

    def _split_options(self, ctx: click.Context, args: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the leading options with their values, and what follows; no words where `--` says what they are."""
        if not args or not args[0].startswith("-"):
            return [], list(args)
        options_only = click.Command(DEFAULT, params=self._options(ctx))
        parser = options_only.make_parser(click.Context(options_only, allow_interspersed_args=False))
        try:
            words = parser.parse_args(list(args))[1]
        except click.UsageError:
            return list(args), []
        options = list(args[: len(args) - len(words)])
        return options, [] if "--" in options else words


def _move_options(options: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the name of a command (two words in a group), the options, then the rest; a group alone takes none."""
    if words[0] not in _GROUPS:
        return [words[0], *options, *words[1:]]
    is_alone = len(words) == 1 or words[1].startswith("-")
    return list(words) if is_alone else [*words[:2], *options, *words[2:]]


def _check_word(ctx: click.Context, words: Sequence[str], *, is_meant: bool) -> None:
    """One word that is almost a command is hardly what a post is about, and a model that is asked costs money.

    One word of any other kind is asked about; where nobody is there, it is refused.
    """
    if not words or words[0].startswith("-") or any(map(str.isspace, words[0])):
        return
    from difflib import get_close_matches  # noqa: PLC0415 - an interpreter start's third: not for --help

    from toolroll.cli.ghostpen.word_check import confirm_word, say_in_locale  # noqa: PLC0415 - as above

    word = words[0]
    if meant := get_close_matches(word, _COMMANDS, n=1, cutoff=_ALMOST):
        raise click.UsageError(say_in_locale("almost_command", word=word, meant=meant[0]), ctx)
    if not is_meant and not confirm_word(word):
        raise click.UsageError(say_in_locale("not_a_command", word=word), ctx)


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
