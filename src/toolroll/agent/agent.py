"""The agent: a model, tools, and rules for when to stop. One loop serves `run`, `run_sync` and `stream`."""

from collections.abc import Coroutine, Iterable, Mapping
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from typing_extensions import Unpack

from toolroll.agent.events import Event
from toolroll.agent.live import LiveRun
from toolroll.agent.options import AgentOptions, setup_of
from toolroll.agent.result import Out, RunResult
from toolroll.agent.run import close_models, new_run, opening, play
from toolroll.agent.setup import Setup
from toolroll.agent.state import RunState
from toolroll.agent.subagent import agent_tool
from toolroll.errors import UsageError
from toolroll.kernel.approval import Decision
from toolroll.kernel.conversation import Message, Prompt
from toolroll.kernel.threads import is_in_event_loop
from toolroll.kernel.tool import Tool

T = TypeVar("T")


class Agent(Generic[Out]):
    """Runs a model with tools until it has an answer.

    `Agent(model=..., tools=[...], system="...", stop_when=step_count_is(10), approver=...)`. With `output=SomeType` the
    answer is checked, and `result.output` is of that type.
    """

    def __init__(self, *, output: "type[Out] | None" = None, **options: Unpack[AgentOptions]) -> None:
        self._setup = setup_of(options, output)

    @property
    def setup(self) -> Setup:
        """What it is made of."""
        return self._setup

    async def run(self, prompt: "Prompt | None" = None, *, messages: Iterable[Message] = ()) -> RunResult[Out]:
        """Answer the prompt; `messages` is an earlier conversation to go on from, with a new prompt or without one.

        No limit raises. A `ModelError` does, with all there is until then in its `result`.
        """
        result = await play(new_run(self._setup, opening(prompt, messages), _nobody))
        return cast("RunResult[Out]", result)

    def run_sync(self, prompt: "Prompt | None" = None, *, messages: Iterable[Message] = ()) -> RunResult[Out]:
        """The same for code that has no event loop; the connections it made are closed."""
        result = blocking(_play_and_close(new_run(self._setup, opening(prompt, messages), _nobody)))
        return cast("RunResult[Out]", result)

    def stream(self, prompt: "Prompt | None" = None, *, messages: Iterable[Message] = ()) -> LiveRun[Out]:
        """The same as it happens: `async for event in agent.stream(...)`."""
        return LiveRun(self._setup, opening(prompt, messages))

    async def resume(
        self,
        run_id: str,
        *,
        decisions: Mapping[str, Decision] | None = None,
        prompt: "Prompt | None" = None,
    ) -> RunResult[Out]:
        """Go on with a run from its record, in any process: see `toolroll.agent.resume`."""
        from toolroll.agent.resume import resume  # noqa: PLC0415 - only who resumes needs it

        return await resume(self, run_id, decisions=decisions, prompt=prompt)

    async def aclose(self) -> None:
        """Close the connections of its model in this event loop; it can be used again. `async with agent` does it."""
        await close_models([self._setup.model])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def as_tool(self, *, name: str, description: str) -> Tool:
        """This agent as a tool of another one; what it uses is counted into the run that calls it."""
        return agent_tool(self._setup, name=name, description=description)


def _nobody(_event: Event) -> None:
    return None


async def _play_and_close(state: RunState) -> RunResult[object]:
    try:
        return await play(state)
    finally:
        await close_models(state.models)


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from code without an event loop."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; only who runs an agent pays them

    if not is_in_event_loop():
        return asyncio.run(work)
    work.close()
    raise UsageError("run_sync was called inside an event loop. Use `await agent.run(...)` there.")


async def generate_text(
    prompt: Prompt, *, output: "type[Out] | None" = None, **options: Unpack[AgentOptions]
) -> RunResult[Out]:
    """One call for what an agent does: `await generate_text("...", model=..., tools=[...])`."""
    return await Agent(output=output, **options).run(prompt)
