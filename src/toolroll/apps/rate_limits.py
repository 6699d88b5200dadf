"""A model that is asked only as often as its rate limits allow, over all workers (D12)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from toolroll.engine.rates import Grant, RateLimit, RateLimiter, Wait
from toolroll.errors import ModelError, UsageError
from toolroll.home.settings_schema import Rate
from toolroll.kernel.data.messages import Origin
from toolroll.models.catalog import parse_model
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse

OnLimit: TypeAlias = Callable[[Wait], Awaitable[None]]
"""Is called when a call has to wait, and again when it has to wait longer than was said."""

MAX_SLEEP_S: Final = 5.0
"""Between two questions to the limiter: room may be there sooner than it said."""


class LimitedModel:
    """Asks the limiter before each request; all else is as the model has it.

    The first of `limits` is that of the model itself: a wait that its provider asks for is noted there.
    """

    def __init__(
        self,
        model: Model,
        limits: Sequence[RateLimit],
        limiter: RateLimiter,
        *,
        on_limit: OnLimit,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model, self._limits, self._limiter = model, limits, limiter
        self._on_limit, self._sleep = on_limit, sleep

    @property
    def origin(self) -> Origin:
        """Return which model answers."""
        return self._model.origin

    def __getattr__(self, name: str) -> object:
        """Return what else the model has: what it reads and writes, and how it is closed."""
        return getattr(self._model, name)

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the model's turn, when there is room for it."""
        grant = await self._wait_for_room()
        pieces = self._model.respond(request, stream=stream)
        try:
            async for piece in pieces:
                if isinstance(piece, ModelResponse):
                    used = piece.usage  # what was read from the cache is not counted by providers either
                    tokens = used.input_tokens + used.cache_write_tokens + used.output_tokens
                    await self._limiter.settle(grant, tokens)
                yield piece
        except ModelError as error:
            if error.retry_after_s is not None:
                await self._limiter.pause(self._limits[0].name, error.retry_after_s)
            raise
        finally:
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()

    async def _wait_for_room(self) -> Grant:
        left_s = 0.0
        while True:
            asked = await self._limiter.ask(self._limits)
            if isinstance(asked, Grant):
                return asked
            if left_s <= 0:
                await self._on_limit(asked)
                left_s = asked.seconds
            pause_s = min(asked.seconds, MAX_SLEEP_S)
            await self._sleep(pause_s)
            left_s -= pause_s


def find_limits(model: str, rates: Sequence[Rate]) -> tuple[RateLimit, ...]:
    """Return the limits that hold for a model: its own, which is always there, and that of its provider."""
    provider, full = _model_names(model)
    given = {_canonical(rate.name): rate for rate in rates}
    own = RateLimit(name=full) if full not in given else _as_limit(full, given[full])
    return (own,) if provider not in given else (own, _as_limit(provider, given[provider]))


def _as_limit(name: str, rate: Rate) -> RateLimit:
    return RateLimit(name=name, requests=rate.requests, tokens=rate.tokens)


def _canonical(name: str) -> str:
    """Return the name of a model as it is stored, for a short one too; that of a provider stays."""
    try:
        return _model_names(name)[1]
    except UsageError:
        return name


def _model_names(model: str) -> tuple[str, str]:
    provider, mark, _ = model.partition(":")
    if mark and provider == "scripted":
        return provider, model
    parsed = parse_model(model)
    return parsed.provider, f"{parsed.provider}:{parsed.model}"
