"""The two kinds of tools: one around a function's own parameters, one around an input type and a function."""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import update_wrapper
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, TypeAdapter

from toolroll.errors import ToolFailure
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import Effect, Preview
from toolroll.kernel.arguments.validator import ArgumentValidator
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import CallOutcome, Done, Unclean
from toolroll.kernel.callables import mark_async, unwrap_callable
from toolroll.kernel.data.labels import NO_LABELS, Labels
from toolroll.kernel.data.serialize import dump_plain, to_plain_unfiltered
from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.define.signature import Filler
from toolroll.kernel.define.tool import F, P, R, Tool, TypedTool
from toolroll.kernel.depends.dependency import Injection
from toolroll.kernel.depends.resolve import provide
from toolroll.kernel.failures import is_being_cancelled, log_failure

PreviewMaker: TypeAlias = Callable[..., Any]
"""`preview(arguments, ctx, edited) -> Preview`, sync or async; `arguments` as a plain mapping."""

Locator: TypeAlias = Callable[..., Any]
"""`locate(paths, ctx) -> paths`, sync or async: where each path leads, without links, in the same order."""

OutcomeFinder: TypeAlias = Callable[[ToolContext], Awaitable[CallOutcome | None]]
"""`outcome(ctx) -> CallOutcome | None`: async, finds the call by `ctx.run_id` and `ctx.call_id`."""

# What follows a full stop in a sentence, as after "e.g.", begins small.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?![a-z])|\n\s*\n")


class CoreTool(Tool):
    """What both kinds share: a checked type for the arguments, and what the tool says of itself."""

    def __init__(
        self,
        *,
        name: str,
        description: str,
        adapter: TypeAdapter[Any],
        parameters: JsonSchema,
        effect: Effect = "reads",
        brings: Labels = NO_LABELS,
        path_arguments: tuple[str, ...] = (),
        why_argument: str | None = None,
        preview: PreviewMaker | None = None,
        locate: Locator | None = None,
        outcome: OutcomeFinder | None = None,
        loop_guard: bool = True,
    ) -> None:
        self._name = name
        self._description = description
        self._parameters = parameters
        self._effect: Effect = effect
        self._labels = brings
        self._validate = ArgumentValidator(name, adapter, parameters).validate
        self._path_arguments = path_arguments
        self._why_argument = why_argument
        self._preview = preview
        self._locate = locate
        self._outcome = outcome
        self._loop_guard = loop_guard
        self._complete: Callable[[object], object] | None = None
        self._is_async = True
        self._sees_context = True

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return self._description

    @property
    def parameters(self) -> JsonSchema:
        return self._parameters

    @property
    def effect(self) -> Effect:
        return self._effect

    @property
    def loop_guard(self) -> bool:
        return self._loop_guard

    @property
    def labels(self) -> Labels:
        return self._labels

    @property
    def core(self) -> Tool:
        return self

    def validate(self, raw: str) -> object:
        value = self._validate(raw)
        return self._complete(value) if self._complete else value

    def paths(self, arguments: object) -> tuple[str, ...]:
        if not self._path_arguments:
            return ()
        named = self._by_name(arguments)
        return tuple(
            path for name in self._path_arguments for path in _path_texts(_values_below(named, name.split(".")))
        )

    @property
    def locates(self) -> bool:
        return self._locate is not None

    async def locate(self, paths: tuple[str, ...], ctx: ToolContext) -> tuple[str, ...]:
        if self._locate is None:
            return paths
        locator = self._locate
        found = await run_and_close(lambda: call(lambda: locator(paths, ctx), None if is_async(locator) else ctx), ctx)
        if not isinstance(found, list | tuple) or len(found) != len(paths):
            raise TypeError(f"locate must return {len(paths)} paths, one for each, not {type(found).__name__}")
        if not all(isinstance(path, str) for path in found):
            raise TypeError("locate must return paths as text")
        return tuple(found)

    def why(self, arguments: object) -> str:
        given = self.fields(arguments).get(self._why_argument) if self._why_argument else None
        # The rest of a description tells a model how to use the tool, which says nothing about this call.
        return str(given or _SENTENCE_END.split(self._description, maxsplit=1)[0])

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        if self._preview is None:
            return Preview.of_text(f"{self._name} {dump_plain(to_plain_unfiltered(arguments))}")
        maker, fields = self._preview, self.fields(arguments)
        # Torn down at once: a person may take hours to answer, and a rejected call never runs.
        shown = await run_and_close(
            lambda: call(lambda: maker(fields, ctx, edited), None if is_async(maker) else ctx), ctx
        )
        if not isinstance(shown, Preview):
            raise TypeError(f"it returned {type(shown).__name__}, not a Preview")
        # A text that the tool has no way to look at would be edited for nothing.
        return shown if self._sees_context else replace(shown, editable=None)

    async def find_outcome(self, ctx: ToolContext) -> CallOutcome | None:
        if self._outcome is None:
            return None
        finder = self._outcome
        found = await run_and_close(lambda: finder(ctx), ctx)
        if found is not None and not isinstance(found, CallOutcome):
            raise TypeError(f"it returned {type(found).__name__}, not a CallOutcome")
        return found

    @property
    def can_be_stopped(self) -> bool:
        return self._is_async

    def fields(self, arguments: object) -> Mapping[str, object]:
        """Return the arguments by name, for previews and rules: with all that their JSON would leave out."""
        return {name: to_plain_unfiltered(value) for name, value in self._by_name(arguments).items()}

    def _by_name(self, arguments: object) -> Mapping[str, object]:
        if isinstance(arguments, Mapping):
            return arguments
        kind: Any = type(arguments)
        names = kind.model_fields if isinstance(arguments, BaseModel) else kind.__dataclass_fields__
        return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}  # not by alias


