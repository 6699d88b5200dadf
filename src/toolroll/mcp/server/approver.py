"""Asking the person behind a client, with the form that the protocol has for questions (elicitation).

A client of 2025-11-25 is asked while the call waits. One of 2026-07-28 is answered with the question, and calls again
with the answer; the SDK binds what it sends back to the tool and its arguments, our digest to what was shown.
"""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolroll.agent.approvals import NOT_YET, question_text
from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.ask_person import check_decisions
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision, Reject
from toolroll.safe.text import hidden_runs, terminal_safe

MAX_FORM_LINES: Final = 200
"""Of a question: nobody reads more in a form, and a yes needs a view of all of it (XA6)."""
MAX_FORM_CHARACTERS: Final = 16_000
PROGRESS_SECONDS: Final = 2.0
"""How long a result waits for the reports that come before it."""
_LEAST_STEP: Final = 1e-6
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "allow": {
            "type": "boolean",
            "title": "Allow this?",
            "description": "Yes does exactly what is shown.",
            "default": False,
        },
        "reason": {"type": "string", "title": "If not, why? The model is told.", "maxLength": 500},
    },
    "required": ["allow"],
}
QUESTION: Final = "approval"
"""The name of the question in the answers of a client."""


@dataclass(slots=True, kw_only=True)
class ClientCall:
    """One call on its way: who asks for it, what the person has answered, and what is still to be asked."""

    ctx: ServerRequestContext[Any, Any]
    seconds: float
    answered_digest: str | None = None
    answer: ElicitResult | None = None
    question: ApprovalRequest | None = None
    hint: str = ""
    may_ask: bool = True
    """Whether this request can be answered with a question: not where something is only read."""
    _steps: "list[tuple[float | None, str]]" = field(default_factory=list)
    _done: float = 0.0
    _sender: "asyncio.Task[None] | None" = None

    @property
    def is_modern(self) -> bool:
        """Return whether the client speaks a version without a session: it is asked by answering the call."""
        return self.ctx.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def can_ask(self) -> bool:
        """Return whether the client shows forms to a person."""
        if not self.may_ask:
            return False
        capabilities = self.ctx.session.client_capabilities
        elicitation = None if capabilities is None else capabilities.elicitation
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    def report_progress(self, fraction: float | None, message: str) -> None:
        """Send the client how far the call is; in order, beside the call."""
        self._steps.append((fraction, message))
        if self._sender is None or self._sender.done():
            self._sender = asyncio.ensure_future(self._send_progress())

    async def flush_progress(self) -> None:
        """Wait until the client has all of it: nothing may come after the result."""
        if self._sender is not None:
            await asyncio.wait([self._sender], timeout=PROGRESS_SECONDS)
            self._sender.cancel()

    async def _send_progress(self) -> None:
        while self._steps:
            fraction, message = self._steps.pop(0)
            # The protocol wants each to be more than the one before.
            self._done = max(self._done + _LEAST_STEP, self._done + 1 if fraction is None else fraction)
            await self.ctx.session.report_progress(self._done, None if fraction is None else 1.0, message)


class ClientApprover:
    """Asks the person behind the client that made the call."""

    def __init__(self, calls: Mapping[str, ClientCall]) -> None:
        self._calls = calls

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Return one decision for each request, in their order."""
        return [await self._decide(request) for request in requests]

    async def _decide(self, request: ApprovalRequest) -> Decision:
        call = self._calls[request.call_id]
        if call.answer is not None and call.answered_digest == request.digest:
            return read_answer(call.answer)
        text = form_text(request)
        if not call.can_ask:
            call.hint = NO_FORM
            raise DecisionRefused(NO_FORM)
        if is_too_long(text):
            call.hint = TOO_LONG
            raise DecisionRefused(TOO_LONG)
        if call.is_modern:
            call.question = request
            return NOT_YET
        return read_answer(await self._elicit(call, text))

    async def _elicit(self, call: ClientCall, text: str) -> ElicitResult:
        try:
            async with asyncio.timeout(call.seconds):
                return await call.ctx.session.elicit_form(text, FORM, related_request_id=call.ctx.request_id)
        except TimeoutError:
            call.hint = f"The client has not answered the question within {call.seconds:g} seconds."
            raise DecisionRefused(call.hint) from None
        except MCPError as error:
            call.hint = "The client could not ask a person."
            raise DecisionRefused(f"{call.hint} It says: {error.error.message[:200]}") from error


NO_FORM: Final = (
    "This client cannot ask a person (it has no elicitation). Allow the tool with a rule, see 'toolroll policy', start "
    "the server with --yes, or use a client that can ask."
)
TOO_LONG: Final = "What the call would do is too long for a form. Make a smaller change, one at a time."


def form_text(request: ApprovalRequest) -> str:
    """Return what the person reads: what the tool wants, why, and all that would happen, spelled out."""
    does = {"writes": "change", "external": "send something out with", "reads": "use"}[request.effect]
    about = ", ".join(request.files) or request.tool
    lines = [f"{request.tool} wants to {does} {about}.", *([request.why] if request.why else []), ""]
    return hidden_runs(terminal_safe("\n".join([*lines, question_text(request)])))


def is_too_long(text: str) -> bool:
    """Return whether a question is longer than a form can show."""
    return len(text) > MAX_FORM_CHARACTERS or text.count("\n") >= MAX_FORM_LINES


def make_form(request: ApprovalRequest) -> ElicitRequest:
    """Return the question as a client that calls again gets it."""
    return ElicitRequest(params=ElicitRequestFormParams(message=form_text(request), requested_schema=FORM))


def read_answer(answer: ElicitResult) -> Decision:
    """Return the decision in an answer; nothing but a clear yes is one."""
    content = answer.content or {}
    if answer.action == "accept" and content.get("allow") is True:
        return Approve()
    reason = content.get("reason")
    return Reject(reason if isinstance(reason, str) and reason.strip() else None)


async def decide_all(approver: Approver, requests: Sequence[ApprovalRequest]) -> list[Decision]:
    """Ask an approver, and return one decision for each request."""
    answer = approver.decide(tuple(requests))
    return list(check_decisions(await answer if inspect.isawaitable(answer) else answer, len(requests)))
