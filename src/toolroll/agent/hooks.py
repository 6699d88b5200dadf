"""Hooks: small objects of a program around a run, around each request to its model, and around each tool call.

The first hook is the outermost one: it is called first before something happens, and last after it. Hooks change what a
call is made with and what the model reads of it. They do not decide that it may run: policy and person do, afterwards.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias, TypeVar

from toolroll.agent.context_function import RunContext
from toolroll.agent.result import RunResult
from toolroll.errors import HookFailed, ModelError, ToolFailure, UsageError
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import AssistantMessage, Origin, TextBlock, ToolCall, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse

T = TypeVar("T")
MaybeAsync: TypeAlias = T | Awaitable[T]
"""What a method returns that may be sync or async."""

NOT_ALLOWED: Final = frozenset({"rejected", "denied", "needs_approval", "blocked_by_policy", "stale_approval"})
"""The codes of calls that nobody allowed: a hook may change what the model reads of one, not that it did not run."""


class Refusal(Exception):
    """Raise it in a hook to end the run with these words: `raise Refusal("I only talk about your account.")`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Hook:
    """Takes part in runs. Override what you need, sync or async; what returns None changes nothing."""

    @property
    def name(self) -> str:
        """Return what errors and records call it."""
        return type(self).__name__

    def before_run(self, ctx: RunContext, prompt: UserMessage | None, /) -> "MaybeAsync[UserMessage | str | None]":
        """Look at a run before its first step; return another prompt. A run that is resumed without one has None."""

    def after_run(self, ctx: RunContext, result: RunResult[object], /) -> "MaybeAsync[RunResult[object] | None]":
        """Look at the result before it is recorded; return another one."""

    def on_run_error(
        self, ctx: RunContext, error: Exception, result: RunResult[object], /
    ) -> "MaybeAsync[RunResult[object] | None]":
        """Look at a run that failed, and at what there is of it; return a result, and the error is not raised."""

    def before_model(
        self, ctx: RunContext, request: ModelRequest, /
    ) -> "MaybeAsync[ModelRequest | ModelResponse | str | None]":
        """Look at a request; return another one, or an answer, and the model is not asked.

        Raise `RequestRefused` to fail the run before the request is made.
        """

    def after_model(
        self, ctx: RunContext, request: ModelRequest, response: ModelResponse, /
    ) -> "MaybeAsync[ModelResponse | str | None]":
        """Look at an answer of the model, before it is recorded and its calls run; return another one."""

    def on_model_error(
        self, ctx: RunContext, request: ModelRequest, error: ModelError, /
    ) -> "MaybeAsync[ModelResponse | str | None]":
        """Look at the error of a request, after all retries; return an answer in its place."""

    def before_tool(self, ctx: RunContext, call: ToolCall, /) -> "MaybeAsync[ToolCall | ToolResult | str | None]":
        """Look at a call before it is checked; return it with other arguments, or a result, and the tool does not run.

        Raise `ToolFailure` to refuse the call with words for the model.
        """

    def after_tool(
        self, ctx: RunContext, call: ToolCall, result: ToolResult, /
    ) -> "MaybeAsync[ToolResult | str | None]":
        """Look at the result of a call that succeeded, before it is recorded; return another one."""

    def on_tool_error(
        self, ctx: RunContext, call: ToolCall, result: ToolResult, /
    ) -> "MaybeAsync[ToolResult | str | None]":
        """Look at a call that failed or was not allowed; return another result."""


_RUN: Final = ("before_run", "after_run", "on_run_error")
_MODEL: Final = ("before_model", "after_model", "on_model_error")
_TOOL: Final = ("before_tool", "after_tool", "on_tool_error")


