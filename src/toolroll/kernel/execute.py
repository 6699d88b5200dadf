"""The one way a tool runs: parse, validate, policy, approval, intent, run, outcome, serialize.

`admit` does what needs no waiting: it answers with a permit, with a failure, or with the arguments a person must see.
`show` makes the request for that person, `settle` turns the answer into a permit, `run` takes the permit to the tool.
Permits are written in this module alone.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolroll.errors import ToolFailure, ToolrollError
from toolroll.kernel.approval import (
    ApprovalRequest,
    Approve,
    Decision,
    Effect,
    Preview,
    Reject,
    rejection_text,
)
from toolroll.kernel.ask import ask
from toolroll.kernel.context import Ledger, ToolContext
from toolroll.kernel.events import ApprovalDecided
from toolroll.kernel.messages import ToolCall
from toolroll.kernel.permit import Permit
from toolroll.kernel.policy import Policy
from toolroll.kernel.result import Done, ToolResult, result_of
from toolroll.kernel.serialize import plain
from toolroll.safe.limits import MAX_ERROR_MESSAGE_CHARACTERS
from toolroll.safe.secrets import redact

if TYPE_CHECKING:
    from toolroll.kernel.tool import Tool

_DEFAULT_POLICY: Final = Policy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A valid call that must be shown to a person first."""

    tool: "Tool"
    arguments: object
    effect: Effect


async def execute(tool: "Tool", raw: str, ctx: ToolContext) -> ToolResult:
    """One call from its JSON text to its result. Never raises, cancellation aside."""
    admitted = admit(tool, raw, ctx)
    if isinstance(admitted, Asking):
        admitted = await _ask_about(admitted, ctx)
    if isinstance(admitted, Permit):
        return await run(tool, raw, admitted, ctx)
    return admitted


async def _ask_about(asking: Asking, ctx: ToolContext) -> Permit | ToolResult:
    request = await show(asking, ctx)
    if isinstance(request, ToolResult):
        return request
    [decision] = await ask(ctx.run, [request])
    return await settle(asking, request, decision, ctx)


def admit(tool: "Tool", raw: str, ctx: ToolContext) -> Permit | Asking | ToolResult:
    """Parse, validate and judge a call, without running or asking anything."""
    try:
        arguments = tool.validate(raw)
        core, effect = tool.core, tool.effect
        if effect == "reads":
            effect = core.effect  # a wrapper can only make it stricter
        policy = ctx.run.policy
        if policy is None and effect == "reads" and not tool.asks:
            return Permit(core, arguments, "effect")
        verdict = (policy or _DEFAULT_POLICY).judge(
            tool.name, effect=effect, paths=tool.paths(arguments), asks=tool.asks
        )
    except Exception as error:  # noqa: BLE001 - the executor answers for whatever a validator or wrapper raises
        return failure_of(error, tool, ctx)
    match verdict.action:
        case "allow":
            return Permit(core, arguments, "policy" if verdict.by_rule else "effect")
        case "deny":
            text = (
                f"{tool.name} is not allowed here ({verdict.because}). Do without it, or ask the user to change that."
            )
            return ToolResult.failure(text, code="denied")
        case "ask":
            return Asking(tool=tool, arguments=arguments, effect=effect)


async def show(asking: Asking, ctx: ToolContext, edited: str | None = None) -> ApprovalRequest | ToolResult:
    """What a person has to see before this call may run, or why there is nothing to approve."""
    tool, arguments = asking.tool, asking.arguments
    try:
        preview = await tool.preview(arguments, ctx, edited)
        return ApprovalRequest(
            run_id=ctx.run_id,
            call_id=ctx.call_id,
            tool=tool.name,
            effect=asking.effect,
            arguments=plain(arguments),
            why=tool.why(arguments),
            preview=preview,
            paths=tool.paths(arguments),
            fingerprint=tool.definition.fingerprint,
        )
    except Exception as error:  # noqa: BLE001 - the executor answers for whatever a preview raises
        return failure_of(error, tool, ctx)


