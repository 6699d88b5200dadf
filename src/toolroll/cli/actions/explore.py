"""One exploration from the command line, and the rest of one that was cut off."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from toolroll.cli.model_choice import resolve_model_name
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, INTERRUPTED, STOPPED_BY_LIMIT, Session
from toolroll.errors import ModelError, UsageError

if TYPE_CHECKING:
    from toolroll.packs.catalog import CatalogEntry
    from toolroll.packs.research.agent import ResearchOptions
    from toolroll.packs.research.exploration import ExplorationResult, ExploreRequest, Job
    from toolroll.packs.research.source import ResearchSource

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchPlace:
    """Where research is kept: in a folder, `./ideas` if none is named, or in a repository on GitHub."""

    ideas: str | None = None
    repo: str | None = None
    branch: str | None = None

    def __post_init__(self) -> None:
        if self.repo is None and self.branch is not None:
            raise UsageError("--branch is for --repo: a folder has none.")
        if self.repo is not None and self.ideas is not None:
            raise UsageError("--ideas and --repo exclude each other: research is kept in one place.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """What was asked for, in words that can be kept: with them `runs resume` goes on."""

    idea: str
    mode: str
    model: str
    context: str = ""
    update: bool = False
    continue_from: str | None = None
    two_phase: bool = False
    stats: bool = False
    ideas: str | None = None
    repo: str | None = None
    branch: str | None = None
    folder: str = ""

    @classmethod
    def from_record(cls, settings: Mapping[str, object], *, model: str | None = None) -> "ExploreOptions":
        """What a run was asked for, by what it has kept, perhaps with another model."""
        names = {one.name for one in fields(cls)}
        asked = cls(**{name: value for name, value in settings.items() if name in names})  # type: ignore[arg-type]
        if Path(asked.folder) != Path.cwd():
            raise UsageError(f"This exploration was begun in another folder. Go there first: cd '{asked.folder}'.")
        return replace(asked, model=model or asked.model)

    @property
    def settings(self) -> dict[str, object]:
        """What a run keeps of it."""
        return {"kind": "explore", **asdict(self)}

    @property
    def place(self) -> ResearchPlace:
        """Where the document goes."""
        return ResearchPlace(ideas=self.ideas, repo=self.repo, branch=self.branch)

    @property
    def request(self) -> "ExploreRequest":
        """The same as the pack takes it; UsageError for what makes no sense."""
        from toolroll.packs.research.exploration import ExploreRequest  # noqa: PLC0415 - pydantic: not for --help
        from toolroll.packs.research.frameworks import load_framework  # noqa: PLC0415 - as above

        return ExploreRequest(
            idea=self.idea,
            framework=load_framework(self.mode),
            context=self.context,
            is_update=self.update,
            continue_from=self.continue_from,
            is_two_phase=self.two_phase,
        )


def run_exploration(session: Session, asked: ExploreOptions, *, job: "Job | None" = None) -> int:
    """Explore, and tell of it; the exit code. `job` is one to go on with."""
    request, place = asked.request, asked.place
    _check_token(place)
    asked = with_model(asked)
    session.claim_stdout()
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - as above

    set_up_log(session)
    journey = _Journey(session, asked)

    async def work(source: "ResearchSource") -> int:
        return await journey.told(request, source, job)

    try:
        return use_source(work, place)
    except KeyboardInterrupt:
        return journey.interrupted()


def _check_token(place: ResearchPlace) -> None:
    """Without a token a repository can be read; that nothing can be written there is said before a model is paid."""
    from toolroll.home.keys import with_keys  # noqa: PLC0415 - as above

    if place.repo is not None and not with_keys(os.environ).get("GITHUB_TOKEN"):
        told = "To write to --repo a GITHUB_TOKEN is needed: export it, or 'toolroll config key set GITHUB_TOKEN'."
        raise UsageError(told)


def resume_exploration(session: Session, settings: Mapping[str, object], *, model: str | None) -> int:
    """Go on with the exploration that a run with these settings belongs to; the exit code."""
    from toolroll.packs.research.exploration import Job  # noqa: PLC0415 - as above

    return run_exploration(session, ExploreOptions.from_record(settings, model=model), job=Job.from_settings(settings))


def use_source(work: "Callable[[ResearchSource], Awaitable[T]]", place: ResearchPlace) -> T:
    """What is done with the place that research is kept in."""
    import asyncio  # noqa: PLC0415 - five interpreter starts: not for --help

    async def opened() -> T:
        async with open_source(place) as source:
            return await work(source)

    return asyncio.run(opened())


@asynccontextmanager
async def open_source(place: ResearchPlace) -> "AsyncIterator[ResearchSource]":
    """The place that research is kept in, held open."""
    if place.repo is None:
        from toolroll.packs.research.local import LocalSource  # noqa: PLC0415 - as above

        yield LocalSource(place.ideas or Path.cwd() / "ideas")
        return
    from toolroll.home.keys import with_keys  # noqa: PLC0415 - as above
    from toolroll.packs.research.github import GitHubSource  # noqa: PLC0415 - as above

    async with GitHubSource.from_environment(
        place.repo, environment=with_keys(os.environ), branch=place.branch
    ) as source:
        yield source


def with_model(asked: ExploreOptions) -> ExploreOptions:
    """What was asked for, with a model, and with names of files that hold in another process."""
    from toolroll.cli.spec import absolute_model_name  # noqa: PLC0415 - as above

    return replace(asked, model=absolute_model_name(resolve_model_name(asked.model)), folder=str(Path.cwd()))


class _Journey:
    """An exploration on its way, and the run that it is in."""

    def __init__(self, session: Session, asked: ExploreOptions) -> None:
        from toolroll.cli.interrupts import Interrupts  # noqa: PLC0415 - as above
        from toolroll.cli.render.exploration import Following  # noqa: PLC0415 - as above

        self._session = session
        self._asked = asked
        self._following = Following(session, model=asked.model)
        self._stopping = Interrupts()
        self._is_told = False

    async def told(self, request: "ExploreRequest", source: "ResearchSource", job: "Job | None") -> int:
        """The exit code. The first Ctrl-C lets calls that run finish; where none does, and the second, end it."""
        import asyncio  # noqa: PLC0415 - as above

        try:
            with self._stopping.listening(), self._stopping.answering():
                done = await self._made(request, source, job)
        except ModelError:
            self._following.close()
            if self._following.was_stopped:
                return self.interrupted()
            self._following.tell_how_to_go_on()
            raise
        except (asyncio.CancelledError, KeyboardInterrupt):
            self._stopping.settle()
            return self.interrupted()
        finally:
            self._following.close()
        return show_exploration(self._session, done, index=self._following.count + 1)

    def interrupted(self) -> int:
        """Say that it was stopped, and how to get on with it; the exit code."""
        if not self._is_told:  # where a call is interrupted itself, so is the event loop after it
            self._is_told = True
            self._following.close()
            self._following.tell_how_to_go_on()
            self._session.fail("interrupted", "Interrupted.")
        return INTERRUPTED

    async def _made(
        self, request: "ExploreRequest", source: "ResearchSource", job: "Job | None"
    ) -> "ExplorationResult":
        from toolroll.cli.spec import open_journal, resolve_model  # noqa: PLC0415 - as above
        from toolroll.packs.research.agent import connect_model  # noqa: PLC0415 - as above
        from toolroll.packs.research.exploration import explore  # noqa: PLC0415 - as above

        journal = open_journal(os.environ)
        try:
            options: ResearchOptions = {
                "model": connect_model(resolve_model(self._asked.model)),
                "collect_tool_stats": self._asked.stats,
                "journal": journal,
                "settings": self._asked.settings,
                "on_event": self._following.on_event,
                "on_open": self._stopping.note,
            }
            add_permissions(options)
            return await explore(request, source, job=job, **options)
        finally:
            journal.close()


def list_research_tools(options: "ResearchOptions") -> "list[CatalogEntry]":
    """The tools that an exploration with these options has, as a list of tools names them."""
    from toolroll.kernel.define.tool import Tool  # noqa: PLC0415 - as above
    from toolroll.packs.catalog import CatalogEntry  # noqa: PLC0415 - as above
    from toolroll.packs.research.agent import connect_model, research_tools  # noqa: PLC0415 - as above

    tools = [one for one in research_tools(connect_model(options["model"]), options) if isinstance(one, Tool)]
    return [CatalogEntry(tool=tool, origin="research", place="pack research") for tool in tools]


def add_permissions(options: "ResearchOptions") -> None:
    """Searching is what the person wants; where that could carry something out, they are asked, if they can be."""
    from toolroll.cli.permissions import permissions_for  # noqa: PLC0415 - as above
    from toolroll.kernel.approval.policy import Policy  # noqa: PLC0415 - as above
    from toolroll.packs.research.agent import SEARCH_POLICY  # noqa: PLC0415 - as above

    permissions = permissions_for(list_research_tools(options), yes=False, stdin_is_taken=False, environment=os.environ)
    policy = (permissions.policy or Policy()).plus(SEARCH_POLICY.rules)
    options["policy"] = policy if permissions.approver is None else replace(policy, outward="ask")
    options["approver"] = permissions.approver


def show_exploration(session: Session, done: "ExplorationResult", *, index: int = 1) -> int:
    """Tell what an exploration came to; the exit code. `index` is the number of this event, as JSON."""
    from toolroll.cli.render.exploration import exploration_fields, summarize_exploration  # noqa: PLC0415 - as above

    if session.json:
        session.write_json({"index": index, **exploration_fields(done)})
    else:
        for line in summarize_exploration(done):
            notify(line)
        session.write(done.where)
    return DONE if done.is_whole else STOPPED_BY_LIMIT