def _values_below(value: object, names: Sequence[str]) -> object:
    """Return what is below these names, in each item where there is a list on the way."""
    if isinstance(value, list | tuple):
        return [_values_below(item, names) for item in value]
    if not names:
        return value
    below = value.get(names[0]) if isinstance(value, Mapping) else getattr(value, names[0], None)
    return _values_below(below, names[1:])


def _path_texts(value: object) -> Iterator[str]:
    """Yield the paths in a parameter's value: one, or those in a list, a model, or a map, whose keys count too."""
    if isinstance(value, Mapping):
        value = list(value.items())
    elif isinstance(value, BaseModel):
        value = [getattr(value, name) for name in type(value).model_fields if hasattr(value, name)]
    elif not isinstance(value, list | tuple):
        value = to_plain_unfiltered(value)
    if isinstance(value, list | tuple | dict):
        for inner in value.items() if isinstance(value, dict) else value:
            yield from _path_texts(inner)
    elif value is not None:
        yield str(value)


class FunctionTool(CoreTool, TypedTool[F]):
    """A tool made of a function: its parameters are the arguments, but for those that are injected."""

    def __init__(
        self,
        function: F,
        *,
        injected: tuple[tuple[str, Injection], ...] = (),
        shown: Mapping[str, object] | None = None,
        filled: Mapping[str, Filler] | None = None,
        **core: Any,
    ) -> None:
        super().__init__(**core)
        self._function: Callable[..., Any] = function  # type: ignore[assignment]  # checked before it comes here
        update_wrapper(self, self._function, updated=())  # its attributes may be called like ours
        self._is_async = is_async(self._function)
        if self._is_async:
            mark_async(self, self._function)
        self._is_direct = self._is_async and not (injected or self._labels)  # nothing to do but to call it
        self._injected = injected
        self._sees_context = bool(injected)  # a dependency may hand it on
        self._shown = shown or {}
        self._filled = filled or {}
        self._complete = self._with_filled if filled else None

    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        given: dict[str, Any] = Permit.redeem(permit, self, ctx)  # type: ignore[assignment]  # the adapter makes a dict
        if self._is_direct:
            return self._function(**given)  # type: ignore[no-any-return]  # an async function's coroutine
        return run_and_close(lambda: self._injected_call(given, ctx), ctx)

    async def _injected_call(self, given: dict[str, Any], ctx: ToolContext) -> object:
        if self._labels:
            ctx.run.add_labels(self._labels)
        given = given | {name: await provide(need, ctx) for name, need in self._injected}
        return await call(lambda: self._function(**given), None if self._is_async else ctx)

    @property
    def needs(self) -> tuple[Injection, ...]:
        return tuple(need for _, need in self._injected)

    def _by_name(self, arguments: object) -> Mapping[str, object]:
        return {**self._shown, **super()._by_name(arguments)}  # a rule about a path must see the one that is left out

    def _with_filled(self, given: object) -> object:
        # When the call is checked, not when it runs: a person approves what a factory made, too.
        assert isinstance(given, dict)
        for name, fill in self._filled.items():
            if name not in given:
                given[name] = fill(given)
        return given

    def __call__(self: "FunctionTool[Callable[P, R]]", /, *args: P.args, **kwargs: P.kwargs) -> R:
        left_out: dict[str, Any] = {}
        if self._filled:
            given = inspect.signature(self._function).bind_partial(*args, **kwargs).arguments
            left_out = {name: fill(given) for name, fill in self._filled.items() if name not in given}
        value: R = self._function(*args, **kwargs, **left_out)
        return value


