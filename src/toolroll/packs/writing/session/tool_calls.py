"""Calls that the program itself makes for the person, and the questions about them on record.

They go through the same checks and questions as calls of a model. The run that wrote the post is over by then, so what
the person was asked and answered is added to its record (XD2).
"""

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import Final, Literal, TypeAlias, get_args

from toolroll.agent.approvals import question_text
from toolroll.agent.events import CallFinished, CallStarted, Event
from toolroll.errors import JsonRefused, ToolrollError
from toolroll.journal.journal import Journal
from toolroll.journal.records import StateSet
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.call.context import Run, random_id, utc_now
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Toolset
from toolroll.packs.writing.profiles.feedback import THRESHOLD, Category, category_name
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.schema import timestamp
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.gate import TRACK
from toolroll.packs.writing.texts.messages import Key, Lang, say
from toolroll.packs.writing.tools.toolset import SEARCH

OWN_CALL_PREFIX: Final = "own_"
"""What the ids of the program's own calls begin with."""

APPROVAL_STATE: Final = "approval"
"""With the tool's name after it, the name under which a run keeps the last question about that tool."""

Who: TypeAlias = Literal["the person", "the person, beforehand"]

_NOT_SHOWN: Final = frozenset(
    {
        *("invalid_json", "invalid_arguments", "unknown_tool", "repeated_call", "rejected"),
        *("not_confirmed", "asked_already", "not_due", "other_profile", "no_feedback", "counted_already"),
        "reference_feedback",
    }
)
"""Failures between the program and the model: they are not about anything the person did, or they have just done it."""
_LOG: Final = logging.getLogger("toolroll.writing")


async def call_tool(
    context: WritingContext,
    name: str,
    arguments: Mapping[str, object],
    *,
    listener: Callable[[Event], None],
    make_id: Callable[[], str] = random_id,
) -> tuple[ToolCall, ToolResult]:
    """Make one call for the person; its events are the same as for a call of a model."""
    call = ToolCall(id=f"{OWN_CALL_PREFIX}{make_id()}", name=name, arguments=dump_json(arguments))
    listener(CallStarted(call=call))
    started = perf_counter()
    async with Run(policy=Policy(), approver=context.approver, deps=context.deps, overrides=context.overrides) as run:
        [result] = await execute_step(Toolset(context.tools), [call], run)
    listener(CallFinished(call=call, result=result, duration_ms=(perf_counter() - started) * 1_000))
    return call, result


def parse_object(text: str) -> Mapping[str, object]:
    """Return the JSON object that a text is; an empty one where it is none."""
    try:
        found = parse_json(text)
    except JsonRefused:
        return {}
    return found if isinstance(found, dict) else {}


async def record_state(journal: Journal, run_id: str, name: str, value: object) -> None:
    """Add a value to the record of a run that is over. The post matters more: an error is only logged."""
    try:
        await journal.append(run_id, StateSet(name=name, value=value))
        await journal.release(run_id)
    except (ToolrollError, OSError) as error:
        _LOG.warning("'%s' is not in the record of run %s: %s", name, run_id, error)


def record_approvals(
    context: WritingContext, run_id: str, *, who: Who, clock: Callable[[], datetime] = utc_now
) -> WritingContext:
    """Return the same context, whose questions and answers are recorded with that run."""
    if context.approver is None or context.journal is None:
        return context
    approver = _RecordingApprover(context.approver, context.journal, run_id, who=who, clock=clock)
    return replace(context, approver=approver)


class _RecordingApprover:
    """Asks as the approver inside does. The question is recorded before it is seen, the answer before it counts."""

    def __init__(
        self, approver: Approver, journal: Journal, run_id: str, *, who: Who, clock: Callable[[], datetime]
    ) -> None:
        self._approver = approver
        self._journal = journal
        self._run_id = run_id
        self._who = who
        self._clock = clock

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        for one in requests:
            await self._record(one, {"answer": None})
        answer = self._approver.decide(requests)
        decisions = await answer if inspect.isawaitable(answer) else answer
        for one, decision in zip(requests, decisions, strict=False):  # the executor checks how many there are
            await self._record(one, _decision_fields(decision))
        return decisions

    async def _record(self, request: ApprovalRequest, answer: dict[str, object]) -> None:
        asked = {
            "who": self._who,
            "at": timestamp(self._clock()),
            "asked": question_text(request),
            "why": request.why,
            "call_id": request.call_id,
            "digest": request.digest,
        }
        await record_state(self._journal, self._run_id, f"{APPROVAL_STATE}:{request.tool}", {**answer, **asked})


def _decision_fields(decision: Decision) -> dict[str, object]:
    if isinstance(decision, Approve):
        return {"answer": "approve"} if decision.edited is None else {"answer": "approve", "edited": decision.edited}
    return {"answer": "reject"} if decision.reason is None else {"answer": "reject", "reason": decision.reason}


def describe_call(call: ToolCall, result: ToolResult, lang: Lang) -> str | None:
    """Return what a person reads about a call; None where it is not for them."""
    answer = parse_object(result.text)
    if not result.is_error:
        return _describe_success(call, answer, lang)
    if call.name == TRACK or result.code in _NOT_SHOWN:
        return None
    if call.name == SEARCH:
        return say("search_not_asked" if result.code == "needs_approval" else "search_failed", lang)
    # Our tools answer in the person's language already.
    return _add_text(str(answer.get("message") or result.text), answer, lang)


def describe_feedback_count(result: ToolResult, lang: Lang) -> str | None:
    """Return what a person reads about feedback that was counted; None where it was not, which is not for them."""
    match parse_object(result.text):
        case {"success": True, "category": str(category), "count": int(count)} if category in get_args(Category):
            key: Key = "noted" if count <= THRESHOLD else "noted_often"
            return say(key, lang, what=category_name(category, lang), count=count, needed=THRESHOLD)
        case _:
            return None


def _describe_success(call: ToolCall, answer: Mapping[str, object], lang: Lang) -> str | None:
    match call.name:
        case "update_style_profile":
            name = parse_object(call.arguments).get("profile_name") or DEFAULT
            return say("profile_updated", lang, name=name, version=answer.get("version"))
        case "save_to_file":
            return say("saved", lang, file=answer.get("file_path"))
        case "write_to_notion":
            return say("saved_to_notion", lang, url=answer.get("notion_url"))
        case "read_notion_page":
            return say("reading_page", lang, title=answer.get("title"))
        case "read_past_posts":
            return say("reading_posts", lang, count=answer.get("total_found"))
        case _:
            return None


def _add_text(message: str, answer: Mapping[str, object], lang: Lang) -> str:
    """Return the message with the file that was saved instead, or with the text that could not be saved."""
    instead = answer.get("save_to_file")
    if isinstance(instead, Mapping):
        file = instead.get("file_path")
        more = say("saved", lang, file=file) if file else _add_text(str(instead.get("message")), instead, lang)
        return f"{message}\n{more}"
    content = answer.get("content")
    return f"{message}\n\n{content}" if content else message
