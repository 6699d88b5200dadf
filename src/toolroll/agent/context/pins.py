"""What of a conversation stays when it is compacted: what was pinned, and the user's own words as far as they fit."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.kernel.data.messages import Message, ToolResults, UserMessage

PINS_SHARE: Final = 2
"""What is pinned gets half of the window at most: in a window that is full of it nothing could be done."""
WORDS_SHARE: Final = 8
"""The user's other messages, the first one and then the newest; what does not fit is in the summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """The places of what stays, in order; `left_out` is how many that were pinned do not fit."""

    places: tuple[int, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """Who has a pin, and what a message takes of the window."""

    pinned_tools: Container[str]
    own_words: Container[int]
    """The ids of what the agent itself said in the user's place."""
    window_tokens: int
    size_of: Callable[[Message], float]

    def among(self, messages: Sequence[Message]) -> Stays:
        """What stays of these messages: all that is pinned, the newest first, then what the user said."""
        found: list[int] = []
        left_out, left = 0, self.window_tokens / PINS_SHARE
        for places in self._pinned(messages):
            size = sum(self.size_of(messages[place]) for place in places)
            if size > left:
                left_out += 1
                continue
            left -= size
            found += places
        return Stays(places=tuple(sorted((*found, *self._words(messages)))), left_out=left_out)

    def _pinned(self, messages: Sequence[Message]) -> Iterator[tuple[int, ...]]:
        """The places of each, the newest first; a result comes with the turn that asked for it, and all its calls."""
        for place in range(len(messages) - 1, -1, -1):
            message = messages[place]
            if isinstance(message, UserMessage) and message.pinned:
                yield (place,)
            elif isinstance(message, ToolResults) and any(one.name in self.pinned_tools for one in message.results):
                yield (place - 1, place)

    def _words(self, messages: Sequence[Message]) -> Iterator[int]:
        places = [place for place, message in enumerate(messages) if self._is_said(message)]
        left = self.window_tokens / WORDS_SHARE
        # The first is mostly what all of it is about.
        if places and self.size_of(messages[places[0]]) <= left:
            left -= self.size_of(messages[places[0]])
            yield places.pop(0)
        for place in reversed(places):
            left -= self.size_of(messages[place])
            if left < 0:
                return
            yield place

    def _is_said(self, message: Message) -> bool:
        return isinstance(message, UserMessage) and not message.pinned and id(message) not in self.own_words
