"""Resuming a run from its record, in any process.

Completed model calls are not paid for again, completed tool calls are not run again, and calls that never started are
run. Open questions are asked again; an answer that was given still counts as long as the question is the same.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final, cast

from toolroll.agent.approvals import AskLater
from toolroll.agent.choices import check_chosen, with_recorded_settings
from toolroll.agent.events import Event, RunStarted, StepFinished, Warned
from toolroll.agent.history.attempts import begin_attempt, give_up, measure_progress
from toolroll.agent.history.rebuild import CallFacts, OpenTurn, RebuiltRun
from toolroll.agent.history.replies import (
    PendingCalls,
    bind_replies,
    find_pending,
    group_questions,
    recorded_answer,
)
from toolroll.agent.history.unknown_calls import (
    UNKNOWN,
    ask_if_weaker,
    check_unrecorded,
    end_by_records,
    end_unrun,
    settle_unknown,
)
from toolroll.agent.loop.answer import check_output
from toolroll.agent.loop.finish import NO_ANSWER, accept_last_turn, ask_last_answer, build_result, finish_run
from toolroll.agent.loop.loop import run_loop, settle_turn
from toolroll.agent.loop.preparation import prepare_run, prepare_step
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Ending, RunResult, StopReason
from toolroll.agent.run import GO_ON, RunRequest, as_user_message, new_run, pass_prompt, run_to_end
from toolroll.errors import UsageError
from toolroll.journal.journal import Journal, Recording, as_sealing
from toolroll.journal.records import MessageAdded, RunEnded, StopDecided
from toolroll.journal.redaction import lost_a_secret
from toolroll.journal.tables import no_such_run
from toolroll.kernel.data.messages import AssistantMessage, Prompt, ToolCall

FIRST_POLL_S: Final = 0.02
LONGEST_POLL_S: Final = 0.5
"""How often a run of another process is checked: soon at first, then seldom enough to cost nothing."""
GOING_ON: Final = "go_on"
WAITING: Final = "approval_pending"
NOT_RUN: Final = "[not run: the run was interrupted before this call began, and goes on with something else]"
NO_RESULT: Final = "[no result: nobody has delivered one so far, and the run goes on with something else]"
LOST: Final = (
    "[not run: the arguments held a secret, and secrets are not stored. Make the call again if it is still needed]"
)


async def continue_run(
    request: RunRequest, run_id: str, *, emit: Callable[[Event], None], on_open: Callable[[RunState], None]
) -> RunResult[object]:
    """Continue a run from its last complete record; a run that is complete is only reported.

    The decisions of the request answer pending questions, each bound to what was asked then. With a prompt, calls that
    were never finished are not run any more. `on_open` receives the state before anything is done.

    While another process drives the run, this waits. If that process brings the run to an end, the end is reported; if
    it dies, the run is continued here.
    """
    setup, journal = request.setup, request.setup.journal
    if journal is None:
        raise UsageError("Only a run with a journal can be resumed. Give the agent journal=SqliteJournal(path).")
    if setup.approver is None:
        setup = replace(setup, approver=AskLater())
    before = await journal.read(run_id)  # first: acquiring a run that is not there would create it
    await _acquire(journal, run_id, emit)
    try:
        recording = await journal.read(run_id)
        if not recording.records:  # deleted since the first look, and created again by acquiring it
            raise no_such_run(run_id)
        check_chosen(recording.records[0][1], setup)
        setup = with_recorded_settings(setup, recording, request.settings)
        state = new_run(setup, (), emit, stream=request.stream, caller=request.caller, run_id=run_id)
        on_open(state)
        rebuilt = RebuiltRun(state, (record for _, record in recording))
        if request.caller is not None:
            for step in state.steps:  # what the part has used counts for the whole, which has not seen it
                emit(StepFinished(step=step))
        pending = await find_pending(rebuilt, journal)
        if _is_complete(rebuilt, request, pending, has_ended=_has_ended_since(before, recording)):
            return await _recorded_result(rebuilt, pending)
        bind_replies(rebuilt, pending, request)
        if not await _may_try(rebuilt, request, recording):
            has_said = rebuilt.end is not None and rebuilt.end.stop_reason == "gave_up"
            if has_said:
                return await _recorded_result(rebuilt, pending)
            return await run_to_end(state, lambda: give_up(rebuilt))
        continuation = _Continuation(rebuilt, request.prompt, before.notes)  # acquiring it has repaired what they tell
        return await run_to_end(state, continuation.run)
    finally:
        await journal.release(run_id)


async def _may_try(rebuilt: RebuiltRun, request: RunRequest, recording: Recording) -> bool:
    """Whether the run is continued. One that dies at each attempt is not, unless a person says so."""
    journal, is_waiting = request.setup.journal, rebuilt.end is not None and rebuilt.end.stop_reason == WAITING
    if journal is None or request.resume is None or request.caller is not None or is_waiting:
        return True  # a part is counted with the whole, and a question that waits is not an attempt
    is_forced = request.force or request.prompt is not None or bool(request.decisions or request.results)
    return await begin_attempt(rebuilt, await measure_progress(journal, recording), is_forced=is_forced)


async def _acquire(journal: Journal, run_id: str, emit: Callable[[Event], None]) -> None:
    """Take the run, waiting for another process that drives it."""
    pause_s = FIRST_POLL_S
    while not await journal.acquire(run_id):
        if pause_s == FIRST_POLL_S:
            text = (
                f"Run {run_id} is being driven by another process; waiting for it. If it stands at a question, answer "
                "it there."
            )
            emit(Warned(kind="waiting_for_run", text=text))
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_POLL_S)


def _has_ended_since(before: Recording, now: Recording) -> bool:
    """Whether the process that was waited for has brought the run to an end. One that was killed has not."""
    last = before.records[-1][0] if before.records else 0
    return any(isinstance(record, RunEnded) for number, record in now if number > last)


def _is_complete(rebuilt: RebuiltRun, request: RunRequest, pending: PendingCalls, *, has_ended: bool) -> bool:
    """Whether there is nothing left to do: the run has its answer, or another process has just brought it to an end."""
    if rebuilt.end is None or request.prompt is not None or request.results:
        return False
    if has_ended:
        return not request.decisions or not pending.keys() >= request.decisions.keys()
    return rebuilt.end.stop_reason in ("answer", "done") and not request.decisions


async def _recorded_result(rebuilt: RebuiltRun, pending: PendingCalls) -> RunResult[object]:
    """Return the end of the run as it is recorded."""
    end, state = rebuilt.end, rebuilt.state
    assert end is not None
    state.waiting.update(group_questions(pending))
    rebuilt.close_turn()
    ending = Ending(reason=cast("StopReason", end.stop_reason), detail=end.stop_detail, text=end.text)
    if ending.reason in ("answer", "done"):
        async with state.run:
            await check_output(state, ending.text)
    result = build_result(state, ending, closing=bool(state.steps) and state.steps[-1].closing)
    # Before 0.2.0 a record had only the text that stands for a missing answer.
    has_answer = end.text != NO_ANSWER if end.has_answer is None else end.has_answer
    return replace(result, has_answer=has_answer)


class _Continuation:
    """The rest of a run, from where its record ends."""

    def __init__(self, rebuilt: RebuiltRun, prompt: Prompt | None, repairs: Sequence[str]) -> None:
        self._rebuilt = rebuilt
        self._state = rebuilt.state
        self._prompt = prompt
        self._repairs = repairs

    async def run(self) -> RunResult[object]:
        """Continue to the end."""
        rebuilt, state = self._rebuilt, self._state
        state.emit(RunStarted(run_id=state.run.run_id, model=state.setup.model.origin.model))
        for text in self._repairs:
            state.emit(Warned(kind="record_repaired", text=text))
        state.restore(rebuilt.values)
        await prepare_run(state, rebuilt.system)
        if rebuilt.turn is not None and state.setup.step_tools is not None:
            await prepare_step(state)  # its open calls may be of tools that were chosen for it
        if self._prompt is not None:
            return await self._run_with_prompt(self._prompt)
        await pass_prompt(state, None)
        if not rebuilt.is_paused:
            rebuilt.reset_limits()
        if rebuilt.stop is not None and rebuilt.is_paused:
            return await self._close(rebuilt.stop)
        ending = None if rebuilt.turn is None else await self._complete_turn(rebuilt.turn)
        if ending is None:
            await self._end_with_user()
        return await run_loop(state, ending)

    async def _run_with_prompt(self, prompt: Prompt) -> RunResult[object]:
        rebuilt, state = self._rebuilt, self._state
        if rebuilt.turn is not None:
            for call in rebuilt.turn.open_calls:
                facts = rebuilt.facts.get(call.id, CallFacts())
                has_begun = facts.intent is not None
                if facts.awaits_result:
                    await end_unrun(state, call, NO_RESULT, code="no_result")
                elif not (has_begun and await end_by_records(state, call)):
                    await end_unrun(state, call, UNKNOWN if has_begun else NOT_RUN, code="interrupted")
            rebuilt.turn.results |= state.known
            state.known.clear()
            rebuilt.close_turn()
        rebuilt.reset_limits()
        message = await pass_prompt(state, as_user_message(prompt))
        assert message is not None
        state.add_message(message)
        await state.record(MessageAdded(message=message))
        return await run_loop(state)

    async def _complete_turn(self, turn: OpenTurn) -> Ending | None:
        """Do what is left of the last turn."""
        state = self._state
        state.begin_step()
        self._rebuilt.add_finished_usage(turn)
        state.recorded_usage.update(turn.usage)
        state.known.update(turn.results)
        if turn.turn.ending is None:
            whole = await self._unseal(turn)
            for call in turn.open_calls:
                is_lost = lost_a_secret(call.arguments) and call.id not in whole
                await self._prepare_call(call, self._rebuilt.facts.get(call.id, CallFacts()), is_lost=is_lost)
        ending = await settle_turn(state, turn.turn)
        self._add_recorded_time(turn)
        return ending

    async def _unseal(self, turn: OpenTurn) -> Collection[str]:
        """Give the open calls back what their record has lost; return the ids of those that have it."""
        journal = as_sealing(self._state.setup.journal)
        if journal is None:
            return ()
        found = await journal.unseal(self._state.run.run_id, *turn.open_calls)
        calls = [replace(call, arguments=found.get(call.id, call.arguments)) for call in turn.turn.calls]
        turn.turn = replace(turn.turn, calls=calls)
        return found.keys()

    async def _prepare_call(self, call: ToolCall, facts: CallFacts, *, is_lost: bool) -> None:
        if is_lost:
            text = LOST if facts.intent is None else f"{UNKNOWN} {LOST}"
            await end_unrun(self._state, call, text, code="secret_lost")
        elif facts.awaits_result:
            self._wait_on(call, facts)
        elif facts.intent is not None:
            await settle_unknown(self._state, call, facts.intent, recorded_answer(facts.used))
        else:
            await check_unrecorded(self._state, call)
        if facts.had_leave_asked:
            await ask_if_weaker(self._state, call)

    def _wait_on(self, call: ToolCall, facts: CallFacts) -> None:
        """Let a call go on from where it waits for its result: it was allowed, and it has begun."""
        if facts.intent is not None:
            self._state.intended[call.id] = facts.intent
        if (used := recorded_answer(facts.used)) is not None:
            self._state.answers[call.id] = used

    async def _close(self, stop: StopDecided) -> RunResult[object]:
        """Complete a run whose model was already asked for its last answer, and perhaps has given it."""
        turn, state = self._rebuilt.turn, self._state
        ending = Ending(reason=cast("StopReason", stop.stop_reason), detail=stop.stop_detail)
        is_closed = False
        if turn is not None:
            state.begin_step()
            state.known.update(turn.results)
            is_closed = await accept_last_turn(state, turn.turn)
            self._add_recorded_time(turn)
        is_closed = is_closed or await ask_last_answer(state)
        return await finish_run(state, ending, closing=is_closed)

    async def _end_with_user(self) -> None:
        """Let the conversation end with a message of the user: a request must not end with the model's own words."""
        last = self._state.conversation.snapshot()[-1:]
        if last and isinstance(last[0], AssistantMessage):
            await self._state.instruct(GO_ON, about=GOING_ON)

    def _add_recorded_time(self, turn: OpenTurn) -> None:
        steps = self._state.steps
        steps[-1] = replace(steps[-1], duration_s=steps[-1].duration_s + turn.record.duration_s)
