"""Let a server ask the person something in the middle of a call, through whoever is asked about calls.

The question is shown with the server's name, as text that nothing obeys. The person answers yes with the values as
shown, edits them, or says no. Where nobody can be asked, the server is told that the person declined.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

from toolroll.agent.approvals import AskLater
from toolroll.agent.run import AgentRun
from toolroll.kernel.approval.ask_person import Unanswered, ask_person
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Preview, Reject, content_hash
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested
from toolroll.mcp_client.arguments import SchemaCheck
from toolroll.mcp_client.connection import Ask
from toolroll.safe.text import one_line

MAX_MESSAGE_CHARACTERS: Final = 4_000
MAX_FIELDS: Final = 50
MAX_QUESTIONS: Final = 10
"""That a server may ask in one call: more is nagging until a yes comes."""

_EMPTY: Final[Mapping[str, object]] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}


def make_ask(server: str, ctx: ToolContext) -> Ask:
    """Return what asks the person of this call's run in the name of the server."""
    count = 0

    async def ask(params: ElicitRequestParams) -> ElicitResult:
        nonlocal count
        count += 1
        person = _find_person(ctx.run)
        if count > MAX_QUESTIONS or person is None:
            return ElicitResult(action="decline")
        request = _make_request(server, ctx, params, count)
        ctx.run.report(ApprovalRequested(request=request))
        [decision] = await ask_person(person, [request], ctx.logger)
        shown = Reject(decision.because) if isinstance(decision, Unanswered) else decision
        ctx.run.report(ApprovalDecided(request=request, decision=shown))
        if not isinstance(decision, Approve):
            return ElicitResult(action="decline")
        if not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="accept")
        return _read_answer(params, request.preview.editable if decision.edited is None else decision.edited)

    return ask


def _find_person(run: Run) -> Approver | None:
    """Return who can be asked now. An answer to a server cannot wait on record: its call would be cut off."""
    if not isinstance(run, AgentRun):
        return run.approver
    return None if run.gate is None or isinstance(run.gate.approver, AskLater) else run.gate


def _make_request(server: str, ctx: ToolContext, params: ElicitRequestParams, count: int) -> ApprovalRequest:
    message = params.message[:MAX_MESSAGE_CHARACTERS]
    lines = [f"The MCP server {server} asks you. Give it nothing that it need not know.", "", message]
    editable = None
    if isinstance(params, ElicitRequestFormParams):
        values = _defaults(params.requested_schema)
        editable = json.dumps(values, ensure_ascii=False, indent=2)
        lines += ["", "Fields:", *_describe_fields(params.requested_schema), "", "Answer:", editable]
    else:
        lines += ["", f"It wants you to open this address yourself: {one_line(str(params.url), 2_000)}"]
    text = "\n".join(lines)
    return ApprovalRequest(
        run_id=ctx.run_id,
        call_id=f"{ctx.call_id}-question-{count}",
        tool=f"{server}__question",
        effect="external",
        arguments={"message": message},
        why=f"The MCP server {server} needs an answer to go on.",
        preview=Preview(kind="text", text=text, editable=editable),
        paths=(),
        fingerprint=content_hash(text),
        is_question=True,
    )


def _properties(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = schema.get("properties")
    pairs = list(found.items())[:MAX_FIELDS] if isinstance(found, Mapping) else []
    return {str(name): one for name, one in pairs if isinstance(one, Mapping)}


def _defaults(schema: Mapping[str, Any]) -> dict[str, object]:
    """Return the values that the form begins with: the defaults, and something empty for what is required."""
    required = schema.get("required") or ()
    found: dict[str, object] = {}
    for name, one in _properties(schema).items():
        if "default" in one:
            found[name] = one["default"]
        elif name in required:
            choices = one.get("enum")
            found[name] = choices[0] if choices else _EMPTY.get(str(one.get("type")), "")
    return found


def _describe_fields(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required") or ()
    lines = []
    for name, one in _properties(schema).items():
        kind = ", ".join(map(str, one["enum"])) if isinstance(one.get("enum"), list) else str(one.get("type", "text"))
        told = one.get("description") or one.get("title") or ""
        need = "" if name in required else ", optional"
        lines.append(one_line(f"- {name} ({kind}{need}) {told}", 300))
    return lines


def _read_answer(params: ElicitRequestFormParams, text: str | None) -> ElicitResult:
    try:
        values: Any = parse_object(text or "{}")
        SchemaCheck("the answer", dict(params.requested_schema)).check(values)
    except Exception:  # noqa: BLE001 - a schema of somebody else's and a text of the person's: neither may break the call
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content=values)