class Hooks:
    """The hooks of an agent or a run, sorted by what they take part in."""

    __slots__ = ("all", "model", "run", "tool")

    def __init__(self, hooks: Iterable[Hook]) -> None:
        self.all: tuple[Hook, ...] = tuple(hooks)
        self.run: tuple[Hook, ...] = _overriding(self.all, _RUN)
        self.model: tuple[Hook, ...] = _overriding(self.all, _MODEL)
        self.tool: tuple[Hook, ...] = _overriding(self.all, _TOOL)

    async def begin_run(self, ctx: RunContext, prompt: UserMessage | None) -> UserMessage | None:
        """Return the prompt as the hooks leave it; raise `Refusal` where one ends the run."""
        for hook in self.run:
            found = await _call(hook, "before_run", ctx, prompt)
            if found is None:
                continue
            if prompt is None:
                raise HookFailed(hook.name, "before_run", "it returned a prompt for a run that has none")
            prompt = UserMessage.of(found) if isinstance(found, str) else _check(hook, "before_run", found, UserMessage)
        return prompt

    async def end_run(self, ctx: RunContext, result: RunResult[object]) -> RunResult[object]:
        """Return the result as the hooks leave it."""
        for hook in reversed(self.run):
            result = await _call_run_hook(hook, "after_run", result, ctx, result) or result
        return result

    async def fail_run(self, ctx: RunContext, error: Exception, result: RunResult[object]) -> RunResult[object] | None:
        """Return the result that a hook gives a run that failed; None if it stays failed."""
        for hook in reversed(self.run):
            found = await _call_run_hook(hook, "on_run_error", result, ctx, error, result)
            if found is not None:
                return found
        return None

    async def ask_model(
        self,
        ctx: RunContext,
        request: ModelRequest,
        origin: Origin,
        ask: Callable[[ModelRequest], Awaitable[ModelResponse]],
    ) -> ModelResponse:
        """Ask the model with the hooks around it."""
        entered: list[tuple[Hook, ModelRequest]] = []
        outcome: ModelResponse | ModelError | None = None
        for hook in self.model:
            found = await _ask_hook(hook, "before_model", origin, ctx, request)
            if isinstance(found, ModelResponse):
                outcome = found
                break
            entered.append((hook, request))  # after it, a hook sees the request that it was shown before
            request = request if found is None else _changed_request(hook, request, found)
        if outcome is None:
            try:
                outcome = await ask(request)
            except ModelError as error:
                outcome = error
        for hook, shown in reversed(entered):
            point = "on_model_error" if isinstance(outcome, ModelError) else "after_model"
            found = await _ask_hook(hook, point, origin, ctx, shown, outcome)
            outcome = outcome if found is None else _check(hook, point, found, ModelResponse)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    async def begin_call(self, ctx: RunContext, call: ToolCall) -> "HookedCall":
        """Return the call as the hooks leave it, or with the result that one gives it."""
        hooked = HookedCall(call)
        for hook in self.tool:
            found = await _call_tool_hook(hook, "before_tool", ctx, hooked.call)
            if isinstance(found, ToolResult):
                hooked.result = found
                break
            hooked.entered.append((hook, hooked.call))
            if found is not None:
                hooked.call = _changed_call(hook, hooked.call, found)
        return hooked

    async def end_call(self, ctx: RunContext, hooked: "HookedCall", result: ToolResult) -> ToolResult:
        """Return the result of the call as the hooks leave it."""
        refused = result.code if result.code in NOT_ALLOWED else None
        for hook, shown in reversed(hooked.entered):
            point = "on_tool_error" if result.is_error else "after_tool"
            found = await _call_tool_hook(hook, point, ctx, shown, result)
            if found is not None:
                result = _check(hook, point, found, ToolResult)
                if refused is not None:
                    result = replace(result, is_error=True, code=refused, is_final=False)
        return result


class HookedCall:
    """A call on its way through the hooks."""

    __slots__ = ("call", "entered", "result")

    def __init__(self, call: ToolCall) -> None:
        self.call: ToolCall = call
        self.entered: list[tuple[Hook, ToolCall]] = []
        self.result: ToolResult | None = None
        """What a hook answered in the place of the tool."""


