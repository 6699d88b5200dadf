"""A chat as Markdown: what was said, what was called, what was answered; with nothing in it that a terminal obeys."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.apps.export.page import render_page
from toolroll.apps.export.run_tree import RunTree, format_json_lines, read_run_tree
from toolroll.cli.actions.runs.export import write_export
from toolroll.cli.chat.parse import split_words
from toolroll.errors import UsageError
from toolroll.home.keys import known_secrets
from toolroll.kernel.data.messages import AssistantMessage, Message, TextPart, UserMessage
from toolroll.safe.paths.names import quote_path
from toolroll.safe.secrets.redact import redact
from toolroll.safe.text import one_line, terminal_safe

if TYPE_CHECKING:
    from toolroll.apps.run_log import RunLog
    from toolroll.cli.chat.conversation import ChatInfo

FORCE: Final = "--force"
MARKDOWN: Final = ".md"
MAX_CALL_CHARACTERS: Final = 120
ID_CHARACTERS: Final = 8


async def export_chat(info: "ChatInfo", given: str, journal: "RunLog") -> Path:
    """Write the chat to the file that is named; without a name, to `chat-ID.md` in the project's folder.

    The words are split as in a shell; FileExists where the file is there already, unless one of them is `--force`. A
    name that ends in .html or .jsonl is for what `toolroll runs export` makes of the last run: it begins with all that
    was said before. One in .md is for Markdown.
    """
    words = split_words(given)
    force = FORCE in words
    names = [word for word in words if word != FORCE]
    if len(names) > 1:
        raise UsageError(f'Name one file, in quotation marks if there are blanks in it: /export "{" ".join(names)}"')
    chat = info.conversation
    if not chat.messages:
        raise UsageError("Nothing was said yet, so there is nothing to write.")
    path = _path(names[0]) if names else _folder(info) / f"chat-{chat.chat_id[:ID_CHARACTERS]}.md"
    form = _FORMS.get(path.suffix.lower())
    if form is None and path.suffix.lower() != MARKDOWN:
        raise UsageError(
            f"'{quote_path(path.name)}' has an unknown ending. Name a file that ends in .md, .html or .jsonl."
        )
    secrets = known_secrets(os.environ)
    if form is not None and chat.run_ids:
        text = "".join(form(await read_run_tree(journal, chat.run_ids[-1], secrets=secrets)))
    else:
        text = redact(render_chat(chat.messages, title=f"toolroll {info.name}"), known=secrets)
    write_export(path, text.encode("utf-8", "surrogatepass"), force=force)
    return path


def _folder(info: "ChatInfo") -> Path:
    return Path.cwd() if info.workspace is None else Path(info.workspace.root)


def _path(given: str) -> Path:
    path = Path(given).expanduser()
    return Path(os.path.realpath(path.parent), path.name)  # as it is told afterwards, without a `..` in it


_FORMS: Final[Mapping[str, Callable[[RunTree], Iterator[str]]]] = {
    ".htm": render_page,
    ".html": render_page,
    ".jsonl": format_json_lines,
}


def render_chat(messages: Sequence[Message], *, title: str) -> str:
    """Return the conversation for a reader."""
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
