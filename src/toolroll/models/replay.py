"""Playing a recording back: no model, no network, and every difference from what was recorded is named."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Final, TypeGuard

from toolroll.errors import RequestRefused
from toolroll.kernel.data.messages import Origin
from toolroll.models.model import Delta, ModelRequest, ModelResponse
from toolroll.models.recording import Asked, Failed, Recording
from toolroll.models.scripted import deltas_of
from toolroll.safe.text import one_line

MAX_DIFFERENCES_SHOWN: Final = 3
_SHOWN_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where a request is not the recorded one."""

    exchange: int
    place: str
    recorded: object
    now: object

    def __str__(self) -> str:
        recorded, now = (one_line(repr(value), _SHOWN_CHARACTERS) for value in (self.recorded, self.now))
        return f"request {self.exchange}, {self.place}: recorded {recorded}, now {now}"


class ReplayModel:
    """Gives the recorded answers in their order.

    A request that differs is refused, with the places; with `strict=False` it is answered all the same, and
    `differences` lists them.
    """

    def __init__(self, recording: Recording, *, strict: bool = True) -> None:
        self._recording = recording
        self._strict = strict
        self._next = 0
        self.differences: list[Difference] = []

    @property
    def origin(self) -> Origin:
        """The model that was recorded."""
        return self._recording.origin

    @property
    def unused(self) -> int:
        """How many recorded exchanges nobody has asked for yet."""
        return len(self._recording.exchanges) - self._next

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """The recorded turn."""
        if not self.unused:
            raise RequestRefused(f"The recording has ended: it has {self._next} exchanges, and one more is asked for.")
        exchange = self._recording.exchanges[self._next]
        self._next += 1
        self._compare(exchange.asked, Asked.of(request))
        if isinstance(exchange.outcome, Failed):
            raise exchange.outcome.error()
        if stream:
            for delta in deltas_of(exchange.outcome.message):
                yield delta
        yield exchange.outcome

    def _compare(self, recorded: Asked, now: Asked) -> None:
        found = [
            Difference(exchange=self._next, place=place, recorded=before, now=after)
            for place, before, after in differences(recorded, now)
        ]
        self.differences += found
        if found and self._strict:
            shown = "\n".join(map(str, found[:MAX_DIFFERENCES_SHOWN]))
            more = f"\nand {len(found) - MAX_DIFFERENCES_SHOWN} more" if len(found) > MAX_DIFFERENCES_SHOWN else ""
            raise RequestRefused(f"The request is not the recorded one:\n{shown}{more}")


_MISSING: Final = "(nothing)"


def differences(recorded: object, now: object, place: str = "") -> Iterator[tuple[str, object, object]]:
    """Where two values differ, as deep inside as possible: `messages[3].results[0].content`."""
    if is_dataclass(recorded) and type(recorded) is type(now):
        for one in fields(recorded):
            name = f"{place}.{one.name}" if place else one.name
            yield from differences(getattr(recorded, one.name), getattr(now, one.name), name)
    elif isinstance(recorded, Mapping) and isinstance(now, Mapping):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            yield from differences(recorded.get(key, _MISSING), now.get(key, _MISSING), f"{place}[{key!r}]")
    elif _is_list(recorded) and _is_list(now):
        for number in range(max(len(recorded), len(now))):
            before, after = (one[number] if number < len(one) else _MISSING for one in (recorded, now))
            yield from differences(before, after, f"{place}[{number}]")
    elif recorded != now:
        yield place, recorded, now


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (list, tuple))
