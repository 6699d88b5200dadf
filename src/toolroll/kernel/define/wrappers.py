"""Add behaviour to a tool by wrapping it: each wrapper forwards everything and overrides one thing.

What a wrapper cannot do is decide that a call may run. The permit does that, and the tool at the core checks it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import update_wrapper
from inspect import iscoroutinefunction
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, overload

from toolroll.errors import DefinitionError, ToolTimeout
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import Effect, Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import CallOutcome
from toolroll.kernel.callables import mark_async
from toolroll.kernel.data.labels import Label, Labels, read_labels
from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.define.tool import F, Tool, TypedTool, check_name
from toolroll.kernel.depends.dependency import Injection

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

ApprovalCondition: TypeAlias = Callable[[Mapping[str, Any], ToolContext], bool]
"""Says whether a person must be asked about a call: `when(arguments, ctx)`, with the checked arguments by name."""


class AskOnlyIf:
    """A condition whose "no" counts too: see `ask_only_if`."""

    __slots__ = ("condition",)

    def __init__(self, condition: ApprovalCondition) -> None:
        self.condition: Final = condition

    def __call__(self, arguments: Mapping[str, Any], ctx: ToolContext) -> bool:
        """Return what the condition says."""
        return self.condition(arguments, ctx)


def ask_only_if(condition: ApprovalCondition) -> AskOnlyIf:
    """Return a condition that also says which calls need no approval, although the tool writes or acts outside.

    Any other condition only adds questions: where it says no, the effect and rules decide as they would without it.
    """
    return AskOnlyIf(condition)


CANCEL_GRACE_S: Final = 1.0
"""How long a tool that was told to stop may take to do so before it is left behind."""


class WrapperTool(Tool):
    """Forwards everything to the tool inside. Subclass it and override one thing."""

    def __init__(self, inner: Tool) -> None:
        self._inner = inner
        if function := getattr(inner, "__wrapped__", None):
            update_wrapper(
                self, function, updated=()
            )  # signature, docstring and name, as of the function that was decorated
        if iscoroutinefunction(inner):
            mark_async(self, inner)

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def description(self) -> str:
        return self._inner.description

    @property
    def parameters(self) -> JsonSchema:
        return self._inner.parameters

    @property
    def effect(self) -> Effect:
        return self._inner.effect

    @property
    def labels(self) -> Labels:
        return self._inner.labels

    @property
    def needs(self) -> tuple[Injection, ...]:
        return self._inner.needs

    @property
    def core(self) -> Tool:
        return self._inner.core

    @property
    def asks(self) -> bool:
        return self._inner.asks

    @property
    def inner_tools(self) -> tuple[Tool, ...]:
        return self._inner.inner_tools

    @property
    def loop_guard(self) -> bool:
        return self._inner.loop_guard

    @property
    def has_condition(self) -> bool:
        return self._inner.has_condition

    def needs_approval(self, arguments: object, ctx: ToolContext) -> bool | None:
        return True if self.asks else self._inner.needs_approval(arguments, ctx)

    @property
    def can_be_stopped(self) -> bool:
        return self._inner.can_be_stopped

    def validate(self, raw: str) -> object:
        return self._inner.validate(raw)

    def paths(self, arguments: object) -> tuple[str, ...]:
        return self._inner.paths(arguments)

    @property
    def locates(self) -> bool:
        return self._inner.locates

    async def locate(self, paths: tuple[str, ...], ctx: ToolContext) -> tuple[str, ...]:
        return await self._inner.locate(paths, ctx)

    def fields(self, arguments: object) -> Mapping[str, object]:
        return self._inner.fields(arguments)

    def why(self, arguments: object) -> str:
        return self._inner.why(arguments)

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        return await self._inner.preview(arguments, ctx, edited)

    def failure_content(self, message: str) -> object:
        return self._inner.failure_content(message)

    async def find_outcome(self, ctx: ToolContext) -> CallOutcome | None:
        return await self._inner.find_outcome(ctx)

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        return await self._inner.invoke(permit, ctx)


class RenamedTool(WrapperTool):
    """The same tool under another name."""

    def __init__(self, inner: Tool, name: str) -> None:
        super().__init__(inner)
        self._name = name

    @property
    def name(self) -> str:
        return self._name


class ApprovalTool(WrapperTool):
    """The same tool, but a person is asked each time, whatever its effect and whatever a rule allows."""

    @property
    def asks(self) -> bool:
        return True

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        permit.require_person(self.name)
        return await self._inner.invoke(permit, ctx)


class ConditionalTool(WrapperTool, TypedTool[F]):
    """The same tool, but a condition says for each call whether a person is asked."""

    def __init__(self, inner: Tool, condition: ApprovalCondition) -> None:
        super().__init__(inner)
        self._condition = condition

    @property
    def has_condition(self) -> bool:
        return True

    def needs_approval(self, arguments: object, ctx: ToolContext) -> bool | None:
        inner = self._inner.needs_approval(arguments, ctx)
        if inner:  # a promise to ask is kept, whatever is wrapped around it
            return True
        found: object = self._condition(self.fields(arguments), ctx)
        if not isinstance(found, bool):
            raise TypeError(f"needs_approval returned {type(found).__name__}, not True or False")
        # A "no" opens nothing by itself: a condition that was written for one question must not take away another.
        return found or (False if isinstance(self._condition, AskOnlyIf) else inner)

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        if self.needs_approval(permit.arguments, ctx):
            permit.require_person(self.name)
        return await self._inner.invoke(permit, ctx)


class LabelledTool(WrapperTool):
    """The same tool, with more labels on its results."""

    def __init__(self, inner: Tool, labels: Labels) -> None:
        super().__init__(inner)
        self._labels = labels

    @property
    def labels(self) -> Labels:
        return self._inner.labels | self._labels

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        ctx.run.add_labels(self._labels)
        return await self._inner.invoke(permit, ctx)


class TimeoutTool(WrapperTool, TypedTool[F]):
    """The same tool, but its call ends as an error after so many seconds."""

    def __init__(self, inner: Tool, seconds: float) -> None:
        super().__init__(inner)
        self._seconds = seconds

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        work = self._inner.preview(arguments, ctx, edited)
        text = f"The preview of {self.name} {self._late}. Nothing was done."
        return await self._in_time(work, ctx, lambda _ended: text)

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        return await self._in_time(self._inner.invoke(permit, ctx), ctx, self._too_late)

    @property
    def _late(self) -> str:
        return f"did not end within {self._seconds:g} second{'' if self._seconds == 1 else 's'}"

    def _too_late(self, ended: bool) -> str:  # noqa: FBT001 - a callback's one argument
        if ended and self.core.can_be_stopped:
            return f"{self.name} {self._late} and was stopped."
        return f"{self.name} {self._late}; it may still be running."

    async def _in_time(self, work: Awaitable[T], ctx: ToolContext, words: Callable[[bool], str]) -> T:
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        # A task of its own: a tool that swallows its cancellation can then be left behind instead of waited for.
        task = asyncio.ensure_future(_no_exit(work))
        try:
            in_time, _ = await asyncio.wait({task}, timeout=self._seconds)
        finally:
            if not task.done():
                ctx.cancel()
                task.add_done_callback(_forget)
                task.cancel()
                await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
        if in_time:
            return task.result()
        raise ToolTimeout(words(task.done()))


async def _no_exit(work: Awaitable[T]) -> T:
    try:
        return await work
    except SystemExit as error:  # a task would carry it out of the event loop and end the program
        raise RuntimeError(f"the tool tried to exit the program ({error.code})") from error


def _forget(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()  # seen: nobody is left to be told


def renamed(tool: Tool, name: str) -> Tool:
    """Return the tool under another name."""
    check_name(name)
    return RenamedTool(tool, name)


def prefixed(tools: Iterable[Tool], prefix: str) -> list[Tool]:
    """Return the tools with a prefix before each name, such as `files_`."""
    return [renamed(tool, prefix + tool.name) for tool in tools]


def filtered(tools: Iterable[Tool], keep: Callable[[Tool], bool]) -> list[Tool]:
    """Return only the tools that `keep` says yes to."""
    return [tool for tool in tools if keep(tool)]


def labelled(tool: Tool, *labels: Label) -> Tool:
    """Return the tool with labels added to its results: `private`, `untrusted` or both. Its own labels stay."""
    found = read_labels(labels)
    if not labels or len(found) != len(set(labels)):
        raise DefinitionError(f"{tool.name}: a label is 'private' or 'untrusted', not {labels!r}.", tool=tool.name)
    return LabelledTool(tool, found)


@overload
def with_approval(tool: TypedTool[F], when: ApprovalCondition) -> TypedTool[F]: ...


@overload
def with_approval(tool: Tool, when: ApprovalCondition | None = None) -> Tool: ...


def with_approval(tool: Tool, when: ApprovalCondition | None = None) -> Tool:
    """Return the tool, asking a person each time, or for the calls that `when(arguments, ctx)` says yes to.

    Where `when` says no, the effect of the tool and rules decide; `ask_only_if(when)` lets such calls run unasked.
    """
    if when is None:
        return ApprovalTool(tool)
    _check_condition(tool, when)
    return ConditionalTool(tool, when)


def _check_condition(tool: Tool, when: object) -> None:
    when = when.condition if isinstance(when, AskOnlyIf) else when
    if not callable(when) or isinstance(when, type) or iscoroutinefunction(when):
        raise DefinitionError(
            f"{tool.name}: needs_approval is a function of (arguments, ctx), not async, not {when!r}.",
            tool=tool.name,
        )


@overload
def with_timeout(tool: TypedTool[F], seconds: float) -> TypedTool[F]: ...


@overload
def with_timeout(tool: Tool, seconds: float) -> Tool: ...


def with_timeout(tool: Tool, seconds: float) -> Tool:
    """Return the tool with a timeout: after so many seconds, a call ends as an error."""
    if not (seconds > 0 and isfinite(seconds)):
        raise DefinitionError(
            f"{tool.name}: a timeout is a number of seconds above 0, not {seconds!r}.", tool=tool.name
        )
    return TimeoutTool(tool, seconds)
