"""One tool call in figures: for the result of a run, and as one line in the log."""

import logging
from collections.abc import Mapping
from typing import Final

from pydantic_core import from_json

from toolroll.agent.result import ToolCallLog
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import TextPart, ToolCall
from toolroll.safe.secrets.redact import redact_line

ARGUMENTS_SHOWN_CHARACTERS: Final = 120
"""Of a call's arguments in logs and statistics: enough to tell calls apart."""
PATH_SHOWN_CHARACTERS: Final = 300
"""More than any path that a tool of ours takes for research."""


def make_log(call: ToolCall, result: ToolResult, duration_ms: float) -> ToolCallLog:
    """Return the call in figures."""
    return ToolCallLog(
        name=call.name,
        arguments=call.arguments[:ARGUMENTS_SHOWN_CHARACTERS],
        path=_find_path(call.arguments),
        duration_ms=duration_ms,
        ok=not result.is_error,
        bytes=_size(result),
        error_type=result.code if result.is_error else None,
    )


def write_line(logger: logging.Logger, log: ToolCallLog, arguments: str) -> None:
    """Log one line for one call, without secrets, whatever the model wrote."""
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s arguments=%s", format_log(log), _safe_line(arguments))


def format_log(log: ToolCallLog) -> str:
    """Return a call as a line of names and values; of a call that names a file, with its path."""
    path = "" if log.path is None else f" path={redact_line(log.path, PATH_SHOWN_CHARACTERS)}"
    return (
        f"tool_call name={_safe_line(log.name)}{path} ok={log.ok} duration_ms={log.duration_ms:.1f} "
        f"bytes={log.bytes} error_type={log.error_type}"
    )


def _find_path(arguments: str) -> str | None:
    if '"path"' not in arguments:
        return None
    path = _read_object(arguments).get("path")
    return path[:PATH_SHOWN_CHARACTERS] if isinstance(path, str) else None


def _size(result: ToolResult) -> int:
    """Return the size that an answer gives for its file, or else its own."""
    content = result.content
    if not isinstance(content, str):
        return sum(_bytes(part.text) if isinstance(part, TextPart) else len(part.data) for part in content)
    if not result.is_error and '"bytes"' in content and content.startswith("{"):
        told = _read_object(content).get("bytes")
        if isinstance(told, int) and not isinstance(told, bool):
            return told
    return _bytes(content)


def _read_object(text: str) -> Mapping[str, object]:
    try:
        found = from_json(text)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _safe_line(text: str) -> str:
    return redact_line(text, ARGUMENTS_SHOWN_CHARACTERS)