async def settle(
    asking: Asking, request: ApprovalRequest, decision: Decision | None, ctx: ToolContext
) -> Permit | ToolResult:
    """Turn an answer into a permit, if it is a yes to what would happen now."""
    match decision:
        case None:
            text = f"{asking.tool.name} needs a person's approval, and nobody could be asked. Nothing was done."
            return ToolResult.failure(text, code="needs_approval")
        case Reject():
            ctx.run.emit(ApprovalDecided(request=request, decision=decision))
            return ToolResult.failure(rejection_text(decision), code="rejected")
        case Approve(edited=edited):
            now = await _as_of_now(asking, request, edited, ctx)
            if isinstance(now, ToolResult):
                return now
            ctx.run.emit(ApprovalDecided(request=now, decision=decision))
            return Permit(asking.tool.core, asking.arguments, "person", now.preview)


async def _as_of_now(
    asking: Asking, request: ApprovalRequest, edited: str | None, ctx: ToolContext
) -> ApprovalRequest | ToolResult:
    """The request as it stands at this moment; a failure where it is no longer what the person saw."""
    if edited is not None and request.preview.editable is None:
        text = f"What {asking.tool.name} proposes cannot be edited, only taken or left. Nothing was done."
        return ToolResult.failure(text, code="not_editable")
    now = await show(asking, ctx, edited)
    if isinstance(now, ToolResult):
        return now
    seen = now if edited is None else replace(now, preview=_unedited(now.preview, request.preview))
    if seen.digest != request.digest:
        text = (
            f"What {asking.tool.name} would change is no longer what was shown for approval. Nothing was done. "
            "Read it again and propose the change anew."
        )
        return ToolResult.failure(text, code="stale_approval")
    return now


def _unedited(now: Preview, shown: Preview) -> Preview:
    # The person's own text replaces what was proposed; all that must not have moved is what it is based on.
    return replace(shown, base=now.base)


def run(tool: "Tool", raw: str, permit: Permit, ctx: ToolContext) -> Awaitable[ToolResult]:
    """Take the permit to the tool, with the intent written down before and the outcome after."""
    if ctx.run.ledger is None:
        return _invoke(tool, permit, ctx)
    call = ToolCall(id=ctx.call_id, name=tool.name, arguments=raw)
    return _invoke_on_record(tool, call, permit, ctx, ctx.run.ledger)


async def _invoke_on_record(
    tool: "Tool", call: ToolCall, permit: Permit, ctx: ToolContext, ledger: Ledger
) -> ToolResult:
    try:
        await ledger.intent(call)
    except Exception as error:  # noqa: BLE001 - what cannot be recorded does not run
        return failure_of(error, tool, ctx)
    result = await _invoke(tool, permit, ctx)
    try:
        await ledger.outcome(call, result)
    except Exception:
        ctx.logger.exception("the outcome of %s could not be recorded", tool.name)
    return result


async def _invoke(tool: "Tool", permit: Permit, ctx: ToolContext) -> ToolResult:
    ctx.preview = permit.preview
    try:
        return result_of(await tool.invoke(permit, ctx))
    except Done as done:
        return result_of(done)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        if _is_being_cancelled(error):
            raise
        return failure_of(error, tool, ctx)


def _is_being_cancelled(error: BaseException) -> bool:
    import asyncio  # noqa: PLC0415 - only after an error, and whoever gets here runs a loop already

    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def failure_of(error: BaseException, tool: "Tool", ctx: ToolContext) -> ToolResult:
    """What a model reads of an exception; the traceback goes to the log, never further."""
    if isinstance(error, ToolFailure):
        return ToolResult.failure(error.content, code=error.failure_code)
    if isinstance(error, ToolrollError) and error.code in ("invalid_json", "invalid_arguments"):
        return ToolResult.failure(error.message, code=error.code)
    ctx.logger.error("tool %s failed", tool.name, exc_info=error)
    message = redact(str(error).strip() or type(error).__name__)[:MAX_ERROR_MESSAGE_CHARACTERS]
    code = error.code if isinstance(error, ToolrollError) else "tool_error"
    return ToolResult.failure(f"Error executing tool: {message}", code=code)
