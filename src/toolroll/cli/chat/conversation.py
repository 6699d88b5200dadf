"""What a chat needs of an application, and the conversation that goes from one run to the next."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event, RunStarted
from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.result import RunResult
from toolroll.apps.recorded_messages import read_messages
from toolroll.cli.chat.mentions import OutgoingMessage
from toolroll.cli.chat.reopen import read_state
from toolroll.cli.driver import RunDriver
from toolroll.journal.conversations import CHAT, ConversationSummary
from toolroll.journal.journal import Recording
from toolroll.kernel.call.context import random_id
from toolroll.kernel.call.events import StateChanged
from toolroll.kernel.data.labels import ALL_LABELS, NO_LABELS, Labels
from toolroll.kernel.data.messages import Message
from toolroll.packs.code.seen_files import STATE as SEEN
from toolroll.packs.code.seen_files import SeenFiles

if TYPE_CHECKING:
    from toolroll.apps.mcp_servers import ServerPool
    from toolroll.apps.surface import TemporaryRule
    from toolroll.packs.catalog import CatalogEntry
    from toolroll.workspace.workspace import Workspace


class ChatAgent(Protocol):
    """An application that answers messages."""

    @property
    def info(self) -> "ChatInfo":
        """Return the application as it would answer now."""
        ...

    async def say(self, message: OutgoingMessage, driver: RunDriver) -> RunResult[object] | None:
        """Answer a message in a run that `driver` follows; None where no run is left to show the end of."""
        ...

    async def go_on(self, driver: RunDriver) -> RunResult[object]:
        """Continue the last run, which a limit has stopped."""
        ...

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on; an error leaves the one there is."""
        ...

    def forget(self) -> None:
        """Start a new conversation."""
        ...


class SetPlanning(Protocol):
    """Goes into plan mode, in which nothing is changed, or out of it."""

    def __call__(self, *, is_on: bool) -> None:
        """Do so from the next message on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatInfo:
    """An application in a chat; `workspace` is where it changes files and where mentioned ones are, if it does."""

    name: str
    model: str
    list_tools: "Callable[[], Sequence[CatalogEntry]]"
    conversation: "Conversation"
    workspace: "Workspace | None" = None
    greeting: str = "Write what you want."
    reopen: "Callable[[ConversationSummary], Awaitable[None]] | None" = None
    """Goes on with an earlier conversation in the place of this one, where the application can."""
    sum_up: "Callable[[RunDriver], Awaitable[RunResult[object]]] | None" = None
    """Ends a run that a limit has stopped with an answer to what is there, where the application can."""
    plan: "SetPlanning | None" = None
    """Goes into plan mode or out of it, where the application has one."""
    is_planning: bool = False
    temporary_rules: "Sequence[TemporaryRule]" = ()
    """What the person has allowed until the chat ends."""
    learn_servers: "Callable[[], Awaitable[ServerPool | None]] | None" = None
    """Returns the MCP servers that it uses."""
    is_unasked: bool = False
    """Whether every change is made without asking: the person gave their word with `--yes`."""


class Conversation:
    """The messages so far, and what the last run knew: each message is a run that begins with it."""

    def __init__(self) -> None:
        self.messages: tuple[Message, ...] = ()
        self.chat_id: str = ""
        self.run_ids: list[str] = []
        self._seen: Mapping[str, object] = {}
        self._labels: Labels = NO_LABELS

    def begin(self, messages: Sequence[Message], run_ids: Sequence[str], labels: Labels) -> None:
        """Begin with what runs outside of the chat came to."""
        self.messages, self.run_ids, self._labels = tuple(messages), list(run_ids), labels
        self.chat_id = next(iter(run_ids), "")

    def reopen(self, found: ConversationSummary, recording: Recording) -> None:
        """Begin with an earlier conversation, whose last run is `recording`.

        What it has read is not known in detail any more: it counts as private, and as words of strangers.
        """
        self.messages, self._seen, self._labels = read_messages(recording), read_state(recording, SEEN), ALL_LABELS
        self.chat_id, self.run_ids = found.chat_id, [run.run_id for run in found.runs]

    async def say(self, agent: Agent[None], message: OutgoingMessage, driver: RunDriver) -> RunResult[object]:
        """Answer a message. What is complete stays in the conversation, however the run ends."""
        run_id = random_id()
        chat_id = self.chat_id or run_id
        text = message.write(run_id)
        run: LiveRun[None] = agent.start(
            text,
            messages=self.messages,
            listener=_StartListener(driver.listener, lambda: self._restore(run, message, text)),
            stream=True,
            run_id=run_id,
            record={CHAT: chat_id},
        )
        try:
            return await driver.follow(run)
        finally:
            self._keep(run)
            if run.result is not None:  # it is on record
                self.chat_id = chat_id
                self.run_ids.append(run_id)

    async def go_on(self, agent: Agent[None], driver: RunDriver) -> RunResult[object]:
        """Continue the last run."""
        run = agent.start(resume=self.run_ids[-1], listener=driver.listener, stream=True)
        try:
            return await driver.follow(run)
        finally:
            self._keep(run)

    def _restore(self, live: LiveRun[None], message: OutgoingMessage, text: str) -> None:
        """Give a run what the model has seen of which file in the runs before, and what the message attaches."""
        run = live.run
        assert run is not None  # a new run has it from the beginning
        for name, value in self._seen.items():
            run.set_state(name, value)
        for file in message.files:
            if file.hash:
                SeenFiles(run).add(file.path, file.hash, file.lines, file.seen)
        run.add_labels(self._labels | ALL_LABELS if message.has_attached else self._labels)
        if message.has_attached and run.outflow is not None:
            run.outflow.private.add(text)

    def _keep(self, live: LiveRun[None]) -> None:
        """Keep what is complete. Of a run in which the model said nothing, nothing is left to answer twice."""
        result, run = live.result, live.run
        if result is None or run is None or (result.stop_reason == "failed" and not result.steps):
            return
        self.messages = result.messages
        self._seen = {name: value for name, value in run.state.items() if name.startswith(SEEN)}
        self._labels = run.labels


class _StartListener:
    """Passes events on; once the run is on record, it is given what it has to know, which is not shown."""

    def __init__(self, listener: Listener, restore: Callable[[], None]) -> None:
        self._listener, self._restore = listener, restore
        self._is_quiet = False

    def __call__(self, event: Event) -> None:
        if not (self._is_quiet and isinstance(event, StateChanged)):
            self._listener(event)
        if isinstance(event, RunStarted):
            self._is_quiet = True
            self._restore()
            self._is_quiet = False
