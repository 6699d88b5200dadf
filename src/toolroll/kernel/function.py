"""The two tools at the core: one around a function's own parameters, one around an input type and a function."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import update_wrapper
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from toolroll.errors import ArgumentsRefused
from toolroll.kernel.approval import Effect, Preview
from toolroll.kernel.census import Census
from toolroll.kernel.context import ToolContext
from toolroll.kernel.depends import Injection
from toolroll.kernel.faults import describe_faults
from toolroll.kernel.parse import parse_object
from toolroll.kernel.permit import Permit
from toolroll.kernel.resolve import provide
from toolroll.kernel.schema import JsonSchema
from toolroll.kernel.serialize import dump_json, plain
from toolroll.kernel.strict.nulls import without_left_out_nulls
from toolroll.kernel.threads import run_in_thread
from toolroll.kernel.tool import Tool
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES

PreviewMaker: TypeAlias = Callable[..., Any]
"""`preview(arguments, ctx, edited) -> Preview`, sync or async; `arguments` as a plain mapping."""

PREVIEW_LINES: Final = 2
"""Lines of JSON in the preview of a tool that offers none of its own: its name and its arguments."""


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
        path_arguments: tuple[str, ...] = (),
        why_argument: str | None = None,
        preview: PreviewMaker | None = None,
    ) -> None:
        self._name = name
        self._description = description
        self._parameters = parameters
        self._effect: Effect = effect
        self._validate_json = adapter.validator.validate_json
        self._census = Census(adapter.core_schema)
        self._path_arguments = path_arguments
        self._why_argument = why_argument
        self._preview = preview

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
    def core(self) -> Tool:
        return self

    def validate(self, raw: str) -> object:
        if len(raw) * 4 > MAX_ARGUMENTS_BYTES or not raw.strip():  # a character is up to four bytes
            raw = to_json(parse_object(raw)).decode()
        try:
            # From the text, not from parsed values: a date in a strict field is a string in JSON, and only there.
            value: object = self._validate_json(raw, extra="forbid")
        except ValidationError as error:
            value = self._validate_without_nulls(raw, error)
        if not self._census.clears(raw, value):
            parse_object(raw)
        return value

    def _validate_without_nulls(self, raw: str, first: ValidationError) -> object:
        # A strict provider makes a model write every parameter, and null for those it means to leave out.
        parsed = parse_object(raw)
        kept = without_left_out_nulls(parsed, self._parameters)
        if kept != parsed:
            try:
                return self._validate_json(to_json(kept), extra="forbid")
            except ValidationError as second:
                first = second
        raise ArgumentsRefused(describe_faults(self._name, first, self._parameters))

    def paths(self, arguments: object) -> tuple[str, ...]:
        fields = self.fields(arguments)
        return tuple(str(fields[name]) for name in self._path_arguments if fields.get(name) is not None)

    def why(self, arguments: object) -> str:
        if self._why_argument is None:
            return self._description
        return str(self.fields(arguments).get(self._why_argument) or self._description)

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        if self._preview is None:
            return Preview.of_text(f"{self._name} {dump_json(arguments)}")
        maker, fields = self._preview, self.fields(arguments)
        if inspect.iscoroutinefunction(maker):
            return await maker(fields, ctx, edited)  # type: ignore[no-any-return]  # a PreviewMaker's promise
        return await run_in_thread(lambda: maker(fields, ctx, edited))

    def fields(self, arguments: object) -> Mapping[str, object]:
        """The arguments by name, for previews and rules."""
        found = plain(arguments)
        assert isinstance(found, dict)
        return found


class FunctionTool(CoreTool):
    """A tool made of a function: its parameters are the arguments, but for those that are injected."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        injected: tuple[tuple[str, Injection], ...] = (),
        defaults: Mapping[str, Callable[[], object]] | None = None,
        **core: Any,
    ) -> None:
        super().__init__(**core)
        update_wrapper(self, function)
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function)
        self._is_direct = self._is_async and not injected and not defaults  # nothing to do but to call it
        self._injected = injected
        self._defaults = defaults

    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        given: dict[str, Any] = permit.redeem(self)  # type: ignore[assignment]  # the adapter makes a dict
        if self._is_direct:
            return self._function(**given)  # type: ignore[no-any-return]  # an async function's coroutine
        return self._injected_call(given, ctx)

    async def _injected_call(self, given: dict[str, Any], ctx: ToolContext) -> object:
        try:
            given = given | {name: await provide(need, ctx) for name, need in self._injected}
            return await self._call(given, ctx)
        finally:
            await ctx.aclose()

    async def _call(self, given: dict[str, Any], ctx: ToolContext) -> object:
        if self._defaults:
            given = {name: make() for name, make in self._defaults.items() if name not in given} | given
        if self._is_async:
            return await self._function(**given)
        return await call_in_thread(lambda: self._function(**given), ctx)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


class InputTool(CoreTool):
    """A tool made of data and a function: `execute(input, ctx)` gets one checked value of the input type."""

    def __init__(self, execute: Callable[[Any, ToolContext], Any], **core: Any) -> None:
        super().__init__(**core)
        self._execute = execute
        self._is_async = inspect.iscoroutinefunction(execute)

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        given = permit.redeem(self)
        try:
            if self._is_async:
                return await self._execute(given, ctx)
            return await call_in_thread(lambda: self._execute(given, ctx), ctx)
        finally:
            await ctx.aclose()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._execute(*args, **kwargs)


async def call_in_thread(function: Callable[[], object], ctx: ToolContext) -> object:
    """Run a tool's sync function on a thread; when the wait is cancelled the tool is told through `ctx.cancelled`."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    ctx.runs_in_thread(asyncio.get_running_loop())
    try:
        value = await run_in_thread(function)
    except asyncio.CancelledError:
        ctx.cancel()
        raise
    if inspect.isawaitable(value):  # a sync function that hands back a coroutine, such as a lambda around one
        return await value
    return value
