"""A run told while it goes: as text with a line for each call, or as lines of JSON."""

import sys
from collections.abc import Mapping
from textwrap import indent
from typing import Final, Protocol

import click
from pydantic_core import to_jsonable_python

from toolroll.agent.events import (
    CallFinished,
    CallStarted,
    ContextCompacted,
    ContextTrimmed,
    Event,
    Retrying,
    RunFinished,
    StepFinished,
    StepStarted,
    TextArrived,
    Warned,
)
from toolroll.agent.finish import NO_ANSWER
from toolroll.agent.result import RunResult
from toolroll.cli.call import show_event
from toolroll.cli.session import DONE, FAILED, INTERRUPTED, NEEDS_APPROVAL, STOPPED_BY_LIMIT, Session
from toolroll.errors import ToolrollError
from toolroll.kernel.approval import ApprovalRequest, Approve, Decision
from toolroll.kernel.events import ApprovalDecided, ApprovalRequested, Progress, StateChanged
from toolroll.safe.text import one_line, terminal_safe

MAX_ARGUMENTS_CHARACTERS: Final = 60
MAX_LINE_CHARACTERS: Final = 200

_INTERRUPTIONS: Final = ("KeyboardInterrupt", "CancelledError")
"""Names that say to a programmer what "interrupted" says to everybody."""

