"""One run from its first record to its last: what starts it, what it consists of, and how its end is recorded."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol, cast

from toolroll.agent.approvals import AskLater, OneAtATime, RecordedApprover, RejectedOnce, receive_result
from toolroll.agent.context.outputs import add_output_tools, drop_references, new_window, open_outputs
from toolroll.agent.events import Event, RunStarted, Warned
from toolroll.agent.history.repair import Conversation
from toolroll.agent.hooks import Refusal, refusal_response
from toolroll.agent.loop.budget import Budget
from toolroll.agent.loop.calls import CallLedger
from toolroll.agent.loop.finish import fail_run
from toolroll.agent.loop.guard import LoopGuard
from toolroll.agent.loop.loop import run_loop
from toolroll.agent.loop.preparation import prepare_run
from toolroll.agent.loop.state import RunState
from toolroll.agent.options import Setup
from toolroll.agent.result import RunResult
from toolroll.agent.stop import measured_conditions
from toolroll.agent.telemetry.tracer import trace_run
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.journal import Journal
from toolroll.journal.records import MessageAdded, RunBegan
from toolroll.kernel.approval.request import Approver, Decision, is_decision
from toolroll.kernel.call.context import Run, random_id, utc_now
from toolroll.kernel.data.labels import LABELS_KEY
from toolroll.kernel.data.messages import AssistantMessage, Message, Part, Prompt, UserMessage
from toolroll.models.model import Model
from toolroll.models.settings import SettingsLike
from toolroll.outputs.store import OutputStore

GO_ON: Final = "Go on from where you stopped."
"""What the model is told when a conversation that it ended is continued without a prompt."""


class AgentRun(Run):
    """The run of an agent, as its tools see it. A sub-agent finds in it what it shares with its caller."""

    going: RunState
    gate: OneAtATime | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What to run: a new conversation, the rest of a recorded run, or another way from one of its steps.

    Contradictory requests raise `UsageError`.
    """

    setup: Setup
    prompt: Prompt | None = None
    messages: Sequence[Message] = ()
    resume: str | None = None
    """The id of the recorded run to continue."""
    fork: str | None = None
    """The id of the recorded run whose first `at_step` steps a new run begins with."""
    at_step: int | None = None
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """Answers to pending questions of the resumed run, by call id."""
    results: Mapping[str, object] = field(default_factory=dict)
    """Results of pending calls of the resumed run that are answered from outside, by call id."""
    settings: SettingsLike | None = None
    """Settings for this run, over those that are recorded with it or those of the agent."""
    stream: bool = False
    force: bool = False
    """Whether to resume the run although earlier attempts died."""
    run_id: str | None = None
    """The id of the new run; a resumed run has one already."""
    caller: AgentRun | None = None
    """The run that this one is a part of."""

    def __post_init__(self) -> None:
        if self.resume is not None and self.fork is not None:
            raise UsageError("A run is resumed or forked, not both.")
        if (self.fork is None) != (self.at_step is None):
            raise UsageError("fork and at_step belong together: fork=run_id, at_step=2.")
        if self.force and self.resume is None:
            raise UsageError("force is for a run that is resumed: it needs resume=run_id.")
        self._check_replies()
        if self.resume is not None and self.run_id is not None:
            raise UsageError("A resumed run keeps its id: run_id is for new and forked runs.")
        if not self.is_new and self.messages:
            raise UsageError("A recorded run has its own messages: with resume or fork, give a prompt only.")
        if not self.is_new and self.prompt is not None:
            as_user_message(self.prompt)

    def _check_replies(self) -> None:
        if self.decisions and self.resume is None:
            raise UsageError("decisions answer the questions of a recorded run: they need resume=run_id.")
        if self.results and self.resume is None:
            raise UsageError("results answer the calls of a recorded run: they need resume=run_id.")
        if both := sorted(self.decisions.keys() & self.results.keys()):
            raise UsageError(f"A call gets a decision or a result, not both: {', '.join(map(repr, both))}.")
        for call_id, decision in self.decisions.items():
            if not is_decision(decision):
                raise UsageError(f"The decision about {call_id!r} is Approve(...) or Reject(...), not {decision!r}.")

    @property
    def is_new(self) -> bool:
        """Return whether the run begins with its prompt and messages, and not with a record."""
        return self.resume is None and self.fork is None


