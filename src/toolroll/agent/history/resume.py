"""Going on with a run from its record, in any process.

Finished model calls are not paid again, finished tool calls are not run again, calls that never started are run.
What was being asked is asked again; what was answered is not, as long as it is still the same question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from toolroll.agent.approvals import AskLater
from toolroll.agent.events import Event, RunStarted, StepFinished, Warned
from toolroll.agent.finish import NO_ANSWER, accept_last_turn, ask_last_answer, build_result, finish_run
from toolroll.agent.history.rebuild import CallFacts, OpenTurn, RebuiltRun
from toolroll.agent.history.unknown_calls import UNKNOWN, end_unrun, settle_unknown
from toolroll.agent.loop import run_loop, settle_turn
from toolroll.agent.result import Ending, Out, RunResult, StopReason
from toolroll.agent.run import GO_ON, AgentRun, as_user_message, new_run, run_to_end
from toolroll.agent.setup import Setup
from toolroll.agent.state import Answer, RunState
from toolroll.errors import DecisionRefused, UsageError
from toolroll.journal.journal import Journal, no_such_run
from toolroll.journal.records import ApprovalAnswer, MessageAdded, StopDecided
from toolroll.journal.redaction import lost_a_secret
from toolroll.kernel.approval.request import Approve, Decision, Reject
from toolroll.kernel.data.messages import AssistantMessage, Prompt, ToolCall

if TYPE_CHECKING:
    from toolroll.agent.agent import Agent

FIRST_POLL_S: Final = 0.02
LONGEST_POLL_S: Final = 0.5
"""How often a run that another process drives is looked at: soon at first, then without costing anything."""
_WAITING: Final = "is being driven by another process; waiting for it. If it stands at a question, answer it there."
GOING_ON: Final = "go_on"
NOT_RUN: Final = "[not run: the run was interrupted before this call began, and goes on with something else]"
LOST: Final = (
    "[not run: the arguments held a secret, and secrets are not stored. Make the call again if it is still needed]"
)


async def resume(
    agent: "Agent[Out]",
    run_id: str,
    *,
    decisions: Mapping[str, Decision] | None = None,
    prompt: Prompt | None = None,
    on_event: Callable[[Event], None] | None = None,
    stream: bool = False,
) -> RunResult[Out]:
    """Go on with a run of the agent's journal from the last complete fact; a run that is complete is only reported.

    `decisions` answers pending questions by call id, each bound to what was asked then. `prompt` goes on with something
    new: calls that were never finished are not run any more. While another process drives the run, it is waited for.
    """
    result = await resume_run(
        agent.setup, run_id, decisions=decisions or {}, prompt=prompt, emit=on_event or _nobody, stream=stream
    )
    return cast("RunResult[Out]", result)


async def resume_run(
    setup: Setup,
    run_id: str,
    *,
    emit: Callable[[Event], None],
    decisions: Mapping[str, Decision] | None = None,
    prompt: Prompt | None = None,
    stream: bool = False,
    caller: AgentRun | None = None,
    on_open: Callable[[RunState], None] | None = None,
) -> RunResult[object]:
    """The same for a setup; `caller` is the run that this one is a part of, `on_open` gets hold of the state."""
    journal = setup.journal
    if journal is None:
        raise UsageError("Only a run with a journal can be resumed. Give the agent journal=SqliteJournal(path).")
    if setup.approver is None:
        setup = replace(setup, approver=AskLater())
    before = await journal.read(run_id)  # a run that is not there must not be made; a torn end is mended by holding it
    has_waited = await _wait_for_lock(journal, run_id, emit)
    try:
        recording = await journal.read(run_id)
        if not recording.records:  # deleted since it was looked at, and made anew by holding it
            raise no_such_run(run_id)
        state = new_run(setup, (), emit, stream=stream, caller=caller, run_id=run_id)
        if on_open is not None:
            on_open(state)
        recalled = RebuiltRun(state, (record for _, record in recording))
        if caller is not None:
            for step in state.steps:  # what the part has used counts for the whole, which has not seen it
                emit(StepFinished(step=step))
        if _is_only_reported(recalled, decisions or {}, prompt, has_waited=has_waited):
            return _recorded_result(recalled)
        _bind_answers(recalled, decisions or {})
        return await run_to_end(state, lambda: _Resumption(recalled, before.notes, prompt).run())
    finally:
        await journal.release(run_id)


async def _wait_for_lock(journal: Journal, run_id: str, emit: Callable[[Event], None]) -> bool:
    """Hold the run; whether somebody else had to be waited for."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    pause_s = FIRST_POLL_S
    while not await journal.acquire(run_id):
        if pause_s == FIRST_POLL_S:
            emit(Warned(text=f"Run {run_id} {_WAITING}"))
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_POLL_S)
    return pause_s > FIRST_POLL_S


def is_about_waiting(event: Warned) -> bool:
    """Whether it says that another process drives the run."""
    return event.text.endswith(_WAITING)


def _is_only_reported(
    recalled: RebuiltRun, decisions: Mapping[str, Decision], prompt: Prompt | None, *, has_waited: bool
) -> bool:
    """Whether there is nothing to do but to report: the run is complete, or somebody else has just driven it."""
    if recalled.finished is None or prompt is not None:
        return False
    if has_waited:
        return not decisions or not recalled.pending.keys() >= decisions.keys()
    return recalled.finished.stop_reason in ("answer", "done") and not decisions


