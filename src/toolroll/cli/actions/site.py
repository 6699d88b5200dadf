"""What `toolroll serve` serves: the application with the jobs, chats and tools of a folder."""

import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from starlette.applications import Starlette

from toolroll.apps.explore import ExploreOptions, check_token
from toolroll.apps.jobs import JobStore, open_jobs
from toolroll.apps.project import ResearchPlace
from toolroll.apps.run_log import RunLog
from toolroll.cli.actions.mcp.endpoint import PATH, LazyEndpoint, make_finder
from toolroll.cli.actions.mcp.serve import make_server
from toolroll.errors import UsageError
from toolroll.home.tokens import TokenBook
from toolroll.lazy import load
from toolroll.packs.writing.tools.dependencies import data_folder


def find_place(*, ideas: Path | None, repo: str | None, branch: str | None) -> ResearchPlace:
    """Return where research is kept; UsageError if it could not be written there."""
    place = ResearchPlace(ideas=None if ideas is None else str(ideas.absolute()), repo=repo, branch=branch)
    check_token(place, os.environ)
    return place


def has_tokens() -> bool:
    """Return whether anybody could use the API."""
    return bool(TokenBook.from_environment(os.environ).tokens())


@contextmanager
def open_site(
    folder: Path,
    place: ResearchPlace,
    *,
    launch_token: str | None,
    data: Path | None,
    names: Collection[str],
    slots: int,
) -> Iterator[Starlette]:
    """Open the application of a folder; with a `launch_token`, the page is part of it."""
    book = TokenBook.from_environment(os.environ)
    options = ExploreOptions(
        idea="",
        mode="exploration",
        model="",
        ideas=place.ideas,
        repo=place.repo,
        branch=place.branch,
        folder=str(folder),
    )
    with open_jobs(os.environ) as store:
        service = load("toolroll.web.api:Service")(
            store=store,
            tokens=book,
            environment=os.environ,
            folder=folder,
            place=options,
            sessions=None if launch_token is None else load("toolroll.web.sessions:Sessions")(launch_token),
            data=data or _find_data(),
            doctor=lambda: load("toolroll.cli.actions.doctor.report:describe_everything")(folder),
        )
        mounted = _mount_mcp(folder, place, store, book, names)
        yield load("toolroll.web.app:make_app")(service, names=names, slots=slots, mounted=mounted)


def _find_data() -> Path | None:
    """The folder of a writer here; None for the one in the home, also where nobody has trusted the one here."""
    try:
        return data_folder()
    except UsageError:
        return None


def _mount_mcp(
    folder: Path, place: ResearchPlace, store: JobStore, book: TokenBook, names: Collection[str]
) -> dict[str, LazyEndpoint]:
    """The tools of the folder for MCP clients that have a token, if the SDK is there."""
    if find_spec("mcp") is None:
        return {}
    journal = cast("RunLog", store.journal)  # as `open_jobs` opens it

    def make(stack: ExitStack) -> object:
        return make_server(load("toolroll.mcp.server.build:ServerOptions")(root=folder, place=place), journal, stack)

    return {PATH: LazyEndpoint(make, names=names, find=make_finder(book))}
