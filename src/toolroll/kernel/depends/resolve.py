"""Make the values of dependencies: each once per scope, in the right order, torn down in the reverse one.

One `ValueStore` serves a call, another a run. Concurrent requests for one value get one value: the first makes it, the
others wait. Who waits for whom is kept, so that providers which resolve each other by hand are refused as a cycle
instead of waiting for ever.
"""

import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from toolroll.errors import DependencyCycle, DependencyError
from toolroll.kernel.depends.dependency import (
    Depends,
    Identity,
    Injection,
    Maker,
    Overrides,
    get_identity,
    get_maker,
    get_name,
    get_scope,
    read_provider,
    scope_error,
    takes_errors,
)
from toolroll.kernel.threads import Lane

if TYPE_CHECKING:
    import asyncio

    from toolroll.kernel.call.context import ToolContext

_ENDED: Final = object()


class _Making:
    """A value that is being made, and which others it waits for."""

    __slots__ = ("context", "dependency", "ended", "waits")

    def __init__(self, dependency: Depends, context: "ToolContext", ended: "asyncio.Future[None]") -> None:
        self.dependency = dependency
        self.context = context
        self.ended = ended
        self.waits: list[_Making] = []

    @property
    def name(self) -> str:
        return get_name(get_identity(self.dependency))

    def way_to(self, goal: "_Making") -> tuple["_Making", ...]:
        """Return how this comes to wait for the goal, if it does."""
        if self is goal:
            return (self,)
        for step in self.waits:
            rest = step.way_to(goal)
            if rest:
                return (self, *rest)
        return ()


_making_now: ContextVar[_Making | None] = ContextVar("toolroll_making_now", default=None)


def _outer_making() -> _Making | None:
    """Return what is being made by the code that runs now; a task that a provider left running makes nothing."""
    making = _making_now.get()
    return None if making is None or making.ended.done() else making


class ValueStore:
    """The values of one scope."""

    def __init__(self) -> None:
        self._values: dict[Identity, object] = {}
        self._making: dict[Identity, _Making] = {}
        self._steps: list[_SyncSteps | _AsyncSteps] = []
        self._error: BaseException | None = None
        self._is_closed = False
        self.lane: Lane = Lane()
        """Where the sync functions of this scope run."""

    async def get(self, dependency: Depends, context: "ToolContext") -> object:
        """Return the value; make it now if this scope does not have it."""
        identity = get_identity(dependency)
        while identity not in self._values:
            if self._is_closed:
                raise _closed_error(identity)
            await self._make_or_wait(identity, dependency, context)
        return self._values[identity]

    async def aclose(self) -> None:
        """Tear down what was made, the last first. All of it runs, also when one part fails."""
        self._is_closed = True
        try:
            await self._tear_down()
        finally:
            self._values.clear()
            self.lane.close()

    def fail(self, error: BaseException) -> None:
        """Note that the work has failed: generators that can take the error are told when they end."""
        self._error = error

    async def _tear_down(self) -> None:
        if self._steps:
            try:
                await self._steps.pop().tear_down(self._error)
            finally:
                await self._tear_down()

    async def _make_or_wait(self, identity: Identity, dependency: Depends, context: "ToolContext") -> None:
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        making, outer = self._making.get(identity), _outer_making()
        if making is None:
            making = _Making(dependency, context, asyncio.get_running_loop().create_future())
            work: Awaitable[None] = self._make(identity, making)
        else:
            _refuse_cycle(outer, making)
            # A maker that failed raises in its own call; one that was cancelled leaves the work to the next.
            work = asyncio.shield(making.ended)
        waits = [] if outer is None else outer.waits
        waits.append(making)
        try:
            await work
        finally:
            waits.remove(making)

    async def _make(self, identity: Identity, making: _Making) -> None:
        self._making[identity] = making
        token = _making_now.set(making)
        try:
            value = await self._call_provider(making.dependency, making.context)
            if self._is_closed:  # meanwhile
                raise _closed_error(identity)
            self._values[identity] = value
        finally:
            _making_now.reset(token)
            del self._making[identity]
            making.ended.set_result(None)

    async def _call_provider(self, dependency: Depends, context: "ToolContext") -> object:
        make = _apply_override(dependency, context.run.overrides)
        provider = read_provider(make)
        given = {name: await provide(need, context) for name, need in provider.needs}
        if provider.kind == "async":
            return await make(**given)
        if provider.kind == "sync":
            value = await self.lane.run(lambda: make(**given))
            return await value if inspect.iscoroutine(value) else value  # a lambda around an async function
        if provider.kind == "async_generator":
            return await self._enter(_AsyncSteps(provider.name, make(**given)))
        return await self._enter(_SyncSteps(provider.name, make(**given), self.lane))

    async def _enter(self, steps: "_SyncSteps | _AsyncSteps") -> object:
        # Before the set-up: that may go on (in a thread, or because the run closes meanwhile) and must be undone then.
        self._steps.append(steps)
        value = await steps.set_up()
        if value is _ENDED:
            raise DependencyError(f"Provider {steps.name} ended without a yield. Yield the value once.")
        return value


