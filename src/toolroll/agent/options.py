"""The options of an agent, and the checked `Setup` they become. Mistakes raise `UsageError` when the agent is made."""

import difflib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike, environ
from pathlib import Path
from typing import Any, Final, Literal, Required, TypeAlias

from typing_extensions import TypedDict

from toolroll.agent.context.rules import ContextRules
from toolroll.agent.context_function import ContextFunction
from toolroll.agent.cost import Price
from toolroll.agent.hooks import Hook, Hooks, make_hooks
from toolroll.agent.output import OutputForm, make_output
from toolroll.agent.stop import DEFAULT, Condition, LoopRules, conditions, step_count_is, tool_called
from toolroll.errors import UsageError
from toolroll.home.keys import with_keys
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.consent import Consent, Outflow
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import Approver, check_approver
from toolroll.kernel.call.context import Run
from toolroll.kernel.data.labels import NO_LABELS, Labels
from toolroll.kernel.data.messages import AssistantMessage
from toolroll.kernel.define.deferred import as_deferred
from toolroll.kernel.define.tool import Tool, ToolDefinition, Toolset
from toolroll.kernel.define.wrappers import ApprovalCondition, with_approval
from toolroll.kernel.depends.dependency import Injection, Overrides
from toolroll.kernel.depends.overrides import check_matched, read_overrides
from toolroll.models.model import DEFAULT_MAX_OUTPUT_TOKENS, Model, Timeouts, WebSearch
from toolroll.models.prices import price_of
from toolroll.models.retry import RetryRule
from toolroll.models.settings import (
    CHOICE_WORDS,
    ModelSettings,
    SettingsLike,
    check_settings,
    make_settings,
)

TurnHook: TypeAlias = Callable[[Run, AssistantMessage], None]
"""Looks at each turn of the model as it comes; what it keeps with the run is recorded together with the turn."""

SystemFunction: TypeAlias = Callable[..., str | Awaitable[str]]
"""Writes the system text: `system(ctx)`, sync or async, with dependencies as a tool has them."""

StepTools: TypeAlias = Callable[..., Iterable[Tool] | Awaitable[Iterable[Tool]]]
"""Chooses the tools of the next step: `step_tools(ctx, tools)`, sync or async; `tools` are those of the agent."""


