"""Who a post is written for, and what they see of it."""

from dataclasses import dataclass
from typing import Protocol

from toolroll.packs.writing.post_file import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
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

    def show_draft(self, draft: Shown) -> None:
        """Show them a draft."""
        ...
