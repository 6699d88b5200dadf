"""`toolroll explore`: an idea explored with web search and earlier research, told while it goes; and what there is."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from toolroll.cli.session import DONE, STOPPED_BY_LIMIT, Session, output_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.packs.research.exploration import Explored, Wish
    from toolroll.packs.research.exploring import ResearchOptions
    from toolroll.packs.research.source import ResearchSource

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT: Final = "run"
_HELP: Final = ("-h", "--help")
_MAX_CONTEXT_BYTES: Final = 200_000
"""Of 50,000 characters in UTF-8."""


class DefaultGroup(click.Group):
    """A group whose first word, where it is none of its commands, belongs to the one that is meant then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of that command before words that do not begin with one."""
        if args and args[0] not in self.commands and args[0] not in _HELP:
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


@explore.command(short_help="Explore an idea; 'run' can be left out.")
@click.argument("idea")
@click.option("--mode", default="exploration", metavar="MODE", help="business, exploration, or your own file MODE.md.")
@click.option("--model", metavar="NAME", help="sonnet, openai:NAME, ollama:NAME, ...; TOOLROLL_MODEL if not given.")
@click.option("--context", default="", metavar="TEXT|FILE", help="What else is to be known; a file's name or the text.")
@click.option("--update", is_flag=True, help="Append what is new to the research there is on this idea.")
@click.option("--continue-from", metavar="NAME", help="Build on other research: its path, folder or idea.")
@click.option("--two-phase", is_flag=True, help="Gather notes first, then write without tools.")
@click.option("--stats", is_flag=True, help="Keep each tool call with its figures in the log.")
@place_options
@output_options
@click.pass_obj
def run(
    session: Session,
    idea: str,
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

    It becomes ideas/<date>-<idea>/research.md, with exploration-log.json beside it. An idea that was explored before is
    not explored again without --update. What goes on is told on stderr; stdout says where the document is. With --json
    every event is a line {"event", ...}, the last one exploration_finished.

    A search that could carry what was read to where a page wants it is asked about first, and refused where nobody can
    be asked.

    \b
    Examples:
      toolroll explore 'Rent out tools by the hour' --mode business
      toolroll explore 'Rent out tools by the hour' --update --repo me/research
      toolroll explore 'Tool rental at schools' --continue-from rent-out-tools
    """
    from toolroll.packs.research.exploration import Wish  # noqa: PLC0415 - pydantic: not for --help
    from toolroll.packs.research.frameworks import framework_of  # noqa: PLC0415 - as above

    if update and continue_from is not None:
        raise UsageError("--update and --continue-from exclude each other. Choose one of them.")
    wish = Wish(
        idea=idea,
        framework=framework_of(mode),
        context=context_of(context),
        is_update=update,
        continue_from=continue_from,
        is_two_phase=two_phase,
    )
    named = _model_name(model)
    _check_place(ideas, repo, branch)
    session.claim_stdout()
    from toolroll.cli.call import set_up_log  # noqa: PLC0415 - as above

    set_up_log(session)

    async def work(source: "ResearchSource") -> "Explored":
        return await _explored(session, wish, source, named, stats=stats)

    return _tell(session, _with_source(work, ideas, repo, branch))


@explore.command("list", short_help="List the ideas that were explored.")
@place_options
@output_options
@click.pass_obj
def list_ideas(session: Session, *, ideas: Path | None, repo: str | None, branch: str | None) -> int:
    """List the ideas that were explored, the newest first, with the paths of their documents."""
    found = _with_source(lambda source: source.list_ideas(), ideas, repo, branch)
    if session.json:
        listed = [
            {"path": one.path, "title": one.title, "date": one.date.isoformat() if one.date else None} for one in found
        ]
        session.write_json({"ideas": listed})
    elif found:
        session.write("\n".join(one.path for one in found))
    else:
        click.echo("Nothing was explored here yet. Begin with 'toolroll explore IDEA'.", err=True)
    return DONE


@explore.command(short_help="Show a document.")
@click.argument("name")
@place_options
@output_options
@click.pass_obj
def show(session: Session, name: str, *, ideas: Path | None, repo: str | None, branch: str | None) -> int:
    """Show the research NAME: the path of its document, its folder, or its idea."""

    async def work(source: "ResearchSource") -> tuple[str, str, str]:
        from toolroll.packs.research.ideas import entry_named  # noqa: PLC0415 - pydantic: not for --help
        from toolroll.packs.research.source import MAX_KEPT_BYTES  # noqa: PLC0415 - as above

        path = entry_named(name, await source.list_ideas()).path
        return path, source.where(path), (await source.read(path, limit_bytes=MAX_KEPT_BYTES)).content

    path, where, content = _with_source(work, ideas, repo, branch)
    if session.json:
        session.write_json({"path": path, "where": where, "content": content})
    else:
        session.write(content)
    return DONE


