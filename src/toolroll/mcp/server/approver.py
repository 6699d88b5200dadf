"""Asking the person behind a client, with the form that the protocol has for questions (elicitation).

A client of 2025-11-25 is asked while the call waits. One of 2026-07-28 is answered with the question, and calls again
with the answer; the SDK binds what it sends back to the tool and its arguments, our digest to what was shown.
"""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolroll.agent.approvals import NOT_YET, question_text
from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.ask_person import check_decisions
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision, Reject
from toolroll.safe.text import hidden_runs, one_line, terminal_safe

MAX_FORM_LINES: Final = 200
"""Of a question: nobody reads more in a form, and a yes needs a view of all of it (XA6)."""
MAX_FORM_CHARACTERS: Final = 16_000
MAX_HEADLINE_CHARACTERS: Final = 500
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

    def refuse(self, hint: str) -> DecisionRefused:
        """Return the error for a call that nobody can be asked about; the client is told why."""
        self.hint = hint
        return DecisionRefused(hint)

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


class Desk(Protocol):
    """Where a question that no form can show is answered: in a terminal, through the run log."""

    @property
    def can_hand_out(self) -> bool:
        """Return whether there is such a place."""
        ...

    async def hand_out(self, request: ApprovalRequest) -> None:
        """Put a question there."""
        ...

    async def take_answer(self, request: ApprovalRequest) -> Decision | None:
        """Return the answer, None if there is none yet."""
        ...


class ClientApprover:
    """Asks the person behind the client that made the call."""

    def __init__(self, calls: Mapping[str, ClientCall], desk: Desk) -> None:
        self._calls = calls
        self._desk = desk

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Return one decision for each request, in their order."""
        return [await self._decide(request) for request in requests]

    async def _decide(self, request: ApprovalRequest) -> Decision:
        call = self._calls[request.call_id]
        text = form_text(request)
        if not call.can_ask:
            raise call.refuse(NO_FORM)
        if is_too_long(text):
            return await self._decide_outside(call, request)
        if call.answer is not None and call.answered_digest == request.digest:
            return read_answer(call.answer)
        if call.is_modern:
            call.question = request
            return NOT_YET
        return read_answer(await self._elicit(call, text, FORM))

    async def _decide_outside(self, call: ClientCall, request: ApprovalRequest) -> Decision:
        """Send the person to a terminal, where they see all of it; the form only says so."""
        if not self._desk.can_hand_out:
            raise call.refuse(TOO_LONG)
        known = await self._desk.take_answer(request)
        if known is not None:
            return known
        if call.answer is not None and call.answered_digest == request.digest:
            if call.answer.action != "accept":
                return Reject()
            raise call.refuse(NOBODY_ANSWERED)  # a client that says yes by itself would be asked for ever
        await self._desk.hand_out(request)
        if call.is_modern:
            call.question = request
            return NOT_YET
        return await self._wait_outside(call, request)

    async def _wait_outside(self, call: ClientCall, request: ApprovalRequest) -> Decision:
        form = asyncio.ensure_future(self._elicit(call, outside_text(request), OUTSIDE_FORM))
        try:
            while not form.done():
                await asyncio.wait([form], timeout=DESK_SECONDS)
                known = await self._desk.take_answer(request)
                if known is not None:
                    return known
            if form.result().action != "accept":
                return Reject()
        finally:
            form.cancel()
        raise call.refuse(NOBODY_ANSWERED)

    async def _elicit(self, call: ClientCall, text: str, form: dict[str, Any]) -> ElicitResult:
        try:
            async with asyncio.timeout(call.seconds):
                return await call.ctx.session.elicit_form(text, form, related_request_id=call.ctx.request_id)
        except TimeoutError:
            raise call.refuse(f"The client has not answered the question within {call.seconds:g} seconds.") from None
        except MCPError as error:
            raise call.refuse(f"The client could not ask a person. It says: {error.error.message[:200]}") from error


NO_FORM: Final = (
    "This client cannot ask a person (it has no elicitation). Allow the tool with a rule, see 'toolroll policy', start "
    "the server with --yes, or use a client that can ask."
)
TOO_LONG: Final = "What the call would do is too long for a form. Make a smaller change, one at a time."
NOBODY_ANSWERED: Final = (
    "What the call would do is too long for a form, and nobody has answered in a terminal. Call again."
)
DESK_SECONDS: Final = 0.5
"""How often the server looks for an answer from a terminal."""
OUTSIDE_FORM: Final[dict[str, Any]] = {"type": "object", "properties": {}}
SHORT_ID_CHARACTERS: Final = 8
"""Of the id of a call, as a person types it."""


def form_text(request: ApprovalRequest) -> str:
    """Return what the person reads: what the tool wants, why, and all that would happen, spelled out."""
    shown = "\n".join([*([request.why] if request.why else []), "", question_text(request)])
    return f"{_headline(request)}\n{hidden_runs(terminal_safe(shown))}"


def outside_text(request: ApprovalRequest) -> str:
    """Return what the person reads where the question is too long for a form: where to answer it."""
    lines = form_text(request).count("\n") + 1
    short = request.call_id[:SHORT_ID_CHARACTERS]
    return (
        f"{_headline(request)}\n\nAll of it has {lines:,} lines, too many for this form. Look at it and answer in a "
        f"terminal, then go on here:\n\n  toolroll mcp questions\n  toolroll mcp approve {short}\n"
        f"  toolroll mcp reject {short}"
    )


def _headline(request: ApprovalRequest) -> str:
    does = {"writes": "change", "external": "send something out with", "reads": "use"}[request.effect]
    about = ", ".join(request.files) or request.tool
    return hidden_runs(terminal_safe(f"{request.tool} wants to {does} {one_line(about, MAX_HEADLINE_CHARACTERS)}."))


def is_too_long(text: str) -> bool:
    """Return whether a question is longer than a form can show."""
    return len(text) > MAX_FORM_CHARACTERS or text.count("\n") >= MAX_FORM_LINES


def make_form(request: ApprovalRequest) -> ElicitRequest:
    """Return the question as a client that calls again gets it."""
    text, form = form_text(request), FORM
    if is_too_long(text):
        text, form = outside_text(request), OUTSIDE_FORM
    return ElicitRequest(params=ElicitRequestFormParams(message=text, requested_schema=form))


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