@dataclass(frozen=True, slots=True)
class per_step:  # noqa: N801 - reads as the word it is in an agent's definition
    """Write the system text anew before each step: `Agent(system=per_step(function))`."""

    function: SystemFunction
    """Writes the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemText:
    """A system text that a function writes, for each run or for each step."""

    function: ContextFunction
    is_per_step: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything a run needs to know of its agent. What is None was not set: a sub-agent then takes its caller's."""

    model: Model
    tools: Toolset
    definitions: tuple[ToolDefinition, ...]
    system: str = ""
    write_system: SystemText | None = None
    step_tools: ContextFunction | None = None
    stop_when: tuple[Condition, ...] = DEFAULT
    web_search: WebSearch | None = None
    approver: Approver | None = None
    policy: Policy | None = None
    consent: Consent | Outflow | None = None
    private_texts: tuple[str, ...] = ()
    deps: Mapping[str, object] | None = None
    overrides: Overrides | None = None
    labels: Labels = NO_LABELS
    """What a run begins with, beside what its messages bring."""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What was chosen for one run, by option: who resumes the run must choose it again."""
    journal: Journal | None = None
    outputs: Path | Literal["off"] | None = None
    """The folder for whole tool outputs; None means beside the journal, where that is in a folder."""
    context: ContextRules = ContextRules()  # noqa: RUF009 - frozen
    retry: RetryRule = RetryRule()  # noqa: RUF009 - frozen
    timeouts: Timeouts | None = None
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    output: OutputForm | None = None
    output_schema: Mapping[str, object] | None = None
    output_validators: tuple[ContextFunction, ...] = ()
    require_done: bool = False
    close_with_answer: bool = True
    loop_guard: LoopRules | None = LoopRules()  # noqa: RUF009 - frozen
    """None if a model may repeat itself."""
    collect_tool_stats: bool = False
    on_turn: TurnHook | None = None
    hooks: Hooks | None = None
    settings: ModelSettings | None = None
    """What is asked of the model beyond the conversation."""
    record: Mapping[str, object] | None = None
    """Kept with each run, for whoever has to make the same agent again."""
    price: Price = price_of
    clock: Callable[[], datetime] | None = None
    make_id: Callable[[], str] | None = None

    @property
    def step_limit(self) -> int | None:
        """Return the most steps that a run may have, if that is limited."""
        return min((one.count for one in self.stop_when if isinstance(one, step_count_is)), default=None)

    @property
    def is_prepared(self) -> bool:
        """Return whether functions of the program are asked before each step."""
        return self.step_tools is not None or (self.write_system is not None and self.write_system.is_per_step)


_NONE: Final = type(None)
_WANTED: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "system": ((str, per_step, Callable), "a text, or a function of the context that returns one"),  # type: ignore[dict-item]  # a class to isinstance, not to mypy
    "policy": ((Policy, _NONE), "a Policy"),
    "consent": ((Consent, Outflow, _NONE), "a Consent"),
    "context": ((ContextRules,), "ContextRules"),
    "retry": ((RetryRule,), "a RetryRule"),
    "timeouts": ((Timeouts, _NONE), "Timeouts"),
    "deps": ((Mapping, _NONE), "a mapping of values by name"),
    "overrides": ((Mapping, _NONE), "a mapping of providers to those that stand in for them"),
    "record": ((Mapping, _NONE), "a mapping"),
    "outputs": ((str, PathLike, _NONE), "a folder, or None for none"),
    "require_done": ((bool,), "True or False"),
    "close_with_answer": ((bool,), "True or False"),
    "loop_guard": ((bool, LoopRules), "True, False or LoopRules"),
    "collect_tool_stats": ((bool,), "True or False"),
    "on_turn": ((Callable, _NONE), "a function"),  # type: ignore[dict-item]  # as above
    "price": ((Callable,), "a function"),  # type: ignore[dict-item]  # as above
    "clock": ((Callable, _NONE), "a function"),  # type: ignore[dict-item]  # as above
    "make_id": ((Callable, _NONE), "a function"),  # type: ignore[dict-item]  # as above
}
"""What an option must be, and the words for it; those that can be several things are looked at on their own."""


class AgentOptions(TypedDict, total=False):
    """The keyword arguments of `Agent`, beside `output`."""

    model: Required[Model | str]
    """The model, or its name: `sonnet`, `openai:NAME`, `ollama:NAME`, ..."""
    tools: Iterable[Tool | WebSearch | Iterable[Tool]]
    """The tools of the agent, sets of them such as an `MCPServer`, and at most one `WebSearch`."""
    system: str | SystemFunction | per_step
    """The system prompt, or a function of the context that writes it for each run; `per_step(...)` for each step."""
    step_tools: StepTools
    """Chooses the tools of each step: `step_tools(ctx, tools)` returns those to offer."""
    stop_when: Condition | Iterable[Condition]
    """One stop condition or several; the default is `step_count_is(10)`."""
    approver: Approver | None
    """Answers questions about calls that need approval. Without one, such calls are refused."""
    policy: Policy
    """Rules that allow calls, deny them, or ask a person."""
    consent: Consent | Outflow | None
    """A person's consent to calls that send something out of a run with private text; an `Outflow` counts them over
    several runs."""
    private_texts: Collection[str]
    """Texts in the prompts that are not the person's own words, such as files: private, and written by anybody."""
    deps: Mapping[str, object]
    """Values that tools find in `ctx.deps`."""
    overrides: Overrides
    """Providers that replace others, by provider, id or key; one that matches nothing is an error."""
    journal: Journal | None
    """Where runs are recorded; needed to resume, fork and replay them."""
    outputs: "Path | str | None"
    """The folder for whole tool outputs; by default beside the journal. None or "off" turns it off."""
    context: ContextRules
    """When outputs are trimmed and the conversation is compacted."""
    retry: RetryRule
    """How often and after which delay a failed request is repeated."""
    timeouts: Timeouts | None
    """How long the model may take; None leaves it to the model."""
    max_output_tokens: int
    """The most tokens that one answer of the model may have."""
    output_validators: Iterable[Callable[..., object]]
    """Functions that check a typed answer: `check(output, ctx)` returns it, changed or not, or raises `ToolFailure`."""
    require_done: bool
    """Whether only the tool `done` ends the run, not an answer without calls."""
    close_with_answer: bool
    """Whether a run that reaches a limit asks the model once more, without tools, for an answer."""
    loop_guard: bool | LoopRules
    """How often a model may repeat the same calls with the same results; False sets no limit."""
    collect_tool_stats: bool
    """Whether `RunResult.tool_calls` lists every call."""
    on_turn: TurnHook
    """Called with each turn of the model, before its calls run."""
    needs_approval: Mapping[str, ApprovalCondition]
    """Conditions by the names of tools: `when(arguments, ctx)` says whether a person is asked about a call."""
    hooks: Iterable[Hook]
    """Objects that take part in runs, requests to the model and tool calls; the first is the outermost."""
    settings: SettingsLike
    """What is asked of the model beyond the conversation: `ModelSettings(temperature=0.2)`, or a dictionary."""
    record: Mapping[str, object]
    """Values that are recorded with each run."""
    price: Price
    """Returns the price of a request; the default knows the usual models."""
    clock: Callable[[], datetime]
    """Returns the time; tests replace it."""
    make_id: Callable[[], str]
    """Returns a new id for a run; tests replace it."""


