"""What calls of models cost, worked out when it is asked for: looking up prices takes a third of the time of a step."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage

Price: TypeAlias = Callable[[Origin, Usage], float | None]
"""US dollars for tokens of a model; None where that is not known."""
Charge: TypeAlias = tuple[Price, Origin, Usage]
"""One call of a model, and by whose prices it is charged."""


class Bill:
    """Calls of models, and their cost. Bills never change: adding makes a new one."""

    __slots__ = ("_charges", "_is_known", "_usd")

    def __init__(self, charges: Iterable[Charge] = ()) -> None:
        self._charges = tuple(charges)
        self._is_known = False
        self._usd: float | None = None

    @classmethod
    def from_usd(cls, usd: float | None) -> "Bill":
        """Return a bill whose sum is known already, or never will be."""
        bill = cls()
        bill._is_known, bill._usd = True, usd
        return bill

    @property
    def usd(self) -> float | None:
        """Return US dollars; None where a price or a count is unknown, which is not the same as nothing."""
        if not self._is_known:
            self._usd = total_cost([_cost(*charge) for charge in self._charges])
            self._is_known = True
        return self._usd

    def __add__(self, other: "Bill") -> "Bill":
        if self._is_known or other._is_known:
            return Bill.from_usd(total_cost([self.usd, other.usd]))
        return Bill((*self._charges, *other._charges))


def _cost(price: Price, origin: Origin, usage: Usage) -> float | None:
    return price(origin, usage) if usage.measured else None


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs, unknown if one of them is."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total
