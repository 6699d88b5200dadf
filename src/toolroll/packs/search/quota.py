"""How many searches one run may make: what providers call a limit counts per request, not per run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.agent.result import Step
from toolroll.kernel.call.context import Run

MAX_SEARCHES: Final = 20
"""For one run: five steps of the provider's five would be more, and an exploration needs about ten."""

STATE: Final = "search.used"


class RunQuota:
    """Counts the searches of a run, with the run: one that is resumed goes on counting."""

    def __init__(self, run: Run, *, limit: int = MAX_SEARCHES) -> None:
        self._run = run
        self.limit = limit

    @property
    def used(self) -> int:
        """The searches so far."""
        kept = self._run.state.get(STATE)
        return kept if isinstance(kept, int) else 0

    def take(self) -> bool:
        """Count one more search; False where there may be none."""
        used = self.used
        if used >= self.limit:
            return False
        self._run.set_state(STATE, used + 1)
        return True


@dataclass(frozen=True, slots=True)
class searches_over:  # noqa: N801 - reads as the word it is in an agent's definition
    """Stop the run once the provider itself has made more than so many searches in it."""

    searches: int = MAX_SEARCHES

    def __call__(self, steps: Sequence[Step]) -> str | None:
        """Why to stop, if it is time."""
        made = sum(step.usage.web_searches for step in steps)
        return f"searches_over({self.searches})" if made > self.searches else None