def make_setup(options: AgentOptions, output: object = None) -> Setup:
    """Return the setup behind the options; what cannot work is refused here, not at run time."""
    rest: dict[str, Any] = dict(options)
    check_options(rest, (*AgentOptions.__annotations__, "output"))
    given, validators = _flatten_tools(rest.pop("tools", ())), rest.pop("output_validators", None) or ()
    searches = [one for one in given if isinstance(one, WebSearch)]
    if len(searches) > 1:
        raise UsageError("An agent takes one WebSearch, not several.")
    tools = Toolset(_with_conditions([one for one in given if isinstance(one, Tool)], rest.pop("needs_approval", {})))
    if len(tools) + len(searches) != len(given):
        raise UsageError("An agent's tools are made with @tool or define_tool. Decorate plain functions first.")
    setup = Setup(
        model=find_model(rest.pop("model"), rest.get("timeouts")),
        tools=tools,
        definitions=tools.definitions,
        web_search=searches[0] if searches else None,
        stop_when=conditions(rest.pop("stop_when", None)),
        private_texts=tuple(text for text in rest.pop("private_texts", ()) if text.strip()),
        hooks=make_hooks(rest.pop("hooks", ())),
        **_functions(rest),
        **_loop_guard(rest),
        **_outputs(rest),
        **_settings(rest),
        **rest,
        **_output(output, validators),
    )
    check_names(setup)
    check_overrides(setup)
    check_waiting(setup)
    check_settings(setup.model, setup.settings, setup.model.origin.model)
    return setup


def _flatten_tools(given: Iterable[object]) -> list[object]:
    """Return the tools one by one; a set of them, such as that of a server, stands for all that it holds."""
    found: list[object] = []
    for one in given:
        if isinstance(one, Iterable) and not isinstance(one, Tool | WebSearch | str):
            found += one
        else:
            found.append(one)
    return found


def _with_conditions(tools: Sequence[Tool], conditions: Mapping[str, ApprovalCondition]) -> list[Tool]:
    """Return the tools, those with a condition wrapped in it; a name that no tool has is refused."""
    if not isinstance(conditions, Mapping):
        raise UsageError(f"needs_approval is a mapping of tool names to functions, not {conditions!r}.")
    known = [tool.name for tool in tools]
    for name in conditions:
        if name not in known:
            raise UsageError(f"needs_approval names {name!r}, and the agent's tools are: {', '.join(known) or 'none'}.")
    return [with_approval(tool, conditions[tool.name]) if tool.name in conditions else tool for tool in tools]


