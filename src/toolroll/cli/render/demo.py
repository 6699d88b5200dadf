"""What `toolroll demo` shows: titles, lines with a label, and the question as a terminal asks it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from toolroll.cli.render.draw import fold
from toolroll.cli.render.rows import request_rows
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.safe.text import one_line, terminal_safe

if TYPE_CHECKING:
    from toolroll.agent.events import CallFinished, Event

_INDENT: Final = 2
_LABEL_COLUMNS: Final = 9
_MAX_RESULT_LINES: Final = 6
_MAX_ARGUMENTS_CHARACTERS: Final = 100
_INTRO: Final = (
    "No key, no network. What the model says is recorded, and so is your yes; everything else really happens: the "
    "tools, the index of symbols, the diff, the write, the undo, the run log. On a copy of a sample project, which is "
    "gone afterwards."
)


class DemoScreen:
    """Shows the play on a console; without one, nothing."""

    def __init__(self, console: Console | None) -> None:
        self._console = console
        self._said: list[str] = []

    def open(self, root: Path, prompt: str) -> None:
        """Show the introduction: the project, and what is asked."""
        self._title("toolroll demo")
        self._say(_INTRO)
        self._title("1  An agent at work in a project")
        files = sum(path.is_file() for path in root.rglob("*"))
        self._line("project", f"{root.name}, {files} files of JavaScript and Python", "dim")
        self._line("you", prompt, "bold")

    def on_event(self, event: "Event") -> None:
        """Tell of what the model says, and of each call with the beginning of what came of it."""
        if event.event == "text_delta":
            self._said.append(event.text)
        elif event.event in ("tool_call_started", "step_finished", "approval_requested"):
            self._end_text()
        elif event.event == "tool_result":
            self._call(event)

    def _end_text(self) -> None:
        text, self._said = "".join(self._said), []
        if text.strip():
            self._say("")
            self._line("model", terminal_safe(text), "bold")

    def _call(self, event: "CallFinished") -> None:
        call, result = event.call, event.result
        self._line("calls", f"{call.name} {one_line(call.arguments, _MAX_ARGUMENTS_CHARACTERS)}", "cyan")
        lines = terminal_safe(result.text).split("\n")
        more = len(lines) - _MAX_RESULT_LINES
        shown = [*lines[:_MAX_RESULT_LINES], *([f"... and {more} more lines"] if more > 0 else [])]
        self._line("reads", "\n".join(shown), "red" if result.is_error else "green")

    def ask(self, request: ApprovalRequest) -> None:
        """Show the question as a terminal shows it, and the answer that is scripted for it."""
        if self._console is None:
            return
        self._title("2  A change is shown before it is made")
        for line in fold(request_rows(request), self._console.width - 2 * _INDENT):
            self._put(line.render())
        self._say("")
        self._line("Allow this?", "y", "bold", "   (recorded; toolroll demo --ask asks you)")
        self._title("3  Only what was shown is written")

    def applied(self, path: str, text: str) -> None:
        """Show what is in the file now."""
        self._say("")
        self._line("in the file", path, "dim")
        self._say(terminal_safe(text.rstrip("\n")), "cyan")

    def undone(self, steps: Sequence[str], *, is_back: bool) -> None:
        """Show what undoing did."""
        self._title("4  toolroll undo")
        for step in steps or ["There is nothing to undo: nothing was changed."]:
            self._say(step)
        if steps:
            self._say("Byte for byte as it was." if is_back else "It is not as it was!", "green" if is_back else "red")

    def close(self, steps: int, *, is_same: bool, advice: str) -> None:
        """Show that the run was recorded, and what to try next."""
        self._title("5  toolroll runs replay")
        same = "the same each time" if is_same else "and something was different"
        told = f"The run was recorded as it went: {steps} steps. Played again, with the reading tools run anew: {same}."
        self._say(told, "green" if is_same else "red")
        self._title("Try next")
        self._say(advice, "bold")

    def _title(self, title: str) -> None:
        if self._console is not None:
            width = self._console.width
            *lines, last = Text(title, style="bold").wrap(self._console, width)
            rule = "─" * max(width - len(last) - 1, 0)
            self._console.print(Text("\n").join([Text(), *lines, Text.assemble(last, (f" {rule}".rstrip(), "cyan"))]))

    def _say(self, text: str, style: str = "") -> None:
        self._put(Text(text, style=style))

    def _line(self, label: str, text: str, style: str, note: str = "") -> None:
        """A label, and beside it text that stays in its own column."""
        lines = [Text(line, style=style) for line in text.expandtabs(4).split("\n")]
        lines[-1] = Text.assemble(lines[-1], (note, "dim"))
        self._put(Text("\n").join(lines), f"{label:<{_LABEL_COLUMNS}}" if len(label) < _LABEL_COLUMNS else f"{label} ")

    def _put(self, text: Text, label: str = "") -> None:
        if self._console is None:
            return
        text.rstrip()
        for line in text.wrap(self._console, self._console.width - 2 * _INDENT - len(label)) or [Text()]:
            line.rstrip()
            start = Text(" " * _INDENT + label, style="dim") if line or label else Text()
            self._console.print(Text.assemble(start, line), soft_wrap=True)
            label = " " * len(label)
