"""Text on a page: nothing hidden in it, nothing of it obeyed, and never more than there is room for."""

from html import escape
from typing import Final

from toolroll.safe.text import visible

PAGE_CHARACTERS: Final = 4_000_000
"""Of all texts together. A phone shows a page of this size in about a second; twice as much takes it four times."""
TEXT_CHARACTERS: Final = 12_000
"""Of one text: what a person reads before they search instead."""
FULL_CHARACTERS: Final = 80
"""Of one text on a page that is full."""
_TAIL: Final = 4
"""One part in so many of what is shown of a long text is its end: there errors stand."""


class Room:
    """What is left of a page."""

    def __init__(self, characters: int = PAGE_CHARACTERS) -> None:
        self.left = characters

    @property
    def is_full(self) -> bool:
        """Whether nothing more goes on the page."""
        return self.left <= 0

    def text(self, text: str, *, where: str, most: int = TEXT_CHARACTERS) -> str:
        """The text for HTML; of a long one the beginning and the end, and in between a note `where` the whole is."""
        most = self._most(most)
        if len(text) <= most:
            return self._taken(inert(text))
        tail = most // _TAIL
        head, end = inert(text[: most - tail]), inert(text[-tail:])
        return self._taken(head + _cut(len(text) - most, where) + end)

    def diff(self, text: str, *, where: str) -> str:
        """A difference, line by line, with what was added and removed marked."""
        shown = text[: self._most(TEXT_CHARACTERS)]
        lines = "\n".join(map(_diff_line, shown.split("\n")))
        rest = len(text) - len(shown)
        return self._taken(lines + (_cut(rest, where) if rest else ""))

    def _most(self, wanted: int) -> int:
        return min(wanted, max(self.left, FULL_CHARACTERS))

    def _taken(self, text: str) -> str:
        self.left -= len(text)
        return text


def inert(text: str) -> str:
    """The text for HTML, what would not be seen spelled out: no tag, no escape sequence, no turn of direction."""
    return escape(visible(text, show_crlf=False))


def _cut(characters: int, where: str) -> str:
    return f'<span class="cut">[{characters:,} characters are left out here. {inert(where)}]</span>'


def _diff_line(line: str) -> str:
    kind = {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1])
    return inert(line) if kind is None else f'<span class="{kind}">{inert(line)}</span>'
