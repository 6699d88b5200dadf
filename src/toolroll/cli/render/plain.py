"""A run as text while it goes: the model's words on stdout, everything else a line on stderr."""

import json
import sys
from typing import Final

from pydantic_core import from_json

from toolroll.agent.events import (
    CallFinished,
    CallStarted,
    ContextCompacted,
    ContextTrimmed,
    Event,
    ModelPaused,
    Retrying,
    StepFinished,
    StepStarted,
    TextArrived,
    WaitingForModel,
    Warned,
)
from toolroll.agent.result import RunResult
from toolroll.cli.render.calls import SLOW_MS, CallWords, describe_call, format_duration
from toolroll.cli.render.prose import notify
from toolroll.cli.render.result import MAX_LINE_CHARACTERS, exit_code, lacks_answer, suggest_next, summarize_result
from toolroll.cli.session import Session
from toolroll.errors import ToolrollError
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, KernelEvent, Progress, StateChanged
from toolroll.kernel.call.result import ToolResult
from toolroll.safe.secrets.redact import redact_line
from toolroll.safe.text import one_line

MAX_ARGUMENTS_CHARACTERS: Final = 60
MAX_FAILURE_CHARACTERS: Final = 400
"""A message that is not longer is told whole: five lines of a terminal."""
SHOW_WAIT_S: Final = 10.0
"""Shorter waits for a model get no line of their own, which would stay."""


class PlainRenderer:
    """Writes the model's words to stdout as they come, and everything else to stderr, a line each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._written: list[str] = []
        self._shown: set[str] = set()
        self._is_asking = False
        self._last = "\n"
        self._held = ""

    def on_event(self, event: Event, /) -> None:
        """Show one event."""
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
                self._say(format_call(event, is_verbose=self._session.verbose), is_error=event.result.is_error)
            case Warned(text=text):
                self._say(f"! {one_line(text, MAX_LINE_CHARACTERS)}", is_error=True)
            case ContextTrimmed() | ContextCompacted():
                self._say_trim(event)
            case WaitingForModel() | Retrying() | ModelPaused():
                self._say_delay(event)
            case Progress() | StateChanged() if sys.stderr is not None and sys.stderr.isatty():
                self._end_line()
                show_progress(event)
            case _:
                return

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Show the answer, if it was not shown yet, and how the run ended."""
        self._begin_text()
        if self._is_asking and result.stop_reason == "interrupted":
            notify("")  # the cursor stands behind a question that nobody has answered
        if error is None and not lacks_answer(result) and result.text.strip() not in self._shown:
            self._end_line()
            self._write(result.text)
        self._end_line()
        self._say(summarize_result(result))
        if error is not None:
            self._session.fail(error.code, error.message)
        for line in () if self._session.is_chat else suggest_next(result):
            self._say(line)
        return exit_code(result, error)

    def close(self) -> None:
        """Do nothing: every piece was written at once."""

    def _begin_text(self) -> None:
        """Begin another text. A run that breaks off ends with the last one that was written."""
        self._shown.add("".join(self._written).strip())
        self._written.clear()

    def _write(self, text: str) -> None:
        self._written.append(text)
        text, self._held = self._held + text, ""
        if text.endswith("\r"):  # the line feed that makes it a line end may come with the next piece
            text, self._held = text[:-1], "\r"
        self._put(text)

    def _put(self, text: str) -> None:
        out = self._session.out
        out.write(self._session.make_safe(text))
        out.flush()
        self._last = text[-1:] or self._last

    def _end_line(self) -> None:
        held, self._held = self._held, ""
        self._put(held)
        if self._last != "\n":
            self._session.write("\n")
            self._last = "\n"

    def _say_trim(self, event: ContextTrimmed | ContextCompacted) -> None:
        """Say once in a command or chat that the conversation does not fit any more, and what that means."""
        if self._session.verbose or event.event not in self._session.told:
            self._session.told.add(event.event)
            self._say(_describe_trim(event))

    def _say_delay(self, event: WaitingForModel | Retrying | ModelPaused) -> None:
        if isinstance(event, Retrying):
            reason, attempt = one_line(event.reason, MAX_LINE_CHARACTERS), event.attempt + 1
            self._say(f"! {reason} Trying again in {event.wait_s:.1f} s (attempt {attempt}).")
        elif isinstance(event, ModelPaused):
            self._say(f"· the provider paused for a tool of its own and is asked to go on ({event.pauses})")
        elif shows_wait(event):
            self._say(f"· {describe_wait(event)}")

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self._end_line()
        notify(text, dim=not is_error, red=is_error)


