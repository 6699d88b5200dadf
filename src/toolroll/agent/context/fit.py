"""Keeping a request within the model's window: outputs become references, then the conversation becomes a summary.

`make_room` runs before every request. `shorten_refused` runs once when a provider refuses a request as too long that
should have fitted.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from toolroll.agent.context.compact import compact
from toolroll.agent.context.outputs import Keeper, reference_for
from toolroll.agent.context.window import Window
from toolroll.agent.events import ContextTrimmed, Warned
from toolroll.agent.loop.budget import tokens_of
from toolroll.agent.loop.state import RunState
from toolroll.errors import ContextTooLong
from toolroll.journal.records import MessagesCompacted, OutputsTrimmed
from toolroll.messages import REQUEST_TOO_LONG

STRIDE: Final = 2
"""Trimmed down to a half of the budget: each time costs the provider's prompt cache from the first output that goes,
so it must be seldom."""
ENOUGH: Final = 0.9
"""Of what was too long: a request that is hardly shorter than that is too long again."""
PLENTY: Final = 0.5
"""Of the same: what is shorter needs no summary, which costs a request."""
STILL: Final = "The conversation was made shorter once, and still does not fit."


async def make_room(state: RunState) -> None:
    """Let outputs, and then the conversation itself, give way where there is too much of them."""
    window = state.window
    crowded = window.look(state.conversation.legal())
    if state.changes is not None:
        _repeat_recorded(state, state.changes)
    elif crowded:
        before = window.tokens
        if state.outputs is not None:
            await trim_outputs(state, choose_outputs(window, state.outputs))
        if window.is_full:
            await compact(state)
        if window.tokens < before:
            state.budget.set_context_tokens(window.tokens)
    window.mark_sent()


def _repeat_recorded(state: RunState, changes: Mapping[int, Sequence[OutputsTrimmed | MessagesCompacted]]) -> None:
    """Do what was done then, as far as the conversation is the same."""
    conversation = state.conversation.legal()
    for record in changes.get(state.window.turns, ()):
        if isinstance(record, OutputsTrimmed):
            state.window.trim(record)
        elif record.through <= len(conversation):
            state.compact(record)


async def trim_outputs(state: RunState, record: OutputsTrimmed | None) -> None:
    """Let the outputs give way that were chosen, if any were."""
    if record is None:
        return
    before = state.window.tokens
    await state.record(record)
    state.window.trim(record)
    state.emit(ContextTrimmed(outputs=len(record.outputs), tokens_before=before, tokens_after=state.window.tokens))


def choose_outputs(window: Window, keeper: Keeper) -> OutputsTrimmed | None:
    """Return the outputs to replace, the oldest first, until half of the budget is free; None while all fit into it.

    An output that no reference leads back to stays.
    """
    budget = window.limits.outputs_tokens
    if not budget or window.outputs_tokens <= budget:
        return None
    return _choose(window, keeper, budget // STRIDE)


def choose_all_outputs(window: Window, keeper: Keeper, *, newest: bool = False) -> OutputsTrimmed | None:
    """Return all outputs that can go, whatever the budget; those of the newest step only where it is said so."""
    return _choose(window, keeper, -1, newest=newest)


def _choose(window: Window, keeper: Keeper, down_to: int, *, newest: bool = False) -> OutputsTrimmed | None:
    left, gone = window.outputs_tokens, []
    for call, result in window.trimmable(newest=newest):
        if left <= down_to:
            break
        left -= round(window.ratio * tokens_of(result))
        ref_id = reference_for(keeper, call, result)
        if ref_id is None:
            window.leave(result)
        else:
            gone.append((result.call_id, ref_id))
    return OutputsTrimmed(outputs=tuple(gone)) if gone else None


async def shorten_refused(state: RunState) -> bool:
    """Shorten the request that was refused, and the window for good; return whether the next one is shorter.

    Outputs give way to references, then the conversation to a summary. Where that is not enough it is the newest
    outputs that do not fit, and they go as well: a model can read on from a reference, and from an error it cannot.
    """
    window, before = state.window, state.window.tokens
    window.shrink(before)
    await _trim_all(state)
    if window.limits.compact_tokens and window.tokens > PLENTY * before:
        await compact(state, least_gain=0.0)
    if window.tokens > ENOUGH * before:
        await _trim_all(state, newest=True)
    if window.tokens >= before:
        return False
    text = f"The model takes less than {before:,} tokens: the conversation was made shorter."
    state.emit(Warned(kind="context_shortened", text=text))
    state.budget.set_context_tokens(window.tokens)
    window.mark_sent()
    return True


async def _trim_all(state: RunState, *, newest: bool = False) -> None:
    if state.outputs is not None and state.window.limits.outputs_tokens:  # 0 is a wish: they stay where they are
        await trim_outputs(state, choose_all_outputs(state.window, state.outputs, newest=newest))


def still_too_long(error: ContextTooLong) -> ContextTooLong:
    """Return the error of a request that had been made shorter."""
    return ContextTooLong(f"{error.message} {STILL}", status=error.status, retry_after_s=error.retry_after_s)


def too_long(error: ContextTooLong, *, needed: int, window: int) -> ContextTooLong:
    """Return the error of a request that cannot be made shorter: what it needs, and what the window has."""
    text = f"{error.message} {REQUEST_TOO_LONG(needed=f'{needed:,}', window=f'{window:,}')}"
    return ContextTooLong(text, status=error.status, retry_after_s=error.retry_after_s)
