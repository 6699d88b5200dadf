"""Taking only some of what is proposed: change by change, through one file or several (C30, C32)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from toolroll.cli.render.rows import Row, hunk_rows
from toolroll.cli.terminal.terminal import Terminal
from toolroll.kernel.approval.hunk_choice import HunkChoice
from toolroll.kernel.approval.request import Approve, Decision
from toolroll.kernel.diff.hunks import Diff
from toolroll.safe.text import visible

Pages: TypeAlias = Callable[[Terminal, Sequence[Row]], bool]
"""Shows rows to their end; False when the person turns back before."""

_HELP: Final = """\
y  take this change
n  leave it
f  take it and the rest of this file, which is shown first
s  leave it and the rest of this file
q  back to the question; nothing is decided"""

Answer: TypeAlias = Literal["yes", "no", "yes_file", "no_file"]


def choose_hunks(choice: HunkChoice, terminal: Terminal, pages: Pages) -> Decision | None:
    """Ask about change after change; None when the person goes back to the question."""
    taken: list[list[bool]] = []
    for place, diff in enumerate(choice.diffs, 1):
        of_files = f"file {place} of {len(choice.diffs)}, " if len(choice.diffs) > 1 else ""
        hunks = _ask_about_file(diff, terminal, pages, of_files)
        if hunks is None:
            return None
        taken.append(hunks)
    count, total = sum(map(sum, taken)), sum(map(len, taken))
    terminal.say(f"{count} of {total} changes taken.")
    if not count:
        terminal.say("To take none of them, say n.")
        return None
    return Approve() if count == total else Approve(edited=choice.taking(taken))


def _ask_about_file(diff: Diff, terminal: Terminal, pages: Pages, of_files: str) -> list[bool] | None:
    taken: list[bool] = []
    shown = list(_hunks_shown(diff, of_files))
    for rows in shown:
        answer = _ask_about_hunk(rows, terminal, pages)
        if answer is None:
            return None
        taken.append(answer in ("yes", "yes_file"))
        if answer in ("yes_file", "no_file"):
            return _decide_rest(taken, shown, terminal, pages, answer)
    return taken


def _decide_rest(
    taken: list[bool], shown: Sequence[Sequence[Row]], terminal: Terminal, pages: Pages, answer: Answer
) -> list[bool] | None:
    """The rest of a file as the last answer says; what is taken is shown all the same (XA6)."""
    rest = shown[len(taken) :]
    if answer == "yes_file" and not all(pages(terminal, rows) for rows in rest):
        return None
    return [*taken, *([answer == "yes_file"] * len(rest))]


def _hunks_shown(diff: Diff, of_files: str) -> Iterator[list[Row]]:
    if not diff.hunks:
        yield [Row(), Row(text=f"{of_files}{visible(diff.name, keep=())}: no line changes", look="heading")]
    for number, hunk in enumerate(diff.hunks, 1):
        yield [Row(), *hunk_rows(hunk, f"{of_files}{diff.name}", number=number, total=len(diff.hunks))]


def _ask_about_hunk(rows: Sequence[Row], terminal: Terminal, pages: Pages) -> Answer | None:
    if not pages(terminal, rows):
        return None
    while True:
        match terminal.ask("Take this change? [y yes · n no · f file · s skip file · q back · ? help] ", fresh=True):
            case "y" | "yes":
                return "yes"
            case "n" | "no":
                return "no"
            case "f":
                return "yes_file"
            case "s":
                return "no_file"
            case "q" | None:
                return None
            case "?":
                terminal.say(_HELP, "text")
            case _:
                terminal.say("Type y, n, f, s, q or ?, then Enter.")
