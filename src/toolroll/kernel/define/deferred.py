"""Tools that run nowhere here: a person or another system answers their calls, and the run waits for that on record."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from toolroll.errors import ArgumentsRefused, ToolFailure
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.labels import UNTRUSTED
from toolroll.kernel.define.function import FunctionTool, run_and_close
from toolroll.kernel.define.tool import F

WAITING: Final = object()
"""What `Run.receive` returns where the run waits for the result."""
NOWHERE_TO_WAIT: Final = "{name} is answered from outside, and nothing here can wait for that. Nothing was done."


class DeferredTool(FunctionTool[F]):
    """A tool whose result is delivered from outside; what arrives is checked, and untrusted."""

    def __init__(self, function: F, *, result: TypeAdapter[Any] | None, **options: Any) -> None:
        options["brings"] |= UNTRUSTED
        super().__init__(function, **options)
        self._result = result

    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        """Return the result that was delivered; the function never runs."""
        given = Permit.redeem(permit, self, ctx)
        return run_and_close(lambda: self._receive(given, ctx), ctx)

    async def _receive(self, given: object, ctx: ToolContext) -> object:
        if ctx.run.receive is None:
            raise ToolFailure(NOWHERE_TO_WAIT.format(name=self.name), code="no_result")
        value = await ctx.run.receive(ctx.call_id, self.fields(given), self.why(given))
        if value is WAITING:
            return ""
        ctx.run.add_labels(self._labels)
        if isinstance(value, ToolFailure):
            raise value
        return self.check_result(value)

    def check_result(self, value: object) -> object:
        """Return what was delivered as the type that the tool declares; raise `ArgumentsRefused`."""
        if self._result is None or isinstance(value, ToolFailure | ToolResult):
            return value
        try:
            return self._result.validate_python(value)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            where = ".".join(map(str, fault["loc"]))
            said = f"{where}: {fault['msg']}" if where else fault["msg"]
            raise ArgumentsRefused(f"The result of {self.name} does not fit its type: {said}.") from None


def as_deferred(tool: object) -> "DeferredTool[Callable[..., Any]] | None":
    """Return the tool as one that is answered from outside, whatever is wrapped around it; None if it is none."""
    core = getattr(tool, "core", None)
    return core if isinstance(core, DeferredTool) else None