def context_of(given: str) -> str:
    """The text, or what is in the file of that name."""
    from toolroll.errors import FileTooLarge  # noqa: PLC0415 - as above
    from toolroll.safe.refusals import refusals  # noqa: PLC0415 - as above
    from toolroll.workspace.text import decode  # noqa: PLC0415 - as above

    path = Path(given) if given and "\n" not in given and "\0" not in given else None
    try:
        if path is None or not path.is_file():
            return given
    except OSError:  # too long for a name
        return given
    with refusals(given), path.open("rb") as file:
        data = file.read(_MAX_CONTEXT_BYTES + 1)
    if len(data) > _MAX_CONTEXT_BYTES:
        raise FileTooLarge(
            f"'{given}' has more than {_MAX_CONTEXT_BYTES:,} bytes.", path=given, limit_bytes=_MAX_CONTEXT_BYTES
        )
    return decode(data, path=given).text


def _model_name(given: str | None) -> str:
    from toolroll.cli.code import MODEL_VARIABLE, NO_MODEL  # noqa: PLC0415 - as above
    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    named = given or os.environ.get(MODEL_VARIABLE) or read_settings(os.environ).model
    if not named:
        raise UsageError(NO_MODEL)
    return named


T = TypeVar("T")


def _with_source(
    work: "Callable[[ResearchSource], Awaitable[T]]", ideas: Path | None, repo: str | None, branch: str | None
) -> T:
    import asyncio  # noqa: PLC0415 - five interpreter starts: not for --help

    async def opened() -> T:
        async with _open(ideas, repo, branch) as source:
            return await work(source)

    return asyncio.run(opened())


@asynccontextmanager
async def _open(ideas: Path | None, repo: str | None, branch: str | None) -> "AsyncIterator[ResearchSource]":
    _check_place(ideas, repo, branch)
    if repo is None:
        from toolroll.packs.research.local import LocalSource  # noqa: PLC0415 - as above

        yield LocalSource(ideas or Path.cwd() / "ideas")
        return
    from toolroll.packs.research.github import GitHubSource  # noqa: PLC0415 - as above

    async with GitHubSource.of_user(repo, environment=os.environ, branch=branch) as source:
        yield source


def _check_place(ideas: Path | None, repo: str | None, branch: str | None) -> None:
    if repo is None and branch is not None:
        raise UsageError("--branch is for --repo: a folder has none.")
    if repo is not None and ideas is not None:
        raise UsageError("--ideas and --repo exclude each other: research is kept in one place.")


async def _explored(session: Session, wish: "Wish", source: "ResearchSource", model: str, *, stats: bool) -> "Explored":
    from toolroll.cli.making import named_model, open_journal  # noqa: PLC0415 - as above
    from toolroll.packs.research.exploration import explore as explored  # noqa: PLC0415 - as above
    from toolroll.packs.research.exploring import connected  # noqa: PLC0415 - as above

    journal = open_journal(os.environ)
    try:
        options: ResearchOptions = {"model": connected(named_model(model)), "collect_tool_stats": stats}
        options["journal"] = journal
        options["on_event"] = _listener(session)
        _add_leave(options)
        return await explored(wish, source, **options)
    finally:
        journal.close()


def _add_leave(options: "ResearchOptions") -> None:
    """Searching is what the person wants; where that could carry something out, they are asked, if they can be."""
    from dataclasses import replace  # noqa: PLC0415 - as above

    from toolroll.cli.leave import leave_for  # noqa: PLC0415 - as above
    from toolroll.kernel.policy import Policy  # noqa: PLC0415 - as above
    from toolroll.kernel.tool import Tool  # noqa: PLC0415 - as above
    from toolroll.packs.catalog import Entry  # noqa: PLC0415 - as above
    from toolroll.packs.research.exploring import MAY_SEARCH, connected, tools_for  # noqa: PLC0415 - as above

    tools = [one for one in tools_for(connected(options["model"]), options) if isinstance(one, Tool)]
    entries = [Entry(tool=tool, origin="research", place="pack research") for tool in tools]
    leave = leave_for(entries, yes=False, stdin_is_taken=False, environment=os.environ)
    policy = (leave.policy or Policy()).plus(MAY_SEARCH.rules)
    options["policy"] = policy if leave.approver is None else replace(policy, outward="ask")
    options["approver"] = leave.approver


def _listener(session: Session) -> "Callable[[Any], None]":
    from toolroll.cli.exploring import JsonListener, PlainListener  # noqa: PLC0415 - as above

    return JsonListener(session).hear if session.json else PlainListener().hear


def _tell(session: Session, done: "Explored") -> int:
    from toolroll.cli.exploring import finished, summary  # noqa: PLC0415 - as above

    if session.json:
        session.write_json(finished(done))
    else:
        for line in summary(done):
            click.echo(line, err=True)
        session.write(done.where)
    return DONE if done.is_whole else STOPPED_BY_LIMIT
