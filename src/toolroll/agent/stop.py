"""Stop conditions as values: each says in a word why the run should end, or nothing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolroll.agent.result import Step
from toolroll.errors import UsageError

Condition: TypeAlias = Callable[[Sequence[Step]], object]
"""Anything that looks at the steps so far and says whether to stop."""


def _above_zero(name: str, value: float) -> None:
    if not value > 0:
        raise UsageError(f"{name} needs a number above 0, not {value!r}.")


@dataclass(frozen=True, slots=True)
class step_count_is:  # noqa: N801 - reads as the word it is in an agent's definition
    """Stop after so many steps."""

    count: int

    def __post_init__(self) -> None:
        _above_zero("step_count_is", self.count)

    def __call__(self, steps: Sequence[Step]) -> bool:
        return len(steps) >= self.count


@dataclass(frozen=True, slots=True)
class tokens_over:  # noqa: N801 - as above
    """Stop once the run has used more than so many tokens, input and output together."""

    tokens: int

    def __post_init__(self) -> None:
        _above_zero("tokens_over", self.tokens)

    def __call__(self, steps: Sequence[Step]) -> bool:
        return sum(step.usage.total for step in steps) > self.tokens


@dataclass(frozen=True, slots=True)
class cost_over:  # noqa: N801 - as above
    """Stop once the run has cost more than so many US dollars. A step of unknown cost stops it too: it might."""

    usd: float

    def __post_init__(self) -> None:
        _above_zero("cost_over", self.usd)

    def __call__(self, steps: Sequence[Step]) -> bool:
        costs = [step.cost for step in steps]
        return any(cost is None for cost in costs) or sum(cost or 0 for cost in costs) > self.usd


@dataclass(frozen=True, slots=True)
class tool_called:  # noqa: N801 - as above
    """Stop after the step in which this tool was called."""

    name: str

    def __call__(self, steps: Sequence[Step]) -> bool:
        return bool(steps) and any(call.name == self.name for call in steps[-1].calls)


@dataclass(frozen=True, slots=True)
class deadline:  # noqa: N801 - as above
    """Stop once the steps have taken so many seconds together."""

    seconds: float

    def __post_init__(self) -> None:
        _above_zero("deadline", self.seconds)

    def __call__(self, steps: Sequence[Step]) -> bool:
        return sum(step.duration_s for step in steps) > self.seconds


DEFAULT = (step_count_is(10),)


def conditions(given: Condition | Iterable[Condition] | None) -> tuple[Condition, ...]:
    """The conditions of an agent, however they were given."""
    if given is None:
        return DEFAULT
    return (given,) if callable(given) else tuple(given)


def first_met(known: Iterable[Condition], steps: Sequence[Step]) -> str | None:
    """The name of the first condition that says stop."""
    return next((name_of(condition) for condition in known if condition(steps)), None)


def name_of(condition: Condition) -> str:
    """How a result calls a condition: `step_count_is(5)`."""
    if isinstance(condition, (step_count_is, tokens_over, cost_over, tool_called, deadline)):
        [value] = (getattr(condition, field) for field in condition.__slots__)
        return f"{type(condition).__name__}({value!r})"
    return getattr(condition, "__name__", type(condition).__name__)
