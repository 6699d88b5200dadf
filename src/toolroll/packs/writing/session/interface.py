"""What goes into a writing session and what comes out of it, and the person it talks to."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from toolroll.agent.result import RunResult
from toolroll.kernel.data.messages import Message
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.profiles.mix import Style
from toolroll.packs.writing.profiles.schema import Language

QuestionKind: TypeAlias = Literal["text", "yes_no", "more"]
"""What answers a question: any text, a yes or no, or a further line of a text that the person has begun."""

End: TypeAlias = Literal["saved", "left", "drafted", "nothing"]
"""How a session ended: the draft was saved, left unsaved, only shown, or there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that a person is asked, in their language."""

    text: str
    kind: QuestionKind = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftView:
    """A draft as a person sees it: its number, its length and limit, and the rules that it breaks."""

    text: str
    platform: Platform
    number: int
    length: int
    limit: int
    notes: tuple[str, ...]


class Person(Protocol):
    """The person a post is written for. Where nobody is there, every question stays without an answer."""

    async def ask(self, question: Question) -> str | None:
        """Return the answer; None where there will be no more answers."""
        ...

    def say(self, text: str) -> None:
        """Show a message."""
        ...

    def show_draft(self, draft: DraftView) -> None:
        """Show a draft."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What to write: the request, the platform, the style, and the page of Notion to write from, if there is one."""

    request: str
    platform: Platform
    style: Style
    notion: str | None = None
    language: Language | None = None
    """Of the post, where it is to be another one than that of the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierDraft:
    """The draft that an earlier session about the same post had come to, to go on from.

    `run_id` is its last run, and `messages` are the conversation up to there.
    """

    text: str
    topic: str
    rounds: int
    run_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a session. `results` are all its runs in their order.

    Where nobody looked at the draft, `is_whole` says that it is marked as a post and complete, and `is_cut_off` that
    the model was stopped before its end.
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
