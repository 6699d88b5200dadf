"""One run from its first record to its last."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol, cast

from toolroll.agent.approvals import AskLater, OneAtATime, RecordedApprover
from toolroll.agent.budget import Budget
from toolroll.agent.calls import CallLedger
from toolroll.agent.context.outputs import add_output_tools, drop_references, new_window, open_outputs
from toolroll.agent.events import Event, RunStarted, Warned
from toolroll.agent.finish import fail_run
from toolroll.agent.history.repair import Conversation
from toolroll.agent.loop import run_loop
from toolroll.agent.result import RunResult
from toolroll.agent.setup import Setup
from toolroll.agent.state import RunState
from toolroll.agent.stop import measured_conditions
from toolroll.agent.telemetry.run_spans import trace_run
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.journal import Journal
from toolroll.journal.records import MessageAdded, RunBegan
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.call.context import Run, random_id, utc_now
from toolroll.kernel.data.messages import AssistantMessage, Message, Part, Prompt, UserMessage
from toolroll.models.model import Model
from toolroll.outputs.store import OutputStore

GO_ON: Final = "Go on from where you stopped."
"""What the model is told when a conversation that it ended is continued without a prompt."""


class AgentRun(Run):
    """A run that an agent drives: what a sub-agent finds in the one that calls it."""

    going: RunState
    gate: OneAtATime | None = None
    depth: int = 0


def new_run(
    setup: Setup,
    said: Sequence[Message],
    emit: Callable[[Event], None],
    *,
    stream: bool = False,
    caller: AgentRun | None = None,
    run_id: str | None = None,
    outputs: OutputStore | None = None,
) -> RunState:
    """A run that has not begun, with what was said to it."""
    run_id = run_id or (setup.make_id or random_id)()
    outputs = outputs or open_outputs(setup, run_id, None if caller is None else caller.going.outputs)
    setup = add_output_tools(setup, outputs)
    run = AgentRun(
        run_id=run_id,
        deps=setup.deps,
        overrides=setup.overrides,
        policy=setup.policy,
        on_event=lambda event: state.on_kernel_event(event),  # noqa: PLW0108 - which is made below
        clock=setup.clock or utc_now,
        make_id=setup.make_id or random_id,
    )
    state = run.going = RunState(
        setup=setup,
        run=run,
        conversation=Conversation(),
        window=new_window(setup, keeps_outputs=outputs is not None),
        budget=Budget(
            conditions=measured_conditions(setup.stop_when),
            origin=setup.model.origin,
            price=setup.price,
            parent=None if caller is None else caller.going.budget,
        ),
        emit=emit,
        outputs=outputs,
        said=said,
        stream=stream,
        parent_id=None if caller is None else caller.run_id,
        models=[] if caller is None else caller.going.models,
    )
    state.models.append(setup.model)
    for message in said:
        state.add_message(message)
    run.depth = 0 if caller is None else caller.depth + 1
    run.ledger = CallLedger(state)
    if setup.approver is not None:
        run.gate = setup.approver if isinstance(setup.approver, OneAtATime) else OneAtATime(setup.approver)
        run.approver = _approver(run.gate, state, is_part=caller is not None)
    return state


def _approver(gate: OneAtATime, state: RunState, *, is_part: bool) -> Approver | None:
    """Who is asked in the name of the run. Only a run that is nobody's part can be left waiting for an answer."""
    later = isinstance(gate.approver, AskLater)
    if state.setup.journal is None:
        return gate
    return None if later and is_part else RecordedApprover(gate, state, later=later)


def as_user_message(prompt: Prompt) -> UserMessage:
    """The prompt as a message."""
    if isinstance(prompt, UserMessage):
        return prompt
    if not _is_prompt(prompt):
        raise UsageError(f"A prompt is a text, a list of parts, or a UserMessage, not {prompt!r}.")
    return UserMessage.of(prompt)


def _is_prompt(given: object) -> bool:
    return isinstance(given, str) or (isinstance(given, Sequence) and all(isinstance(one, Part) for one in given))


def initial_messages(prompt: "Prompt | None", messages: Iterable[Message]) -> tuple[Message, ...]:
    """What a run begins with: an earlier conversation, and the prompt, or a word to go on."""
    earlier = tuple(drop_references(_message(one)) for one in messages)
    if prompt is not None:
        return (*earlier, as_user_message(prompt))
    if not earlier:
        raise UsageError("A run needs a prompt, or the messages of an earlier one to go on from.")
    if isinstance(earlier[-1], AssistantMessage) and not earlier[-1].calls:
        return (*earlier, UserMessage.of(GO_ON))  # a request must not end with the model's own words
    return earlier


def _message(given: object) -> Message:
    if not isinstance(given, Message):
        raise UsageError(f"messages takes those of an earlier run (result.messages), not {given!r}.")
    return given


class _Closes(Protocol):
    async def aclose(self) -> None: ...


async def close_models(models: Iterable[Model]) -> None:
    """Close the connections of those models that have any."""
    for model in models:
        if hasattr(model, "aclose"):
            await cast("_Closes", model).aclose()


async def execute_run(state: RunState) -> RunResult[object]:
    """Drive the run from its beginning to its end."""
    async with run_lock(state):
        return await run_to_end(state, lambda: _start(state))


@asynccontextmanager
async def run_lock(state: RunState) -> AsyncIterator[None]:
    """Inside, the new run is ours alone. One that is on record already is not begun again: it would be two in one."""
    journal, run_id = state.setup.journal, state.run.run_id
    if journal is None:
        yield
        return
    if not await journal.acquire(run_id):
        raise JournalRefused(f"There is a run {run_id!r} already, and it is going on.")
    try:
        if await is_on_record(journal, run_id):
            raise JournalRefused(f"There is a run {run_id!r} already. Resume it, or begin one under another id.")
        yield
    finally:
        await journal.release(run_id)


async def is_on_record(journal: Journal, run_id: str) -> bool:
    """Whether there is anything to go on from."""
    try:
        return len(await journal.read(run_id)) > 0
    except JournalRefused:
        return False


async def run_to_end(state: RunState, work: Callable[[], Awaitable[RunResult[object]]]) -> RunResult[object]:
    """Do the work of a run; its end is told and on record, however it comes."""
    async with state.run:
        with trace_run(state):
            try:
                return await work()
            except BaseException as error:
                await fail_run(state, error)
                raise
            finally:
                if state.outputs is not None and state.parent_id is None:  # parts of a run keep theirs in its place
                    state.outputs.close()


async def _start(state: RunState) -> RunResult[object]:
    await _begin(state)
    return await run_loop(state)


def _began_record(state: RunState) -> RunBegan:
    setup = state.setup
    return RunBegan(
        model=setup.model.origin.model,
        system=setup.system,
        tools={tool.name: tool.fingerprint for tool in setup.definitions},
        parent=state.parent_id,
        settings=setup.settings or {},
    )


async def _begin(state: RunState) -> None:
    setup = state.setup
    if setup.journal is not None:
        await state.record(_began_record(state), *(MessageAdded(message=message) for message in state.said))
    state.emit(RunStarted(run_id=state.run.run_id, model=setup.model.origin.model))
    for note in state.conversation.notes:
        state.emit(Warned(text=f"The conversation was mended: {note}."))
