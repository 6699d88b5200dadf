"""A run told as text while it goes: the model's words on stdout, everything else a line on stderr."""

import sys
from collections.abc import Mapping
from textwrap import indent
from typing import Final

from pydantic_core import from_json

from toolroll.agent.events import (
    CallFinished,
    CallStarted,
    ContextCompacted,
    ContextTrimmed,
    Event,
    Retrying,
    StepFinished,
    StepStarted,
    TextArrived,
    Warned,
)
from toolroll.agent.finish import NO_ANSWER
from toolroll.agent.result import RunResult
from toolroll.cli.commands.call import show_progress
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, INTERRUPTED, NEEDS_APPROVAL, STOPPED_BY_LIMIT, Session
from toolroll.errors import ToolrollError
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, Progress, StateChanged
from toolroll.kernel.call.result import ToolResult
from toolroll.safe.text import one_line, terminal_safe

MAX_ARGUMENTS_CHARACTERS: Final = 60
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


class PlainRenderer:
    """The model's words on stdout as they come; everything else on stderr, a line each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._written: list[str] = []
        self._told: set[str] = set()
        self._is_asking = False
        self._last = "\n"

    def on_event(self, event: Event, /) -> None:
        """Tell of one event."""
        match event:
            case TextArrived(text=text):
                self._write(text)
            case StepStarted():
                self._begin_text()
            case ApprovalRequested() | ApprovalDecided():
                self._end_line()
                self._is_asking = isinstance(event, ApprovalRequested)
            case StepFinished() | CallStarted():
                self._end_line()
            case CallFinished():
                self._say(format_call(event), is_error=event.result.is_error)
            case Warned(text=text):
                self._say(f"! {one_line(text, MAX_LINE_CHARACTERS)}", is_error=True)
            case ContextTrimmed() | ContextCompacted():
                self._say(_describe_trim(event))
            case Retrying(attempt=attempt, wait_s=wait_s, reason=reason):
                self._say(f"! {one_line(reason, MAX_LINE_CHARACTERS)} Try {attempt + 1} in {wait_s:.1f} s.")
            case Progress() | StateChanged() if sys.stderr is not None and sys.stderr.isatty():
                self._end_line()
                show_progress(event)
            case _:
                return

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """The answer, if it was not shown yet, and what the run came to."""
        self._begin_text()
        if self._is_asking and result.stop_reason == "interrupted":
            notify("")  # the cursor stands behind a question that nobody has answered
        if error is None and not lacks_answer(result) and result.text.strip() not in self._told:
            self._end_line()
            self._write(result.text)
        self._end_line()
        self._say(summarize_result(result))
        if error is not None:
            self._session.fail(error.code, error.message)
        for line in () if self._session.chats else suggest_next(result):
            self._say(line)
        return exit_code(result, error)

    def close(self) -> None:
        """Every piece was written at once."""

    def _begin_text(self) -> None:
        """What follows is another text. A run that breaks off ends with the last one that was said."""
        self._told.add("".join(self._written).strip())
        self._written.clear()

    def _write(self, text: str) -> None:
        out = self._session.out
        out.write(terminal_safe(text) if out.isatty() else text)
        out.flush()
        self._written.append(text)
        self._last = text[-1:] or self._last

    def _end_line(self) -> None:
        if self._last != "\n":
            self._session.write("\n")
            self._last = "\n"

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self._end_line()
        notify(text, dim=not is_error, red=is_error)


def exit_code(result: RunResult[object], error: ToolrollError | None = None) -> int:
    """What the command ends with."""
    return FAILED if error is not None else EXIT_CODE_BY_STOP.get(result.stop_reason, FAILED)


def format_call(event: CallFinished) -> str:
    """A call and what it came to, on one line."""
    call, result = event.call, event.result
    arguments = one_line(call.arguments, MAX_ARGUMENTS_CHARACTERS)
    size = len(result.text.encode("utf-8", "surrogatepass"))
    outcome = describe_failure(result) if result.is_error else f"{size:,} bytes"
    name = one_line(call.name, MAX_ARGUMENTS_CHARACTERS)
    return f"{'✗' if result.is_error else '·'} {name} {arguments}  {event.duration_ms:,.0f} ms, {outcome}"


def describe_failure(result: ToolResult) -> str:
    """How a call failed, in a line for people: of an object with a message, that message."""
    try:
        told = from_json(result.text)
    except ValueError:
        told = None
    message = told.get("message") if isinstance(told, dict) else None
    said = message if isinstance(message, str) else result.text
    return one_line(f"{result.code}: {_first_line(said)}", MAX_LINE_CHARACTERS)


def _first_line(text: str) -> str:
    """The first line; without the sentence that only leads to those below it."""
    first, _, below = text.strip().partition("\n")
    told, dot, lead = first.rstrip().rpartition(". ")
    return f"{told}." if below and dot and lead.endswith(":") else first.rstrip()


def _describe_trim(event: ContextTrimmed | ContextCompacted) -> str:
    if isinstance(event, ContextTrimmed):
        done = f"{event.outputs} old outputs replaced by references"
    else:
        done = f"{event.messages} messages replaced by a summary"
    return f"· context: {done}, {event.tokens_before:,} -> {event.tokens_after:,} tokens"


def lacks_answer(result: RunResult[object]) -> bool:
    """Whether there is no answer because somebody has stopped the run: the model could not give one."""
    return result.stop_reason == "interrupted" and result.text == NO_ANSWER


def summarize_result(result: RunResult[object]) -> str:
    """What a run came to, on one line."""
    count = len(result.steps)
    cost = "cost unknown" if result.cost is None else f"${result.cost:.4f}"
    steps = f"{count} step" if count == 1 else f"{count} steps"
    is_said = result.stop_detail and result.stop_detail not in _INTERRUPTIONS
    why = f" ({one_line(result.stop_detail, MAX_LINE_CHARACTERS)})" if is_said else ""
    return f"· run {result.run_id}: {result.stop_reason}{why}, {steps}, {result.usage.total:,} tokens, {cost}"


def suggest_next(result: RunResult[object]) -> list[str]:
    """What a person can do now; what they would say yes to is shown whole."""
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
