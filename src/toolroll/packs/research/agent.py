"""`generate_research`: a model with web search and earlier research, until it has written a document (R20)."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Required

from typing_extensions import TypedDict, Unpack

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event
from toolroll.agent.live import LiveRun
from toolroll.agent.options import AgentOptions
from toolroll.agent.result import RunResult, ToolCallLog
from toolroll.agent.run import is_on_record
from toolroll.agent.stop import Condition, step_count_is, tokens_over
from toolroll.errors import ContentRefused
from toolroll.home.keys import with_keys
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.consent import Consent, Outflow
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.data.messages import AssistantMessage
from toolroll.kernel.define.tool import Tool
from toolroll.models.model import Model, Timeouts, WebSearch
from toolroll.models.retry import RetryRule
from toolroll.models.text_calls import is_raw_call
from toolroll.packs.research.read_research import SOURCE, read_research
from toolroll.packs.research.source import ResearchSource
from toolroll.packs.search.chain import searches_over
from toolroll.packs.search.settings import SearchSettings
from toolroll.packs.search.sources import FailedSearch, Source, final_state, read_failures, read_sources, record_sources
from toolroll.packs.search.tool import NAME as WEB_SEARCH
from toolroll.packs.search.tool import choose_search, make_search_tool
from toolroll.safe.text import one_line

MAX_OUTPUT_TOKENS: Final = 16_384
MAX_STEPS: Final = 5
STEP_TIMEOUT_S: Final = 120.0
"""How long nothing of a step may come: a slow search of the provider counts, a long document being written does not."""
TOKEN_LIMIT: Final = 80_000
"""For `token_limit`, where one is wanted: twice what a usual exploration takes."""

SEARCH_POLICY: Final = Policy((Rule(action="allow", tool=WEB_SEARCH),))
"""Who explores wants to search; out of a run that holds private text, only with a consent or a person's yes."""
EXPLORATION_CALLS: Final = 30
"""Searches that a person consents to for one exploration: its run has five steps, and up to six searches in each."""

_NO_ANSWER: Final = frozenset({"gave_up", "refusal"})
"""Stop reasons after which the last words of the model are no document."""


class ResearchOptions(TypedDict, total=False):
    """What a run of research can be given."""

    model: Required[Model | str]
    """The model, or its name."""
    source: ResearchSource | None
    """Where earlier research is; without it there is no `read_research`."""
    environment: "Mapping[str, str] | SearchSettings"
    """Keys and addresses of search services; the process's own if not given."""
    collect_tool_stats: bool
    """Whether the result lists every call."""
    token_limit: int | None
    """A limit in tokens; None for no limit."""
    max_steps: int
    """The most steps: turns of the model."""
    timeout_s: float
    """A step is given up after so many seconds in which nothing of it came; 120 if not given."""
    policy: Policy
    """Rules that allow calls, deny them, or ask a person."""
    approver: Approver | None
    """Answers questions about calls."""
    consent: Consent | Outflow | None
    """A person's consent to searches out of a run that has read earlier research."""
    more_tools: Sequence[Tool]
    """Further tools that it may use, such as those of MCP servers."""
    own_search: bool
    """Whether to search with our own tool although the provider has a search: its queries can be compared."""
    private_texts: Collection[str]
    """Texts in the prompts that are not the person's own words."""
    journal: Journal | None
    """Where the run is recorded."""
    on_event: Callable[[Event], None]
    """Called with every event."""
    on_open: Callable[[LiveRun[None]], None]
    """Gets hold of each run before it begins, to stop it."""
    retry: RetryRule
    """How failed requests are repeated."""
    record: Mapping[str, object]
    """Kept with the run, for whoever goes on with it."""
    run_id: str
    """Of the run. One that the journal has is gone on with: what was paid for once is not paid for again."""
    force: bool
    """Whether to go on with a run although the last attempts died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Research:
    """What a run came to. `content` is never empty; `tool_calls` is None where they were not asked for."""

    content: str
    input_tokens: int
    output_tokens: int
    steps: int
    """Turns of the model."""
    requests: int
    """Calls of the provider's API: a step is more than one where it was paused or tried again."""
    tool_calls: tuple[ToolCallLog, ...] | None
    sources: tuple[Source, ...]
    failed_searches: tuple[FailedSearch, ...]
    message: AssistantMessage
    """The turn that `content` is from, with its citations."""
    cost: float | None
    stop_reason: str
    stop_detail: str
    run_id: str
    is_whole: bool = True
    """Whether the model came to the end of what it wrote."""


async def generate_research(system_prompt: str, user_prompt: str, **options: Unpack[ResearchOptions]) -> Research:
    """Research by a model that may search the web and, with a `source`, read earlier research.

    At most 16,384 output tokens a turn and five steps. Raises `ContentRefused` where the model wrote nothing, and the
    `ModelError` of a model that cannot be asked.
    """
    model = connect_model(options["model"])
    tools = research_tools(model, options)
    return await generate_with(system_prompt, user_prompt, tools, {**options, "model": model})


def connect_model(model: Model | str) -> Model:
    """Return the model of that name, with the keys of the process."""
    if not isinstance(model, str):
        return model
    from toolroll.models.connect import connect  # noqa: PLC0415 - all wires there are, for who names one of them

    return connect(model, environment=with_keys(os.environ))


