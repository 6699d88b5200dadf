"""Several models in the place of one: where the first cannot answer, the next is asked."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from typing import Final

from toolroll.errors import (
    AuthenticationFailed,
    ModelError,
    ModelTimeout,
    NetworkFailed,
    Overloaded,
    PermissionRefused,
    ProviderFailed,
    QuotaExceeded,
    RateLimited,
    UsageError,
)
from toolroll.kernel.data.messages import Origin
from toolroll.models.catalog import ModelLimits
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse
from toolroll.models.settings import ModelSettings, check_settings

FALLS_BACK_ON: Final[tuple[type[ModelError], ...]] = (
    AuthenticationFailed,
    ModelTimeout,
    NetworkFailed,
    Overloaded,
    PermissionRefused,
    ProviderFailed,
    QuotaExceeded,
    RateLimited,
)
"""Errors of a provider. What is wrong with the request itself is wrong for the next model, too."""


class FallbackModel:
    """Asks the models in their order: `FallbackModel(connect("sonnet", ...), connect("openai:NAME", ...))`.

    The next one is asked after one of the errors `on`, and only if nothing of the answer was shown. When all have
    failed, the last error is raised; retries then begin with the first model again. Each answer names the model that
    gave it, so a later request brings back only what its model understands.
    """

    def __init__(self, *models: Model, on: Collection[type[ModelError]] = FALLS_BACK_ON) -> None:
        if not models or any(isinstance(one, str) or not callable(getattr(one, "respond", None)) for one in models):
            raise UsageError(
                "FallbackModel takes models, the first one first: FallbackModel(connect(...), connect(...))."
            )
        self._models = models
        self._on = tuple(on)

    @property
    def origin(self) -> Origin:
        """Return the first of the models."""
        return self._models[0].origin

    @property
    def limits(self) -> ModelLimits | None:
        """Return what all of the models read and write; None if nothing is known about one of them."""
        known = [getattr(one, "limits", None) for one in self._models]
        found = [one for one in known if isinstance(one, ModelLimits)]
        if len(found) < len(known):
            return None
        return ModelLimits(
            window_tokens=min(one.window_tokens for one in found),
            max_output_tokens=min(one.max_output_tokens for one in found),
        )

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Take what all of the models take."""
        for one in self._models:
            check_settings(one, settings, one.origin.model)

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the turn of the first model that can be asked."""
        for number, model in enumerate(self._models, start=1):
            is_shown = False
            pieces = model.respond(request, stream=stream)
            try:
                async for piece in pieces:
                    is_shown = True
                    yield piece
            except self._on:
                if is_shown or number == len(self._models):
                    raise
            else:
                return
            finally:
                if isinstance(pieces, AsyncGenerator):
                    await pieces.aclose()

    async def aclose(self) -> None:
        """Close the connections of all models."""
        for one in self._models:
            close = getattr(one, "aclose", None)
            if close is not None:
                await close()
