"""The loop guard: a model that makes the same call again and again is told so, then refused, then stopped.

A call is the same when tool, arguments and outcome are: polling something that changes is no loop. Cycles count too
(a, b, a, b, ...), up to six calls long. Failures have less patience: three equal ones in a row end the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from toolroll.errors import JsonRefused
from toolroll.kernel.approval import content_hash
from toolroll.kernel.messages import ToolCall
from toolroll.kernel.parse import parse_object
from toolroll.kernel.result import ToolResult
from toolroll.kernel.serialize import canonical_json

WARN_AT: Final = 3
"""Equal rounds after which the model is told."""
REFUSE_AT: Final = 4
"""Equal rounds after which the call is no longer run."""
STOP_AT: Final = 6
"""Equal rounds, run or refused, after which the run ends."""
FAILURES: Final = 3
"""Equal failures in a row, or calls in a row that never reached their tool, that end the run."""
LONGEST_CYCLE: Final = 6
_REMEMBERED: Final = STOP_AT * LONGEST_CYCLE
"""More calls than that decide nothing, and looking at them would make long runs slow."""

Verdict: TypeAlias = Literal["repeated_failure", "invalid_calls", "repeated_calls"]

_NEVER_RAN: Final = frozenset({"invalid_json", "invalid_arguments", "unknown_tool"})


@dataclass(slots=True, kw_only=True)
class _Seen:
    call: str
    outcome: str
    code: str | None
    failed: bool


@dataclass(slots=True)
class LoopGuard:
    """Watches the calls of one run."""

    _seen: list[_Seen] = field(default_factory=list)

    def refusal(self, call: ToolCall) -> ToolResult | None:
        """The answer instead of running a call that has been made too often with the same outcome."""
        rounds = self._rounds_with(_signature(call))
        if rounds < REFUSE_AT:
            return None
        text = (
            f"Not run: you have made this call {rounds} times, and its result was the same each time. "
            "Use what you have, try something else, or give your answer."
        )
        return ToolResult.failure(text, code="repeated_call")

    def note(self, call: ToolCall, result: ToolResult) -> str | None:
        """Remember how a call ended; a warning when it is going in circles."""
        signature = _signature(call)
        self._seen.append(
            _Seen(
                call=signature,
                outcome=self._last_outcome(signature) if result.code == "repeated_call" else content_hash(result.text),
                code=result.code,
                failed=result.is_error,
            )
        )
        del self._seen[:-_REMEMBERED]
        rounds = self._rounds()
        if rounds == WARN_AT and not result.is_error:
            return f"This call has now been made {rounds} times with the same result."
        return None

    @property
    def verdict(self) -> Verdict | None:
        """Why the run should end now, if it should."""
        last = self._seen[-FAILURES:]
        if len(last) == FAILURES:
            if all(seen.code in _NEVER_RAN for seen in last):
                return "invalid_calls"
            if all(seen.failed and (seen.call, seen.outcome) == (last[0].call, last[0].outcome) for seen in last):
                return "repeated_failure"
        return "repeated_calls" if self._rounds() >= STOP_AT else None

    def _rounds(self) -> int:
        """How often the latest cycle of calls, of any length, has come round."""
        return max((_repeats(self._seen, length) for length in range(1, LONGEST_CYCLE + 1)), default=0)

    def _rounds_with(self, signature: str) -> int:
        """How often it has come round already, if the next call is this one."""
        for length in range(1, LONGEST_CYCLE + 1):
            if len(self._seen) >= length and self._seen[-length].call == signature:
                rounds = _repeats(self._seen, length)
                if rounds >= REFUSE_AT:
                    return rounds
        return 0

    def _last_outcome(self, signature: str) -> str:
        return next((seen.outcome for seen in reversed(self._seen) if seen.call == signature), "")


def _repeats(seen: Sequence[_Seen], length: int) -> int:
    """How many times the last `length` calls stand in a row at the end."""
    if len(seen) < length:
        return 0
    marks = [(one.call, one.outcome) for one in seen]
    pattern = marks[-length:]
    if length > 1 and len(set(pattern)) == 1:
        return 0  # that is a cycle of one
    rounds, end = 0, len(marks)
    while end >= length and marks[end - length : end] == pattern:
        rounds += 1
        end -= length
    return rounds


def _signature(call: ToolCall) -> str:
    try:
        arguments = canonical_json(parse_object(call.arguments))
    except JsonRefused:
        arguments = call.arguments
    return content_hash(f"{call.name}\0{arguments}")
