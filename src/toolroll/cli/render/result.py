"""How a run ended: its exit code, a line that sums it up, and what the person can do next."""

from collections.abc import Mapping
from textwrap import indent
from typing import Final

from toolroll.agent.result import RunResult
from toolroll.cli.session import DONE, FAILED, INTERRUPTED, NEEDS_APPROVAL, STOPPED_BY_LIMIT
from toolroll.errors import ToolrollError
from toolroll.safe.text import one_line, terminal_safe

MAX_LINE_CHARACTERS: Final = 200

_INTERRUPTIONS: Final = ("KeyboardInterrupt", "CancelledError")
"""Names that say to a programmer what "interrupted" says to everybody."""

EXIT_CODE_BY_STOP: Final[Mapping[str, int]] = {
    "answer": DONE,
    "done": DONE,
    "approval_pending": NEEDS_APPROVAL,
    "condition": STOPPED_BY_LIMIT,
    "cut_off": STOPPED_BY_LIMIT,
    "invalid_calls": STOPPED_BY_LIMIT,
    "repeated_calls": STOPPED_BY_LIMIT,
    "repeated_failure": STOPPED_BY_LIMIT,
    "interrupted": INTERRUPTED,
}
"""Exit codes by how a run ended; everything else is a failure."""


def exit_code(result: RunResult[object], error: ToolrollError | None = None) -> int:
    """Return the exit code of a command whose run ended so."""
    return FAILED if error is not None else EXIT_CODE_BY_STOP.get(result.stop_reason, FAILED)


def lacks_answer(result: RunResult[object]) -> bool:
    """Return whether there is no answer because the run was stopped before the model gave one."""
    return result.stop_reason in ("interrupted", "condition") and not result.has_answer


def summarize_result(result: RunResult[object]) -> str:
    """Return how a run ended, on one line."""
    count = len(result.steps)
    cost = "cost unknown" if result.cost is None else f"${result.cost:.4f}"
    steps = f"{count} step" if count == 1 else f"{count} steps"
    is_said = result.stop_detail and result.stop_detail not in _INTERRUPTIONS
    why = f" ({one_line(result.stop_detail, MAX_LINE_CHARACTERS)})" if is_said else ""
    return f"· run {result.run_id}: {result.stop_reason}{why}, {steps}, {result.usage.total:,} tokens, {cost}"


def suggest_next(result: RunResult[object]) -> list[str]:
    """Return what the person can do now; what they would approve is shown whole."""
    if result.stop_reason == "gave_up":
        resume = f"toolroll runs resume {result.run_id}"
        return [f"· Go on with something else: {resume} --prompt TEXT", f"· Try once more with: {resume} --force"]
    if not result.pending:
        return [f"· Go on with: toolroll runs resume {result.run_id}"] if result.can_continue else []
    asked = [
        f"? {one.tool} ({one.call_id}): {one_line(one.why, MAX_LINE_CHARACTERS)}\n"
        + indent(terminal_safe(one.preview).rstrip("\n"), "  ")
        for one in result.pending
    ]
    resume = f"toolroll runs resume {result.run_id}"
    yes, no = (" ".join(f"--{word} {one.call_id}" for one in result.pending) for word in ("approve", "reject"))
    then = "· After a no the model goes on without it; what else it wants to change is asked about, too."
    return [*asked, f"· Say yes with: {resume} {yes}", f"· Say no with:  {resume} {no}", then]
