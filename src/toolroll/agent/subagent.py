"""An agent as a tool of another: asked by one text, answering with one, paid for by the run that calls it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, Field

from toolroll.agent.events import (
    CallStarted,
    Event,
    HandedOver,
    ReasoningArrived,
    RunStarted,
    StepFinished,
    TextArrived,
    Warned,
)
from toolroll.agent.labels import labels_of_tools
from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.loop.state import Replies
from toolroll.agent.options import Setup, find_needs
from toolroll.agent.result import RunResult, SubRun
from toolroll.agent.run import AgentRun, is_on_record
from toolroll.errors import ModelError, ToolFailure, UsageError
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import Decision
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested
from toolroll.kernel.call.result import Done, ToolResult
from toolroll.kernel.data.labels import ALL_LABELS, Labels
from toolroll.kernel.data.messages import AssistantMessage, Message, Prompt, TextBlock, UserMessage
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import WrapperTool
from toolroll.kernel.depends.dependency import Injection

Input = TypeVar("Input")

MAX_DEPTH: Final = 4
"""Agents that call agents: deeper than that nobody follows, and one that calls itself would never end."""


HANDED_OVER: Final = "[This is not from the user: you have taken over this conversation. Answer the user.]"

HistoryFilter: TypeAlias = Callable[[tuple[Message, ...]], Sequence[Message]]
"""Returns what the agent that takes over may see of the conversation."""


def words_only(messages: tuple[Message, ...]) -> Sequence[Message]:
    """Return what was said in a conversation, without calls, their results and thoughts."""
    said: list[Message] = []
    for message in messages:
        if isinstance(message, UserMessage):
            said.append(message)
        elif isinstance(message, AssistantMessage) and message.text.strip():
            said.append(AssistantMessage(blocks=(TextBlock(text=message.text),), origin=message.origin))
    return said


class Handoff(BaseModel):
    """What the agent that hands over says."""

    reason: Annotated[str, Field(description="What the user wants and what is known already.")] = ""


class Task(BaseModel):
    """What a sub-agent is asked."""

    task: Annotated[
        str, Field(min_length=1, description="What to do, with all that is needed for it: nothing else is known there.")
    ]


class SubAgent(Protocol):
    """The part of `Agent` that a sub-agent is run with."""

    @property
    def setup(self) -> Setup:
        """Return what the agent is made of."""
        ...

    def start(
        self,
        prompt: Prompt | None = None,
        *,
        messages: Iterable[Message] = (),
        resume: str | None = None,
        decisions: Mapping[str, Decision] | None = None,
        results: Mapping[str, object] | None = None,
        listener: Listener | None = None,
        stream: bool = False,
        run_id: str | None = None,
        caller: Run | None = None,
    ) -> LiveRun[Any]:
        """Start a run that is part of the caller's."""
        ...


def agent_tool(
    agent: SubAgent,
    *,
    name: str,
    description: str,
    input: type[Input] | None = None,  # noqa: A002 - as in define_tool
    prompt: Callable[[Input], Prompt] | None = None,
) -> Tool:
    """Make a tool of an agent. With `input`, the caller's model fills in that type; the agent reads it as JSON, or as
    what `prompt` makes of it.

    It only reads: whatever its own tools change is asked about in its run, by the rules and the approver of the
    caller's, unless it has its own. What is denied there is denied here.
    """

    if prompt is not None and input is None:
        raise UsageError("prompt makes a prompt of the input: give as_tool an input= too.")

    async def ask(given: Task, ctx: ToolContext) -> ToolResult:
        return await _Delegation(name, ctx, agent).run(given.task)

    async def ask_typed(given: Input, ctx: ToolContext) -> ToolResult:
        return await _Delegation(name, ctx, agent).run(dump_json(given) if prompt is None else prompt(given))

    if input is None:
        return _wrap(agent, define_tool(name=name, description=description, input=Task, execute=ask))
    return _wrap(agent, define_tool(name=name, description=description, input=input, execute=ask_typed))


def handoff_tool(agent: SubAgent, *, name: str, description: str, sees: HistoryFilter | None = None) -> Tool:
    """Make a tool with which another agent hands the conversation over to this one, whose answer ends the run."""

    async def execute(given: Handoff, ctx: ToolContext) -> Done:
        history = _history(ctx.run)
        note = UserMessage.of(f"{HANDED_OVER} {given.reason}".rstrip())
        shown = history if sees is None else sees(history)
        return Done((await _Delegation(name, ctx, agent, speaks=True).run(None, (*shown, note))).text)

    return _wrap(agent, define_tool(name=name, description=description, input=Handoff, execute=execute))


