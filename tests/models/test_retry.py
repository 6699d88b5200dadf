"""Asking again: when, how long after, and when not. Nothing here really waits."""

from collections.abc import AsyncIterator

import pytest
from tests.models.asking import user
from tests.models.shapes import ALL
from tests.support.model_script import Fault, Turn, fail
from tests.support.model_server import ModelServer

from toolroll.errors import (
    AuthenticationFailed,
    ModelError,
    NetworkFailed,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
)
from toolroll.kernel.data.messages import Origin
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse, TextDelta, Wire
from toolroll.models.retry import Retry, RetryRule, respond_with_retries
from toolroll.models.scripted import ScriptedModel

REQUEST = ModelRequest(messages=[user()])


class Waits(list[float]):
    """Instead of sleeping."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def rule_with(waits: Waits, **changes: object) -> RetryRule:
    return RetryRule(sleep=waits, jitter=lambda: 0.5, **changes)  # type: ignore[arg-type]  # as the test says


async def collect(model: Model, rule: RetryRule, *, stream: bool = True) -> list[Delta | ModelResponse | Retry]:
    return [piece async for piece in respond_with_retries(model, REQUEST, stream=stream, rule=rule)]


async def test_A34_three_retries_with_growing_pauses_each_announced() -> None:
    """A34: half a second, doubled each time, and jittered."""
    waits = Waits()
    model = ScriptedModel([Overloaded("a"), NetworkFailed("b"), RateLimited("c"), "hello"])
    pieces = await collect(model, rule_with(waits))
    retries = [piece for piece in pieces if isinstance(piece, Retry)]
    assert [(one.attempt, one.wait_s, one.error.message) for one in retries] == [
        (1, 0.5, "a"),
        (2, 1.0, "b"),
        (3, 2.0, "c"),
    ]
    assert waits == [0.5, 1.0, 2.0]
    assert isinstance(pieces[-1], ModelResponse)


async def test_A34_the_fourth_failure_is_the_last() -> None:
    waits = Waits()
    with pytest.raises(Overloaded, match="d"):
        await collect(ScriptedModel([Overloaded(name) for name in "abcde"]), rule_with(waits))
    assert len(waits) == 3


@pytest.mark.parametrize("error", [AuthenticationFailed("x"), QuotaExceeded("x"), RequestRefused("x")])
async def test_XL2_what_waiting_does_not_help_is_not_retried(error: ModelError) -> None:
    waits = Waits()
    with pytest.raises(type(error)):
        await collect(ScriptedModel([error, "hello"]), rule_with(waits))
    assert waits == []


@pytest.mark.parametrize(
    ("asked", "waited"),
    [(0.0, 0.0), (7.5, 7.5), (60.0, 60.0), (60.1, 0.5), (3600.0, 0.5), (None, 0.5)],
)
async def test_XL1_the_providers_wish_is_honoured_up_to_a_cap(asked: float | None, waited: float) -> None:
    """XL1: beyond the cap, and where there is none, the pause is ours."""
    waits = Waits()
    await collect(ScriptedModel([RateLimited("x", retry_after_s=asked), "hello"]), rule_with(waits))
    assert waits == [waited]


async def test_XL1_all_pauses_together_have_a_budget() -> None:
    waits = Waits()
    script = [RateLimited("x", retry_after_s=50.0) for _ in range(4)]
    with pytest.raises(RateLimited):
        await collect(ScriptedModel(script), rule_with(waits))
    assert waits == [50.0, 50.0]


def test_XL1_pauses_are_jittered_and_bounded() -> None:
    low, high = RetryRule(jitter=lambda: 0.0), RetryRule(jitter=lambda: 0.999)
    error = Overloaded("x")
    assert low.wait_s(1, error) == 0.25
    assert 0.7 < (high.wait_s(1, error) or 0) < 0.75
    assert RetryRule(retries=50, jitter=lambda: 0.5).wait_s(40, error) == 60.0
    assert {round(RetryRule().wait_s(1, error) or 0, 6) for _ in range(20)} != {0.5}


async def test_XL3_never_after_something_was_shown() -> None:
    """XL3, A34: what a person has seen would be written twice."""

    class Half:
        origin = Origin(wire="chat", model="half")

        async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
            yield TextDelta(text="hel")
            raise Overloaded("x")

    waits = Waits()
    with pytest.raises(Overloaded):
        await collect(Half(), rule_with(waits))
    assert waits == []


@pytest.mark.parametrize("wire", ALL)
async def test_XL1_XL3_retries_over_a_socket(wire: Wire) -> None:
    """XL1, XL3: statuses, an error event before the first content, a cut before it; then the answer."""
    early = Fault(error_after_events=1, kind="overloaded_error", code="slow_down")
    turns = [
        fail(529, "overloaded_error", headers={"retry-after-ms": "1500"}),
        Turn("never shown", fault=early),
        Turn("never shown", fault=Fault(cut_after_events=1)),
        Turn("hello"),
    ]
    waits = Waits()
    async with ModelServer(turns) as server:
        pieces = await collect(server.model(wire), rule_with(waits))
        assert len(server.requests) == 4
        assert len({one.raw for one in server.requests}) == 1
    assert waits == [1.5, 1.0, 2.0]
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "hello"


@pytest.mark.parametrize("wire", ALL)
async def test_XL3_an_error_after_content_is_not_retried_over_a_socket(wire: Wire) -> None:
    late = Turn("hello there you", fault=Fault(error_after_events=6, kind="overloaded_error", code="slow_down"))
    waits = Waits()
    async with ModelServer([late, Turn("again")]) as server:
        with pytest.raises(Overloaded):
            await collect(server.model(wire), rule_with(waits))
        assert len(server.requests) == 1


async def test_the_default_pause_really_passes() -> None:
    rule = RetryRule(first_wait_s=0.001)
    pieces = await collect(ScriptedModel([Overloaded("x"), "hello"]), rule, stream=False)
    assert [type(piece).__name__ for piece in pieces] == ["Retry", "ModelResponse"]


class Endless:
    """A model that never stops writing, and says when it is left."""

    origin = Origin(wire="chat", model="endless")

    def __init__(self) -> None:
        self.was_left = False

    async def respond(self, _request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        try:
            while stream:
                yield TextDelta(text="on and on ")
        finally:
            self.was_left = True


async def test_A6_a_turn_that_is_left_is_closed_at_once() -> None:
    model = Endless()
    pieces = respond_with_retries(model, REQUEST, stream=True, rule=RetryRule())
    assert await anext(pieces) == TextDelta(text="on and on ")
    assert not model.was_left
    await pieces.aclose()
    assert model.was_left


class OneByOne:
    """A model whose pieces come from an object that is no generator: there is nothing to close."""

    origin = Endless.origin

    def respond(self, _request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        self._left = [TextDelta(text="one"), TextDelta(text="two")] if stream else []
        return self

    def __aiter__(self) -> AsyncIterator[Delta | ModelResponse]:
        return self

    async def __anext__(self) -> Delta | ModelResponse:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop(0)


async def test_any_asynchronous_iterator_will_do() -> None:
    assert await collect(OneByOne(), RetryRule()) == [TextDelta(text="one"), TextDelta(text="two")]