def _recorded_result(recalled: RebuiltRun) -> RunResult[object]:
    """The end of the run as it is on record."""
    finished, state = recalled.finished, recalled.state
    assert finished is not None
    state.waiting.update(recalled.pending)
    recalled.close_turn()
    reason = cast("StopReason", finished.stop_reason)
    text = "" if finished.text == NO_ANSWER else finished.text  # the record has no other mark for a missing answer
    ending = Ending(reason=reason, detail=finished.stop_detail, text=text)
    _read_output(state, ending)
    return build_result(state, ending, closing=bool(state.steps) and state.steps[-1].closing)


def _bind_answers(recalled: RebuiltRun, decisions: Mapping[str, Decision]) -> None:
    """Tie each answer to what was asked: those on record, and those that are given now."""
    answers, pending = recalled.state.answers, recalled.pending
    recalled.state.asked.update(pending)
    for call_id, facts in recalled.facts.items():
        answer = _answer(facts.decided)
        if answer is not None:
            answers[call_id] = answer
    for call_id, decision in decisions.items():
        if call_id not in pending:
            waiting = ", ".join(pending) or "none"
            raise DecisionRefused(f"Nothing waits for an answer about {call_id[:64]!r}. Calls that do: {waiting}.")
        answers[call_id] = Answer(digest=pending[call_id].digest, decision=decision, is_recorded=False)


def _answer(decided: ApprovalAnswer | None) -> Answer | None:
    """The answer on record, unless the person's text lost a secret when it was stored: that is not what they said."""
    if decided is None or lost_a_secret(decided.edited or ""):
        return None
    decision = Approve(edited=decided.edited) if decided.decision == "approve" else Reject(reason=decided.reason)
    return Answer(digest=decided.digest, decision=decision, is_recorded=True)


class _Resumption:
    """The rest of a run, from where its record ends."""

    def __init__(self, recalled: RebuiltRun, notes: Sequence[str], prompt: Prompt | None) -> None:
        self._recalled = recalled
        self._state = recalled.state
        self._notes = notes
        self._prompt = prompt

    async def run(self) -> RunResult[object]:
        """Go on to the end."""
        recalled, state = self._recalled, self._state
        state.emit(RunStarted(run_id=state.run.run_id, model=state.setup.model.origin.model))
        for note in self._notes:
            state.emit(Warned(text=note))
        state.restore(recalled.kept)
        if self._prompt is not None:
            return await self._with_prompt(self._prompt)
        if not recalled.is_paused:
            recalled.count_anew()
        if recalled.stopped is not None and recalled.is_paused:
            return await self._closing(recalled.stopped)
        ending = None if recalled.turn is None else await self._turn(recalled.turn)
        if ending is None:
            await self._keep_legal()
        return await run_loop(state, ending)

    async def _with_prompt(self, prompt: Prompt) -> RunResult[object]:
        recalled, state = self._recalled, self._state
        if recalled.turn is not None:
            for call in recalled.turn.open_calls:
                begun = recalled.facts.get(call.id, CallFacts()).intended is not None
                await end_unrun(state, call, UNKNOWN if begun else NOT_RUN, code="interrupted")
            recalled.turn.ended |= state.known
            state.known.clear()
            recalled.close_turn()
        recalled.count_anew()
        message = as_user_message(prompt)
        state.add_message(message)
        await state.record(MessageAdded(message=message))
        return await run_loop(state)

    async def _turn(self, turn: OpenTurn) -> Ending | None:
        """Make of the last turn what was not made of it yet."""
        state = self._state
        state.begin_step()
        await self._prepare(turn)
        ending = await settle_turn(state, turn.turn)
        self._add_time(turn)
        return ending

    async def _prepare(self, turn: OpenTurn) -> None:
        self._recalled.count_spent(turn)
        self._state.known.update(turn.ended)
        if turn.turn.ending is None:
            for call in turn.open_calls:
                await self._look_at(call, self._recalled.facts.get(call.id, CallFacts()))

    async def _look_at(self, call: ToolCall, facts: CallFacts) -> None:
        if lost_a_secret(call.arguments):
            begun = facts.intended is not None
            await end_unrun(self._state, call, f"{UNKNOWN} {LOST}" if begun else LOST, code="secret_lost")
        elif facts.intended is not None:
            await settle_unknown(self._state, call, facts.intended, _answer(facts.used))

    async def _closing(self, stopped: StopDecided) -> RunResult[object]:
        """The model was told to give its last answer, and perhaps has."""
        recalled, state = self._recalled, self._state
        ending = Ending(reason=cast("StopReason", stopped.stop_reason), detail=stopped.stop_detail)
        is_closed = False
        if recalled.turn is not None:
            state.begin_step()
            state.known.update(recalled.turn.ended)
            is_closed = await accept_last_turn(state, recalled.turn.turn)
            self._add_time(recalled.turn)
        is_closed = is_closed or await ask_last_answer(state)
        return await finish_run(state, ending, closing=is_closed)

    async def _keep_legal(self) -> None:
        """A request must not end with the model's own words."""
        state = self._state
        last = state.conversation.snapshot()[-1:]
        if last and isinstance(last[0], AssistantMessage):
            await state.instruct(GO_ON, about=GOING_ON)

    def _add_time(self, turn: OpenTurn) -> None:
        steps = self._state.steps
        steps[-1] = replace(steps[-1], duration_s=steps[-1].duration_s + turn.answered.duration_s)


def _read_output(state: RunState, ending: Ending) -> None:
    from toolroll.agent.answer import read_output  # noqa: PLC0415 - only for a run that is over

    if ending.reason in ("answer", "done"):
        read_output(state, ending.text)


def _nobody(_event: Event) -> None:
    return None
