"""A chat as Markdown: what was said, what was called, what was answered; with nothing in it that a terminal obeys."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.cli.export.command import put
from toolroll.cli.export.gather import Gathered, gather
from toolroll.cli.export.lines import json_lines
from toolroll.cli.export.page import page
from toolroll.errors import UsageError
from toolroll.home.keys import known_secrets
from toolroll.kernel.conversation import AssistantMessage, Message, UserMessage
from toolroll.kernel.messages import TextPart
from toolroll.safe.secrets import redact
from toolroll.safe.text import one_line, terminal_safe

if TYPE_CHECKING:
    from toolroll.cli.chat.talk import About
    from toolroll.journal.sqlite import SqliteJournal

MAX_CALL_CHARACTERS: Final = 120
ID_CHARACTERS: Final = 8


async def export(about: "About", given: str, journal: "SqliteJournal") -> Path:
    """Write the chat to a file of that name, or one in the working folder; FileExists where there is one already.

    A name that ends in .html or .jsonl is for what `toolroll runs export` makes of the last run: it begins with all
    that was said before. Any other one is for Markdown.
    """
    chat = about.conversation
    if not chat.messages:
        raise UsageError("Nothing was said yet, so there is nothing to write.")
    path = _path(given or f"chat-{chat.chat_id[:ID_CHARACTERS]}.md")
    form = _FORMS.get(path.suffix.lower())
    secrets = known_secrets(os.environ)
    if form is not None and chat.run_ids:
        text = "".join(form(await gather(journal, chat.run_ids[-1], secrets=secrets)))
    else:
        text = redact(markdown(chat.messages, title=f"toolroll {about.name}"), known=secrets)
    put(path, text.encode("utf-8", "surrogatepass"), force=False)
    return path


def _path(given: str) -> Path:
    return Path(given).expanduser().absolute()


_FORMS: Final[Mapping[str, Callable[[Gathered], Iterator[str]]]] = {
    ".htm": page,
    ".html": page,
    ".jsonl": json_lines,
}


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