def _refuse_cycle(outer: _Making | None, wanted: _Making) -> None:
    way = () if outer is None else wanted.way_to(outer)
    if way:
        raise DependencyCycle((way[-1].name, *(step.name for step in way)))


def _closed_error(identity: Identity) -> DependencyError:
    return DependencyError(
        f"{get_name(identity)} was asked for after everything had been torn down. Ask for it earlier."
    )


class _AsyncSteps:
    """The two halves of an async generator."""

    def __init__(self, name: str, generator: AsyncGenerator[object, None]) -> None:
        self.name = name
        self._generator = generator
        self._error: BaseException | None = None
        self._is_set_up = False
        self._is_abandoned = False

    async def set_up(self) -> object:
        value = await anext(self._generator, _ENDED)
        self._is_set_up = True
        if self._is_abandoned:
            await self._finish()
        return value

    async def tear_down(self, error: BaseException | None) -> None:
        self._error = error
        self._is_abandoned = not self._is_set_up
        if not self._is_abandoned:
            await self._finish()

    async def _finish(self) -> None:
        with _suppress_same(self._error):
            if await self._resume() is not _ENDED:
                await self._generator.aclose()
                raise _yields_again_error(self.name)

    def _resume(self) -> Awaitable[object]:
        if self._error is not None and takes_errors(self._generator):
            return _throw_into(self._generator, self._error)
        return anext(self._generator, _ENDED)


async def _throw_into(generator: AsyncGenerator[object, None], error: BaseException) -> object:
    try:
        return await generator.athrow(error)
    except StopAsyncIteration:
        return _ENDED


class _SyncSteps:
    """The two halves of a generator, on the thread of its scope."""

    def __init__(self, name: str, generator: Generator[object, None, None], lane: Lane) -> None:
        self.name = name
        self._generator = generator
        self._lane = lane
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._is_set_up = False
        self._is_abandoned = False

    async def set_up(self) -> object:
        return await self._lane.run(self._start)

    async def tear_down(self, error: BaseException | None) -> None:
        with self._lock:
            self._error = error
            self._is_abandoned = not self._is_set_up
        if not self._is_abandoned:
            await self._lane.run(self._finish)

    def _start(self) -> object:
        value = next(self._generator, _ENDED)
        with self._lock:
            self._is_set_up = True
        if self._is_abandoned:  # nobody waits for the value any more
            self._finish()
        return value

    def _finish(self) -> None:
        with _suppress_same(self._error):
            if self._resume() is not _ENDED:
                self._generator.close()
                raise _yields_again_error(self.name)

    def _resume(self) -> object:
        if self._error is None or not takes_errors(self._generator):
            return next(self._generator, _ENDED)
        try:
            return self._generator.throw(self._error)
        except StopIteration:
            return _ENDED


@contextmanager
def _suppress_same(error: BaseException | None) -> Iterator[None]:
    """Suppress the error that a generator was told of: raising it again is no failure of its own."""
    trace = error.__traceback__ if error is not None else None
    try:
        yield
    except BaseException as raised:
        if raised is not error:
            raise
        raised.__traceback__ = trace  # without the lines of every generator that it went through


def _yields_again_error(name: str) -> DependencyError:
    return DependencyError(f"Provider {name} yields more than once. Yield the value once; what follows tears it down.")


async def provide(need: Injection, context: "ToolContext") -> object:
    """Return what one parameter is to be given."""
    if not isinstance(need, Depends):
        return context
    scope, outer = get_scope(need), _outer_making()
    # Only within one call: a provider may run whole tools, and those have values of their own.
    if outer is not None and outer.context is context and scope == "call" and get_scope(outer.dependency) == "run":
        raise scope_error(outer.dependency, need)
    store = context.run.values if scope == "run" else context.values
    return await store.get(need, context)


def _apply_override(dependency: Depends, overrides: Overrides) -> Maker:
    original: Callable[..., Any] = get_maker(dependency)
    return overrides.get(get_identity(dependency), overrides.get(original, original))
