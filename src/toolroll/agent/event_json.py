"""Events as data: what `--json` writes and what a program sends to a page, a queue or a file."""

from pydantic_core import to_jsonable_python

from toolroll.agent.events import CallFinished, CallStarted, Event, RunFinished, StepFinished
from toolroll.agent.result import RunResult
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, StateChanged


def dump_event(event: Event) -> dict[str, object]:
    """Return an event as plain data that JSON can carry; `event` is its name, as in the lines of `--json`."""
    return {"event": event.event, **event_fields(event)}


def result_fields(result: RunResult[object]) -> dict[str, object]:
    """Return the end of a run as JSON."""
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
    """Return an event as JSON, without its name."""
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
            fields = {"number": step.number, "text": step.text, "usage": to_jsonable_python(step.usage)}
            return fields | {"cost": step.cost, "duration_s": step.duration_s}
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
        **({"links": [{"path": one.name, "leads_to": one.resolved} for one in request.links]} if request.links else {}),
    }


def _answer(decision: Decision) -> dict[str, object]:
    if isinstance(decision, Approve):
        return {"decision": "approve", "edited": decision.edited is not None}
    return {"decision": "reject", "reason": decision.reason}
