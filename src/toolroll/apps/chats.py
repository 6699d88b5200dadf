"""Chats of a surface that is not a terminal: each is one run in the journal, driven here when there is something to do.

A message, an answer or a look at what waits starts the run or resumes it; between them nothing is held, so that any
other process can go on with it. What is asked is kept on record by the run and, with its whole preview, here.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolroll.agent.approvals import AskLater
from toolroll.agent.events import Event, RunFinished, StepStarted, TextArrived
from toolroll.agent.history.fork import first_steps
from toolroll.agent.history.replay import ReplayReport, replay
from toolroll.agent.live import LiveRun
from toolroll.agent.run import close_models
from toolroll.apps.build import build_agent
from toolroll.apps.feed import Feed
from toolroll.apps.models import absolute_model_name, choose_model, connect_model
from toolroll.apps.permissions import RuleMemory
from toolroll.apps.project import Project
from toolroll.apps.run_log import recorded_settings
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Note, Surface
from toolroll.errors import DecisionRefused, ToolrollError, UsageError
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.request import ApprovalRequest, Approver, Decision
from toolroll.kernel.call.context import random_id
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested
from toolroll.kernel.data.messages import Prompt
from toolroll.models.model import Model
from toolroll.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from toolroll.apps.mcp_servers import ServerPool

CHAT_STEPS: Final = 30
"""Turns of the model for one message, where the settings do not say."""
STOP_SECONDS: Final = 10.0


@dataclass(slots=True)
class _Chat:
    """What this process knows of one chat beyond its record."""

    spec: AgentSpec
    model: Model
    task: "asyncio.Task[None] | None" = None
    live: LiveRun[None] | None = None
    memory: RuleMemory | None = None
    requests: dict[str, ApprovalRequest] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    error: str = ""
    text: str = ""
    """What the model has written of its last turn."""
    step: int = 0
    """Which step that turn is: it is on record once there are so many turns."""

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """A chat beyond its record: whether it runs here, what it has to say, and what it asks."""

    is_running: bool = False
    text: str = ""
    """What the model has written of step `step`; the record may have it by now."""
    step: int = 0
    model: str = ""
    """The model that the next message goes to; empty where the record says it."""
    error: str = ""
    notes: tuple[str, ...] = ()
    requests: Mapping[str, ApprovalRequest] = field(default_factory=dict)
    can_remember: frozenset[str] = frozenset()
    """The calls for which an "always" can be remembered."""


class Chats:
    """All chats that this process has driven. Use it in one event loop, and close it at the end."""

    def __init__(self, journal: Journal, environment: Mapping[str, str]) -> None:
        self._journal = journal
        self._environment = environment
        self._chats: dict[str, _Chat] = {}
        self._servers: dict[Path, ServerPool] = {}
        self.feed: Feed = Feed()

    async def start(
        self,
        prompt: Prompt,
        *,
        folder: Path,
        model: str | None = None,
        read_only: bool = False,
        chat_id: str | None = None,
    ) -> str:
        """Begin a chat with the coding agent in a folder; return its id, which the caller may choose."""
        chat = self._connect(folder, model, read_only=read_only)
        chat_id = chat_id or random_id()
        if self.view(chat_id).is_running:
            raise DecisionRefused("The chat is at work. Wait until it has ended, or stop it first.")
        self._chats[chat_id] = chat
        self._drive(chat_id, prompt=prompt, start={"run_id": chat_id})
        return chat_id

    async def say(self, chat_id: str, prompt: Prompt) -> None:
        """Send the next message of a chat."""
        chat = await self._open(chat_id)
        self._check_idle(chat)
        self._drive(chat_id, prompt=prompt)

    async def fork(self, chat_id: str, *, at_step: int, prompt: Prompt | None = None) -> str:
        """Begin a chat with the first steps of another one, and go on from there; return its id."""
        recording = await self._journal.read(chat_id)
        first_steps(recording, at_step)  # UsageError now, and not in a chat that is empty then
        spec = AgentSpec.from_job(recorded_settings(recording))
        made = random_id()
        self._chats[made] = _Chat(spec=spec, model=connect_model(spec.model, self._environment))
        self._drive(made, prompt=prompt, start={"run_id": made, "fork": chat_id, "at_step": at_step})
        return made

    async def replay(self, chat_id: str) -> ReplayReport:
        """Play a run again without its model, and compare; nothing is changed, and nothing is paid."""
        spec = AgentSpec.from_job(recorded_settings(await self._journal.read(chat_id)))
        surface = Surface(environment=self._environment, notify=lambda _note: None)
        with Project.open(spec.project_folder, self._environment) as project:
            model = ScriptedModel([])  # the recorded answers are played
            async with build_agent(spec, project=project, surface=surface, journal=self._journal, model=model) as agent:
                return await replay(agent, chat_id)

    async def go_on(self, chat_id: str) -> None:
        """Continue a chat that a limit or a failure has stopped."""
        self._check_idle(await self._open(chat_id))
        self._drive(chat_id)

    async def answer(self, chat_id: str, decisions: Mapping[str, tuple[str, Decision]]) -> None:
        """Answer questions: for each call the digest of what was shown, and the decision. All of them, or none."""
        chat = await self._open(chat_id)
        self._check_idle(chat)
        for call_id, (digest, _) in decisions.items():
            asked = chat.requests.get(call_id)
            if asked is None or asked.digest != digest:
                raise DecisionRefused("What this is about has changed, or was answered. Look at it again.")
        self._drive(chat_id, decisions={call_id: decision for call_id, (_, decision) in decisions.items()})

    async def look(self, chat_id: str) -> None:
        """Find out what a chat asks, as it stands now; the model is not asked."""
        chat = await self._open(chat_id)
        if not chat.is_running and not chat.requests:
            self._drive(chat_id)
            assert chat.task is not None  # just begun
            await asyncio.wait([chat.task])

    async def remember(self, chat_id: str, call_id: str, glob: str) -> None:
        """Allow what a question asks from now on, on these paths of the folder."""
        chat = await self._open(chat_id)
        request = chat.requests.get(call_id)
        if request is None or chat.memory is None or not chat.memory.can_remember(request):
            raise DecisionRefused("This cannot be allowed for the future. Answer it once.")
        chat.memory.add(request, glob)

    async def stop(self, chat_id: str) -> None:
        """Stop what a chat is doing; what is complete stays."""
        chat = self._chats.get(chat_id)
        if chat is None or chat.task is None or not chat.is_running:
            return
        if chat.live is not None:
            chat.live.stop()
        done, _ = await asyncio.wait([chat.task], timeout=STOP_SECONDS)
        if not done:
            chat.task.cancel()

    async def use_model(self, chat_id: str, name: str) -> None:
        """Answer with another model from the next message on; an error leaves the one there is."""
        chat = await self._open(chat_id)
        self._check_idle(chat)
        spec = replace(chat.spec, model=absolute_model_name(name))
        model = connect_model(spec.model, self._environment)
        await close_models([chat.model])
        chat.spec, chat.model = spec, model

    def view(self, chat_id: str) -> ChatView:
        """Return what is known here of a chat beyond its record."""
        chat = self._chats.get(chat_id)
        if chat is None:
            return ChatView()
        memory = chat.memory
        kept = (key for key, one in chat.requests.items() if memory is not None and memory.can_remember(one))
        return ChatView(
            is_running=chat.is_running,
            text=chat.text,
            step=chat.step,
            model=chat.spec.model,
            error=chat.error,
            notes=tuple(chat.notes),
            requests=dict(chat.requests),
            can_remember=frozenset(kept),
        )

    async def close(self) -> None:
        """Stop everything; each chat can be continued from its record."""
        for chat_id in tuple(self._chats):
            await self.stop(chat_id)
        await close_models([chat.model for chat in self._chats.values()])
        for pool in self._servers.values():
            await asyncio.to_thread(pool.close)

    def _connect(self, folder: Path, model: str | None, *, read_only: bool) -> _Chat:
        if not folder.is_dir():
            raise UsageError(f"There is no folder '{folder}'.")
        with Project.open(folder.resolve(), self._environment, flags={"model": model}) as project:
            spec = AgentSpec(
                model=absolute_model_name(choose_model(project.settings)),
                max_steps=project.settings.code.max_steps or CHAT_STEPS,
                root=str(project.root),
                folder=str(project.root),
                read_only=read_only,
                kind="code",
            )
            return _Chat(spec=spec, model=connect_model(spec.model, self._environment, settings=project.settings))

    async def _open(self, chat_id: str) -> _Chat:
        if chat_id not in self._chats:
            spec = AgentSpec.from_job(recorded_settings(await self._journal.read(chat_id)))
            self._chats[chat_id] = _Chat(spec=spec, model=connect_model(spec.model, self._environment))
        return self._chats[chat_id]

    def _check_idle(self, chat: _Chat) -> None:
        if chat.is_running:
            raise DecisionRefused("The chat is at work. Wait until it has ended, or stop it first.")

    def _drive(
        self,
        chat_id: str,
        *,
        prompt: Prompt | None = None,
        decisions: Mapping[str, Decision] | None = None,
        start: Mapping[str, Any] | None = None,
    ) -> None:
        chat = self._chats[chat_id]
        chat.requests, chat.notes, chat.error, chat.text = {}, [], "", ""
        work = self._run(chat_id, chat, prompt, decisions, start or {"resume": chat_id})
        chat.task = asyncio.ensure_future(work)
        self.feed.change(chat_id)

    async def _run(
        self,
        chat_id: str,
        chat: _Chat,
        prompt: Prompt | None,
        decisions: Mapping[str, Decision] | None,
        start: Mapping[str, Any],
    ) -> None:
        try:
            folder = chat.spec.project_folder
            with Project.open(folder, self._environment, servers=self._servers.get(folder)) as project:
                surface = self._surface(chat)
                await project.learn_servers(surface)
                if (pool := project.detach_servers()) is not None:
                    self._servers[folder] = pool
                agent = build_agent(
                    chat.spec, project=project, surface=surface, journal=self._journal, model=chat.model
                )
                project.recover_changes(agent.setup.tools, surface)
                chat.live = agent.start(
                    prompt,
                    **start,
                    decisions=decisions,
                    listener=lambda event: self._listen(chat_id, chat, event),
                    stream=True,
                )
                await chat.live.wait()
        except ToolrollError as error:
            chat.error = str(error.message)
        finally:
            chat.live, chat.text = None, ""
            # The task is over only after this: whoever looks on being told must not find it running.
            asyncio.get_running_loop().call_soon(self.feed.change, chat_id)

    def _surface(self, chat: _Chat) -> Surface:
        def notify(note: Note) -> None:
            chat.notes.append(note.text)

        def make_approver(memory: RuleMemory | None, _seconds: float) -> Approver:
            chat.memory = memory
            return AskLater()

        return Surface(environment=self._environment, notify=notify, make_approver=make_approver)

    def _listen(self, chat_id: str, chat: _Chat, event: Event) -> None:
        match event:
            case TextArrived(text=text):
                self.feed.write(chat_id, text, at=len(chat.text))
                chat.text += text
                return
            case StepStarted(number=number):
                chat.text, chat.step = "", number
            case ApprovalRequested(request=request):
                chat.requests[request.call_id] = request
            case ApprovalDecided(request=request):
                chat.requests.pop(request.call_id, None)
            case RunFinished():
                return
            case _:
                pass
        self.feed.change(chat_id)
