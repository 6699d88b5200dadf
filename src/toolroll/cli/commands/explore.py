"""`toolroll explore`: an idea explored with web search and earlier research, told while it goes; and what there is."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from toolroll.cli.options import QuotedCommand
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session, event_options, output_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.packs.research.source import ResearchSource

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

DEFAULT: Final = "run"
_HELP: Final = ("-h", "--help")
_MAX_CONTEXT_BYTES: Final = 200_000
"""Of 50,000 characters in UTF-8."""
_FILE_NAME: Final = re.compile(
    r"[^\s]*/|[^\s]*[^\s/.]\.(md|markdown|txt|text|rst|json|html|csv|pdf|docx)", re.IGNORECASE
)


class DefaultGroup(click.Group):
    """A group whose first word, where it is none of its commands, belongs to the one that is meant then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of that command before words that do not begin with one."""
        if not args or (args[0] not in self.commands and args[0] not in _HELP):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


def place_options(command: F) -> F:
    """Adds `--ideas`, `--repo` and `--branch`: where research is kept."""
    folder = click.Path(path_type=Path, file_okay=False)
    ideas = click.option("--ideas", type=folder, metavar="DIR", help="The folder of all ideas; ./ideas if not given.")
    repo = click.option("--repo", metavar="OWNER/NAME", help="Keep research in a repository on GitHub (GITHUB_TOKEN).")
    branch = click.option("--branch", metavar="NAME", help="The branch of --repo; its default one if not given.")
    return ideas(repo(branch(command)))


@click.group(cls=DefaultGroup)
def explore() -> None:
    """Explore an idea: 'toolroll explore IDEA' searches, reads, and writes.

    \b
    Examples:
      toolroll explore 'A library of things for every village' --model sonnet
      toolroll explore list
      toolroll explore run --help     all options
    """


@explore.command(cls=QuotedCommand, short_help="Explore an idea; 'run' can be left out.")
@click.argument("idea", required=False)
@click.option("--mode", default="exploration", metavar="MODE", help="business, exploration, or your own file MODE.md.")
@click.option("--model", metavar="NAME", help="sonnet, openai:NAME, ollama:NAME, ...; TOOLROLL_MODEL if not given.")
@click.option("--context", default="", metavar="TEXT|FILE", help="What else is to be known; a file's name or the text.")
@click.option("--update", is_flag=True, help="Append what is new to the research there is on this idea.")
@click.option("--continue-from", metavar="NAME", help="Build on other research: its path, folder or idea.")
@click.option("--two-phase", is_flag=True, help="Gather notes first, then write without tools.")
@click.option("--stats", is_flag=True, help="Keep each tool call with its figures in the log.")
@place_options
@event_options
@click.pass_obj
def run(
    session: Session,
    idea: str | None,
    *,
    mode: str,
    model: str | None,
    context: str,
    update: bool,
    continue_from: str | None,
    two_phase: bool,
    stats: bool,
    ideas: Path | None,
    repo: str | None,
    branch: str | None,
) -> int:
    """Explore IDEA with web search and earlier research, and write a document.

    Without an IDEA, at a terminal, a chat begins: the first message is the idea, the others are questions about it.

    It becomes ideas/<date>-<idea>/research.md, with exploration-log.json beside it. An idea that was explored before is
    not explored again without --update. What goes on is told on stderr; stdout says where the document is. With --json
    every event is a line {"index", "event", ...}, the last one exploration_finished.

    A search that could carry what was read to where a page wants it is asked about first, and refused where nobody can
    be asked.

    \b
    Examples:
      toolroll explore 'Rent out tools by the hour' --mode business
      toolroll explore 'Rent out tools by the hour' --update --repo me/research
      toolroll explore 'Tool rental at schools' --continue-from rent-out-tools
    """
    if idea is None:
        from toolroll.cli.chat.input import check_terminal  # noqa: PLC0415 - rich: only for who chats

        check_terminal(session, what="IDEA")
    from toolroll.cli.actions.explore import ExploreOptions, run_exploration  # noqa: PLC0415 - pydantic: not for --help

    if update and continue_from is not None:
        raise UsageError("--update and --continue-from exclude each other. Choose one of them.")
    asked = ExploreOptions(
        idea=idea or "",
        mode=mode,
        model=model or "",
        context=read_context(context),
        update=update,
        continue_from=continue_from,
        two_phase=two_phase,
        stats=stats,
        ideas=None if ideas is None else str(ideas.absolute()),
        repo=repo,
        branch=branch,
    )
    if idea is None:
        from toolroll.cli.chat.explore import chat_about_ideas  # noqa: PLC0415 - only for who chats

        return chat_about_ideas(session, asked)
    return run_exploration(session, asked)


@explore.command("list", short_help="List the ideas that were explored.")
@place_options
@output_options
@click.pass_obj
def list_ideas(session: Session, *, ideas: Path | None, repo: str | None, branch: str | None) -> int:
    """List the ideas that were explored, the newest first, with the paths of their documents.

    \b
    Examples:
      toolroll explore list
      toolroll explore list --repo me/research --json
    """
    found = _use_place(lambda source: source.list_ideas(), ideas, repo, branch)
    if session.json:
        listed = [
            {"path": one.path, "title": one.title, "date": one.date.isoformat() if one.date else None} for one in found
        ]
        session.write_json({"ideas": listed})
    elif found:
        session.write("\n".join(one.path for one in found))
    else:
        notify("Nothing was explored here yet. Begin with 'toolroll explore IDEA'.")
    return DONE


@explore.command(short_help="Show a document.")
@click.argument("name")
@place_options
@output_options
@click.pass_obj
def show(session: Session, name: str, *, ideas: Path | None, repo: str | None, branch: str | None) -> int:
    """Show the research NAME: the path of its document, its folder, or its idea.

    \b
    Example:
      toolroll explore show rent-out-tools | less
    """

    async def work(source: "ResearchSource") -> tuple[str, str, str]:
        from toolroll.packs.research.ideas import find_idea  # noqa: PLC0415 - pydantic: not for --help
        from toolroll.packs.research.source import MAX_STORED_BYTES  # noqa: PLC0415 - as above

        path = find_idea(name, await source.list_ideas()).path
        return path, source.where(path), (await source.read(path, limit_bytes=MAX_STORED_BYTES)).content

    path, where, content = _use_place(work, ideas, repo, branch)
    if session.json:
        session.write_json({"path": path, "where": where, "content": content})
    else:
        session.write(content)
    return DONE


def read_context(given: str) -> str:
    """The text, or what is in the file of that name."""
    from toolroll.errors import FileTooLarge  # noqa: PLC0415 - as above
    from toolroll.safe.paths.os_errors import os_errors  # noqa: PLC0415 - as above
    from toolroll.workspace.text import decode  # noqa: PLC0415 - as above

    path = Path(given) if given and "\n" not in given and "\0" not in given else None
    try:
        if path is None or not path.is_file():
            return _text(given)
    except OSError:  # too long for a name
        return given
    with os_errors(given), path.open("rb") as file:
        data = file.read(_MAX_CONTEXT_BYTES + 1)
    if len(data) > _MAX_CONTEXT_BYTES:
        raise FileTooLarge(
            f"'{given}' has more than {_MAX_CONTEXT_BYTES:,} bytes.", path=given, limit_bytes=_MAX_CONTEXT_BYTES
        )
    return decode(data, path=given).text


def _text(given: str) -> str:
    """A context in words: what is one word with the ending of a file is a name that was mistyped."""
    if _FILE_NAME.fullmatch(given):
        raise UsageError(f"There is no file '{given}' for --context. A text has blanks in it.")
    return given


def _use_place(
    work: "Callable[[ResearchSource], Awaitable[T]]", ideas: Path | None, repo: str | None, branch: str | None
) -> T:
    from toolroll.cli.actions.explore import ResearchPlace, use_source  # noqa: PLC0415 - pydantic: not for --help

    return use_source(work, ResearchPlace(ideas=None if ideas is None else str(ideas), repo=repo, branch=branch))
