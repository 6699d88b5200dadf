"""An exploration from an idea to its document: look what is there, generate, write, log (R21-R24)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from typing_extensions import Unpack

from toolroll.agent.cost import total_cost
from toolroll.errors import FileMissing, ModelError, UsageError
from toolroll.kernel.approval.consent import Consent
from toolroll.kernel.call.context import random_id, utc_now
from toolroll.kernel.define.tool import Tool
from toolroll.models.model import Model, WebSearch
from toolroll.packs.research.agent import (
    EXPLORATION_CALLS,
    SEARCH_POLICY,
    Research,
    ResearchOptions,
    connect_model,
    generate_with,
    research_tools,
)
from toolroll.packs.research.document import answer_text, append_update, contains_text, new_document, renumber_sources
from toolroll.packs.research.frameworks import Framework
from toolroll.packs.research.ideas import find_existing, find_idea, idea_path, list_related
from toolroll.packs.research.log import LogEntry, add_entry, log_path
from toolroll.packs.research.prompts import (
    MAX_CONTEXT_CHARACTERS,
    MAX_IDEA_CHARACTERS,
    Phase,
    idea_title,
    notes_prompt,
    system_prompt,
    user_prompt,
)
from toolroll.packs.research.read_research import read_research
from toolroll.packs.research.source import MAX_STORED_BYTES, FileListing, IdeaEntry, ResearchSource
from toolroll.packs.search.sources import Source, footnotes
from toolroll.safe.text import one_line
from toolroll.workspace.denials import Denials

Outcome: TypeAlias = Literal["written", "updated", "exists"]

Step: TypeAlias = Literal["check_existing", "generate_research", "write"]
"""What an exploration does, in this order."""

T = TypeVar("T")

MAX_NOTE_CHARACTERS: Final = 200
JOB: Final = "job"
"""The name under which a run keeps the job that it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    """What a person wants explored, and how."""

    idea: str
    framework: Framework
    context: str = ""
    is_update: bool = False
    continue_from: str | None = None
    is_two_phase: bool = False
    is_repeat: bool = False
    """Whether it is explored again and again: what is there is updated, and nothing is no error."""

    def __post_init__(self) -> None:
        if self.is_update and self.continue_from is not None:
            raise UsageError("An update and continuing from other research exclude each other. Choose one of them.")
        if not self.idea.strip():
            raise UsageError("There is no idea. Write it in a sentence.")
        if len(self.idea) > MAX_IDEA_CHARACTERS:
            raise UsageError(f"The idea has more than {MAX_IDEA_CHARACTERS:,} characters. Put details in the context.")
        if len(self.context) > MAX_CONTEXT_CHARACTERS:
            raise UsageError(f"The context has more than {MAX_CONTEXT_CHARACTERS:,} characters. Shorten it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One exploration by its name: with it another process goes on where the first one was cut off.

    `runs` are the ids that its runs have, or will have: one, or one for each of two phases.
    """

    id: str
    started: datetime
    runs: tuple[str, str]

    @classmethod
    def new(cls, *, clock: Callable[[], datetime] = utc_now, make_id: Callable[[], str] = random_id) -> "Job":
        """Return a job that begins now."""
        return cls(id=make_id(), started=clock(), runs=(make_id(), make_id()))

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> "Job":
        """Return the job that a run belongs to, from the settings of the run; UsageError where they name none."""
        match settings.get(JOB):
            case {"id": str(job_id), "started": str(started), "runs": [str(first), str(second)]}:
                return cls(id=job_id, started=datetime.fromisoformat(started), runs=(first, second))
            case _:
                raise UsageError("This run does not say which exploration it belongs to. Explore the idea again.")

    @property
    def fields(self) -> dict[str, object]:
        """Return the job as the settings of a run store it."""
        return {"id": self.id, "started": self.started.isoformat(), "runs": list(self.runs)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where a document goes, and what it builds on. `existing` is what is there already."""

    wish: ExploreRequest
    path: str
    asked: str
    existing: str | None = None
    continue_from: str | None = None
    private_texts: tuple[str, ...] = ()
    """What the prompt holds beside the idea: a context, which may be a file, and the names of earlier research."""

    @property
    def is_done(self) -> bool:
        """Return whether the idea was explored before, and nobody asked for more."""
        return self.existing is not None and not self.wish.is_update


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    """What the model came to: the runs of all phases, the notes between them, and the text with its sources."""

    runs: tuple[Research, ...]
    notes: str | None
    text: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationResult:
    """An exploration that is over: its document, where it is, and its entry in the log, if something was done."""

    outcome: Outcome
    path: str
    where: str
    content: str
    entry: LogEntry | None = None
    is_whole: bool = True


class RunStep(Protocol):
    """Does one step of an exploration: as a job it is recorded, limited in time and tried again."""

    async def __call__(self, step: Step, work: Callable[[], Awaitable[T]], /) -> T:
        """Return what the work returns."""
        ...


async def run_at_once(_step: Step, work: Callable[[], Awaitable[T]], /) -> T:
    """Do a step as it is."""
    return await work()


async def explore(
    wish: ExploreRequest,
    source: ResearchSource,
    /,
    *,
    clock: Callable[[], datetime] = utc_now,
    make_id: Callable[[], str] = random_id,
    job: Job | None = None,
    is_resumed: bool | None = None,
    run_step: RunStep = run_at_once,
    prepare: Callable[[Plan, ResearchOptions], ResearchOptions] = lambda _plan, options: options,
    **options: Unpack[ResearchOptions],
) -> ExplorationResult:
    """Explore an idea: the document and its log are at the source when this returns.

    An idea that was explored before is answered with the document there is. Whatever fails, no empty document is left.
    `job` is one that was cut off: with the same journal it goes on, and what it has done is neither paid nor written
    twice; with `is_resumed=False` it is one that has not begun yet. `run_step` does each step. `prepare` may change the
    options once it is known what the exploration builds on.
    """
    is_new = job is None if is_resumed is None else not is_resumed
    job = job or Job.new(clock=clock, make_id=make_id)
    started = job.started
    denied = options.get("policy", SEARCH_POLICY).denied_paths(read_research.name)
    planned = await run_step("check_existing", lambda: make_plan(wish, source, now=started, denied=denied))
    if planned.is_done and is_new:
        return ExplorationResult(
            outcome="exists", path=planned.path, where=source.where(planned.path), content=planned.existing or ""
        )
    model = connect_model(options["model"])
    kept = {**options.get("record", {}), JOB: job.fields}
    given: ResearchOptions = {**options, "model": model, "source": source, "record": kept}
    given = prepare(planned, {**given, "private_texts": planned.private_texts})
    if "consent" not in given:  # who explores wants to search; whether the provider may is asked elsewhere
        given["consent"] = Consent(purpose="this exploration", calls=EXPLORATION_CALLS)
    exploration = _Exploration(planned, source, model, job=job, is_again=not is_new, clock=clock)
    found = await run_step("generate_research", lambda: exploration.generate(given))
    return await run_step("write", lambda: exploration.write(found))


async def make_plan(wish: ExploreRequest, source: ResearchSource, *, now: datetime, denied: Sequence[str] = ()) -> Plan:
    """Look at what is there; FileMissing where something is to be updated or continued that is not.

    Paths that fit a pattern in `denied` are not named to the model.
    """
    known = await source.list_ideas()
    today = now.date()
    same = find_existing(wish.idea, known)
    if wish.is_repeat and same is not None:
        wish = replace(wish, is_update=True, continue_from=None)
    earlier = None if wish.continue_from is None else find_idea(wish.continue_from, known).path
    new = idea_path(wish.idea, today=today)
    if earlier is not None and same is not None and same.path != new:
        same = None  # to go on from research on the same idea, on another day, is a document of its own
    if wish.is_update and same is None:
        raise FileMissing(
            f"There is no research on '{idea_title(wish.idea)}' to update. Leave the update out to begin with it.",
            path=new,
        )
    hides = Denials(denied, protected=()).hides
    others = [entry for entry in known if (same is None or entry.path != same.path) and not hides(entry.path)]
    path = new if same is None else same.path
    related = list_related(wish.idea, others, files=[one for one in await _list_files(source, known) if not hides(one)])
    return Plan(
        wish=wish,
        path=path,
        asked=user_prompt(
            wish.idea,
            context=wish.context,
            related=related,
            update_of=path if wish.is_update else None,
            continue_from=earlier,
        ),
        existing=None if same is None else (await source.read(path, limit_bytes=MAX_STORED_BYTES)).content,
        continue_from=earlier,
        private_texts=tuple(text for text in (wish.context, related, "" if same is None else path) if text.strip()),
    )


async def _list_files(source: ResearchSource, known: Sequence[IdeaEntry]) -> list[str]:
    """Return the paths of earlier research that is not the document of an idea."""
    documents = {entry.path for entry in known}
    files = await source.list_files() if isinstance(source, FileListing) else ()
    return [path for path in files if path not in documents]


class _Exploration:
    """One exploration on its way."""

    def __init__(
        self,
        planned: Plan,
        source: ResearchSource,
        model: Model,
        *,
        job: Job,
        is_again: bool,
        clock: Callable[[], datetime],
    ) -> None:
        self._plan, self._source, self._model = planned, source, model
        self._job, self._clock, self._is_again = job, clock, is_again

    async def generate(self, options: ResearchOptions) -> _Findings:
        """Ask the model, in one phase or two."""
        tools = research_tools(self._model, options)
        if self._plan.wish.is_two_phase:
            return await self._in_two_phases(tools, options)
        one = await self._generate("whole", self._plan.asked, tools, options)
        return self._make_findings((one,), one.sources, notes=None)

    async def _in_two_phases(self, tools: tuple[Tool | WebSearch, ...], options: ResearchOptions) -> _Findings:
        """Gather with the tools, then write without; notes that were paid for are not lost if writing fails."""
        gathered = await self._generate("gather", self._plan.asked, tools, options)
        sources = renumber_sources(gathered.sources, after=self._plan.existing)
        asked = notes_prompt(self._plan.asked, gathered.content, footnotes(sources))
        try:
            wrote = await self._generate("write", asked, (), options)
        except ModelError as error:
            kept = _Findings(runs=(gathered,), notes=gathered.content, text="", sources=sources)
            await self._log(self._entry(kept, path=None, error=error.message))
            raise
        return self._make_findings((gathered, wrote), gathered.sources, notes=gathered.content)

    async def _generate(
        self, phase: Phase, asked: str, tools: tuple[Tool | WebSearch, ...], options: ResearchOptions
    ) -> Research:
        run_id = self._job.runs[1 if phase == "write" else 0]
        return await generate_with(self._system(phase, tools), asked, tools, {**options, "run_id": run_id})

    def _make_findings(self, runs: tuple[Research, ...], found: tuple[Source, ...], *, notes: str | None) -> _Findings:
        sources = renumber_sources(found, after=self._plan.existing)
        return _Findings(runs=runs, notes=notes, text=answer_text(runs[-1].message, sources), sources=sources)

    def _system(self, phase: Phase, tools: tuple[Tool | WebSearch, ...]) -> str:
        names = {one.name if isinstance(one, Tool) else "web_search" for one in tools}
        return system_prompt(
            self._plan.wish.framework,
            tools=names,
            today=self._job.started.date(),
            phase=phase,
            is_own_search=not any(isinstance(one, WebSearch) for one in tools),
        )

    async def write(self, found: _Findings) -> ExplorationResult:
        """Write the document and its log, once: what a job wrote before it was cut off is left as it is."""
        planned, last = self._plan, found.runs[-1]
        note = "" if last.is_whole else f"> Incomplete: {one_line(last.stop_detail, MAX_NOTE_CHARACTERS)}"
        content = ""

        def change(before: str | None) -> str:
            nonlocal content
            # Also what somebody else wrote there meanwhile stays.
            if before is not None and self._is_again and contains_text(before, found.text):
                content = before  # written before the job was cut off
            elif before is not None and before.strip():
                day = self._job.started.date()
                content = append_update(before, found.text, found.sources, today=day, note=note)
            else:
                content = new_document(planned.wish.idea, found.text, found.sources, note=note)
            return content

        outcome: Outcome = "updated" if planned.wish.is_update else "written"
        verb = "Update" if planned.wish.is_update else "Add"
        await self._source.update(planned.path, change, message=f"{verb} research: {idea_title(planned.wish.idea)}")
        entry = self._entry(found, path=planned.path)
        await self._log(entry)
        where = self._source.where(planned.path)
        return ExplorationResult(
            outcome=outcome, path=planned.path, where=where, content=content, entry=entry, is_whole=last.is_whole
        )

    async def _log(self, entry: LogEntry) -> None:
        message = f"Log an exploration: {idea_title(self._plan.wish.idea)}"
        await self._source.update(log_path(self._plan.path), lambda before: add_entry(before, entry), message=message)

    def _entry(self, found: _Findings, *, path: str | None, error: str | None = None) -> LogEntry:
        wish, runs, now = self._plan.wish, found.runs, self._clock()
        calls = [run.tool_calls for run in runs if run.tool_calls is not None]
        return LogEntry(
            job_id=self._job.id,
            idea=wish.idea,
            mode=wish.framework.name,
            model=self._model.origin.model,
            context=wish.context,
            is_update=wish.is_update,
            continue_from=self._plan.continue_from,
            started_at=self._job.started.isoformat(),
            completed_at=now.isoformat(),
            duration_ms=max(round((now - self._job.started).total_seconds() * 1_000), 0),
            steps=sum(run.steps for run in runs),
            requests=sum(run.requests for run in runs),
            input_tokens=sum(run.input_tokens for run in runs),
            output_tokens=sum(run.output_tokens for run in runs),
            cost_usd=total_cost(run.cost for run in runs),
            stop_reason=runs[-1].stop_reason,
            output_path=path,
            runs=tuple(run.run_id for run in runs),
            sources=tuple(source.model_dump(mode="json") for source in found.sources),
            failed_searches=tuple(one.model_dump(mode="json") for run in runs for one in run.failed_searches),
            tool_calls=tuple(call for logged in calls for call in logged) if calls else None,
            notes=found.notes,
            error=error,
        )
