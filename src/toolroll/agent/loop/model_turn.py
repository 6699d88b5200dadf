"""One turn of the model: asked with retries, continued while it pauses, shown while it is written."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final, Literal, TypeAlias, assert_never

from toolroll.agent.events import (
    ArgumentsArrived,
    Event,
    ReasoningArrived,
    Retrying,
    TextArrived,
    WaitingForModel,
)
from toolroll.agent.loop.repetition import REPEATED, Repetition
from toolroll.agent.telemetry.tracer import trace_model
from toolroll.errors import ProviderFailed
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import (
    CallDelta,
    Delta,
    HeldDelta,
    Model,
    ModelRequest,
    ModelResponse,
    ModelWait,
    ReasoningDelta,
    TextDelta,
    Timeouts,
)
from toolroll.models.retry import Retry, RetryRule, respond_with_retries

TELL_HELD_AFTER_S: Final = 2.0
TELL_HELD_FACTOR: Final = 1.5
"""A person is told of text that cannot be shown yet after this time, and then each time that it is so much longer."""
MAX_PAUSES: Final = 10
"""How often a provider may pause one turn: each is a whole request, and a search that long is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Why a turn is ended from our side: somebody stops the run, a limit is reached, or it repeats itself."""

    kind: Literal["stop", "limit", "repetition"]
    detail: str
    surplus: int = 0
    """How many of the last characters say nothing new."""


STOP: Final = Interruption(kind="stop", detail="stopped on request")

StopCheck: TypeAlias = Callable[[int], Interruption | None]
"""Says whether a turn must end after so many characters, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """How to ask the model: which one, streamed or not, how patiently, and where its events go."""

    model: Model
    stream: bool
    rule: RetryRule
    emit: Callable[[Event], None]
    written: list[str]
    """Collects the text while the model writes it."""
    must_stop: StopCheck
    on_text: Callable[[], None] | None = None
    """Is called after each piece of text."""
    on_pause: Callable[[Usage], Interruption | None] = lambda _usage: None
    """Is told what the turn has used whenever the provider pauses it; may end it."""
    seconds: float | None = None
    timeouts: Timeouts | None = None
    may_repeat: bool = False
    """Whether a turn may go on that repeats itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedTurn:
    """A turn that was ended from our side; its text so far is in `TurnRequest.written`."""

    cause: Interruption
    characters: int
    usage: Usage | None = None
    """What the complete parts of the turn used."""
    is_asked: bool = True
    """Whether a request was under way, which is paid for."""


async def take_turn(asking: TurnRequest, request: ModelRequest) -> ModelResponse | InterruptedTurn:
    """Ask for the model's whole turn, within its time; continue a paused one, and sum the usage."""
    if asking.seconds is None:
        return await _take_whole_turn(asking, request)
    late = Interruption(kind="limit", detail="deadline")
    if asking.seconds <= 0:
        return InterruptedTurn(cause=asking.must_stop(0) or late, characters=0, is_asked=False)
    clock = asyncio.timeout(asking.seconds)
    try:
        async with clock:
            return await _take_whole_turn(asking, request)
    except TimeoutError:
        if not clock.expired():
            raise
    return InterruptedTurn(cause=asking.must_stop(0) or late, characters=sum(map(len, asking.written)))


async def _take_whole_turn(asking: TurnRequest, request: ModelRequest) -> ModelResponse | InterruptedTurn:
    response = await _ask(asking, request)
    pauses = 0
    while isinstance(response, ModelResponse) and response.stop == "pause":
        if response.message.calls:  # whose results come first; with them, the provider goes on
            return replace(response, stop="tool_calls")
        if pauses == MAX_PAUSES:
            return replace(response, stop="unknown", stop_detail=f"paused more than {MAX_PAUSES} times")
        pauses += 1
        cause = asking.on_pause(response.usage)
        if cause is not None:
            return InterruptedTurn(cause=cause, characters=0, usage=response.usage, is_asked=False)
        # The same request with what there is so far, unchanged: no message of ours, no tool run in between.
        more = await _ask(asking, replace(request, messages=[*request.messages, response.message]))
        response = _join(response, more)
    return response


