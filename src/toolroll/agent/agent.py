"""The agent: a model, tools, and rules for when to stop. One loop serves `run`, `run_sync` and `stream`."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic, Never, Self, TypeVar, overload

from typing_extensions import Unpack

from toolroll.agent.choices import RunOptions, choose
from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.options import AgentOptions, Setup, make_setup
from toolroll.agent.result import Out, RunResult
from toolroll.agent.run import AgentRun, RunRequest, close_models
from toolroll.agent.subagent import HistoryFilter, agent_tool, handoff_tool, inherit
from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Decision
from toolroll.kernel.call.context import Run
from toolroll.kernel.data.messages import Message, Prompt
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.threads import is_in_event_loop

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


class Agent(Generic[Out]):
    """Runs a model with tools until it has an answer.

    `Agent(model=..., tools=[...], system="...", stop_when=step_count_is(10), approver=...)`. With `output=SomeType` the
    answer is checked, and `result.output` is of that type.
    """

    @overload
    def __init__(self: "Agent[None]", *, output: None = None, **options: Unpack[AgentOptions]) -> None: ...

    @overload
    def __init__(self, *, output: type[Out], **options: Unpack[AgentOptions]) -> None: ...

    @overload
    def __init__(self: "Agent[A | B]", *, output: tuple[type[A], type[B]], **options: Unpack[AgentOptions]) -> None: ...

    @overload
    def __init__(self, *, output: Sequence[type[Out]], **options: Unpack[AgentOptions]) -> None: ...

    @overload
    def __init__(self: "Agent[Any]", *, output: object, **options: Unpack[AgentOptions]) -> None: ...

    def __init__(self, *mistaken: Never, output: object = None, **options: Unpack[AgentOptions]) -> None:
        if mistaken:
            raise UsageError(f"Agent takes options by name: Agent(model={mistaken[0]!r}, ...).")
        self._setup = make_setup(options, output)

    @property
    def setup(self) -> Setup:
        """Return what the agent is made of."""
        return self._setup

    def start(
        self,
        prompt: "Prompt | None" = None,
        *,
        messages: Iterable[Message] = (),
        resume: str | None = None,
        fork: str | None = None,
        at_step: int | None = None,
        decisions: Mapping[str, Decision] | None = None,
        results: Mapping[str, object] | None = None,
        listener: Listener | None = None,
        stream: bool = False,
        force: bool = False,
        run_id: str | None = None,
        record: Mapping[str, object] | None = None,
        caller: Run | None = None,
        **options: Unpack[RunOptions],
    ) -> LiveRun[Out]:
        """Start a run: a new one, or with `resume` or `fork` one that goes on from a record in the agent's journal.

        A new run needs a prompt, or the `messages` of an earlier conversation, or both. `resume` continues the run of
        that id in any process; `decisions` answers its pending questions by call id, `results` delivers those of calls
        that are answered from outside, and a `prompt` continues with something else. A run that died at each of the
        last attempts is given up; `force` tries once more. `fork` begins a new run with the first `at_step` steps of
        that one. `listener` is called with every event; without one, iterate the run. With `stream`, the text of the
        model comes in pieces. `run_id` names a new run, and `record` is recorded with it beside that of the agent. A
        tool that runs an agent passes its `ctx.run` as `caller`: the new run is then part of that one, and takes from
        it what this agent was not given. The other options (`deps`, `overrides`, `model`, `settings`, `stop_when`,
        `approver`, `labels`) are for this run alone; a resumed run needs them again, except `settings`, which are
        recorded with it.

        The run begins when it is awaited or iterated: `await agent.start("...").wait()`. Contradictory arguments raise
        `UsageError` here.
        """
        setup = choose(self._setup if caller is None else inherit(self._setup, caller), options)
        if record:
            setup = replace(setup, record={**(setup.record or {}), **record})
        request = RunRequest(
            setup=setup,
            prompt=prompt,
            messages=tuple(messages),
            resume=resume,
            fork=fork,
            at_step=at_step,
            decisions=decisions or {},
            results=results or {},
            settings=options.get("settings"),
            stream=stream,
            force=force,
            run_id=run_id,
            caller=caller if isinstance(caller, AgentRun) else None,
        )
        return LiveRun(request, listener)

    async def run(
        self, prompt: "Prompt | None" = None, *, messages: Iterable[Message] = (), **options: Unpack[RunOptions]
    ) -> RunResult[Out]:
        """Answer the prompt; `messages` is an earlier conversation to go on from, with a new prompt or without one.

        The options (`deps`, `overrides`, `model`, `settings`, `stop_when`, `approver`, `labels`) are for this run
        alone. No limit raises. A `ModelError` does, with all there is until then in its `result`.
        """
        return await self.start(prompt, messages=messages, **options).wait()

    def run_sync(
        self, prompt: "Prompt | None" = None, *, messages: Iterable[Message] = (), **options: Unpack[RunOptions]
    ) -> RunResult[Out]:
        """Run as `run` does, for code that has no event loop, and close the connections that it made."""
        return run_blocking(_wait_and_close(self.start(prompt, messages=messages, **options)))

    def stream(
        self,
        prompt: "Prompt | None" = None,
        *,
        messages: Iterable[Message] = (),
        resume: str | None = None,
        decisions: Mapping[str, Decision] | None = None,
        results: Mapping[str, object] | None = None,
        **options: Unpack[RunOptions],
    ) -> LiveRun[Out]:
        """Start a run whose text comes in pieces, or with `resume` the rest of a recorded one.

        `async for event in agent.stream(...)` gives its events.
        """
        return self.start(
            prompt, messages=messages, resume=resume, decisions=decisions, results=results, stream=True, **options
        )

    async def resume(
        self,
        run_id: str,
        *,
        decisions: Mapping[str, Decision] | None = None,
        results: Mapping[str, object] | None = None,
        prompt: "Prompt | None" = None,
        force: bool = False,
        **options: Unpack[RunOptions],
    ) -> RunResult[Out]:
        """Go on with a run from its record, in any process; `decisions` answers its pending questions by call id.

        `results` delivers the results of calls that are answered from outside, by call id: a value of the type that the
        tool declares, or a `ToolFailure`. A wrong id, a second answer or a value of another type raises
        `DecisionRefused` before anything happens. What was given for that run alone (`deps`, `overrides`, `model`,
        `stop_when`) must be given again. `force` tries once more to continue a run that was given up.
        """
        started = self.start(prompt, resume=run_id, decisions=decisions, results=results, force=force, **options)
        return await started.wait()

    async def aclose(self) -> None:
        """Close the connections of its model in this event loop; it can be used again. `async with agent` does it."""
        await close_models([self._setup.model])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def as_tool(
        self,
        *,
        name: str,
        description: str,
        input: "type[T] | None" = None,  # noqa: A002 - as in define_tool
        prompt: "Callable[[T], Prompt] | None" = None,
    ) -> Tool:
        """Make this agent a tool of another one; what it uses is counted into the run that calls it.

        With `input`, the caller's model fills in that type; this agent reads it as JSON, or what `prompt` makes of it.
        """
        return agent_tool(self, name=name, description=description, input=input, prompt=prompt)

    def as_handoff(self, *, name: str, description: str, sees: HistoryFilter | None = None) -> Tool:
        """Make this agent one that takes over: the tool gives it the conversation, and its answer ends the run.

        `sees` returns what it may see of the conversation, such as `words_only` of `toolroll.agent.subagent`; by
        default it sees all before the turn that hands over. Labels, rules and usage are those of the whole run.
        """
        return handoff_tool(self, name=name, description=description, sees=sees)


async def _wait_and_close(run: LiveRun[Out]) -> RunResult[Out]:
    try:
        return await run.wait()
    finally:
        await run.close_models()


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from code without an event loop."""
    if not is_in_event_loop():
        return asyncio.run(work)
    work.close()
    raise UsageError("run_sync was called inside an event loop. Use `await agent.run(...)` there.")


@overload
async def generate_text(prompt: Prompt, *, output: None = None, **options: Unpack[AgentOptions]) -> RunResult[None]: ...


@overload
async def generate_text(prompt: Prompt, *, output: type[A], **options: Unpack[AgentOptions]) -> RunResult[A]: ...


@overload
async def generate_text(
    prompt: Prompt, *, output: tuple[type[A], type[B]], **options: Unpack[AgentOptions]
) -> RunResult[A | B]: ...


@overload
async def generate_text(
    prompt: Prompt, *, output: Sequence[type[A]], **options: Unpack[AgentOptions]
) -> RunResult[A]: ...


@overload
async def generate_text(prompt: Prompt, *, output: object, **options: Unpack[AgentOptions]) -> RunResult[Any]: ...


async def generate_text(prompt: Prompt, *, output: object = None, **options: Unpack[AgentOptions]) -> RunResult[Any]:
    """Make an agent and run it once: `await generate_text("...", model=..., tools=[...])`."""
    return await Agent(output=output, **options).run(prompt)
