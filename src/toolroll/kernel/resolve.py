"""Making dependencies: each value once per scope, in the right order, torn down in the reverse one.

One `ValueStore` serves a call, another a run. Concurrent requests for one value get one value: the first makes it, the
others wait. Who waits for whom is kept, so that providers which resolve each other by hand are refused as a cycle
instead of waiting for ever.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AsyncExitStack
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from toolroll.errors import DependencyCycle, DependencyError
from toolroll.kernel.depends import (
    Depends,
    Identity,
    Injection,
    Maker,
    Provider,
    identity_of,
    maker_of,
    name_of,
    read_provider,
    scope_error,
    scope_of,
)
from toolroll.kernel.threads import run_in_thread

if TYPE_CHECKING:
    import asyncio

    from toolroll.kernel.context import ToolContext

_maker_now: ContextVar[Depends | None] = ContextVar("toolroll_maker_now", default=None)


class ValueStore:
    """The values of one scope."""

    def __init__(self) -> None:
        self._values: dict[Identity, object] = {}
        self._making: dict[Identity, asyncio.Future[None]] = {}
        self._waits: dict[Identity, set[Identity]] = {}
        self._teardown = AsyncExitStack()

    async def get(self, dependency: Depends, context: "ToolContext") -> object:
        """The value, made now if this scope does not have it."""
        identity = identity_of(dependency)
        outer = _maker_now.get()
        if identity in self._values:
            return self._values[identity]
        waiting = self._note_waiting(outer, identity)
        try:
            while identity not in self._values:
                await self._make_or_wait(dependency, context)
        finally:
            waiting.discard(identity)
        return self._values[identity]

    async def aclose(self) -> None:
        """Tear down what was made, the last first. All of it runs, also when one part fails."""
        await self._teardown.aclose()

    def _note_waiting(self, outer: Depends | None, identity: Identity) -> set[Identity]:
        if outer is None:
            return set()
        path = self._path(identity, identity_of(outer))
        if path:
            raise DependencyCycle((name_of(identity_of(outer)), *(name_of(step) for step in path)))
        edges = self._waits.setdefault(identity_of(outer), set())
        edges.add(identity)
        return edges

    def _path(self, start: Identity, goal: Identity) -> tuple[Identity, ...]:
        """How `start` comes to wait for `goal`, if it does."""
        if start == goal:
            return (start,)
        for step in self._waits.get(start, ()):
            rest = self._path(step, goal)
            if rest:
                return (start, *rest)
        return ()

    async def _make_or_wait(self, dependency: Depends, context: "ToolContext") -> None:
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        identity = identity_of(dependency)
        if identity in self._making:
            # A maker that failed raises in its own call; one that was cancelled leaves the work to the next.
            await asyncio.shield(self._making[identity])
            return
        made = self._making[identity] = asyncio.get_running_loop().create_future()
        token = _maker_now.set(dependency)
        try:
            self._values[identity] = await self._make(dependency, context)
        finally:
            _maker_now.reset(token)
            del self._making[identity]
            made.set_result(None)

    async def _make(self, dependency: Depends, context: "ToolContext") -> object:
        provider = read_provider(_overridden(dependency, context.run.overrides))
        given = {name: await provide(need, context) for name, need in provider.needs}
        match provider.kind:
            case "async":
                return await provider.make(**given)
            case "sync":
                return await run_in_thread(lambda: provider.make(**given))
            case "sync_generator":
                return await self._enter_sync(provider, provider.make(**given))
            case "async_generator":
                return await self._enter_async(provider, provider.make(**given))

    async def _enter_async(self, provider: Provider, generator: AsyncGenerator[Any, None]) -> object:
        try:
            value = await anext(generator)
        except StopAsyncIteration:
            raise DependencyError(f"Provider {provider.name} ended without a yield.") from None

        async def finish() -> None:
            # Resumed, never thrown into: the lines after `yield` run after an error too, with no try around it.
            async for _ in generator:
                await generator.aclose()

        self._teardown.push_async_callback(finish)
        return value

    async def _enter_sync(self, provider: Provider, generator: Generator[Any, None, None]) -> object:
        steps = [value async for value in _first(generator)]
        if not steps:
            raise DependencyError(f"Provider {provider.name} ended without a yield.")

        async def finish() -> None:
            await run_in_thread(lambda: next(generator, None))
            await run_in_thread(generator.close)

        self._teardown.push_async_callback(finish)
        return steps[0]


async def _first(generator: Generator[Any, None, None]) -> AsyncGenerator[Any, None]:
    ended = object()
    value = await run_in_thread(lambda: next(generator, ended))
    if value is not ended:
        yield value


async def provide(need: Injection, context: "ToolContext") -> object:
    """What one parameter is to be given."""
    if not isinstance(need, Depends):
        return context
    outer = _maker_now.get()
    if outer is not None and scope_of(outer) == "run" and scope_of(need) == "call":
        raise scope_error(outer, need)
    store = context.run.values if scope_of(need) == "run" else context.values
    return await store.get(need, context)


def _overridden(dependency: Depends, overrides: Mapping[Identity, Maker]) -> Maker:
    original: Callable[..., Any] = maker_of(dependency)
    return overrides.get(identity_of(dependency), overrides.get(original, original))