def _join(first: ModelResponse, more: ModelResponse | InterruptedTurn) -> ModelResponse | InterruptedTurn:
    if isinstance(more, InterruptedTurn):
        return replace(more, usage=first.usage)
    blocks = first.message.blocks + more.message.blocks
    message = replace(more.message, blocks=blocks)
    return replace(more, message=message, usage=first.usage + more.usage, dropped=first.dropped + more.dropped)


async def _ask(asking: TurnRequest, request: ModelRequest) -> ModelResponse | InterruptedTurn:
    characters, response, watch = 0, None, _Watch(asking)
    request = replace(request, timeouts=asking.timeouts, on_wait=lambda wait: _tell_wait(wait, asking))
    pieces = respond_with_retries(trace_model(asking.model), request, stream=asking.stream, rule=asking.rule)
    try:
        async for piece in pieces:
            if isinstance(piece, ModelResponse):
                response = piece  # the last one; a generator that is left before its end costs a task to clear away
                continue
            characters += _show(piece, asking)
            cause = asking.must_stop(characters) or watch.look(piece)
            if cause is not None:
                return InterruptedTurn(cause=cause, characters=characters)
    finally:
        await pieces.aclose()
    if response is None:
        raise ProviderFailed("The model ended without an answer.")
    return response


class _Watch:
    """Looks at the pieces of one answer: whether it goes in circles, and whether anybody can see that it grows."""

    def __init__(self, asking: TurnRequest) -> None:
        self._asking = asking
        self._texts: dict[type, Repetition] = {}
        self._held = 0
        self._began_s = perf_counter()
        self._tell_at_s = TELL_HELD_AFTER_S

    def look(self, piece: Delta | Retry) -> Interruption | None:
        """Take a piece; return why the turn must end, if it must."""
        if isinstance(piece, HeldDelta):
            self._tell(len(piece.text))
        if self._asking.may_repeat or not isinstance(piece, TextDelta | ReasoningDelta | HeldDelta):
            return None
        found = self._texts.setdefault(type(piece), Repetition()).add(piece.text)
        if found is None:
            return None
        surplus = found.surplus if isinstance(piece, TextDelta) else 0
        return Interruption(kind="repetition", detail=REPEATED, surplus=surplus)

    def _tell(self, characters: int) -> None:
        """Tell now and then how much there is that cannot be shown yet."""
        self._held += characters
        waited_s = perf_counter() - self._began_s
        if waited_s >= self._tell_at_s:
            self._tell_at_s = waited_s * TELL_HELD_FACTOR
            limit_s = (self._asking.timeouts or Timeouts()).turn_s
            self._asking.emit(WaitingForModel(waited_s=waited_s, limit_s=limit_s, characters=self._held))


def _tell_wait(wait: ModelWait, asking: TurnRequest) -> None:
    asking.emit(WaitingForModel(waited_s=wait.waited_s, limit_s=wait.limit_s, is_starting=wait.is_starting))


def _show(piece: Delta | Retry, asking: TurnRequest) -> int:
    """Tell of a piece; how many characters it has."""
    match piece:
        case TextDelta():
            asking.written.append(piece.text)
            asking.emit(TextArrived(piece.text))
            if asking.on_text is not None:
                asking.on_text()
            return len(piece.text)
        case CallDelta():
            asking.emit(ArgumentsArrived(piece.call_id, piece.name, piece.arguments))
            return len(piece.arguments)
        case ReasoningDelta():
            asking.emit(ReasoningArrived(piece.text))
            return len(piece.text)
        case HeldDelta():
            return len(piece.text)
        case Retry():
            asking.emit(Retrying(attempt=piece.attempt, wait_s=piece.wait_s, reason=piece.error.message))
            return 0
        case _:
            assert_never(piece)
