"""The loop guard: a model that makes the same calls again and again is told so, then refused, then stopped.

Steps are compared, each with all its calls and what came of them: polling something that changes is no loop, and calls
that run side by side may end in any order. Cycles count too (a, b, a, b, ...), up to six steps long. Failures have less
patience: the same call that fails in the same way in three steps running ends the run.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Final, Literal, TypeAlias

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import canonical_json

WARN_AT: Final = 3
"""Equal rounds after which the model is told."""
REFUSE_AT: Final = 4
"""Equal rounds after which the calls are no longer run."""
STOP_AT: Final = 6
"""Equal rounds, run or refused, after which the run ends."""
FAILURES: Final = 3
"""Steps running with the same failure, or without one call that reached its tool, that end the run."""
LONGEST_CYCLE: Final = 6
_REMEMBERED: Final = STOP_AT * LONGEST_CYCLE
"""More steps than that decide nothing, and looking at them would make long runs slow."""

REFUSED: Final = "repeated_call"
"""The code of a call that was answered by the guard."""

_Call: TypeAlias = tuple[str, str]
"""A call as it is meant: the tool's name and the canonical arguments."""

Verdict: TypeAlias = Literal["repeated_failure", "invalid_calls", "repeated_calls"]

_NEVER_RAN: Final = frozenset({"invalid_json", "invalid_arguments", "unknown_tool"})


class _Round:
    """The calls of one step, comparable with those of another: in any order, their arguments in any spelling."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self.calls = calls
        self.written = [(call.name, call.arguments) for call in calls]
        self.outcomes: dict[str, str] = {}
        self.mark = 0
        self.failed: frozenset[tuple[_Call, str]] = frozenset()
        self.never_ran = False

    @cached_property
    def meant(self) -> list[_Call]:
        """The calls as they are meant. Only worked out where the written ones differ and the outcomes do not."""
        return sorted(map(_meaning, self.calls))

    def asks_the_same(self, other: "_Round") -> bool:
        return self.written == other.written or self.meant == other.meant

    def is_same(self, other: "_Round") -> bool:
        return self.mark == other.mark and self.asks_the_same(other)

    def outcome_of(self, call: ToolCall) -> str | None:
        meaning = _meaning(call)
        return next((self.outcomes[one.id] for one in self.calls if _meaning(one) == meaning), None)


class LoopGuard:
    """Watches the steps of one run: `begin` before the calls of a step, `add_result` for each result, `end` after."""

    def __init__(self) -> None:
        self._rounds: list[_Round] = []
        self._repeats: list[int] = []
        self._now = _Round(())
        self._before: _Round | None = None
        self._made = 0

    def begin(self, calls: Sequence[ToolCall]) -> ToolResult | None:
        """Look at the calls of a step; the answer to each of them, where they are not to be run again."""
        self._now = _Round(calls)
        self._made, self._before = self._coming_round()
        if self._made < REFUSE_AT or self._before is None:
            return None
        # Refused is no change: had it counted as one, the guard would start anew and the loop go on for ever.
        self._now.outcomes = dict(zip((call.id for call in calls), self._before.outcomes.values(), strict=True))
        text = (
            f"Not run: you have made this call {self._made} times, and its result was the same each time. "
            "Use what you have, try something else, or give your answer."
        )
        return ToolResult.failure(text, code=REFUSED)

    def add_result(self, call: ToolCall, result: ToolResult) -> str | None:
        """Remember how a call ended; a warning when it is going in circles."""
        if result.code == REFUSED:
            return None
        self._now.outcomes[call.id] = result.text
        if result.is_error:
            return self._failed_again(call, result)
        if self._before is None or self._made < WARN_AT - 1 or self._before.outcome_of(call) != result.text:
            return None
        return f"This call has now been made {self._made + 1} times with the same result."

    def end(self, results: Mapping[str, ToolResult]) -> Verdict | None:
        """End the step, and return why the run should end now, if it should."""
        now = self._now
        failed = [(call, results[call.id]) for call in now.calls if results[call.id].is_error]
        if failed:
            now.failed = frozenset((_meaning(call), result.text) for call, result in failed if result.code != REFUSED)
            now.never_ran = len(failed) == len(now.calls) and all(result.code in _NEVER_RAN for _, result in failed)
        now.mark = hash(tuple(sorted(now.outcomes.values())))
        recent = [one.mark for one in self._rounds[-LONGEST_CYCLE:]]
        self._rounds.append(now)
        del self._rounds[:-_REMEMBERED]
        if now.mark in recent:
            self._repeats = [self._count(length) for length in range(1, min(LONGEST_CYCLE, len(self._rounds)) + 1)]
        else:  # nearly always: nothing came out as it did before
            self._repeats = []
        return self._verdict()

    def _verdict(self) -> Verdict | None:
        last = self._rounds[-FAILURES:]
        if len(last) == FAILURES and last[-1].failed:
            if all(one.never_ran for one in last):
                return "invalid_calls"
            if frozenset.intersection(*(one.failed for one in last)):
                return "repeated_failure"
        return "repeated_calls" if max(self._repeats, default=0) >= STOP_AT else None

    def _failed_again(self, call: ToolCall, result: ToolResult) -> str | None:
        failure = (_meaning(call), result.text)
        before = takewhile(lambda one: failure in one.failed, reversed(self._rounds))
        times = sum(1 for _ in before) + 1
        if times != FAILURES - 1:
            return None
        return f"This call has failed {times} times in the same way. If it does so once more, the run ends."

    def _coming_round(self) -> tuple[int, _Round | None]:
        """How often the cycle that these calls go on with has come round already, and the step they repeat."""
        found: tuple[int, _Round | None] = (0, None)
        for length, made in enumerate(self._repeats, start=1):
            if made > max(1, found[0]) and self._now.asks_the_same(self._rounds[-length]):
                found = made, self._rounds[-length]
        return found

    def _count(self, length: int) -> int:
        """How many times the last `length` steps stand in a row at the end."""
        rounds = self._rounds
        place = len(rounds) - 1 - length
        while place >= 0 and rounds[place].is_same(rounds[place + length]):
            place -= 1
        return (len(rounds) - 1 - place) // length


def _meaning(call: ToolCall) -> _Call:
    try:
        return call.name, canonical_json(parse_object(call.arguments))
    except JsonRefused:
        return call.name, call.arguments
