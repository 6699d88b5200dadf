"""Which outputs give way to references when there are too many in the context."""

from typing import Final

from toolroll.agent.budget import tokens_of
from toolroll.agent.context.keeping import Keeper, reference_of
from toolroll.agent.context.window import Window
from toolroll.journal.records import Trimmed

STRIDE: Final = 2
"""Trimmed down to a half of the budget: each time costs the provider's prompt cache from the first output that goes,
so it must be seldom."""


def choose_outputs(window: Window, keeper: Keeper) -> Trimmed | None:
    """The outputs to replace, the oldest first, until half of the budget is free; None while all fit into it.

    An output that no reference leads back to stays.
    """
    budget = window.limits.outputs_tokens
    if not budget or window.outputs_tokens <= budget:
        return None
    return _chosen(window, keeper, budget // STRIDE)


def all_outputs(window: Window, keeper: Keeper, *, newest: bool = False) -> Trimmed | None:
    """All outputs that can go, whatever the budget; those of the newest step only where it is said so."""
    return _chosen(window, keeper, -1, newest=newest)


def _chosen(window: Window, keeper: Keeper, down_to: int, *, newest: bool = False) -> Trimmed | None:
    left, gone = window.outputs_tokens, []
    for call, result in window.trimmable(newest=newest):
        if left <= down_to:
            break
        left -= round(window.ratio * tokens_of(result))
        ref_id = reference_of(keeper, call, result)
        if ref_id is None:
            window.leave(result)
        else:
            gone.append((result.call_id, ref_id))
    return Trimmed(outputs=tuple(gone)) if gone else None
