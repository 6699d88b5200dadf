"""What a run may still spend: tokens, money and seconds, looked at before a call and while a model writes.

Budgets form a tree: what a sub-agent spends counts for the run that called it, step by step as it happens, and no
sub-agent goes on when the budget of a run above it is spent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final, assert_never

from toolroll.agent.cost import Bill, Price
from toolroll.agent.result import Step, SubRun, ToolCallLog
from toolroll.agent.stop import Measured, cost_over, deadline, first_met, tokens_over
from toolroll.kernel.data.messages import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Message,
    Origin,
    Part,
    TextPart,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage

CHARACTERS_PER_TOKEN: Final = 4
"""English text; only where the provider has not counted (yet)."""
PART_TOKENS: Final = 1_500
"""An image or a page of a document, about; only for the same."""

_NOTHING: Final = Usage()
_FREE: Final = Bill()


@dataclass(slots=True, kw_only=True)
class Budget:
    """The limits of one run, and what it has used of them."""

    conditions: tuple[Measured, ...] = ()
    origin: Origin
    price: Price
    parent: "Budget | None" = None
    steps: list[Step] = field(default_factory=list)
    counted_from: int = 0
    """How many steps are behind a limit that was reached, or another prompt: they no longer count."""
    is_answered: bool = False
    """Whether the model has answered in the step that goes on."""
    pauses: int = 0
    """How often the provider has paused the turn that goes on."""
    _began: float = field(default_factory=perf_counter)
    _usage: Usage = _NOTHING
    _bill: Bill = _FREE
    _sub_runs: dict[str, SubRun] = field(default_factory=dict)
    _context_tokens: int = 0
    _turns: int = 0
    _output_tokens: int = 0
    """What the model has written in all its turns."""

    @property
    def counted(self) -> list[Step]:
        """Return the steps that limits look at."""
        return self.steps[self.counted_from :] if self.counted_from else self.steps

    @property
    def is_limited(self) -> bool:
        """Return whether any limit is set."""
        return bool(self.conditions) or (self.parent is not None and self.parent.is_limited)

    @property
    def counts_money(self) -> bool:
        """Return whether the cost has to be known during the run."""
        own = any(isinstance(one, cost_over) for one in self.conditions)
        return own or (self.parent is not None and self.parent.counts_money)

    def begin_step(self) -> None:
        """Start the clock of a step."""
        self._began = perf_counter()

    def add_turn(self, usage: Usage) -> Bill:
        """Count a turn of the model; what it read and wrote is what it reads next time."""
        bill = self.bill(usage)
        self.is_answered = True
        if self._usage is _NOTHING:  # nearly always the first that is used in a step
            self._usage, self._bill = usage, bill
        else:  # after a compaction
            self._usage, self._bill = self._usage + usage, self._bill + bill
        self._context_tokens = usage.input_total // max(usage.requests, 1) + usage.output_tokens
        self._turns += 1
        self._output_tokens += usage.output_tokens
        return bill

    def bill(self, usage: Usage) -> Bill:
        """Return what the run's own model charges for it."""
        return Bill([(self.price, self.origin, usage)])

    def set_context_tokens(self, tokens: int) -> None:
        """Set the size of the next request: something of the conversation is not sent any more."""
        self._context_tokens = tokens

    def add_message(self, message: Message | ToolMessage) -> None:
        """Count a message that was added to the conversation and that no provider has counted yet."""
        if self.is_limited:
            self._context_tokens += tokens_of(message)

    def add_sub_run(self, sub: SubRun) -> None:
        """Count what a step of a sub-agent used."""
        self._usage, self._bill = self._usage + sub.usage, self._bill + sub.bill
        before = self._sub_runs.get(sub.run_id)
        if before is not None:
            sub = replace(sub, usage=before.usage + sub.usage, bill=before.bill + sub.bill)
        self._sub_runs[sub.run_id] = sub

    def end_step(self, text: str, calls: tuple[ToolCallLog, ...], *, closing: bool, is_cut: bool = False) -> Step:
        """End the current step and return it with all that was used in it."""
        step = Step(
            number=len(self.steps) + 1,
            text=text,
            usage=self._usage,
            bill=self._bill,
            duration_s=perf_counter() - self._began,
            calls=calls,
            sub_runs=tuple(self._sub_runs.values()),
            closing=closing,
            is_cut=is_cut,
            pauses=self.pauses,
        )
        self.steps.append(step)
        self.is_answered, self.pauses = False, 0
        self._began, self._usage, self._bill, self._sub_runs = perf_counter(), _NOTHING, _FREE, {}
        return step

    def reached(self, usage: Usage = _NOTHING, bill: Bill = _FREE, *, closing: bool = False) -> str | None:
        """Return why to stop, here or in a run above, when so much is added to what has been used.

        With `closing`, only money and seconds count: a last answer may go over a number of tokens.
        """
        usage += self._usage
        if self.counts_money:
            bill = Bill.from_usd(
                (bill.usd or 0.0) + (self._bill.usd or 0.0)
            )  # what is unknown stops at the end of the step
        duration_s = perf_counter() - self._began
        step = Step(number=len(self.steps) + 1, text="", usage=usage, bill=bill, duration_s=duration_s)
        known = [one for one in self.conditions if not (closing and isinstance(one, tokens_over))]
        met = first_met(known, [*self.counted, step])
        return met if met is not None or self.parent is None else self.parent.reached(usage, bill, closing=closing)

    def forbids_call(self, *, closing: bool) -> str | None:
        """Return why the next call, going by its size, is forbidden; `closing` reserves as much for a last one.

        It reads all of the conversation at the full price, as a cache may have expired, and writes what the model has
        written on average. Before the first answer, only what it reads is known: the rest is counted while it writes.
        """
        if not self.is_limited:
            return None
        met = self._reached_with(self._next_call(2 if closing and self.steps else 1))
        return None if met is None else f"{met}: the next call would go over it"

    def _next_call(self, times: int) -> Usage:
        written = self._output_tokens // max(self._turns, 1)
        return Usage(input_tokens=times * self._context_tokens, output_tokens=times * written, requests=times)

    def forbids_closing(self) -> bool:
        """Return whether the last answer would be paid past a limit of money, or come after a deadline."""
        return self.is_limited and self._reached_with(self._next_call(1), closing=True) is not None

    def forbids_going_on(self, usage: Usage) -> str | None:
        """Return why a paused turn that has used so much is not continued: what it has written is read once more."""
        if not self.is_limited:
            return None
        again = Usage(input_tokens=usage.input_total // max(usage.requests, 1) + usage.output_tokens, requests=1)
        return self._reached_with(usage + again)

    def reached_while_writing(self, characters: int, *, closing: bool = False) -> str | None:
        """Return why a turn must be broken off after so many characters."""
        if not self.is_limited:
            return None
        return self._reached_with(replace(self.estimate(characters), measured=True), closing=closing)

    def _reached_with(self, usage: Usage, *, closing: bool = False) -> str | None:
        return self.reached(usage, self.bill(usage), closing=closing)

    def estimate(self, characters: int) -> Usage:
        """Return what a turn that was broken off after so many characters has used, as far as one can tell."""
        output = characters // CHARACTERS_PER_TOKEN
        return Usage(input_tokens=self._context_tokens, output_tokens=output, requests=1, measured=False)

    def seconds_left(self) -> float | None:
        """Return how long it is until the first deadline, here or in a run above."""
        limits = [one.seconds for one in self.conditions if isinstance(one, deadline)]
        above = None if self.parent is None else self.parent.seconds_left()
        if not limits:
            return above
        left = min(limits) - sum(step.duration_s for step in self.counted) - (perf_counter() - self._began)
        return left if above is None else min(left, above)


def tokens_of(message: Message | ToolMessage) -> int:
    """Return the size of a message in tokens, about."""
    match message:
        case UserMessage():
            return _of_parts(message.content)
        case ToolMessage():
            content = message.content
            return _of_parts(content) if isinstance(content, tuple) else len(content) // CHARACTERS_PER_TOKEN
        case ToolResults():
            return sum(map(tokens_of, message.results))
        case AssistantMessage():
            return sum(map(_of_block, message.blocks))
        case _:
            assert_never(message)


def _of_parts(parts: Iterable[Part]) -> int:
    return sum(len(part.text) // CHARACTERS_PER_TOKEN if isinstance(part, TextPart) else PART_TOKENS for part in parts)


def _of_block(block: AssistantBlock) -> int:
    written = block.call.arguments if isinstance(block, CallBlock) else getattr(block, "text", "")
    return len(written) // CHARACTERS_PER_TOKEN