def make_hooks(given: object, before: Hooks | None = None) -> Hooks | None:
    """Return the hooks, those `before` first; what is no hook is refused."""
    if isinstance(given, Hook | str) or not isinstance(given, Iterable):
        raise UsageError(f"hooks takes a list of hooks: hooks=[...], not {given!r}.")
    found = list(given)
    for one in found:
        if not isinstance(one, Hook):
            hint = " Make one of the class." if isinstance(one, type) else " Inherit from toolroll.agent.hooks.Hook."
            raise UsageError(f"hooks takes objects that inherit from Hook, not {one!r}.{hint}")
    known = () if before is None else before.all
    return Hooks([*known, *found]) if found or known else None


def refusal_response(text: str, origin: Origin, detail: str) -> ModelResponse:
    """Return the turn that ends a run which a hook refused."""
    message = AssistantMessage(blocks=(TextBlock(text=text),), origin=origin)
    return ModelResponse(message=message, stop="refusal", stop_detail=detail, usage=Usage())


def _overriding(hooks: Sequence[Hook], points: Sequence[str]) -> tuple[Hook, ...]:
    """Return the hooks that take part there: others cost nothing."""
    return tuple(
        hook for hook in hooks if any(getattr(type(hook), point) is not getattr(Hook, point) for point in points)
    )


async def _call(hook: Hook, point: str, ctx: RunContext, *given: object) -> object:
    """Call a method of a hook; whatever it raises, but its own word, is an error that names it."""
    try:
        try:
            found: object = getattr(hook, point)(ctx, *given)
            return await found if inspect.isawaitable(found) else found
        finally:
            await ctx.aclose()  # what it had resolved
    except (Refusal, HookFailed):
        raise
    except Exception as error:
        if (isinstance(error, ToolFailure) and point in _TOOL) or (isinstance(error, ModelError) and point in _MODEL):
            raise
        raise HookFailed(hook.name, point, str(error) or type(error).__name__) from error


async def _call_run_hook(
    hook: Hook, point: str, result: RunResult[object], ctx: RunContext, *given: object
) -> RunResult[object] | None:
    try:
        found = await _call(hook, point, ctx, *given)
    except Refusal as refusal:
        words = refusal.text
        return replace(result, text=words, has_answer=True, stop_reason="refusal", stop_detail=_by(hook), output=None)
    return None if found is None else _check(hook, point, found, RunResult)


async def _ask_hook(hook: Hook, point: str, origin: Origin, ctx: RunContext, *given: object) -> object:
    try:
        found = await _call(hook, point, ctx, *given)
    except Refusal as refusal:
        return refusal_response(refusal.text, origin, _by(hook))
    if not isinstance(found, str):
        return found
    message = AssistantMessage(blocks=(TextBlock(text=found),), origin=origin)
    return ModelResponse(message=message, stop="end", usage=Usage())


async def _call_tool_hook(hook: Hook, point: str, ctx: RunContext, *given: object) -> object:
    try:
        found = await _call(hook, point, ctx, *given)
    except ToolFailure as failure:
        return ToolResult.failure(failure.content, code=failure.failure_code)
    return ToolResult.of_text(found) if isinstance(found, str) else found


def _by(hook: Hook) -> str:
    return f"by the hook {hook.name}"


def _check(hook: Hook, point: str, found: object, kind: type[T]) -> T:
    if not isinstance(found, kind):
        raise HookFailed(hook.name, point, f"it returned {type(found).__name__}, not {kind.__name__}")
    return found


def _changed_request(hook: Hook, before: ModelRequest, found: object) -> ModelRequest:
    request = _check(hook, "before_model", found, ModelRequest)
    if request.web_search is not None and request.web_search != before.web_search:
        text = "it offered the provider's web search, which is not offered to this run"
        raise HookFailed(hook.name, "before_model", text)
    # What was encoded for earlier requests stands for messages that only grow.
    return request if request.messages is before.messages else replace(request, memo={})


def _changed_call(hook: Hook, before: ToolCall, found: object) -> ToolCall:
    call = _check(hook, "before_tool", found, ToolCall)
    if (call.id, call.name) != (before.id, before.name):
        raise HookFailed(hook.name, "before_tool", "it returned a call of another tool; a hook changes arguments only")
    return call