def _settings(rest: dict[str, Any]) -> dict[str, Any]:
    settings = make_settings(rest.pop("settings", None))
    if settings is None:
        return {}
    if settings.max_output_tokens is None:
        return {"settings": settings}
    if "max_output_tokens" in rest:
        raise UsageError("max_output_tokens is given twice: as an option and in settings. Give it once.")
    return {"settings": settings, "max_output_tokens": settings.max_output_tokens}


def check_waiting(setup: Setup) -> None:
    """Refuse what is answered later where nothing can wait. A mark for an approver, as its class imports this one."""
    if setup.journal is None and getattr(setup.approver, "needs_journal", False):
        raise UsageError("AskLater keeps questions in the journal. Give the agent one: journal=SqliteJournal(folder).")
    if setup.journal is None and (outside := [tool.name for tool in setup.tools if as_deferred(tool) is not None]):
        raise UsageError(
            f"Calls of {', '.join(outside)} are answered from outside, and a run waits for that in its journal. "
            "Give the agent one: journal=SqliteJournal(folder)."
        )


def check_overrides(setup: Setup) -> None:
    """Refuse overrides that match nothing, unless `step_tools` may add tools that are not known yet."""
    if setup.overrides and setup.step_tools is None:
        check_matched(setup.overrides, find_needs(setup))


def find_needs(setup: Setup) -> list[Injection]:
    """Return everything that the tools and functions of an agent ask to be given."""
    found = [need for tool in setup.tools for need in tool.needs]
    if setup.write_system is not None:
        found += setup.write_system.function.needs
    if setup.step_tools is not None:
        found += setup.step_tools.needs
    for check in setup.output_validators:
        found += check.needs
    return found


def _functions(rest: dict[str, Any]) -> dict[str, Any]:
    """What a program wrote as a function of the context, read."""
    found: dict[str, Any] = {}
    system = rest.get("system", "")
    if not isinstance(system, str):
        del rest["system"]
        is_per_step = isinstance(system, per_step)
        function = ContextFunction(system.function if is_per_step else system, option="system", values=["ctx"])
        found["write_system"] = SystemText(function=function, is_per_step=is_per_step)
    if rest.get("step_tools") is not None:
        chosen = ContextFunction(rest.pop("step_tools"), option="step_tools", values=["ctx", "tools"])
        found["step_tools"] = chosen
    if rest.get("overrides") is not None:
        found["overrides"] = read_overrides(rest.pop("overrides"))
    return found


def find_model(given: Model | str, timeouts: Timeouts | None = None) -> Model:
    """Return the model, or the one that the name stands for."""
    if not isinstance(given, str):
        return given
    from toolroll.models.connect import ConnectSettings, connect  # noqa: PLC0415 - all wires there are, for who names one of them

    return connect(given, environment=with_keys(environ), settings=ConnectSettings(timeouts=timeouts))


def _loop_guard(rest: dict[str, Any]) -> dict[str, Any]:
    given = rest.pop("loop_guard", True)
    return {"loop_guard": given if isinstance(given, LoopRules) else LoopRules() if given else None}


def _outputs(rest: dict[str, Any]) -> dict[str, Any]:
    """None turns it off; not being said leaves it to where the journal is."""
    if "outputs" not in rest:
        return {}
    given = rest.pop("outputs")
    return {"outputs": "off" if given is None or given == "off" else Path(given)}


def _output(shape: object, validators: object) -> dict[str, Any]:
    if not isinstance(validators, Iterable) or isinstance(validators, str):
        raise UsageError(f"output_validators takes a list of functions, not {validators!r}.")
    checks = tuple(
        ContextFunction(one, option="output_validators", values=["output", "ctx"]) for one in (validators or ())
    )
    if shape is None:
        if checks:
            raise UsageError("output_validators check a typed answer: they need output=.")
        return {}
    form = make_output(shape)
    return {"output": form, "output_schema": form.schema, "output_validators": checks}


