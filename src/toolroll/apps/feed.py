"""News of chats for whoever listens: what changed, and the text that is being written, joined for slow listeners."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One piece of news: a chat has changed, so that its record is worth reading, or more of its text has come."""

    chat_id: str
    kind: Literal["changed", "text"]
    text: str = ""
    at: int = 0
    """How many characters of the same text came before: a reader that has some of them knows what is new."""


@dataclass(slots=True, eq=False)
class Listener:
    """Somebody who listens. News that they have not read yet are joined, so that a slow one costs no memory."""

    _changed: set[str] = field(default_factory=set)
    _texts: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    _event: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> list[News]:
        """Return the news; an empty list if there are none for so long."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return []
        self._event.clear()
        # The record holds a text once its step is complete: what changed comes first, and text after it is newer.
        news = [News(chat_id=one, kind="changed") for one in sorted(self._changed)]
        news += [News(chat_id=one, kind="text", text="".join(parts), at=at) for one, (at, parts) in self._texts.items()]
        self._changed.clear()
        self._texts.clear()
        return news

    def change(self, chat_id: str) -> None:
        """Note that a chat has changed. Text that was not read yet is in what it changed to."""
        self._texts.pop(chat_id, None)
        self._changed.add(chat_id)
        self._event.set()

    def write(self, chat_id: str, text: str, *, at: int) -> None:
        """Add text that is being written, behind `at` characters that came before."""
        self._texts.setdefault(chat_id, (at, []))[1].append(text)
        self._event.set()


class Feed:
    """Tells all listeners."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    @contextmanager
    def listen(self) -> Iterator[Listener]:
        """Listen until the block is left."""
        listener = Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def change(self, chat_id: str) -> None:
        """Tell that a chat has changed."""
        for listener in self._listeners:
            listener.change(chat_id)

    def write(self, chat_id: str, text: str, *, at: int) -> None:
        """Tell that more text has come, behind `at` characters that came before."""
        for listener in self._listeners:
            listener.write(chat_id, text, at=at)
