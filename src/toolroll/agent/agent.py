"""The agent: a model, tools, and rules for when to stop. One loop serves `run`, `run_sync` and `stream`."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import Unpack

from toolroll.agent.events import Event, RunStarted
from toolroll.agent.loop import drive
from toolroll.agent.options import AgentOptions, setup_of
from toolroll.agent.repair import History
from toolroll.agent.result import RunResult
from toolroll.agent.state import RunState
from toolroll.errors import UsageError
from toolroll.journal.records import Finished, RunBegan, Said
from toolroll.kernel.context import Run
from toolroll.kernel.conversation import Message, UserMessage
from toolroll.kernel.messages import Part

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Agent:
    """Runs a model with tools until it has an answer.

    `Agent(model=..., tools=[...], system="...", stop_when=step_count_is(10), approver=...)`
    """

    def __init__(self, **options: Unpack[AgentOptions]) -> None:
        self._setup = setup_of(options)

    async def run(self, prompt: "str | Sequence[Part]", *, messages: Iterable[Message] = ()) -> RunResult:
        """Answer the prompt; `messages` is an earlier conversation to go on from."""
        return await self._drive(prompt, messages, _nobody, stream=False)

    def run_sync(self, prompt: "str | Sequence[Part]", *, messages: Iterable[Message] = ()) -> RunResult:
        """The same for code that has no event loop."""
        return blocking(self.run(prompt, messages=messages))

    async def stream(
        self, prompt: "str | Sequence[Part]", *, messages: Iterable[Message] = ()
    ) -> AsyncGenerator[Event, None]:
        """The events of the run as they happen; the last one is `RunFinished`. Leaving the loop cancels the run."""
        import asyncio  # noqa: PLC0415 - five interpreter starts; only who runs an agent pays them

        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        task = asyncio.ensure_future(self._drive(prompt, messages, queue.put_nowait, stream=True))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            await _cancelled(task)

    async def _drive(
        self,
        prompt: "str | Sequence[Part]",
        messages: Iterable[Message],
        emit: Callable[[Event], None],
        *,
        stream: bool,
    ) -> RunResult:
        setup = self._setup
        run = Run(
            deps=setup.deps,
            overrides=setup.overrides,
            policy=setup.policy,
            approver=setup.approver,
            on_event=emit,
            clock=setup.clock,
            make_id=setup.make_id,
        )
        state = RunState(
            setup=setup, run=run, history=History(), emit=emit, stream=stream, tools=setup.tools.definitions
        )
        async with run:
            await _begin(state, prompt, messages)
            try:
                return await drive(state)
            except BaseException as error:
                await _record_failure(state, error)
                raise


async def _begin(state: RunState, prompt: "str | Sequence[Part]", messages: Iterable[Message]) -> None:
    setup = state.setup
    fingerprints = {tool.name: tool.fingerprint for tool in state.tools}
    await state.record(RunBegan(model=setup.model.origin.model, system=setup.system, tools=fingerprints))
    said = [*messages, UserMessage.of(prompt if isinstance(prompt, str) else tuple(prompt))]
    for message in said:
        state.history.append(message)
        await state.record(Said(message=message))
    state.emit(RunStarted(run_id=state.run.run_id, model=setup.model.origin.model))


async def _record_failure(state: RunState, error: BaseException) -> None:
    reason = "failed" if isinstance(error, Exception) else "interrupted"
    await state.record(Finished(stop_reason=reason, stop_detail=str(error) or type(error).__name__, text=""))


async def _cancelled(task: "asyncio.Task[RunResult]") -> None:
    import asyncio  # noqa: PLC0415 - as above

    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()


def _nobody(_event: Event) -> None:
    return None


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from code without an event loop."""
    import asyncio  # noqa: PLC0415 - as above

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError("run_sync was called inside an event loop. Use `await agent.run(...)` there.")


async def generate_text(prompt: "str | Sequence[Part]", **options: Unpack[AgentOptions]) -> RunResult:
    """One call for what an agent does: `await generate_text("...", model=..., tools=[...])`."""
    return await Agent(**options).run(prompt)
