"""The writing agent: nine tools behind the gate, the profiles in every request, and a person who is asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event
from toolroll.agent.options import AgentOptions
from toolroll.agent.result import RunResult
from toolroll.agent.run import execute_run, new_run
from toolroll.agent.state import RunState
from toolroll.agent.stop import step_count_is
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.data.messages import Message
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import labelled
from toolroll.kernel.depends.dependency import Identity, Maker
from toolroll.models.model import Model
from toolroll.packs.writing.profiles.feedback import VerbatimFeedbackStore
from toolroll.packs.writing.profiles.mix import Style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.gate import Gate, apply_gate
from toolroll.packs.writing.session.profile_first import ProfileFirst, begin_turn
from toolroll.packs.writing.session.prompt import system_prompt
from toolroll.packs.writing.texts.messages import LANG, Lang
from toolroll.packs.writing.tools.dependencies import FEEDBACK
from toolroll.packs.writing.tools.notion_tools import read_notion_page
from toolroll.packs.writing.tools.toolset import SEARCH, writing_tools

MAX_STEPS: Final = 10
"""Model calls of one turn: a search, past posts, a page, feedback, an update, and the draft, with room for mistakes."""

POLICY: Final = Policy((Rule(action="allow", tool=SEARCH),), outward="ask")
"""Who writes wants facts looked up; once a stranger's text is in the run, a person is asked about each call out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingContext:
    """Where somebody writes: the data folder, the language, whom to ask, where runs are kept."""

    data: Path
    lang: Lang = "en"
    environment: Mapping[str, str] = field(default_factory=dict)
    approver: Approver | None = None
    journal: Journal | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    overrides: Mapping[Identity, Maker] = field(default_factory=dict)

    @property
    def deps(self) -> dict[str, object]:
        """What the tools are told."""
        return {"data": self.data, LANG: self.lang}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The nine, and a page of Notion counts as written by strangers: anybody may have pasted into it (XL14)."""
        return tuple(
            labelled(one, "untrusted") if one is read_notion_page else one for one in writing_tools(self.environment)
        )


def writing_agent(model: Model, style: Style, gate: Gate, place: WritingContext) -> Agent[None]:
    """An agent that drafts in a style; it is asked only with the profiles before its eyes (W11)."""
    options: AgentOptions = {
        "model": ProfileFirst(model, ProfileStore(place.data), profiles=style.profiles),
        "tools": apply_gate(place.tools, gate),
        "system": system_prompt(style, lang=place.lang),
        "stop_when": step_count_is(MAX_STEPS),
        "policy": POLICY,
        "approver": place.approver,
        "journal": place.journal,
        "deps": place.deps,
        "overrides": {FEEDBACK.id: lambda: VerbatimFeedbackStore(place.data, lambda: gate.said), **place.overrides},
        "settings": place.settings,
        "outputs": None,  # a profile is read whole, and there is no tool to page through it
    }
    return Agent(**options)


class Writer:
    """Asks the model, and keeps what was said; `results` are all runs that it took, in their order."""

    def __init__(
        self,
        agent: Agent[None],
        store: ProfileStore,
        profiles: Sequence[str],
        *,
        hear: Callable[[Event], None],
        note: Callable[[RunState], None],
    ) -> None:
        self._agent = agent
        self._store = store
        self._profiles = profiles
        self._hear = hear
        self._note = note
        self._messages: tuple[Message, ...] = ()
        self.results: list[RunResult[object]] = []

    async def answer(self, prompt: str, *more: Message) -> RunResult[object]:
        """What the model says to that; `more` stands behind the prompt, as if the model had asked for it.

        Raises what the store raises for a profile that cannot be read, and the model's `ModelError`.
        """
        said = begin_turn(self._store, prompt, profiles=self._profiles, messages=self._messages)
        state = new_run(self._agent.setup, (*said, *more), self._hear, stream=True)
        self._note(state)
        result = await execute_run(state)
        self._messages = result.messages
        self.results.append(result)
        return result