EXITS: Final[Mapping[str, int]] = {
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


class Teller(Protocol):
    """Somebody who tells of a run."""

    def hear(self, event: Event, /) -> None:
        """Tell of one event, at once."""
        ...

    def end(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Tell how it ended; the exit code of the command."""
        ...


def teller_for(session: Session, *, model: str = "") -> Teller:
    """The one that the person asked for; `model` is the name to show until the run says its own."""
    del model
    return JsonTeller(session) if session.json else PlainTeller(session)


class PlainTeller:
    """The model's words on stdout as they come; everything else on stderr, a line each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._written: list[str] = []
        self._last = "\n"

    def hear(self, event: Event, /) -> None:
        """Tell of one event."""
        match event:
            case TextArrived(text=text):
                self._write(text)
            case StepStarted():
                self._written.clear()
            case StepFinished() | CallStarted() | ApprovalRequested():
                self._end_line()
            case CallFinished():
                self._say(call_line(event), is_error=event.result.is_error)
            case Warned(text=text):
                self._say(f"! {one_line(text, MAX_LINE_CHARACTERS)}", is_error=True)
            case ContextTrimmed() | ContextCompacted():
                self._say(_change(event))
            case Retrying(attempt=attempt, wait_s=wait_s, reason=reason):
                self._say(f"! {one_line(reason, MAX_LINE_CHARACTERS)} Try {attempt + 1} in {wait_s:.1f} s.")
            case Progress() | StateChanged() if sys.stderr is not None and sys.stderr.isatty():
                self._end_line()
                show_event(event)
            case _:
                return

    def end(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """The answer, if it was not shown yet, and what the run came to."""
        if error is None and not _is_unsaid(result) and "".join(self._written).strip() != result.text.strip():
            self._end_line()
            self._write(result.text)
        self._end_line()
        self._say(_summary(result))
        if error is not None:
            self._session.fail(error.code, error.message)
        for line in _advice(result):
            self._say(line)
        return exit_code(result, error)

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
        click.echo(click.style(text, dim=not is_error, fg="red" if is_error else None), err=True)


class JsonTeller:
    """Every event as one line of JSON with its index; the last one is `run_finished`, with the error, if any."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def hear(self, event: Event, /) -> None:
        """Tell of one event; the end is told by `end`."""
        if not isinstance(event, RunFinished):
            self._write(event.event, event_fields(event))

    def end(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """The last line."""
        told = result_fields(result)
        if error is not None:
            told["error"] = {"code": error.code, "message": error.message}
        self._write("run_finished", told)
        return exit_code(result, error)

    def _write(self, event: str, told: Mapping[str, object]) -> None:
        self._index += 1
        self._session.write_json({"index": self._index, "event": event, **told})


def exit_code(result: RunResult[object], error: ToolrollError | None = None) -> int:
    """What the command ends with."""
    return FAILED if error is not None else EXITS.get(result.stop_reason, FAILED)


def result_fields(result: RunResult[object]) -> dict[str, object]:
    """The end of a run as JSON."""
    pending = [
        {"call_id": one.call_id, "tool": one.tool, "why": one.why, "preview": one.preview} for one in result.pending
    ]
    return {
        "run_id": result.run_id,
        "text": result.text,
        "stop_reason": result.stop_reason,
        "stop_detail": result.stop_detail,
        "steps": len(result.steps),
        "usage": to_jsonable_python(result.usage),
        "cost": result.cost,
        "pending": pending,
    }


def event_fields(event: Event) -> dict[str, object]:
    """An event as JSON, without its name."""
    match event:
        case CallStarted(call=call):
            return {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        case CallFinished(call=call, result=result):
            return {
                "call_id": call.id,
                "name": call.name,
                "is_error": result.is_error,
                "code": result.code,
                "content": to_jsonable_python(result.content, bytes_mode="base64"),
                "duration_ms": event.duration_ms,
            }
        case StepFinished(step=step):
            told = {"number": step.number, "text": step.text, "usage": to_jsonable_python(step.usage)}
            return told | {"cost": step.cost, "duration_s": step.duration_s}
        case ApprovalRequested(request=request):
            return _question(request)
        case ApprovalDecided(request=request, decision=decision):
            return {"call_id": request.call_id, "tool": request.tool} | _answer(decision)
        case StateChanged(name=name, value=value):
            return {"name": name, "value": to_jsonable_python(value, fallback=str)}
        case RunFinished(result=ended):
            return result_fields(ended)
        case _:
            return {name: value for name, value in to_jsonable_python(event).items() if name != "event"}


def _question(request: ApprovalRequest) -> dict[str, object]:
    preview = request.preview
    return {
        "call_id": request.call_id,
        "tool": request.tool,
        "effect": request.effect,
        "why": request.why,
        "arguments": request.arguments,
        "preview": {
            "kind": preview.kind,
            "text": preview.text,
            "added": preview.added,
            "removed": preview.removed,
            "notes": preview.notes,
        },
        "digest": request.digest,
    }


def _answer(decision: Decision) -> dict[str, object]:
    if isinstance(decision, Approve):
        return {"decision": "approve", "edited": decision.edited is not None}
    return {"decision": "reject", "reason": decision.reason}


def call_line(event: CallFinished) -> str:
    """A call and what it came to, on one line."""
    call, result = event.call, event.result
    arguments = one_line(call.arguments, MAX_ARGUMENTS_CHARACTERS)
    size = len(result.text.encode("utf-8", "surrogatepass"))
    outcome = one_line(f"{result.code}: {result.text}", MAX_LINE_CHARACTERS) if result.is_error else f"{size:,} bytes"
    name = one_line(call.name, MAX_ARGUMENTS_CHARACTERS)
    return f"{'✗' if result.is_error else '·'} {name} {arguments}  {event.duration_ms:,.0f} ms, {outcome}"


def _change(event: ContextTrimmed | ContextCompacted) -> str:
    if isinstance(event, ContextTrimmed):
        done = f"{event.outputs} old outputs replaced by references"
    else:
        done = f"{event.messages} messages replaced by a summary"
    return f"· context: {done}, {event.tokens_before:,} -> {event.tokens_after:,} tokens"


def _is_unsaid(result: RunResult[object]) -> bool:
    """Whether there is no answer because somebody has stopped the run: the model could not give one."""
    return result.stop_reason == "interrupted" and result.text == NO_ANSWER


def _summary(result: RunResult[object]) -> str:
    count = len(result.steps)
    cost = "cost unknown" if result.cost is None else f"${result.cost:.4f}"
    steps = f"{count} step" if count == 1 else f"{count} steps"
    is_said = result.stop_detail and result.stop_detail not in _INTERRUPTIONS
    why = f" ({one_line(result.stop_detail, MAX_LINE_CHARACTERS)})" if is_said else ""
    return f"· run {result.run_id}: {result.stop_reason}{why}, {steps}, {result.usage.total:,} tokens, {cost}"


def _advice(result: RunResult[object]) -> list[str]:
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
    return [*asked, f"· Say yes with: {resume} {yes}", f"· Say no with:  {resume} {no}"]
