"""The writing agent: the nine tools behind the gate, the profile before its eyes in every turn, a person asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolroll.agent.agent import Agent
from toolroll.agent.options import AgentOptions
from toolroll.agent.stop import step_count_is
from toolroll.journal.journal import Journal
from toolroll.kernel.approval import Approver
from toolroll.kernel.depends import Identity, Maker
from toolroll.kernel.policy import Policy, Rule
from toolroll.kernel.tool import Tool
from toolroll.kernel.wrappers import labelled
from toolroll.models.model import Model
from toolroll.packs.writing.feedback import InOwnWords
from toolroll.packs.writing.gate import Gate, gated
from toolroll.packs.writing.keys import FEEDBACK
from toolroll.packs.writing.messages import LANG, Lang
from toolroll.packs.writing.mixing import Style
from toolroll.packs.writing.notion_tools import read_notion_page
from toolroll.packs.writing.profiles import ProfileStore
from toolroll.packs.writing.prompt import system_prompt
from toolroll.packs.writing.rule import ProfileFirst
from toolroll.packs.writing.tools import SEARCH, writing_tools

MAX_STEPS: Final = 10
"""Model calls of one turn: a search, past posts, a page, feedback, an update, and the draft, with room for mistakes."""

POLICY: Final = Policy((Rule(action="allow", tool=SEARCH),), outward="ask")
"""Who writes wants facts looked up; once a stranger's text is in the run, a person is asked about each call out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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


def writing_agent(model: Model, style: Style, gate: Gate, place: Place) -> Agent[None]:
    """An agent that drafts in a style; it is asked only with the profiles before its eyes (W11)."""
    options: AgentOptions = {
        "model": ProfileFirst(model, ProfileStore(place.data), profiles=style.profiles),
        "tools": gated(place.tools, gate),
        "system": system_prompt(style, lang=place.lang),
        "stop_when": step_count_is(MAX_STEPS),
        "policy": POLICY,
        "approver": place.approver,
        "journal": place.journal,
        "deps": place.deps,
        "overrides": {FEEDBACK.id: lambda: InOwnWords(place.data, lambda: gate.said), **place.overrides},
        "settings": place.settings,
        "outputs": None,  # a profile is read whole, and there is no tool to page through it
    }
    return Agent(**options)
