"""The prompt and the names that a command was given."""

import sys

from toolroll.cli.chat.parse import MAX_MESSAGE_CHARACTERS
from toolroll.errors import UsageError


def read_prompt(prompt: str) -> str:
    """Return the prompt: as it was given, or from stdin for '-'; checked."""
    return check_prompt(_read_stdin() if prompt == "-" else prompt)


def check_prompt(text: str) -> str:
    """Return the same text; refuse an empty one, or one longer than a message in a chat, before it costs anything."""
    if not text.strip():
        raise UsageError("The prompt is empty. Say what is to be done.")
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise UsageError(
            f"The prompt has {len(text):,} characters; at most {MAX_MESSAGE_CHARACTERS:,} are allowed. Put the rest "
            "into a file, and name it in the prompt."
        )
    return text


def split_names(given: str | None) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


def _read_stdin() -> str:
    if sys.stdin is None:
        raise UsageError("The prompt was to come from stdin, which is closed. Pipe it in, or write it here.")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise UsageError("The prompt on stdin is not UTF-8. Send text in that encoding.") from None
