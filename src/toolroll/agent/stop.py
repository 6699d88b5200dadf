"""Stop conditions as values: each says in a word why the run should end, or nothing."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolroll.agent.result import Step
from toolroll.errors import UsageError

Condition: TypeAlias = Callable[[Sequence[Step]], object]
"""Anything that looks at the steps so far and says whether to stop; a text says why in its own words."""


def _above_zero(name: str, value: float) -> None:
    if not value > 0:
        raise UsageError(f"{name} needs a number above 0, not {value!r}.")


@dataclass(frozen=True, slots=True)
class step_count_is:  # noqa: N801 - reads as the word it is in an agent's definition
    """Stop after so many steps: turns of the model, each with its tool calls.

    The last one is for the answer: if the model is still calling tools one step before the limit, it is asked without
    tools. A limit of 1 leaves no room for that. Retries, pauses and summaries of the provider are part of a step.
    """

    count: int
    """The number of steps."""

    def __post_init__(self) -> None:
        _above_zero("step_count_is", self.count)

    def __call__(self, steps: Sequence[Step]) -> bool:
        return len(steps) >= self.count


@dataclass(frozen=True, slots=True)
class tokens_over:  # noqa: N801 - as above
    """Stop before the run uses more than so many tokens, input and output, sub-agents included.

    The size of the next call is estimated, and while a model writes it is counted along. The answer that is asked for
    at the end is whole, even if it goes over.
    """

    tokens: int
    """The limit in tokens."""

    def __post_init__(self) -> None:
        _above_zero("tokens_over", self.tokens)

    def __call__(self, steps: Sequence[Step]) -> bool:
        return sum(step.usage.total for step in steps) > self.tokens


@dataclass(frozen=True, slots=True)
class cost_over:  # noqa: N801 - as above
    """Stop before the call that would make the run cost more than so many US dollars, the last answer included.

    The cost of a call is estimated: it reads the whole conversation at the price without a cache, and writes as much as
    the model wrote on average so far. While it writes, it is counted along, and broken off at the limit. A step of
    unknown cost stops the run too.
    """

    usd: float
    """The limit in US dollars."""

    def __post_init__(self) -> None:
        _above_zero("cost_over", self.usd)

    def __call__(self, steps: Sequence[Step]) -> bool | str:
        costs = [step.cost for step in steps if step.cost is not None]
        if len(costs) < len(steps):
            return f"{name_of(self)}: what a step cost is not known"
        return sum(costs) > self.usd


@dataclass(frozen=True, slots=True)
class tool_called:  # noqa: N801 - as above
    """Stop after the step in which this tool was called."""

    name: str
    """The name of the tool."""

    def __call__(self, steps: Sequence[Step]) -> bool:
        return bool(steps) and any(call.name == self.name for call in steps[-1].calls)


@dataclass(frozen=True, slots=True)
class deadline:  # noqa: N801 - as above
    """Stop once the steps have taken so many seconds together.

    A model that is asked or is writing then is broken off, and not asked for a last answer. A tool that is running is
    not: it has a timeout of its own.
    """

    seconds: float
    """The limit in seconds."""

    def __post_init__(self) -> None:
        _above_zero("deadline", self.seconds)

    def __call__(self, steps: Sequence[Step]) -> bool:
        return sum(step.duration_s for step in steps) > self.seconds


WARN_AT: Final = 3
"""Also the least: two equal steps are no loop yet."""
REFUSE_AT: Final = 4
STOP_AT: Final = 6
FAILURES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRules:
    """How often a model may repeat itself: the same calls with the same results, alone or in cycles of up to six steps.

    `Agent(loop_guard=False)` lets it, and `@tool(loop_guard=False)` lets one tool be called again and again.
    """

    warn_at: int = WARN_AT
    """Equal rounds after which the model is told."""
    refuse_at: int = REFUSE_AT
    """Equal rounds after which the calls are no longer run."""
    stop_at: int = STOP_AT
    """Equal rounds, run or refused, after which the run ends."""
    failures: int = FAILURES
    """Steps running with the same failure, or without one call that reached its tool, after which the run ends."""

    def __post_init__(self) -> None:
        if not (WARN_AT <= self.warn_at <= self.refuse_at <= self.stop_at and self.failures > 1):
            raise UsageError(
                f"LoopRules needs {WARN_AT} <= warn_at <= refuse_at <= stop_at and failures > 1, which is not {self}."
            )


Measured: TypeAlias = tokens_over | cost_over | deadline
"""The conditions that can be looked at while a step goes on, and before the next one begins."""

DEFAULT: Final[tuple[Condition, ...]] = (step_count_is(10),)


def conditions(given: Condition | Iterable[Condition] | None) -> tuple[Condition, ...]:
    """Return the conditions of an agent, however they were given."""
    if given is None:
        return DEFAULT
    if not callable(given) and not isinstance(given, Iterable):
        raise UsageError(f"stop_when is a condition, such as step_count_is(10), or a list of them, not {given!r}.")
    found = (given,) if callable(given) else tuple(given)
    if not all(map(_is_plain_function, found)):
        raise UsageError(f"A stop condition is a plain function of the steps so far, which is not so in {found!r}.")
    return found


def _is_plain_function(condition: object) -> bool:
    return callable(condition) and not inspect.iscoroutinefunction(condition)


def measured_conditions(known: Iterable[Condition]) -> tuple[Measured, ...]:
    """Return those of them that count tokens, money or seconds."""
    return tuple(one for one in known if isinstance(one, Measured))


def first_met(known: Iterable[Condition], steps: Sequence[Step]) -> str | None:
    """Return the description of the first condition that says stop."""
    for condition in known:
        if said := condition(steps):
            return said if isinstance(said, str) else name_of(condition)
    return None


def name_of(condition: Condition) -> str:
    """Return how a result calls a condition: `step_count_is(5)`."""
    if isinstance(condition, step_count_is | tool_called | Measured):
        [value] = (getattr(condition, field) for field in condition.__slots__)
        return f"{type(condition).__name__}({value!r})"
    return getattr(condition, "__name__", type(condition).__name__)
