"""Why an answer is as short as it is: what was looked at, and what was passed over for which reason (C2)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """How many files were passed over, by reason; `denied` is the same whatever was searched for in that folder."""

    ignored: int = 0
    binary: int = 0
    too_large: int = 0
    denied: int = 0
    unreadable: int = 0
    timed_out: bool = False
    at_least: bool = False
    """Whether there are more of them: counting all would have taken too long."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.ignored + self.binary + self.too_large + self.denied + self.unreadable
