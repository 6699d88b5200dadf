"""A run told while it goes: live on a terminal, as text with a line for each call, or as lines of JSON."""

import os
import sys
from collections.abc import Mapping
from typing import Protocol

from pydantic_core import to_jsonable_python

from toolroll.agent.events import CallFinished, CallStarted, Event, RunFinished, StepFinished
from toolroll.agent.result import RunResult
from toolroll.cli.render.plain import PlainRenderer, exit_code, format_call
from toolroll.cli.render.prose import notify
from toolroll.cli.session import FAILED, Session
from toolroll.errors import ToolrollError
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, StateChanged

__all__ = [
    "JsonRenderer",
    "PlainRenderer",
    "Renderer",
    "event_fields",
    "exit_code",
    "format_call",
    "is_live",
    "make_renderer",
    "result_fields",
]


class Renderer(Protocol):
    """Somebody who tells of a run."""

    def on_event(self, event: Event, /) -> None:
        """Tell of one event, at once."""
        ...

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Tell how it ended; the exit code of the command."""
        ...

    def close(self) -> None:
        """Show all that came, and leave nothing on the screen that is not to stay; also after an end, and twice."""
        ...


def make_renderer(session: Session, *, model: str = "") -> Renderer:
    """The one that the person asked for; `model` is the name to show until the run says its own.

    The live one is for a terminal that is both stdout and stderr: on two there would be no order to show things in.
    """
    if session.json:
        return JsonRenderer(session)
    if not is_live(session):
        return PlainRenderer(session)
    from toolroll.cli.render.live.renderer import LiveRenderer  # noqa: PLC0415 - rich and Markdown: only where they are used

    return LiveRenderer(session, model=model, environment=os.environ)


def is_live(session: Session) -> bool:
    """Whether what goes on is drawn: for a person at one terminal, who has not asked for plain lines."""
    out, err = session.out, sys.stderr
    if session.json or session.plain or err is None or not (out.isatty() and err.isatty()):
        return False
    return os.fstat(out.fileno()).st_rdev == os.fstat(err.fileno()).st_rdev


class JsonRenderer:
    """Every event as one line of JSON with its index; the last one is `run_finished`, with the error, if any."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def on_event(self, event: Event, /) -> None:
        """Tell of one event; the end is told by `end`."""
        if not isinstance(event, RunFinished):
            self._write(event.event, event_fields(event))

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """The last line."""
        told = result_fields(result)
        if error is not None:
            told["error"] = {"code": error.code, "message": error.message}
        self._write("run_finished", told)
        return exit_code(result, error)

    def close(self) -> None:
        """Every line was written at once."""

    def _write(self, event: str, told: Mapping[str, object]) -> None:
        self._index += 1
        self._session.write_json({"index": self._index, "event": event, **told})


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
            "notes": preview.remarks,
        },
        "digest": request.digest,
    }


def _answer(decision: Decision) -> dict[str, object]:
    if isinstance(decision, Approve):
        return {"decision": "approve", "edited": decision.edited is not None}
    return {"decision": "reject", "reason": decision.reason}


class TolerantRenderer:
    """Passes all on to a renderer. Once its output takes nothing (a closed pipe, a full disk) the rest goes nowhere."""

    def __init__(self, session: Session, renderer: Renderer) -> None:
        self._session, self._renderer = session, renderer
        self._problem: OSError | None = None

    def on_event(self, event: Event, /) -> None:
        """Tell of one event, if that can be."""
        try:
            self._renderer.on_event(event)
        except OSError as error:
            self._give_up(error)

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Tell how it ended; a failure where not all could be told, with the run that has it all."""
        code = FAILED
        try:
            code = self._renderer.finish(result, error)
        except OSError as problem:
            self._give_up(problem)
        if self._problem is None:
            return code
        why = self._problem.strerror or type(self._problem).__name__
        told = f"Error: The answer could not be written: {why}. It is kept: toolroll runs export {result.run_id}"
        notify(told)
        return code or FAILED

    def close(self) -> None:
        """Leave nothing on the screen, where there still is one."""
        try:
            self._renderer.close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, problem: OSError) -> None:
        self._problem = self._problem or problem
        self._session.give_up()
