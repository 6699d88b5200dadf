"""Log errors with their traceback but without secrets (D6), and recognize a cancellation that must go on."""

from typing import TYPE_CHECKING, Final

from toolroll.kernel.data.serialize import replace_surrogates, safe_str

if TYPE_CHECKING:
    import logging


MAX_TRACE_CHARACTERS: Final = 16_000
"""How much of a traceback is logged: its end, where the error is named."""

# Looking for secrets takes a second a megabyte. More is searched than kept: a key that is cut in half is not found.
_MAX_SEARCHED_CHARACTERS: Final = 4 * MAX_TRACE_CHARACTERS
_ERROR_LEVEL: Final = 40


def log_failure(logger: "logging.Logger", error: BaseException, message: str, *args: object) -> None:
    """Log an error with its traceback as redacted text. Not as `exc_info`: every handler would write that out raw."""
    if logger.isEnabledFor(_ERROR_LEVEL):
        logger.error(f"{message}\n%s", *args, format_trace(error))


def format_trace(error: BaseException) -> str:
    """Return the traceback of an error as text: without secrets, cut to its end."""
    from toolroll.safe.secrets.redact import redact_shown  # noqa: PLC0415 - most programs that import toolroll never need it

    text = redact_shown(replace_surrogates(_format_error(error)[-_MAX_SEARCHED_CHARACTERS:])).rstrip()
    return text if len(text) <= MAX_TRACE_CHARACTERS else "…" + text[-MAX_TRACE_CHARACTERS:]


def _format_error(error: BaseException) -> str:
    from traceback import format_exception  # noqa: PLC0415 - only after an error

    try:
        return "".join(format_exception(error))
    except Exception:  # noqa: BLE001 - foreign code names the error; that it cannot is no reason to lose a result
        return f"{type(error).__qualname__}: {safe_str(error)}"


def is_being_cancelled(error: BaseException) -> bool:
    """Return whether the error must go on: this task is being cancelled or closed, or somebody pressed Ctrl-C."""
    import asyncio  # noqa: PLC0415 - only after an error, and whoever gets here runs a loop already

    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return True
    if not isinstance(error, asyncio.CancelledError):
        return False
    # A tool can raise CancelledError itself, or let one out of a future it waited for: that is its failure alone.
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