def new_run(
    setup: Setup,
    messages: Sequence[Message],
    emit: Callable[[Event], None],
    *,
    stream: bool = False,
    caller: AgentRun | None = None,
    run_id: str | None = None,
    outputs: OutputStore | None = None,
    earlier: int = 0,
) -> RunState:
    """Return the state of a run that has not begun, with the messages it begins with: first the `earlier` ones."""
    run_id = run_id or (setup.make_id or random_id)()
    above = None if caller is None else caller.going
    outputs = outputs or open_outputs(setup, run_id, None if above is None else above.outputs)
    agent_tools, setup = tuple(setup.tools), add_output_tools(setup, outputs)
    run = AgentRun(
        run_id=run_id,
        deps=setup.deps,
        overrides=setup.overrides,
        policy=setup.policy,
        on_event=lambda event: state.on_kernel_event(event),  # noqa: PLW0108 - the state is made below
        clock=setup.clock or utc_now,
        make_id=setup.make_id or random_id,
        consent=setup.consent,
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
            parent=None if above is None else above.budget,
        ),
        emit=emit,
        guard=LoopGuard(setup.loop_guard, lambda name: _is_free(state, name)),
        outputs=outputs,
        initial_messages=messages,
        agent_tools=agent_tools,
        output_tools=tuple(setup.tools)[len(agent_tools) :],
        stream=stream,
        parent_id=None if caller is None else caller.run_id,
        models=[] if above is None else above.models,
    )
    state.models.append(setup.model)
    run.labels |= setup.labels
    for text in setup.private_texts:
        run.add_private_text(text)
    state.add_messages(messages, earlier)
    if caller is not None:
        run.depth = caller.depth + 1
        run.labels, run.said = run.labels | caller.labels, caller.said or ()  # the prompt of a part is a model's
    run.ledger = CallLedger(state)
    _set_waiting(run, state, above)
    return state


def _set_waiting(run: AgentRun, state: RunState, above: RunState | None) -> None:
    """Set who is asked, and whether the run can wait for answers: a part can if it shares the journal of the whole."""
    setup = state.setup
    can_wait = setup.journal is not None and (above is None or above.setup.journal is setup.journal)
    if can_wait:
        run.receive = partial(receive_result, state)
    if setup.approver is not None:
        run.gate = setup.approver if isinstance(setup.approver, OneAtATime) else OneAtATime(setup.approver)
        run.approver = _approver(run.gate, state, can_wait=can_wait)


def _is_free(state: RunState, name: str) -> bool:
    """Whether a tool of the run may be called again and again."""
    tool = state.setup.tools.get(name)
    return tool is not None and not tool.loop_guard


def _approver(gate: OneAtATime, state: RunState, *, can_wait: bool) -> Approver | None:
    """Return who is asked on behalf of the run. A part with a journal of its own cannot wait for a later answer."""
    later = isinstance(gate.approver, AskLater)
    if state.setup.journal is None:
        return RejectedOnce(gate)
    return None if later and not can_wait else RejectedOnce(RecordedApprover(gate, state, later=later))