class InputTool(CoreTool):
    """A tool made of data and a function: `execute(input, ctx)` gets one checked value of the input type."""

    def __init__(self, execute: Callable[[Any, ToolContext], Any], **core: Any) -> None:
        super().__init__(**core)
        self._execute = execute
        self._is_async = is_async(execute)
        if self._is_async:
            mark_async(self, execute)

    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        given = Permit.redeem(permit, self, ctx)
        if self._labels:
            ctx.run.add_labels(self._labels)
        return run_and_close(lambda: call(lambda: self._execute(given, ctx), None if self._is_async else ctx), ctx)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._execute(*args, **kwargs)


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling it gives a coroutine at once; an object counts by its `__call__`."""
    return inspect.iscoroutinefunction(unwrap_callable(function))


async def call(function: Callable[[], Any], ctx: ToolContext | None) -> object:
    """Call the function and await its result; with a context, on that call's thread, as it might block the loop."""
    value = function() if ctx is None else await ctx.values.lane.run(function)
    # also of a sync function that hands back a coroutine, such as a lambda around one
    return await value if inspect.isawaitable(value) else value


async def run_and_close(work: Callable[[], Awaitable[object]], ctx: ToolContext) -> object:
    """Do the work, then tear down all that was made for it. An error of the work hides one of the tear-down."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    ctx.runs_on(asyncio.get_running_loop())
    try:
        value = await work()
    except BaseException as error:
        if isinstance(error, Done):  # a success
            await _close_after(error, ctx)
            raise
        if isinstance(error, asyncio.CancelledError):
            ctx.cancel()  # for a function that goes on in its thread
        ctx.values.fail(error)
        await _close_after_error(ctx)
        raise
    await _close_after(value, ctx)
    return value


async def _close_after(value: object, ctx: ToolContext) -> None:
    try:
        await ctx.aclose()
    except BaseException as error:
        if is_being_cancelled(error) or isinstance(error, ToolFailure):
            raise
        raise Unclean(value, error) from error


async def _close_after_error(ctx: ToolContext) -> None:
    try:
        await ctx.aclose()
    except Exception as error:  # noqa: BLE001 - what the tool itself raised is what the model must read
        log_failure(ctx.logger, error, "the tear-down of call %s failed too", ctx.call_id)