class AnswerRenderer(PlainRenderer):
    """Writes the answer alone to stdout, when it is whole; on stderr only what went wrong, or waits for a person."""

    def on_event(self, event: Event, /) -> None:
        """Show a warning; nothing else."""
        if isinstance(event, Warned):
            super().on_event(event)

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Show the answer, or why there is none."""
        if error is None and not lacks_answer(result):
            self._write(result.text)
        self._end_line()
        if error is not None:
            self._session.fail(error.code, error.message)
        for line in suggest_next(result):
            self._say(line)
        return exit_code(result, error)


def shows_wait(wait: WaitingForModel) -> bool:
    """Return whether a wait is worth a line: a server that is not ready at once, an answer after a while."""
    return wait.is_starting or wait.waited_s >= SHOW_WAIT_S


def describe_wait(wait: WaitingForModel) -> str:
    """Return how long the model has been waited for, and when it is given up."""
    if wait.characters:
        return f"the model is writing: {wait.characters:,} characters, {wait.waited_s:.0f} s"
    what = "the model's server to be ready" if wait.is_starting else "the model"
    return f"waiting for {what}, {wait.waited_s:.0f} s; gives up after {wait.limit_s:.0f} s"


def format_call(event: CallFinished, *, is_verbose: bool = False) -> str:
    """Return a call and its outcome on one line; with `is_verbose`, its arguments as they are, time and size."""
    call, result = event.call, event.result
    words = describe_call(call, result)
    if words.is_known and not is_verbose:
        is_bad = result.is_error or words.is_bad
        return f"{'✗' if is_bad else '·'} {f'{words.verb} {words.about}'.rstrip()}{describe_outcome(event, words)}"
    arguments = redact_line(call.arguments, MAX_ARGUMENTS_CHARACTERS)
    size = len(result.text.encode("utf-8", "surrogatepass"))
    outcome = describe_failure(result) if result.is_error else f"{size:,} bytes"
    name = redact_line(call.name, MAX_ARGUMENTS_CHARACTERS)
    return f"{'✗' if result.is_error else '·'} {name} {arguments}  {event.duration_ms:,.0f} ms, {outcome}"


def describe_outcome(event: CallFinished, words: CallWords) -> str:
    """Return what came of a call that is told in words, with the blank before it; the time only where it was long."""
    if event.result.is_error:
        return f": {_failure_text(event.result)}"
    took = f" in {format_duration(event.duration_ms)}" if event.duration_ms >= SLOW_MS else ""
    return f"{f' {words.outcome}' if words.outcome else ''}{took}"


def describe_failure(result: ToolResult) -> str:
    """Return how a call failed, in a line for people: of an object with a message, that message."""
    return redact_line(f"{result.code}: {_first_line(_message(result))}", MAX_LINE_CHARACTERS)


def _failure_text(result: ToolResult) -> str:
    """The whole message where it is short, else its first line."""
    text = " ".join(_message(result).split())
    if len(text) <= MAX_FAILURE_CHARACTERS:
        return redact_line(text, MAX_FAILURE_CHARACTERS)
    return redact_line(_first_line(_message(result)), MAX_LINE_CHARACTERS)


def _message(result: ToolResult) -> str:
    try:
        value = from_json(result.text)
    except ValueError:
        value = None
    message = value.get("message") if isinstance(value, dict) else None
    return message if isinstance(message, str) else result.text


def _first_line(text: str) -> str:
    """Return the first line, without the sentence that only introduces those below it."""
    first, _, below = text.strip().partition("\n")
    head, dot, lead = first.rstrip().rpartition(". ")
    return f"{head}." if below and dot and lead.endswith(":") else first.rstrip()


def _describe_trim(event: ContextTrimmed | ContextCompacted) -> str:
    size = f"({event.tokens_before:,} -> {event.tokens_after:,} tokens)"
    if isinstance(event, ContextTrimmed):
        return f"· The conversation gets long: the model reads old outputs again only where it needs them {size}"
    return f"· The conversation gets long: the model goes on with a summary of {event.messages} messages {size}"


def show_progress(event: KernelEvent) -> None:
    """Show a person at the terminal what a running call reports: how far it is, and the todos."""
    if isinstance(event, Progress):
        share = "" if event.fraction is None else f" ({event.fraction:.0%})"
        _show_report(event.message + share)
    elif isinstance(event, StateChanged) and event.name == "todos":  # others are for programs
        _show_report(f"{event.name}: {json.dumps(event.value, ensure_ascii=False)}")


def _show_report(text: str) -> None:
    notify(f"· {one_line(text, MAX_LINE_CHARACTERS)}", dim=True)
