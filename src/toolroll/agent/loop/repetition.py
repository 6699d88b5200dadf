"""A turn that repeats itself: small models, and now and then large ones, write the same passage until they are stopped.

What the loop guard does for calls, this does for text and thoughts while they are written.
"""

from dataclasses import dataclass
from typing import Final

LEAST_CHARACTERS: Final = 3_000
"""Of nothing but one passage again and again: a ruler or a table of a person is shorter."""
LEAST_TIMES: Final = 5
LONGEST_PASSAGE: Final = 1_500
CHECK_EVERY_CHARACTERS: Final = 500
_KEPT: Final = LEAST_TIMES * LONGEST_PASSAGE + CHECK_EVERY_CHARACTERS
_ENDING: Final = 40
"""Characters that are looked for: where they stood last, the passage may have begun."""

REPEATED: Final = "the model repeated itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What a text ends with: a passage of so many characters, again and again, and how many they are together."""

    passage: int
    characters: int

    @property
    def surplus(self) -> int:
        """Return how many characters can be left out without losing anything."""
        return self.characters - self.passage


class Repetition:
    """Watches one kind of text while it is written."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0

    def add(self, text: str) -> Loop | None:
        """Take a piece; return the loop that the text ends with, if it does."""
        self._tail += text
        self._unchecked += len(text)
        if self._unchecked < CHECK_EVERY_CHARACTERS:
            return None
        self._unchecked = 0
        self._tail = self._tail[-_KEPT:]
        return find_loop(self._tail)


def find_loop(text: str) -> Loop | None:
    """Return the loop that a text ends with; None where it does not repeat itself, or not enough."""
    if len(text) < LEAST_CHARACTERS:
        return None
    earlier = text.rfind(text[-_ENDING:], 0, len(text) - 1)
    passage = len(text) - _ENDING - earlier
    if earlier < 0 or not 0 < passage <= LONGEST_PASSAGE:
        return None
    start = len(text) - passage
    while start > 0 and text[start - 1] == text[start - 1 + passage]:
        start -= 1
    characters = len(text) - start
    if characters < max(LEAST_CHARACTERS, LEAST_TIMES * passage):
        return None
    return Loop(passage=passage, characters=characters)
