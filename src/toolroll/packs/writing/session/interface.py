"""What goes into a writing session and what comes out of it, and the person it talks to."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from toolroll.agent.result import RunResult
from toolroll.packs.writing.posts.post_file import Platform
from toolroll.packs.writing.profiles.mix import Style


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftView:
    """A draft as a person sees it: its number, how long it is of what is allowed, and what is wrong with it."""

    text: str
    platform: Platform
    number: int
    length: int
    limit: int
    notes: tuple[str, ...]


class Person(Protocol):
    """Who a post is written for. Nobody may be there to ask: then they say nothing."""

    async def ask(self, prompt: str) -> str | None:
        """What they say to that; None where they say nothing any more."""
        ...

    def say(self, text: str) -> None:
        """Tell them something."""
        ...

    def show_draft(self, draft: DraftView) -> None:
        """Show them a draft."""
        ...


End: TypeAlias = Literal["saved", "left", "drafted", "nothing"]
"""How it ended: the draft was kept, left, only shown, or there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is to be written: for which platform, in which style, and from which page of Notion, if from one."""

    request: str
    platform: Platform
    style: Style
    notion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it. `results` are all runs that it took, in their order.

    Where nobody could look at it, `is_whole` says that the draft is marked as a post and has its end, and `is_cut_off`
    that the model was stopped before it.
    """

    end: End
    draft: str
    topic: str
    notes: tuple[str, ...]
    rounds: int
    wanted_to_save: bool
    results: tuple[RunResult[object], ...]
    file: str | None = None
    notion_url: str | None = None
    is_whole: bool = True
    is_cut_off: bool = False
