"""The loop guard: a model that makes the same calls again and again is told so, then refused, then stopped.

Steps are compared, each with all its calls and what came of them: polling something that changes is no loop, and calls
that run side by side may end in any order. Cycles count too (a, b, a, b, ...), up to six steps long. Failures have less
patience: the same call that fails in the same way in three steps running ends the run. A step with a call of a tool
that may be repeated (`@tool(loop_guard=False)`) repeats no other.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Final, Literal, TypeAlias

from toolroll.agent.stop import LoopRules
from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import canonical_json

LONGEST_CYCLE: Final = 6

REFUSED: Final = "repeated_call"
"""The code of a call that was answered by the guard."""

_Call: TypeAlias = tuple[str, str]
"""A call as it is meant: the tool's name and the canonical arguments."""

Verdict: TypeAlias = Literal["repeated_failure", "invalid_calls", "repeated_calls"]

_NEVER_RAN: Final = frozenset({"invalid_json", "invalid_arguments", "unknown_tool"})
_USUAL: Final = LoopRules()


class _Round:
    """The calls of one step, comparable with those of another: in any order, their arguments in any spelling."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self.calls = calls
        self.written = [(call.name, call.arguments) for call in calls]
        self.outcomes: dict[str, str] = {}
        self.mark: int | None = None
        """The outcomes; None if the step may be repeated."""
        self.is_refused = False
        self.failed: frozenset[tuple[_Call, str]] = frozenset()
        self.never_ran = False

    @cached_property
    def meant(self) -> list[_Call]:
        """The calls as they are meant. Only worked out where the written ones differ and the outcomes do not."""
        return sorted(map(_meaning, self.calls))

    def asks_the_same(self, other: "_Round") -> bool:
        return self.written == other.written or self.meant == other.meant

    def is_same(self, other: "_Round") -> bool:
        return self.mark is not None and self.mark == other.mark and self.asks_the_same(other)

    def outcome_of(self, call: ToolCall) -> str | None:
        meaning = _meaning(call)
        return next((self.outcomes[one.id] for one in self.calls if _meaning(one) == meaning), None)

    def count(self, call: ToolCall) -> int:
        """Return how often the call has been run in this step, so far."""
        if self.is_refused:
            return 0
        meaning = _meaning(call)
        return sum(one.id in self.outcomes and _meaning(one) == meaning for one in self.calls)


class LoopGuard:
    """Watches the steps of one run: `begin` before the calls of a step, `add_result` for each result, `end` after.

    `is_free` says of the name of a tool whether it may be called again and again.
    """

    def __init__(self, rules: LoopRules | None = _USUAL, is_free: Callable[[str], bool] = lambda _: False) -> None:
        self._rules = rules or _USUAL
        self._is_off = rules is None
        self._is_free = is_free
        self._rounds: list[_Round] = []
        self._repeats: list[int] = []
        """By the length of a cycle, less one: how many steps at the end repeat it."""
        self._now = _Round(())
        self._before: _Round | None = None
        self._made = 0
        self._steps = 0

    def begin(self, calls: Sequence[ToolCall]) -> Mapping[str, ToolResult] | None:
        """Look at the calls of a step; the answer to each of them, by id, where they are not to be run again."""
        if self._is_off:
            return None
        self._now = _Round(calls)
        self._made, self._before, self._steps = self._coming_round()
        if self._made < self._rules.refuse_at or self._before is None:
            return None
        # Refused is no change: had it counted as one, the guard would start anew and the loop go on for ever.
        self._now.outcomes = dict(zip((call.id for call in calls), self._before.outcomes.values(), strict=True))
        self._now.is_refused = True
        return {call.id: self._refuse(call) for call in calls}

    def _refuse(self, call: ToolCall) -> ToolResult:
        text = (
            f"Not run: you have made this call {self._count_runs(call)} times, and its result was the same each time. "
            "Use what you have, try something else, or give your answer."
        )
        return ToolResult.failure(text, code=REFUSED)

    def _count_runs(self, call: ToolCall) -> int:
        """How often the call has been run since the steps began to repeat each other, this step included."""
        return sum(one.count(call) for one in (*self._rounds[-self._steps :], self._now))

    def add_result(self, call: ToolCall, result: ToolResult) -> str | None:
        """Remember how a call ended; a warning when it is going in circles."""
        if self._is_off or result.code == REFUSED:
            return None
        self._now.outcomes[call.id] = result.text
        if result.is_error:
            return self._failed_again(call, result)
        if self._before is None or self._made < self._rules.warn_at - 1 or self._before.outcome_of(call) != result.text:
            return None
        return f"This call has now been made {self._count_runs(call)} times with the same result."

    def end(self, results: Mapping[str, ToolResult]) -> Verdict | None:
        """End the step, and return why the run should end now, if it should."""
        if self._is_off:
            return None
        now = self._now
        failed = [(call, results[call.id]) for call in now.calls if results[call.id].is_error]
        if failed:
            counted = (
                (call, result) for call, result in failed if not (result.code == REFUSED or self._is_free(call.name))
            )
            now.failed = frozenset((_meaning(call), result.text) for call, result in counted)
            now.never_ran = len(failed) == len(now.calls) and all(result.code in _NEVER_RAN for _, result in failed)
        if not any(self._is_free(call.name) for call in now.calls):
            now.mark = hash(tuple(sorted(now.outcomes.values())))
        recent = [one.mark for one in self._rounds[-LONGEST_CYCLE:]]
        self._rounds.append(now)
        del self._rounds[: -self._rules.stop_at * LONGEST_CYCLE]  # more decide nothing, and would make long runs slow
        if now.mark is not None and now.mark in recent:
            self._repeats = [
                self._count_steps(length) for length in range(1, min(LONGEST_CYCLE, len(self._rounds)) + 1)
            ]
        else:  # nearly always: nothing came out as it did before
            self._repeats = []
        return self._verdict()

    def _verdict(self) -> Verdict | None:
        last = self._rounds[-self._rules.failures :]
        if len(last) == self._rules.failures:
            if all(one.never_ran for one in last):
                return "invalid_calls"
            if last[-1].failed and frozenset.intersection(*(one.failed for one in last)):
                return "repeated_failure"
        rounds = (steps // length for length, steps in enumerate(self._repeats, start=1))
        return "repeated_calls" if max(rounds, default=0) >= self._rules.stop_at else None

    def _failed_again(self, call: ToolCall, result: ToolResult) -> str | None:
        if self._is_free(call.name):
            return None
        failure = (_meaning(call), result.text)
        before = takewhile(lambda one: failure in one.failed, reversed(self._rounds))
        times = sum(1 for _ in before) + 1
        if times != self._rules.failures - 1:
            return None
        return f"This call has failed in the same way in {times} steps running. If it does so once more, the run ends."

    def _coming_round(self) -> tuple[int, _Round | None, int]:
        """How often the cycle that these calls go on with has come round, the step they repeat, and all its steps."""
        found: tuple[int, _Round | None, int] = (0, None, 0)
        for length, steps in enumerate(self._repeats, start=1):
            made = steps // length
            if made > max(1, found[0]) and self._now.asks_the_same(self._rounds[-length]):
                found = made, self._rounds[-length], steps
        return found

    def _count_steps(self, length: int) -> int:
        """How many steps at the end go on repeating the last `length` ones, those included."""
        rounds = self._rounds
        place = len(rounds) - 1 - length
        while place >= 0 and rounds[place].is_same(rounds[place + length]):
            place -= 1
        return len(rounds) - 1 - place


def _meaning(call: ToolCall) -> _Call:
    try:
        return call.name, canonical_json(parse_object(call.arguments))
    except JsonRefused:
        return call.name, call.arguments
