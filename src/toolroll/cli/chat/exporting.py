"""A chat as Markdown: what was said, what was called, what was answered; with nothing in it that a terminal obeys."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import UsageError
from toolroll.home.keys import known_secrets
from toolroll.kernel.conversation import AssistantMessage, Message, UserMessage
from toolroll.kernel.messages import TextPart
from toolroll.safe.files import create_file
from toolroll.safe.refusals import refusals
from toolroll.safe.secrets import redact
from toolroll.safe.text import one_line, terminal_safe

if TYPE_CHECKING:
    from toolroll.cli.chat.talk import About

MAX_CALL_CHARACTERS: Final = 120
ID_CHARACTERS: Final = 8


def export(about: "About", given: str) -> Path:
    """Write the chat to a file of that name, or one in the working folder; FileExists where there is one already."""
    chat = about.conversation
    if not chat.messages:
        raise UsageError("Nothing was said yet, so there is nothing to write.")
    path = Path(given).expanduser() if given else Path(f"chat-{chat.chat_id[:ID_CHARACTERS]}.md")
    text = redact(markdown(chat.messages, title=f"toolroll {about.name}"), known=known_secrets(os.environ))
    with refusals(str(path)):
        folder = os.open(path.absolute().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        create_file(folder, path.name, text.encode("utf-8", "replace"), path=str(path))
    finally:
        os.close(folder)
    return path.absolute()


def markdown(messages: Sequence[Message], *, title: str) -> str:
    """The conversation for a reader."""
    return terminal_safe("\n\n".join([f"# {title}", *_parts(messages)]) + "\n")


def _parts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        match message:
            case UserMessage():
                said = (part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in message.content)
                yield "## You\n\n" + "".join(said).strip()
            case AssistantMessage():
                calls = [f"- `{call.name}` {one_line(call.arguments, MAX_CALL_CHARACTERS)}" for call in message.calls]
                yield "\n\n".join(["## Answer", *filter(None, [message.text.strip(), "\n".join(calls)])])
            case _:
                yield "\n".join(
                    f"- result of `{one.name}`{': failed' if one.is_error else ''}" for one in message.results
                )
