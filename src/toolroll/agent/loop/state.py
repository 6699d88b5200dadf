"""The state of a run between two steps. Everything in it can be rebuilt from the journal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from toolroll.agent.context.window import Window
from toolroll.agent.context_function import RunContext
from toolroll.agent.events import Event, StepFinished, StepStarted, Warned
from toolroll.agent.history.repair import Conversation
from toolroll.agent.labels import labels_of_message, offered_search, private_texts
from toolroll.agent.loop.budget import Budget
from toolroll.agent.loop.guard import LoopGuard
from toolroll.agent.options import Setup
from toolroll.agent.result import RunResult, Step, SubRun, ToolCallLog
from toolroll.journal.records import (
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    MessagesCompacted,
    OutputsTrimmed,
    Record,
    StateSet,
    UsageAdded,
)
from toolroll.kernel.approval.request import Approve, Decision
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import ApprovalDecided, KernelEvent, StateChanged
from toolroll.kernel.data.messages import AssistantMessage, Message, TextBlock, TextPart, ToolMessage, UserMessage
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool
from toolroll.models.model import Model, ModelRequest, ModelResponse
from toolroll.outputs.store import OutputStore

if TYPE_CHECKING:
    from toolroll.agent.telemetry.run_spans import Spans

CUT: Final = "[cut off here]"
"""Ends what a model had written when it was interrupted."""

SEARCH_WITHHELD: Final = (
    "The provider's own web search is not offered to the model any more: this run has read private text, and what the "
    "provider would search for is not shown before it leaves."
)


def edit_note(decided: ApprovalDecided) -> str | None:
    """Return what the model is told about a call that a person changed before they approved it."""
    decision = decided.decision
    if not isinstance(decision, Approve):
        return None
    if decision.arguments is not None:
        return f"The user changed the arguments of this call before approving it, to: {dump_json(decision.arguments)}"
    if decision.edited is None or decided.request.preview.reports_edit:
        return None
    return f"The user edited the proposed text before approving it. This was used instead:\n{decision.edited}"


Change: TypeAlias = tuple[str | None, str | None]
"""The hashes of a content before and after it is changed, where they are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A decision that was made before it is asked for, and what it is bound to."""

    digest: str
    decision: Decision
    is_recorded: bool


@dataclass(slots=True, kw_only=True)
class Replies:
    """Answers to what a run waits for, by call id: decisions of persons, and results from outside."""

    decisions: dict[str, Decision] = field(default_factory=dict)
    results: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class RunState:
    """One run on its way."""

    setup: Setup
    run: Run
    conversation: Conversation
    window: Window
    budget: Budget
    emit: Callable[[Event], None]
    initial_messages: Sequence[Message] = ()
    agent_tools: Sequence[Tool] = ()
    """The tools of the agent, from which those of a step are chosen."""
    output_tools: Sequence[Tool] = ()
    """The tools that read whole outputs back."""
    given: int = 0
    """How many of those are of an earlier conversation."""
    outputs: OutputStore | None = None
    """Where whole outputs are kept."""
    stream: bool = False
    closes_inside: bool = True
    """Whether the closing turn counts as a step; not so in a run that an earlier version began."""
    parent_id: str | None = None
    guard: LoopGuard = field(default_factory=LoopGuard)
    nudges: dict[str, int] = field(default_factory=dict)
    output: object = None
    has_output: bool = False
    output_fault: str | None = None
    partial: object = None
    """The typed answer as far as it is written."""
    result: RunResult[object] | None = None
    stop_requested: bool = False
    refusal: ModelResponse | None = None
    """The last turn of a run that a hook has refused: it stands for the answer of the model."""
    written: list[str] = field(default_factory=list)
    """What the model has written of the turn that goes on."""
    started: dict[str, float] = field(default_factory=dict)
    """When each call of the step that goes on began to run."""
    approved: dict[str, Change] = field(default_factory=dict)
    """What each call that a person has answered would change."""
    changes: Mapping[int, Sequence[OutputsTrimmed | MessagesCompacted]] | None = None
    """What is done to the context of a run that is played again, by the number of turns before it."""
    known: dict[str, CallEnded] = field(default_factory=dict)
    """The calls of a resumed turn that have their result on record: they are not run again."""
    answers: dict[str, Answer] = field(default_factory=dict)
    """What a person has answered already, call by call."""
    intended: dict[str, CallIntended] = field(default_factory=dict)
    """The calls that set out before, and have left no trace."""
    asked: dict[str, ApprovalQuestion] = field(default_factory=dict)
    """The questions that are on record, call by call."""
    waiting: dict[str, tuple[ApprovalQuestion, ...]] = field(default_factory=dict)
    """The calls that wait for a later answer, each with its question, or with those of the agent that it runs."""
    delivered: dict[str, object] = field(default_factory=dict)
    """Results that came from outside, by the calls that wait for them."""
    below: dict[str, Replies] = field(default_factory=dict)
    """What is passed on to the runs of sub-agents, by the calls that run them."""
    edits: dict[str, str] = field(default_factory=dict)
    """What a person changed in calls before they approved them, in words for the model."""
    recorded_usage: set[tuple[str, int]] = field(default_factory=set)
    """The steps of sub-agents, by run id and number, whose usage is on record although their call has no result."""
    models: list[Model] = field(default_factory=list)
    """All that were asked, those of sub-agents included."""
    memo: dict[str, object] = field(default_factory=dict)
    is_search_withheld: bool = False
    """Whether the person was warned that the provider's own search is not offered any more."""
    is_text_read: bool = False
    """Whether the person was told that calls are read from the text of the model."""
    spans: "Spans | None" = None
    """What is told to who traces; None where nobody does."""
    _unrecorded: list[Record] = field(default_factory=list)
    _first_new: int = 0

    @property
    def is_calling(self) -> bool:
        """Return whether a tool call is running at this moment."""
        return bool(self.started)

    def stop(self) -> None:
        """End the run once the calls that are running have ended, or have ended themselves because of it."""
        self.stop_requested = self.run.stopping = True

    @property
    def steps(self) -> list[Step]:
        """Return the steps that are over."""
        return self.budget.steps

    async def record(self, *records: Record) -> None:
        """Write facts down, all or none; they are kept when this returns."""
        if self.setup.journal is None:
            return
        waiting, self._unrecorded = self._unrecorded, []
        await self.setup.journal.append(self.run.run_id, *waiting, *records)

    def add_message(self, message: Message) -> None:
        """Add something from outside to the conversation."""
        if isinstance(message, UserMessage) and self.parent_id is None and not message.is_summary:
            words = tuple(part.text for part in message.content if isinstance(part, TextPart))
            self.run.said = (*(self.run.said or ()), *words)
        self._add_message(message)

    def _add_message(self, message: Message) -> None:
        self.conversation.append(message)
        self.budget.add_message(message)
        self.run.labels |= labels_of_message(message, self.setup.tools)  # found out again from its record
        self.add_private_texts(message)

    def add_private_texts(self, message: Message) -> None:
        """Remember the private text of a message, if calls are compared with it."""
        if self.run.outflow is not None:
            for text in private_texts(message, self.setup.tools):
                self.run.outflow.private.add(text)

    def compact(self, record: MessagesCompacted) -> None:
        """Replace the beginning of the conversation by its summary, which says private things in other words."""
        self.window.compact(record, self.conversation.legal())
        if self.run.outflow is not None and "private" in self.run.labels:
            self.run.outflow.private.add(record.summary)

    def add_result(self, result: ToolMessage) -> None:
        """Add the result of a call to the conversation, as soon as it is there."""
        self.conversation.answer(result)
        self.budget.add_message(result)

    async def instruct(self, text: str, *before: Record, about: str) -> None:
        """Tell the model something in the user's place; what led to it goes on record with it."""
        message = UserMessage.of(text)
        self.add_own_message(message)
        await self.record(*before, MessageAdded(message=message, about=about))

    def add_own_message(self, message: Message) -> None:
        """Add what the agent itself says in the user's place."""
        self._add_message(message)
        self.window.own_words.append(message)

    def on_kernel_event(self, event: KernelEvent) -> None:
        """Pass on what a call reports; what it keeps with the run is recorded before anything else is."""
        if isinstance(event, StateChanged) and self.setup.journal is not None:
            self._unrecorded.append(StateSet(name=event.name, value=event.value))
        if isinstance(event, ApprovalDecided) and event.request.call_id in self.waiting:
            return  # nothing was decided: the executor only had to be given an answer
        if isinstance(event, ApprovalDecided) and (note := edit_note(event)) is not None:
            self.edits[event.request.call_id] = note
        self.emit(event)

    def spend(self, sub: SubRun, *, step: int) -> None:
        """Count what a step of a sub-agent has used, and record it once, together with the next record."""
        self.budget.add_sub_run(sub)
        if self.setup.journal is not None and (sub.run_id, step) not in self.recorded_usage:
            spent = UsageAdded(
                name=sub.name, run_id=sub.run_id, step=step, call_id=sub.call_id, usage=sub.usage, cost=sub.bill.usd
            )
            self._unrecorded.append(spent)

    def restore(self, kept: Mapping[str, object]) -> None:
        """Restore what was stored with the run; it is on record already."""
        for name, value in kept.items():
            self.run.set_state(name, value)
        self._unrecorded.clear()

    def context(self) -> RunContext:
        """Return a context for functions of the agent."""
        return RunContext(run=self.run, going=self)

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as it stands, legal at any moment: what is unfinished is in it, and marked."""
        self.conversation.pending = self.waiting
        return (*self.window.whole(self.conversation.snapshot()), *self._unfinished())

    def _unfinished(self) -> tuple[Message, ...]:
        text = "".join(self.written)
        if not text.strip():
            return ()
        block = TextBlock(text=f"{text} {CUT}")
        return (AssistantMessage(blocks=(block,), origin=self.setup.model.origin),)

    def add_messages(self, messages: Sequence[Message], earlier: int) -> None:
        """Add what the run begins with: first the `earlier` ones, which are of another conversation."""
        for number, message in enumerate(messages):
            if number == earlier:
                self.mark_earlier(earlier)
            self.add_message(message)
        if earlier == len(messages):
            self.mark_earlier(earlier)

    def replace_prompt(self, prompt: UserMessage) -> None:
        """Put another prompt in the place of the one that the run begins with."""
        self.initial_messages = (*self.initial_messages[:-1], prompt)
        self.conversation = Conversation(self.initial_messages)
        self.budget.add_message(prompt)
        self.run.labels |= labels_of_message(prompt, self.setup.tools)
        self.add_private_texts(prompt)

    def mark_earlier(self, given: int) -> None:
        """Mark all messages until now as those of an earlier conversation, `given` of which the run was given."""
        self.given, self._first_new = given, len(self.conversation.snapshot())

    def new_messages(self) -> tuple[Message, ...]:
        """Return what this run has added to the conversation, its prompt first, even what was compacted since."""
        self.conversation.pending = self.waiting
        return (*self.conversation.snapshot()[self._first_new :], *self._unfinished())

    def request(self, *, tools: bool) -> ModelRequest:
        """Return what the model is asked next."""
        setup = self.setup
        search = offered_search(setup.web_search, self.run)
        if search is None and setup.web_search is not None and not self.is_search_withheld:
            self.is_search_withheld = True
            self.emit(Warned(kind="search_withheld", text=SEARCH_WITHHELD))
        return ModelRequest(
            messages=self.window.messages,
            system=setup.system,
            tools=setup.definitions,
            web_search=search,
            tool_choice=self._tool_choice() if tools else "none",
            settings=setup.settings,
            max_output_tokens=setup.max_output_tokens,
            output_schema=setup.output_schema,
            memo=self.memo,
        )

    def _tool_choice(self) -> str:
        """Return who chooses the next call: a call is forced until it was made, unless it is to be every time."""
        settings = self.setup.settings
        if settings is None or settings.tool_choice is None:
            return "auto"
        choice = settings.tool_choice
        if settings.forces_call and not settings.keep_tool_choice:
            made = (call.name for step in self.steps for call in step.calls)
            if any(choice in ("required", name) for name in made):
                return "auto"
        return choice

    def begin_step(self) -> None:
        """Begin a step."""
        self.budget.begin_step()
        self.emit(StepStarted(number=len(self.steps) + 1))

    def end_step(
        self, text: str, calls: tuple[ToolCallLog, ...] = (), *, closing: bool = False, is_cut: bool = False
    ) -> None:
        """End the current step and report it."""
        self.emit(StepFinished(step=self.budget.end_step(text, calls, closing=closing, is_cut=is_cut)))
