"""Turn whatever a tool, its preview or its dependencies raise into a result that a model can read."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolroll.errors import ToolFailure, ToolrollError
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import Answered, ToolResult, Unclean, to_result
from toolroll.kernel.data.messages import TextPart
from toolroll.kernel.data.serialize import dump_json, safe_str
from toolroll.kernel.failures import is_being_cancelled, log_failure
from toolroll.safe.limits import MAX_ERROR_MESSAGE_CHARACTERS
from toolroll.safe.secrets.redact import redact_shown

if TYPE_CHECKING:
    from toolroll.kernel.define.tool import Tool

_TRACEBACK: Final = "Traceback (most recent call last):"
_PREFIX: Final = "Error executing tool: "
_WORDLESS: Final = (KeyError, SystemExit, StopIteration, StopAsyncIteration)
"""Errors whose message is a value, not a sentence: a key, an exit code, what a generator returned."""
# Looking for secrets takes a second a megabyte; what lies behind this is cut off in any case.
_MAX_REDACTED_CHARACTERS: Final = 32 * MAX_ERROR_MESSAGE_CHARACTERS


def handle_error(error: BaseException, tool: "Tool", ctx: ToolContext, *, preview: bool = False) -> ToolResult:
    """Return the result of a call that raised; raise again what must go on, such as a cancellation."""
    if is_being_cancelled(error):
        raise error
    if isinstance(error, Answered):
        return to_result(error.value)
    if isinstance(error, Unclean):
        return describe_failure(error.error, tool, ctx, preview=True) if preview else _unclean_result(error, tool, ctx)
    return describe_failure(error, tool, ctx, preview=preview)


def describe_failure(error: BaseException, tool: "Tool", ctx: ToolContext, *, preview: bool = False) -> ToolResult:
    """Return what a model reads of an exception; the traceback goes to the log and nowhere else."""
    error = _unwrap_group(error)
    if isinstance(error, ToolFailure):
        return ToolResult.failure(error.content, code=error.failure_code)
    log_failure(ctx.logger, error, "the preview of %s failed" if preview else "tool %s failed", tool.name)
    message = _error_message(error)
    if isinstance(error, ToolrollError):
        return ToolResult.failure(f"{_PREFIX}{message}", code=error.code)
    return ToolResult.failure(f"{_PREFIX}{'its preview failed: ' if preview else ''}{message}", code="tool_error")


def shape_failure(result: ToolResult, tool: "Tool") -> ToolResult:
    """Return a failure in the form that the tool gives to its failures; every other result as it is."""
    if not result.is_error or result.type != "text":
        return result
    content = tool.failure_content(result.text)
    return result if isinstance(content, str) else replace(result, type="json", value=content, text=dump_json(content))


def _unclean_result(unclean: Unclean, tool: "Tool", ctx: ToolContext) -> ToolResult:
    """Return the tool's answer, marked as uncertain: its change may have happened (a file) or not (no commit)."""
    log_failure(ctx.logger, unclean.error, "tool %s has run, and cleaning up after it failed", tool.name)
    try:
        result = to_result(unclean.value)
    except Exception as error:  # noqa: BLE001 - as for a tool whose end did not fail
        return describe_failure(error, tool, ctx)
    return result if result.is_error else _uncertain_failure(result, _error_message(_unwrap_group(unclean.error)))


def _uncertain_failure(result: ToolResult, because: str) -> ToolResult:
    # Before the answer: the end of a long one is cut off.
    head = (
        f"{_PREFIX}it ran, but cleaning up after it failed: {because}. What it did may be done or undone: look before "
        "you call it again. It had answered:"
    )
    text = f"{head}\n{result.text}"
    if result.type == "parts":
        noted = replace(result, value=(TextPart(text=head), *result.content), text=text)
    else:
        noted = replace(result, text=text)
    return replace(noted, is_error=True, code="cleanup_failed", is_final=False)


def _unwrap_group(error: BaseException) -> BaseException:
    """Return the one error inside of an exception group that a task group made around it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _error_message(error: BaseException) -> str:
    text, _, trace = safe_str(error)[:_MAX_REDACTED_CHARACTERS].partition(_TRACEBACK)  # of another process, often
    message = text.strip() or trace.strip().rpartition("\n")[2] or type(error).__name__
    if isinstance(error, _WORDLESS) or not any(map(str.isalpha, message)):
        message = _with_type_name(error, message)
    message = redact_shown(message)
    return message if len(message) <= MAX_ERROR_MESSAGE_CHARACTERS else message[:MAX_ERROR_MESSAGE_CHARACTERS] + "…"


def _with_type_name(error: BaseException, message: str) -> str:
    """Return the message after the name of its error: a missing key alone says nothing."""
    name = type(error).__name__
    return message if message == name else f"{name}: {message}"
