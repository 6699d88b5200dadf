"""When a provider says that a request is too long, though we thought it would fit: make it shorter, once."""

from typing import Final

from toolroll.agent.context.compact import compact
from toolroll.agent.context.prepare import trim
from toolroll.agent.context.trim import all_outputs
from toolroll.agent.events import Warned
from toolroll.agent.state import RunState
from toolroll.errors import ContextTooLong

ENOUGH: Final = 0.9
"""Of what was too long: a request that is hardly shorter than that is too long again."""
PLENTY: Final = 0.5
"""Of the same: what is shorter needs no summary, which costs a request."""
STILL: Final = "The conversation was made shorter once, and still does not fit."


async def shortened(state: RunState) -> bool:
    """Whether the next request is shorter than the one that was refused; the window is as small as that from now on.

    Outputs give way to references, then the conversation to a summary. Where that is not enough it is the newest
    outputs that do not fit, and they go as well: a model can read on from a reference, and from an error it cannot.
    """
    window, before = state.window, state.window.tokens
    window.shrink(before)
    await _trim(state)
    if window.limits.compact_tokens and window.tokens > PLENTY * before:
        await compact(state, least_gain=0.0)
    if window.tokens > ENOUGH * before:
        await _trim(state, newest=True)
    if window.tokens >= before:
        return False
    state.emit(Warned(text=f"The model takes less than {before:,} tokens: the conversation was made shorter."))
    state.budget.sends(window.tokens)
    window.sends()
    return True


async def _trim(state: RunState, *, newest: bool = False) -> None:
    if state.outputs is not None and state.window.limits.outputs_tokens:  # 0 is a wish: they stay where they are
        await trim(state, all_outputs(state.window, state.outputs, newest=newest))


def still_too_long(error: ContextTooLong) -> ContextTooLong:
    """The error of a request that had been made shorter."""
    return ContextTooLong(f"{error.message} {STILL}", status=error.status, retry_after_s=error.retry_after_s)