def check_names(setup: Setup) -> None:
    """Refuse to wait for a tool that is not there."""
    if setup.require_done and setup.tools.get("done") is None:
        raise UsageError("require_done needs a tool named `done`. Add the one of toolroll.packs.standard.")
    for condition in setup.stop_when:
        if isinstance(condition, tool_called) and setup.tools.get(condition.name) is None:
            known = ", ".join(tool.name for tool in setup.tools) or "none"
            raise UsageError(f"tool_called waits for {condition.name!r}, and the agent's tools are: {known}.")
    _check_choice(setup)
    for name in setup.context.pinned_tools:
        if setup.tools.get(name) is None:
            known = ", ".join(tool.name for tool in setup.tools) or "none"
            raise UsageError(f"pinned_tools names {name!r}, and the agent's tools are: {known}.")


def _check_choice(setup: Setup) -> None:
    choice = "auto" if setup.settings is None else setup.settings.tool_choice or "auto"
    known = ", ".join(tool.name for tool in setup.tools) or "none"
    if choice == "required" and not setup.definitions and setup.web_search is None and setup.step_tools is None:
        raise UsageError("tool_choice is 'required', and the agent has no tools.")
    if choice not in CHOICE_WORDS and setup.tools.get(choice) is None and setup.step_tools is None:
        raise UsageError(f"tool_choice names {choice!r}, and the agent's tools are: {known}.")


def check_options(options: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse unknown options, missing ones, and values of the wrong type."""
    for name in options:
        if name not in known:
            raise UsageError(_no_such_option(name, known))
    if "model" not in options:
        raise UsageError('An agent needs a model: Agent(model="sonnet", ...), or any Model.')
    check_model(options["model"])
    _check_tools(options.get("tools", ()))
    if options.get("approver") is not None:
        check_approver(options["approver"])
    _check_journal(options.get("journal"))
    _check_texts(options.get("private_texts", ()))
    for name, (kinds, words) in _WANTED.items():
        if name in options and not isinstance(options[name], kinds):
            raise UsageError(f"{name} is {words}, not {options[name]!r}.")
    _check_tokens(options.get("max_output_tokens", 1))


_ELSEWHERE: Final[Mapping[str, str]] = {
    "instructions": "system",
    "system_prompt": "system",
    "prompt": "system",
    "model_settings": "settings",
    "output_type": "output",
    "response_format": "output",
    "max_steps": "stop_when",
    "max_turns": "stop_when",
}
"""What other frameworks call our options."""


def _no_such_option(name: str, known: Collection[str]) -> str:
    near = [_ELSEWHERE[name]] if name in _ELSEWHERE else difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}=?" if near else ""
    return f"An agent has no option {name!r}.{hint} It takes: {', '.join(known)}."


def check_model(model: object) -> None:
    """Refuse what is neither the name of a model nor one."""
    if not isinstance(model, str) and (isinstance(model, type) or not callable(getattr(model, "respond", None))):
        raise UsageError(
            f'model is the name of one, such as "sonnet", or an object that answers requests, not {model!r}.'
        )


def _check_tools(tools: object) -> None:
    if isinstance(tools, Tool | WebSearch):
        raise UsageError("tools takes a list of them: tools=[...], also for one.")
    if not isinstance(tools, Iterable) or isinstance(tools, str):
        raise UsageError(f"tools takes a list of tools, not {tools!r}.")


def _check_texts(texts: object) -> None:
    if isinstance(texts, str) or not isinstance(texts, Collection) or not all(isinstance(one, str) for one in texts):
        raise UsageError(f"private_texts takes a list of texts, not {texts!r}.")


def _check_journal(journal: object) -> None:
    if journal is not None and (isinstance(journal, type) or not callable(getattr(journal, "append", None))):
        raise UsageError(f"journal is an object that keeps runs, such as SqliteJournal(folder), not {journal!r}.")


def _check_tokens(tokens: object) -> None:
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens <= 0:
        raise UsageError(f"max_output_tokens is a whole number above 0, not {tokens!r}.")
