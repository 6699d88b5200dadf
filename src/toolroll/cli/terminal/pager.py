"""Pages of something that a person must see in full before a question about it, with a way to the end."""

from collections.abc import Sequence
from typing import Final

from toolroll.cli.render.draw import fold, print_lines
from toolroll.cli.render.rows import Row
from toolroll.cli.terminal.terminal import Terminal

PROMPT_COLUMNS: Final = 70
"""What the longest line of keys takes; on a narrow screen it is folded."""

OTHER_ROWS: Final = 3
"""Below a page, besides the keys: an empty line, the question, and the line on which the cursor ends up."""

MIN_PAGE_LINES: Final = 4

PAGE_KEYS: Final = "Enter more · v all the rest · b back · n no"

PAGE_HELP: Final = """\
Enter  the next page
v      all that is left, at once
b      the page before
n      no, or back to the question before
A yes can be said after the last page."""


class Pager:
    """Lines that are shown in pages; it knows how far the person has seen."""

    def __init__(self, terminal: Terminal, rows: Sequence[Row]) -> None:
        columns, height = terminal.size
        self._terminal = terminal
        self._lines = fold(rows, columns)
        self._page = max(height - OTHER_ROWS - PROMPT_COLUMNS // columns, MIN_PAGE_LINES)
        self._top = 0
        self._bottom = 0
        self._seen = 0

    @property
    def is_seen(self) -> bool:
        """Return whether every line has been on the screen."""
        return self._seen >= len(self._lines)

    @property
    def unseen(self) -> int:
        """Return how many lines have not been on the screen."""
        return len(self._lines) - self._seen

    @property
    def lines(self) -> tuple[int, int, int]:
        """Return the first and the last line that were shown last, counted from 1, and how many there are."""
        return self._top + 1, self._bottom, len(self._lines)

    @property
    def place(self) -> str:
        """Return the place in words."""
        first, last, total = self.lines
        return f"lines {first}-{last} of {total}"

    def forward(self) -> None:
        """Show the next page."""
        self._show(self._bottom, self._bottom + self._page)

    def back(self) -> None:
        """Show the page before."""
        top = max(self._top - self._page, 0)
        self._show(top, top + self._page)

    def rest(self) -> None:
        """Show all that is left at once; a terminal keeps it to scroll through."""
        self._show(self._bottom, len(self._lines))

    def again(self) -> None:
        """Show the page once more."""
        self._show(self._top, self._bottom)

    def _show(self, top: int, bottom: int) -> None:
        self._top, self._bottom = top, min(bottom, len(self._lines))
        print_lines(self._terminal.console, self._lines[self._top : self._bottom], self._terminal.theme)
        self._seen = max(self._seen, self._bottom)


def show_all(terminal: Terminal, rows: Sequence[Row]) -> bool:
    """Show rows to their end; False when the person turns back before."""
    pager = Pager(terminal, rows)
    pager.forward()
    while not pager.is_seen:
        match terminal.ask(f"{pager.place} · {PAGE_KEYS}: "):
            case "":
                pager.forward()
            case "v":
                pager.rest()
            case "b":
                pager.back()
            case "n" | "q" | None:
                return False
            case "?":
                terminal.say(PAGE_HELP, "text")
            case _:
                terminal.say("Press Enter for the next page, or n to go back.")
    return True