def _history(run: Run) -> tuple[Message, ...]:
    """Return the conversation before the turn that hands it over."""
    messages = run.going.messages() if isinstance(run, AgentRun) else ()
    turns = [place for place, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    return messages[: turns[-1]] if turns else messages


def _wrap(agent: SubAgent, made: Tool) -> Tool:
    setup = agent.setup
    labels = labels_of_tools(setup.tools, searches=setup.web_search is not None)
    if setup.step_tools is not None:  # which may add any tool
        labels = ALL_LABELS
    return _AgentTool(made, labels, tuple(find_needs(setup)), tuple(setup.tools))


class _AgentTool(WrapperTool):
    """Says what the agent could bring in. What it did is known when it has ended, and counts then."""

    def __init__(self, inner: Tool, labels: Labels, needs: tuple[Injection, ...], tools: tuple[Tool, ...]) -> None:
        super().__init__(inner)
        self._tools = tools
        self._labels = labels
        self._needs = needs

    @property
    def needs(self) -> tuple[Injection, ...]:
        """What its tools need from the run that calls it."""
        return self._needs

    @property
    def inner_tools(self) -> tuple[Tool, ...]:
        """The tools of the agent."""
        return self._tools

    @property
    def labels(self) -> Labels:
        """All that its tools bring in."""
        return self._labels


class _Delegation:
    """One call of a sub-agent."""

    def __init__(self, name: str, ctx: ToolContext, agent: SubAgent, *, speaks: bool = False) -> None:
        self._speaks = speaks
        self._name = name
        self._ctx = ctx
        self._agent = agent
        self._caller = ctx.run if isinstance(ctx.run, AgentRun) else None
        self._run_id = ""

    async def run(self, task: Prompt | None, messages: Sequence[Message] = ()) -> ToolResult:
        """Run the sub-agent; a run that was interrupted together with its caller continues from its own record."""
        caller = self._caller
        if caller is not None and caller.depth >= MAX_DEPTH:
            raise ToolFailure(f"Agents call each other {MAX_DEPTH} deep already. Do this here.", code="too_deep")
        run = await self._start(task, messages)
        self._run_id = run.run_id
        if run.run is not None:
            run.run.labels |= self._ctx.run.labels
        try:
            return self._take(await run.wait())
        except ModelError as error:
            raise ToolFailure(f"{self._name} could not finish. {error.message}", code=error.code) from error
        finally:
            if run.run is not None:
                self._ctx.run.add_labels(run.run.labels)
                self._ctx.run.note_consented()

    def _take(self, result: RunResult[object]) -> ToolResult:
        """Return what the agent came to; where it waits for somebody, so does the call, and nobody reads this."""
        if result.pending and self._caller is not None:
            call_id = self._ctx.call_id
            waiting = tuple(replace(one, call_id=f"{call_id}/{one.call_id}") for one in result.pending)
            self._caller.going.waiting[call_id] = waiting
        return _result(result)

    async def _start(self, task: Prompt | None, messages: Sequence[Message]) -> LiveRun[Any]:
        start, caller = partial(self._agent.start, caller=self._ctx.run, listener=self._on_event), self._caller
        if caller is None:
            return start(task, messages=messages)
        journal = inherit(self._agent.setup, caller).journal
        stream, run_id = caller.going.stream, f"{caller.run_id}.{self._ctx.call_id}"
        if journal is None:
            return start(task, messages=messages, stream=stream)
        if await is_on_record(journal, run_id):
            replies = caller.going.below.pop(self._ctx.call_id, Replies())
            return start(resume=run_id, stream=stream, decisions=replies.decisions, results=replies.results)
        return start(task, messages=messages, stream=stream, run_id=run_id)

    def _on_event(self, event: Event) -> None:
        if self._speaks and self._caller is not None and isinstance(event, TextArrived | ReasoningArrived):
            self._caller.going.emit(event)
        match event:
            case RunStarted(run_id=run_id) if self._speaks and self._caller is not None:
                self._caller.going.emit(HandedOver(tool=self._name, run_id=run_id))
            case StepFinished(step=step) if self._caller is not None:
                self._caller.going.spend(
                    SubRun(
                        name=self._name,
                        run_id=self._run_id,
                        call_id=self._ctx.call_id,
                        usage=step.usage,
                        bill=step.bill,
                    ),
                    step=step.number,
                )
            case ApprovalRequested() | ApprovalDecided():
                self._ctx.run.emit(event)
            case CallStarted(call=call):
                self._ctx.progress(f"{self._name} calls {call.name}")
            case Warned(text=text):
                self._ctx.progress(f"{self._name}: {text}")
            case _:
                return


def inherit(setup: Setup, caller: Run) -> Setup:
    """Return the setup with the caller's approver, rules, dependencies and journal where it has none of its own."""
    going = caller.going.setup if isinstance(caller, AgentRun) else None
    gate = caller.gate if isinstance(caller, AgentRun) else caller.approver
    return replace(
        setup,
        approver=setup.approver if setup.approver is not None else gate,
        policy=_policy(setup.policy, caller.policy),
        consent=caller.outflow,  # a person has consented to what the whole run sends out
        deps=setup.deps if setup.deps is not None else caller.deps,
        overrides=setup.overrides if setup.overrides is not None else caller.overrides,
        journal=setup.journal if setup.journal is not None or going is None else going.journal,
        clock=setup.clock or caller.clock,
        make_id=setup.make_id or caller.make_id,
    )


def _policy(own: Policy | None, callers: Policy | None) -> Policy | None:
    if own is None:
        return callers
    allowed = own.outward if callers is None or callers.outward == "ask" else "refuse"
    denied = () if callers is None else (rule for rule in callers.rules if rule.action == "deny")
    return replace(own.plus(denied), outward=allowed)


def _result(result: RunResult[object]) -> ToolResult:
    if result.output is not None:
        return ToolResult.of_json(result.output)
    if not result.can_continue:
        return ToolResult.of_text(result.text)
    why = f"{result.stop_reason}: {result.stop_detail}" if result.stop_detail else result.stop_reason
    return ToolResult.of_text(f"{result.text}\n[stopped early: {why}]")
