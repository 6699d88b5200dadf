"""The loop: ask the model, run its calls, until there is an answer or a reason to stop. No limit raises."""

from toolroll.agent.loop.answer import judge_answer
from toolroll.agent.loop.ask_model import STOPPED, Turn, ask_model
from toolroll.agent.loop.calls import run_calls
from toolroll.agent.loop.finish import answer_unrun, close_with_answer, finish_run, needs_closing
from toolroll.agent.loop.preparation import prepare_step
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Ending, RunResult, ToolCallLog
from toolroll.agent.stop import first_met, name_of, step_count_is


async def run_loop(state: RunState, ending: Ending | None = None) -> RunResult[object]:
    """Step after step, to the end of the run; with `ending` to that one."""
    while ending is None:
        ending = _limit(state) or await _step(state)
    closing = await close_with_answer(state, ending)
    return await finish_run(state, ending, closing=closing)


async def _step(state: RunState) -> Ending | None:
    """One model call and all the tool calls it leads to."""
    state.begin_step()
    if state.setup.is_prepared:
        await prepare_step(state)
    return await settle_turn(state, await ask_model(state))


async def settle_turn(state: RunState, turn: Turn) -> Ending | None:
    """Run all that a turn of the model leads to; return the end of the run if it leads there."""
    ending, calls = turn.ending, turn.calls
    logs: tuple[ToolCallLog, ...] = ()
    if ending is not None:
        await answer_unrun(state, calls, ending.reason)
    elif calls:
        logs, ending = await run_calls(state, calls)
    else:
        ending = await judge_answer(state, turn)
    state.end_step(turn.text, logs, is_cut=turn.is_cut)
    return ending


def _limit(state: RunState) -> Ending | None:
    """What forbids another step."""
    if state.stop_requested:
        return STOPPED
    setup, met = state.setup, None
    if state.steps:
        met = first_met(setup.stop_when, state.budget.counted) or _last_request(state)
    if met is None:
        met = state.budget.forbids_call(closing=setup.close_with_answer)
    return None if met is None else Ending(reason="condition", detail=met)


def _last_request(state: RunState) -> str | None:
    """Return the limit of steps if it allows one more request, which is then needed for the answer."""
    limit = state.setup.step_limit
    if limit is None or not state.closes_inside or not 0 < len(state.budget.counted) == limit - 1:
        return None
    name = name_of(step_count_is(limit))
    return name if needs_closing(state, Ending(reason="condition", detail=name)) else None
