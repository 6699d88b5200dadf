"""The writing agent: nine tools behind the gate, the profiles in every request, and the conversation of one post."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event
from toolroll.agent.live import LiveRun
from toolroll.agent.options import AgentOptions
from toolroll.agent.result import RunResult
from toolroll.agent.stop import step_count_is
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.consent import Consent, Outflow
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.data.messages import Message
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.depends.dependency import Overrides
from toolroll.models.model import Model
from toolroll.packs.writing.profiles.feedback import VerbatimFeedbackStore
from toolroll.packs.writing.profiles.mix import Style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.gate import TRACK, Gate, apply_gate
from toolroll.packs.writing.session.profile_first import ProfileFirst, begin_turn
from toolroll.packs.writing.session.prompt import system_prompt
from toolroll.packs.writing.texts.messages import DEFAULT, LANG, Lang
from toolroll.packs.writing.tools.dependencies import FEEDBACK
from toolroll.packs.writing.tools.toolset import SEARCH, writing_tools

MAX_STEPS: Final = 10
"""Model calls of one turn: a search, past posts, a page, feedback, an update, and the draft, with room for mistakes."""

POLICY: Final = Policy((Rule(action="allow", tool=SEARCH), Rule(action="allow", tool=TRACK)))
"""Searches are allowed; as the run holds the writer's own texts, only within a consent or after a person's yes.
Counting feedback is allowed: it changes a count of the program's own."""
POST_CONSENT: Final = Consent(purpose="this post", calls=10)
"""What a writer agrees to for one post: a draft takes two or three searches, and has a few rounds."""

OnStart: TypeAlias = Callable[[LiveRun[None]], None]
"""Is called with each run before it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingContext:
    """Where somebody writes: the data folder, the language, whom to ask, and the journal of runs."""

    data: Path
    lang: Lang = DEFAULT
    environment: Mapping[str, str] = field(default_factory=dict)
    approver: Approver | None = None
    journal: Journal | None = None
    record: Mapping[str, object] = field(default_factory=dict)
    overrides: Overrides = field(default_factory=dict)
    outflow: Outflow = field(default_factory=Outflow)
    """Counts the searches of all drafts of the post; its consent is the person's."""

    @property
    def deps(self) -> dict[str, object]:
        """Return the dependencies that the tools get."""
        return {"data": self.data, LANG: self.lang}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return the nine tools."""
        return writing_tools(self.environment)


def writing_agent(model: Model, style: Style, gate: Gate, context: WritingContext) -> Agent[None]:
    """Return an agent that drafts in a style; its model sees the profiles in every request (W11)."""
    options: AgentOptions = {
        "model": model,
        "hooks": [ProfileFirst(ProfileStore(context.data), profiles=style.profiles)],
        "tools": apply_gate(context.tools, gate),
        "system": system_prompt(style, lang=context.lang),
        "stop_when": step_count_is(MAX_STEPS),
        "policy": POLICY,
        "consent": context.outflow,
        "approver": context.approver,
        "journal": context.journal,
        "deps": context.deps,
        "overrides": {
            FEEDBACK.id: lambda: VerbatimFeedbackStore(context.data, lambda: gate.last_words),
            **context.overrides,
        },
        "record": context.record,
        "outputs": None,  # a profile is read whole, and there is no tool to page through it
    }
    return Agent(**options)


class Writer:
    """Asks the agent turn after turn in one conversation; `results` are all its runs in their order."""

    def __init__(
        self,
        agent: Agent[None],
        store: ProfileStore,
        profiles: Sequence[str],
        *,
        listener: Callable[[Event], None],
        on_start: OnStart,
        messages: tuple[Message, ...] = (),
    ) -> None:
        self._agent = agent
        self._store = store
        self._profiles = profiles
        self._listener = listener
        self._on_start = on_start
        self._messages: tuple[Message, ...] = messages
        self.results: list[RunResult[object]] = []

    async def answer(self, prompt: str, *more: Message) -> RunResult[None]:
        """Return the model's answer; the messages of `more` follow the prompt, as if the model had asked for them.

        Raises what the store raises for a profile that cannot be read, and the model's `ModelError`.
        """
        turn = begin_turn(self._store, prompt, profiles=self._profiles, messages=self._messages)
        run = self._agent.start(messages=(*turn, *more), listener=self._listener, stream=True)
        self._on_start(run)
        result = await run.wait()
        self._messages = result.messages
        self.results.append(result)
        return result
