"""An agent as a tool of another: asked by one text, answering with one, paid for by the run that calls it."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, Protocol

from pydantic import BaseModel, Field

from toolroll.agent.events import CallStarted, Event, StepFinished, Warned
from toolroll.agent.labels import labels_of_tools
from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.options import Setup, find_needs
from toolroll.agent.result import RunResult, SubRun
from toolroll.agent.run import AgentRun, is_on_record
from toolroll.errors import ModelError, ToolFailure
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.labels import ALL_LABELS, Labels
from toolroll.kernel.data.messages import Prompt
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import WrapperTool
from toolroll.kernel.depends.dependency import Injection

MAX_DEPTH: Final = 4
"""Agents that call agents: deeper than that nobody follows, and one that calls itself would never end."""


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
        resume: str | None = None,
        listener: Listener | None = None,
        stream: bool = False,
        run_id: str | None = None,
        caller: Run | None = None,
    ) -> LiveRun[Any]:
        """Start a run that is part of the caller's."""
        ...


def agent_tool(agent: SubAgent, *, name: str, description: str) -> Tool:
    """Make a tool of an agent.

    It only reads: whatever its own tools change is asked about in its run, by the rules and the approver of the
    caller's, unless it has its own. What is denied there is denied here.
    """

    async def execute(given: Task, ctx: ToolContext) -> ToolResult:
        return await _Delegation(name, ctx, agent).run(given.task)

    made = define_tool(name=name, description=description, input=Task, execute=execute)
    setup = agent.setup
    labels = labels_of_tools(setup.tools, searches=setup.web_search is not None)
    if setup.step_tools is not None:  # which may add any tool
        labels = ALL_LABELS
    return _AgentTool(made, labels, tuple(find_needs(setup)))


class _AgentTool(WrapperTool):
    """Says what the agent could bring in. What it did is known when it has ended, and counts then."""

    def __init__(self, inner: Tool, labels: Labels, needs: tuple[Injection, ...]) -> None:
        super().__init__(inner)
        self._labels = labels
        self._needs = needs

    @property
    def needs(self) -> tuple[Injection, ...]:
        """What its tools need from the run that calls it."""
        return self._needs

    @property
    def labels(self) -> Labels:
        """All that its tools bring in."""
        return self._labels


class _Delegation:
    """One call of a sub-agent."""

    def __init__(self, name: str, ctx: ToolContext, agent: SubAgent) -> None:
        self._name = name
        self._ctx = ctx
        self._agent = agent
        self._caller = ctx.run if isinstance(ctx.run, AgentRun) else None
        self._run_id = ""

    async def run(self, task: str) -> ToolResult:
        """Run the sub-agent; a run that was interrupted together with its caller continues from its own record."""
        caller = self._caller
        if caller is not None and caller.depth >= MAX_DEPTH:
            raise ToolFailure(f"Agents call each other {MAX_DEPTH} deep already. Do this here.", code="too_deep")
        run = await self._start(task)
        self._run_id = run.run_id
        if run.run is not None:
            run.run.labels |= self._ctx.run.labels
        try:
            return _result(await run.wait())
        except ModelError as error:
            raise ToolFailure(f"{self._name} could not finish. {error.message}", code=error.code) from error
        finally:
            if run.run is not None:
                self._ctx.run.add_labels(run.run.labels)
                self._ctx.run.note_consented()

    async def _start(self, task: str) -> LiveRun[Any]:
        start, caller = partial(self._agent.start, caller=self._ctx.run, listener=self._on_event), self._caller
        if caller is None:
            return start(task)
        journal = inherit(self._agent.setup, caller).journal
        stream, run_id = caller.going.stream, f"{caller.run_id}.{self._ctx.call_id}"
        if journal is None:
            return start(task, stream=stream)
        if await is_on_record(journal, run_id):
            return start(resume=run_id, stream=stream)
        return start(task, stream=stream, run_id=run_id)

    def _on_event(self, event: Event) -> None:
        match event:
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
