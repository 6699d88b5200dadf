"""Replies to a run that waits: each is bound to what was asked, in the run or in one that is part of it.

A wrong id, a second answer and a value of a wrong type are refused before anything happens.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from toolroll.agent.approvals import recorded_decision
from toolroll.agent.history.rebuild import RebuiltRun
from toolroll.agent.loop.state import Answer, Replies
from toolroll.agent.run import RunRequest
from toolroll.errors import ArgumentsRefused, DecisionRefused, JournalRefused, JsonRefused
from toolroll.journal.journal import Journal
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, CallEnded, CallIntended, ModelTurn, Record
from toolroll.journal.redaction import lost_a_secret
from toolroll.kernel.approval.request import Approve, Decision
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.deferred import as_deferred
from toolroll.kernel.define.tool import Tool, Toolset


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A question that waits for a reply. `inner` is the id of its call in the run of a sub-agent, if it is in one."""

    question: ApprovalQuestion
    call_id: str
    """The call of the run itself that waits."""
    inner: str | None = None
    tool: Tool | None = None


PendingCalls: TypeAlias = Mapping[str, Pending]
"""By the ids that a reply names: `call_id`, or `call_id/inner` for a question inside the run of a sub-agent."""


async def find_pending(rebuilt: RebuiltRun, journal: Journal) -> PendingCalls:
    """Return the questions without an answer, those in the runs of sub-agents included."""
    own, tools = rebuilt.pending, rebuilt.state.setup.tools
    open_calls = {call.id: call.name for call in rebuilt.turn.open_calls} if rebuilt.turn is not None else {}
    return await _collect(journal, rebuilt.state.run.run_id, open_calls, own, tools)


async def _collect(
    journal: Journal,
    run_id: str,
    open_calls: Mapping[str, str],
    own: Mapping[str, ApprovalQuestion],
    tools: Toolset,
) -> dict[str, Pending]:
    found: dict[str, Pending] = {}
    for call_id, name in open_calls.items():
        tool = tools.get(name)
        if call_id in own:
            found[call_id] = Pending(question=own[call_id], call_id=call_id, tool=tool)
            continue
        for inner, one in (await _find_below(journal, f"{run_id}.{call_id}", tool)).items():
            shown = f"{call_id}/{inner}"
            question = replace(one.question, call_id=shown)
            found[shown] = Pending(question=question, call_id=call_id, inner=inner, tool=one.tool)
    return found


async def _find_below(journal: Journal, run_id: str, tool: Tool | None) -> dict[str, Pending]:
    """Return what the run of a sub-agent waits for; nothing if the call has not started one."""
    try:
        recording = await journal.read(run_id)
    except JournalRefused:
        return {}
    open_calls, own = _scan(record for _, record in recording)
    return await _collect(journal, run_id, open_calls, own, Toolset(() if tool is None else tool.inner_tools))


def _scan(records: Iterable[Record]) -> tuple[dict[str, str], dict[str, ApprovalQuestion]]:
    """Return the calls without a result by id, and the questions about them that nobody has answered."""
    calls: dict[str, str] = {}
    questions: dict[str, ApprovalQuestion] = {}
    for record in records:
        match record:
            case ModelTurn(message=message):
                calls, questions = {call.id: call.name for call in message.calls}, {}
            case CallEnded(result=result):
                calls.pop(result.call_id, None)
            case ApprovalQuestion(call_id=call_id):
                questions[call_id] = record
            case ApprovalAnswer(call_id=call_id):
                questions.pop(call_id, None)
            case CallIntended(call=call):
                questions.pop(call.id, None)
            case _:
                continue
    return calls, questions


def group_questions(pending: PendingCalls) -> dict[str, tuple[ApprovalQuestion, ...]]:
    """Return the questions by the calls of the run itself that wait."""
    found: dict[str, tuple[ApprovalQuestion, ...]] = {}
    for one in pending.values():
        found[one.call_id] = (*found.get(one.call_id, ()), one.question)
    return found


def bind_replies(rebuilt: RebuiltRun, pending: PendingCalls, request: RunRequest) -> None:
    """Bind each reply to its question: those on record, and those that are given now."""
    state = rebuilt.state
    state.asked.update(rebuilt.pending)
    for call_id, facts in rebuilt.facts.items():
        answer = recorded_answer(facts.answer)
        if answer is not None:
            state.answers[call_id] = answer
    for call_id, decision in request.decisions.items():
        _check_arguments(_find(pending, call_id, "approval"), decision)
    for call_id, value in request.results.items():
        _check_result(_find(pending, call_id, "result"), value)
    for call_id, decision in request.decisions.items():
        one = pending[call_id]
        if one.inner is None:
            state.answers[call_id] = Answer(digest=one.question.digest, decision=decision, is_recorded=False)
        else:
            state.below.setdefault(one.call_id, Replies()).decisions[one.inner] = decision
    for call_id, value in request.results.items():
        one = pending[call_id]
        if one.inner is None:
            state.delivered[call_id] = value
        else:
            state.below.setdefault(one.call_id, Replies()).results[one.inner] = value


def recorded_answer(record: ApprovalAnswer | None) -> Answer | None:
    """Return the answer on record, unless the person's text lost a secret when it was stored: they said another one."""
    if record is None or lost_a_secret(record.edited or "") or lost_a_secret(dump_json(record.arguments)):
        return None
    decision = recorded_decision(record)
    return Answer(digest=record.digest, decision=decision, is_recorded=True)


def _find(pending: PendingCalls, call_id: str, wanted: str) -> Pending:
    """Return the call that waits for this kind of reply."""
    one = pending.get(call_id)
    if one is not None and one.question.waits_for == wanted:
        return one
    if one is not None:
        other = "decisions" if wanted == "result" else "results"
        raise DecisionRefused(
            f"{call_id[:64]!r} waits for {_WORDS[one.question.waits_for]}, not {_WORDS[wanted]}. Give it in {other}=."
        )
    waiting = ", ".join(pending) or "none"
    what = "an answer about" if wanted == "approval" else "a result of"
    raise DecisionRefused(f"Nothing waits for {what} {call_id[:64]!r}. Calls that do: {waiting}.")


_WORDS = {"approval": "an approval", "result": "its result"}


def _check_arguments(one: Pending, decision: Decision) -> None:
    """Refuse arguments of a person that the tool does not take; the question stays."""
    if one.tool is None or not isinstance(decision, Approve) or decision.arguments is None:
        return
    try:
        one.tool.validate(dump_json(decision.arguments))
    except (JsonRefused, ArgumentsRefused) as error:
        raise DecisionRefused(f"The arguments for {one.question.call_id!r} do not fit. {error.message}") from error


def _check_result(one: Pending, value: object) -> None:
    """Refuse a result that is not of the type that the tool declares; the call goes on waiting."""
    tool = as_deferred(one.tool)
    if tool is None:
        return
    try:
        tool.check_result(value)
    except ArgumentsRefused as error:
        raise DecisionRefused(f"{error.message} The call {one.question.call_id!r} still waits.") from error