def research_tools(model: Model, options: ResearchOptions) -> tuple[Tool | WebSearch, ...]:
    """Return `web_search`, `read_research` where there is something to read, and what else the options give."""
    environment = options.get("environment", with_keys(os.environ))
    search = make_search_tool(environment) if options.get("own_search") else choose_search(model, environment)
    reading = (read_research,) if options.get("source") is not None else ()
    return (search, *reading, *options.get("more_tools", ()))


async def generate_with(
    system_prompt: str, user_prompt: str, tools: tuple[Tool | WebSearch, ...], options: ResearchOptions
) -> Research:
    """Do the same with exactly these tools."""
    agent = Agent(**agent_options(system_prompt, tools, options))
    journal, run_id, listener = agent.setup.journal, options.get("run_id"), options.get("on_event")
    is_streamed = listener is not None
    if run_id is not None and journal is not None and await is_on_record(journal, run_id):
        force = options.get("force", False)
        run = agent.start(resume=run_id, listener=listener, stream=is_streamed, force=force)
    else:
        run = agent.start(user_prompt, run_id=run_id, listener=listener, stream=is_streamed)
    options.get("on_open", _ignore)(run)
    try:
        result = await run.wait()
    finally:
        await run.close_models()
    values = await _read_state(run, journal)
    return _make_research(result, read_sources(values), read_failures(values))


async def _read_state(run: LiveRun[None], journal: Journal | None) -> Mapping[str, object]:
    """Return the state of the run; only the journal knows that of a run that was complete before."""
    if journal is not None:
        return final_state(await journal.read(run.run_id))
    return {} if run.run is None else run.run.state


def agent_options(system_prompt: str, tools: tuple[Tool | WebSearch, ...], options: ResearchOptions) -> AgentOptions:
    """Return what an agent for research is made of, with these tools."""
    source = options.get("source")
    stops: list[Condition] = [step_count_is(options.get("max_steps", MAX_STEPS)), searches_over()]
    limit = options.get("token_limit")
    if limit is not None:
        stops.append(tokens_over(limit))
    made: AgentOptions = {
        "model": options["model"],
        "tools": tools,
        "system": system_prompt,
        "stop_when": stops,
        "max_output_tokens": MAX_OUTPUT_TOKENS,
        "policy": options.get("policy", SEARCH_POLICY),
        "approver": options.get("approver"),
        "consent": options.get("consent"),
        "private_texts": options.get("private_texts", ()),
        "journal": options.get("journal"),
        "timeouts": _step_timeouts(options.get("timeout_s", STEP_TIMEOUT_S)),
        "outputs": None,  # a document is read whole or not at all, and there is no tool to page through it
        "on_turn": record_sources,
        "collect_tool_stats": options.get("collect_tool_stats", False),
        "overrides": {} if source is None else {SOURCE.id: lambda: source},
    }
    if "retry" in options:
        made["retry"] = options["retry"]
    if "record" in options:
        made["record"] = options["record"]
    return made


def _step_timeouts(seconds: float) -> Timeouts:
    """Return limits for the first byte, for a gap and for a time without content; a server at home may load longer."""
    usual = Timeouts()
    first_byte_s = None if seconds == STEP_TIMEOUT_S else seconds
    return Timeouts(first_byte_s=first_byte_s, gap_s=min(seconds, usual.gap_s), content_s=seconds)


def _make_research(
    result: RunResult[object], sources: tuple[Source, ...], failures: tuple[FailedSearch, ...]
) -> Research:
    message = _last_answer(result)
    usage = result.usage
    return Research(
        content=message.text,
        input_tokens=usage.input_total,
        output_tokens=usage.output_tokens,
        steps=len(result.steps),
        requests=usage.requests,
        tool_calls=result.tool_calls,
        sources=sources,
        failed_searches=failures,
        message=message,
        cost=result.cost,
        stop_reason=result.stop_reason,
        stop_detail=result.stop_detail,
        run_id=result.run_id,
        is_whole=result.stop_reason in ("answer", "done", "condition") and not result.steps[-1].is_cut,
    )


def _last_answer(result: RunResult[object]) -> AssistantMessage:
    """Return the last turn, if it is an answer: words on the way to a tool are no document (A4)."""
    said = [message for message in result.messages if isinstance(message, AssistantMessage)]
    if (
        said
        and said[-1].text.strip()
        and not is_raw_call(said[-1].text)
        and (not said[-1].calls or result.closing)
        and result.stop_reason not in _NO_ANSWER
    ):
        return said[-1]
    why = one_line(f"{result.stop_reason}: {result.stop_detail}".removesuffix(": "), 200)
    text = f"The model wrote no document ({why}). Nothing was kept. Try again, or another model."
    if result.stop_reason == "gave_up":
        again = f"toolroll runs resume {result.run_id} --force"
        text = f"The exploration was given up ({result.stop_detail}). Nothing was kept. Try once more with: {again}"
    error = ContentRefused(text)
    error.result = result
    raise error


def _ignore(_told: object) -> None:
    return None