def initial_messages(prompt: "Prompt | None", messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return what a run begins with: an earlier conversation, then the prompt, or a request to go on."""
    earlier = tuple(drop_references(_check_message(one)) for one in messages)
    if prompt is not None:
        return (*earlier, as_user_message(prompt))
    if not earlier:
        raise UsageError("A run needs a prompt, or the messages of an earlier one to go on from.")
    if isinstance(earlier[-1], AssistantMessage) and not earlier[-1].calls:
        return (*earlier, UserMessage.of(GO_ON))  # a request must not end with the model's own words
    return earlier


def as_user_message(prompt: Prompt) -> UserMessage:
    """Return the prompt as a message."""
    if isinstance(prompt, UserMessage):
        return prompt
    if not _is_prompt(prompt):
        raise UsageError(f"A prompt is a text, a list of parts, or a UserMessage, not {prompt!r}.")
    return UserMessage.of(prompt)


def _is_prompt(given: object) -> bool:
    return isinstance(given, str) or (isinstance(given, Sequence) and all(isinstance(one, Part) for one in given))


def _check_message(given: object) -> Message:
    if not isinstance(given, Message):
        raise UsageError(f"messages takes those of an earlier run (result.messages), not {given!r}.")
    return given


async def execute_run(state: RunState) -> RunResult[object]:
    """Take a new run from its first record to its end."""
    async with run_lock(state):
        return await run_to_end(state, lambda: _start(state))


@asynccontextmanager
async def run_lock(state: RunState) -> AsyncIterator[None]:
    """Hold the new run inside. An id that is on record already is refused, as two runs would become one."""
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
    """Return whether the journal has records of the run."""
    try:
        return len(await journal.read(run_id)) > 0
    except JournalRefused:
        return False


async def run_to_end(state: RunState, work: Callable[[], Awaitable[RunResult[object]]]) -> RunResult[object]:
    """Do the work of a run; its end is recorded and reported whether it succeeds, fails or is cancelled."""
    async with state.run:
        with trace_run(state):
            try:
                return await work()
            except BaseException as error:
                result = await fail_run(state, error)
                if result is None:
                    raise
                return result
            finally:
                if state.outputs is not None and state.parent_id is None:  # the parts of a run share its folder
                    state.outputs.close()


async def _start(state: RunState) -> RunResult[object]:
    if state.setup.hooks is not None:
        await _begin_hooks(state)
    await prepare_run(state)
    setup = state.setup
    if setup.journal is not None:
        began = RunBegan(
            model=setup.model.origin.model,
            system=setup.system,
            tools={tool.name: tool.fingerprint for tool in setup.definitions},
            parent=state.parent_id,
            settings=setup.record or {},
            chosen=setup.chosen,
            model_settings={} if setup.settings is None else setup.settings.to_record(),
            earlier=state.given,
            closes_inside=True,
        )
        await state.record(began, *(MessageAdded(message=message) for message in state.initial_messages))
    state.emit(RunStarted(run_id=state.run.run_id, model=setup.model.origin.model))
    if setup.private_texts or setup.labels:  # known from no message, so it goes on record
        state.run.set_state(LABELS_KEY, sorted(state.run.labels))
    for note in state.conversation.notes:
        state.emit(Warned(kind="conversation_repaired", text=f"The conversation was mended: {note}."))
    return await run_loop(state)


async def _begin_hooks(state: RunState) -> None:
    last = state.initial_messages[-1] if len(state.initial_messages) > state.given else None
    prompt = last if isinstance(last, UserMessage) else None
    changed = await pass_prompt(state, prompt)
    if changed is not None and changed is not prompt:
        state.replace_prompt(changed)


async def pass_prompt(state: RunState, prompt: UserMessage | None) -> UserMessage | None:
    """Return the prompt as the hooks of the run leave it; one may refuse the run."""
    hooks = state.setup.hooks
    if hooks is None:
        return prompt
    try:
        return await hooks.begin_run(state.context(), prompt)
    except Refusal as refusal:
        state.refusal = refusal_response(refusal.text, state.setup.model.origin, "before the run, by a hook")
        return prompt


class _Closes(Protocol):
    async def aclose(self) -> None: ...


async def close_models(models: Iterable[Model]) -> None:
    """Close the connections of those models that have any."""
    for model in models:
        if hasattr(model, "aclose"):
            await cast("_Closes", model).aclose()
