"""How much of a conversation a model is sent: what an agent can be told about it, and the numbers that follow."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from toolroll.errors import UsageError
from toolroll.models.catalog import ModelLimits, limits_of
from toolroll.models.model import Model
from toolroll.outputs.cut import CONTEXT_BYTES

COMPACT_AT: Final = 0.8
"""Of the window (A21): what is left has room for an answer, and for a step that brings more than expected."""
OUTPUTS_SHARE: Final = 4
MIN_OUTPUTS_TOKENS: Final = 20_000
MAX_OUTPUTS_TOKENS: Final = 60_000
"""Tool outputs in a context (K52): a quarter of the window, within these."""
_BYTES_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRules:
    """What an agent does when its conversation grows. Everything has a default that fits the model.

    `window_tokens` is what the model reads at most; where it is None, what the model says of itself, or what is known
    of its name. `outputs_tokens` is the budget of tool outputs, 0 to leave them all. `compact_at` is the share of the
    window at which the conversation is compacted, None for never. `pinned_tools` are tools whose results stay in the
    context as they are, with the calls that led to them, like a message that is pinned.
    """

    window_tokens: int | None = None
    outputs_tokens: int | None = None
    compact_at: float | None = COMPACT_AT
    pinned_tools: Collection[str] = ()

    def __post_init__(self) -> None:
        if self.window_tokens is not None and self.window_tokens < 1:
            raise UsageError(f"window_tokens is {self.window_tokens}. It must be at least 1.")
        if self.outputs_tokens is not None and self.outputs_tokens < 0:
            raise UsageError(f"outputs_tokens is {self.outputs_tokens}. Use 0 to leave all outputs where they are.")
        if self.compact_at is not None and not 0 < self.compact_at <= 1:
            raise UsageError(f"compact_at is {self.compact_at}. It is a share of the window: above 0, at most 1.")
        if isinstance(self.pinned_tools, str):
            raise UsageError(f"pinned_tools is the text {self.pinned_tools!r}. Give the names in a list.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """The same in tokens, for one model. 0 stands for no limit."""

    window_tokens: int
    outputs_tokens: int
    compact_tokens: int
    output_bytes: int
    """Of one output, as it enters the context."""
    pinned_tools: frozenset[str] = frozenset()


def context_limits(rules: ContextRules, model: Model) -> ContextLimits:
    """Return the limits that the rules mean for the model."""
    window = rules.window_tokens or _window_of(model)
    return ContextLimits(
        window_tokens=window,
        outputs_tokens=outputs_budget(window) if rules.outputs_tokens is None else rules.outputs_tokens,
        compact_tokens=0 if rules.compact_at is None else int(window * rules.compact_at),
        output_bytes=output_limit(window),
        pinned_tools=frozenset(rules.pinned_tools),
    )


def outputs_budget(window_tokens: int) -> int:
    """Return the budget of tool outputs in a window of that size; in a very small one, three quarters of it."""
    wanted = min(max(window_tokens // OUTPUTS_SHARE, MIN_OUTPUTS_TOKENS), MAX_OUTPUTS_TOKENS)
    return min(wanted, window_tokens * 3 // 4)


def output_limit(window_tokens: int) -> int:
    """Return the bytes of one output: half of a small window, as one that fills it alone can never be looked at."""
    return min(CONTEXT_BYTES, window_tokens * _BYTES_PER_TOKEN // 2)


def _window_of(model: Model) -> int:
    limits = getattr(model, "limits", None)
    return limits.window_tokens if isinstance(limits, ModelLimits) else limits_of(model.origin.model).window_tokens
