"""What a chat needs of an application, and the conversation that goes from one run to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from toolroll.agent.events import Event, RunStarted
from toolroll.agent.history.resume import resume_run
from toolroll.agent.result import RunResult
from toolroll.agent.run import execute_run, initial_messages, new_run
from toolroll.agent.setup import Setup
from toolroll.agent.state import RunState
from toolroll.cli.chat.mentions import OutgoingMessage
from toolroll.kernel.call.context import Run, random_id
from toolroll.kernel.call.events import StateChanged
from toolroll.kernel.data.labels import NO_LABELS, Labels
from toolroll.kernel.data.messages import Message
from toolroll.packs.code.seen_files import STATE as SEEN
from toolroll.packs.code.seen_files import SeenFiles

if TYPE_CHECKING:
    from toolroll.cli.render.renderer import Renderer
    from toolroll.packs.catalog import CatalogEntry
    from toolroll.workspace.workspace import Workspace

CHAT: Final = "chat"
"""The setting by which the runs of one chat are known: the id of the first of them."""

PRIVATE: Final[Labels] = frozenset({"private"})
"""What a file of the project brings along, as where the model reads it itself."""

Note: TypeAlias = Callable[[RunState | None], None]


class ChatAgent(Protocol):
    """What an application does with what is said to it."""

    @property
    def about(self) -> "ChatInfo":
        """What it is, as it stands now."""
        ...

    async def say(self, message: OutgoingMessage, renderer: "Renderer", note: Note) -> RunResult[object] | None:
        """Answer a message, as a run that `note` gets hold of; None where that was told already, and nothing ran."""
        ...

    async def go_on(self, renderer: "Renderer", note: Note) -> RunResult[object]:
        """Go on with the last run, which a limit has stopped."""
        ...

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on; an error leaves the one there is."""
        ...

    def forget(self) -> None:
        """Begin anew: nothing that was said counts any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatInfo:
    """An application in a chat; `workspace` is where it changes files and where mentioned ones are, if it does."""

    name: str
    model: str
    tools: "Sequence[CatalogEntry]"
    conversation: "Conversation"
    workspace: "Workspace | None" = None
    first: str = "Write what you want."
    """What the person is told at the beginning."""
    is_unasked: bool = False
    """Whether every change is made without asking: the person gave their word with `--yes`."""


class Conversation:
    """What was said so far, and what the last run knew: each message is a run that begins with it."""

    def __init__(self) -> None:
        self.messages: tuple[Message, ...] = ()
        self.chat_id = ""
        self.run_ids: list[str] = []
        self._seen: Mapping[str, object] = {}
        self._labels: Labels = NO_LABELS

    def begin(self, messages: Sequence[Message], run_ids: Sequence[str], labels: Labels) -> None:
        """Begin with what runs outside of the chat came to."""
        self.messages, self.run_ids, self._labels = tuple(messages), list(run_ids), labels
        self.chat_id = next(iter(run_ids), "")

    async def say(
        self, setup: Setup, message: OutgoingMessage, emit: Callable[[Event], None], note: Note
    ) -> RunResult[object]:
        """Answer a message. What is complete stays in the conversation, however the run ends."""
        run_id = (setup.make_id or random_id)()
        chat_id = self.chat_id or run_id
        setup = replace(setup, settings={**(setup.settings or {}), CHAT: chat_id})
        heard = _StartListener(emit, lambda: self._bring(state.run, message))
        state = new_run(setup, initial_messages(message.text, self.messages), heard, stream=True, run_id=run_id)
        note(state)
        try:
            return await execute_run(state)
        finally:
            self._take(state)
            if state.result is not None:  # it is on record
                self.chat_id = chat_id
                self.run_ids.append(run_id)

    async def go_on(self, setup: Setup, emit: Callable[[Event], None], note: Note) -> RunResult[object]:
        """Go on with the last run."""
        states: list[RunState] = []

        def opened(state: RunState) -> None:
            states.append(state)
            note(state)

        try:
            return await resume_run(setup, self.run_ids[-1], emit=emit, stream=True, on_open=opened)
        finally:
            for state in states:
                self._take(state)

    def _bring(self, run: Run, message: OutgoingMessage) -> None:
        """What the model has seen of which file in the runs before, and what the message attaches."""
        for name, value in self._seen.items():
            run.set_state(name, value)
        for file in message.files:
            if file.hash:
                SeenFiles(run).add(file.path, file.hash, file.lines, file.seen)
        run.add_labels(self._labels | PRIVATE if message.files else self._labels)

    def _take(self, state: RunState) -> None:
        """Go on from what is complete. Of a run in which the model said nothing, nothing is left to answer twice."""
        result = state.result
        if result is None or (result.stop_reason == "failed" and not result.steps):
            return
        self.messages = result.messages
        self._seen = {name: value for name, value in state.run.state.items() if name.startswith(SEEN)}
        self._labels = state.run.labels


class _StartListener:
    """Passes events on; once the run is on record, it is given what it has to know, and nobody is told of that."""

    def __init__(self, emit: Callable[[Event], None], bring: Callable[[], None]) -> None:
        self._emit, self._bring = emit, bring
        self._is_quiet = False

    def __call__(self, event: Event) -> None:
        if not (self._is_quiet and isinstance(event, StateChanged)):
            self._emit(event)
        if isinstance(event, RunStarted):
            self._is_quiet = True
            self._bring()
            self._is_quiet = False
