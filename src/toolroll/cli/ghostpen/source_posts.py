"""Posts to learn from: out of files, pages of Notion, or what is pasted at the terminal."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.errors import FileTooLarge, NotAFile, NotText, ServiceFailed, ToolFailure, ToolrollError, UsageError
from toolroll.home.keys import with_keys
from toolroll.packs.writing.posts.front_matter import split_front_matter
from toolroll.packs.writing.posts.post_file import MAX_POST_BYTES
from toolroll.packs.writing.profiles.analysis import ENOUGH_POSTS, MAX_CHARACTERS, MAX_POSTS
from toolroll.packs.writing.tools.post_tools import display_path
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors
from toolroll.workspace.text import decode

PASTED: Final = "pasted-posts.md"
STDIN: Final = "-"
END: Final = "."
"""Alone on a line, as in mail since 1982."""
MAX_LINE_BYTES: Final = 4_095
"""Of one line that a terminal of Linux hands over; it throws the rest away."""
MAX_SOURCE_CHARACTERS: Final = 200
"""Of the note in a profile that says where its posts are from."""

_BETWEEN: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePosts:
    """Texts to learn from, where they are from, and whether only the terminal had them."""

    texts: tuple[str, ...]
    source: str
    is_pasted: bool = False


def read_posts(desk: CommandContext, files: Sequence[str]) -> tuple[str, ...]:
    """All posts of files; what cannot be read is refused. A file is read once: it may be a pipe."""
    return tuple(text for file in files for text in posts_in_file(desk, file))


def collect_posts(
    desk: CommandContext, texts: Sequence[str], *, files: Sequence[str], pages: Sequence[str] = ()
) -> SourcePosts:
    """The texts of files with those of pages; where neither is named, what is pasted.

    Few of them get a warning, none or too many are refused.
    """
    if files or pages:
        more = _read_notion(desk, pages) if pages else ()
        posts = SourcePosts(texts=(*texts, *more), source=_source(files, pages))
    else:
        posts = SourcePosts(texts=_pasted_posts(desk), source="pasted posts", is_pasted=True)
    with keep_pasted(desk, posts.texts if posts.is_pasted else ()):
        _check(desk, posts.texts)
    return posts


@contextmanager
def keep_pasted(desk: CommandContext, pasted: Sequence[str]) -> Iterator[None]:
    """Inside, posts that only the terminal had are not lost when something fails, or on Ctrl-C."""
    try:
        yield
    except (ToolrollError, KeyboardInterrupt):
        if pasted:
            path = private_folder(desk.data) / PASTED
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os_errors(str(path)), os.fdopen(os.open(path, flags, PRIVATE_FILE_MODE), "wb") as file:
                file.write("\n---\n".join(pasted).encode("utf-8", "replace") + b"\n")
            desk.say("posts_kept", file=display_path(path))
        raise


def _pasted_posts(desk: CommandContext) -> tuple[str, ...]:
    texts: list[str] = []
    with keep_pasted(desk, texts):
        for text in ask_for_posts(desk):
            texts.append(text)  # noqa: PERF402 - one by one: those before a Ctrl-C are there then
    return tuple(texts)


def posts_in_file(desk: CommandContext, file: str) -> Iterator[str]:
    """The posts of one file: a saved post with its header, or texts with lines of `---` between them."""
    fields, body = split_front_matter(_read_text(desk, file))
    found = [part.strip() for part in ([body] if fields else _BETWEEN.split(body)) if part.strip()]
    if not found:
        raise UsageError(desk.words("no_posts_in", file=quote_path(file)))
    yield from found


def ask_for_posts(desk: CommandContext) -> Iterator[str]:
    """Posts as they are pasted or typed, until one is ended before it began."""
    desk.say("paste_posts")
    number = 1
    while True:
        desk.say("paste_post", number=number)
        lines = list(_lines(desk))
        text = "\n".join(lines).strip()
        if not text:
            return
        if any(len(line.encode()) >= MAX_LINE_BYTES for line in lines):
            desk.say("paste_cut")
            continue
        desk.say("paste_taken", characters=len(text))
        yield text
        number += 1


def _lines(desk: CommandContext) -> Iterator[str]:
    assert desk.terminal is not None  # `pasted` has looked
    while (line := desk.terminal.ask("")) is not None and line != END:
        yield line


def _read_text(desk: CommandContext, file: str) -> str:
    with desk.reading(quote_path(file)):
        if file == STDIN:
            data = sys.stdin.buffer.read(MAX_POST_BYTES + 1)
        elif Path(file).is_dir():
            raise NotAFile(desk.words("is_folder", file=quote_path(file)), path=quote_path(file))
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MAX_POST_BYTES + 1)
    if len(data) > MAX_POST_BYTES:
        told = f"'{quote_path(file)}' has more than {MAX_POST_BYTES:,} bytes."
        raise FileTooLarge(told, path=quote_path(file), limit_bytes=MAX_POST_BYTES)
    try:
        return decode(data, path=quote_path(file)).text
    except NotText:
        raise NotText(desk.words("not_text", file=quote_path(file)), path=quote_path(file)) from None


def _read_notion(desk: CommandContext, pages: Sequence[str]) -> list[str]:
    import asyncio  # noqa: PLC0415 - only who reads pages needs it

    from toolroll.packs.writing.notion.blocks import find_id  # noqa: PLC0415 - as above
    from toolroll.packs.writing.tools.notion_tools import TOKEN  # noqa: PLC0415 - as above

    token = with_keys(os.environ).get(TOKEN, "").strip()
    if not token:
        raise ToolFailure(desk.words("notion_not_configured", missing=TOKEN), code="notion_not_configured")
    ids = [find_id(page) for page in pages]
    if None in ids:
        raise UsageError(f"{desk.words('notion_invalid_page')} '{quote_path(pages[ids.index(None)])}'")
    return asyncio.run(_read_pages(desk, token, [one for one in ids if one]))


async def _read_pages(desk: CommandContext, token: str, ids: Sequence[str]) -> list[str]:
    from toolroll.packs.writing.notion import client as notion  # noqa: PLC0415 - as above
    from toolroll.packs.writing.notion.errors import describe_notion_error, error_code  # noqa: PLC0415 - as above
    from toolroll.packs.writing.notion.pages import read_page  # noqa: PLC0415 - as above

    try:
        async with notion.NotionClient(token, base_url=notion.API_URL) as client:
            return [(await read_page(client, one)).content for one in ids]
    except ServiceFailed as error:
        code = error_code(error)
        raise ToolFailure(describe_notion_error(code, desk.lang, detail=error), code=code) from error


def _check(desk: CommandContext, texts: Sequence[str]) -> None:
    if not texts:
        raise UsageError(desk.words("no_posts"))
    characters = sum(map(len, texts))
    if len(texts) > MAX_POSTS or characters > MAX_CHARACTERS:
        most = {"most_posts": MAX_POSTS, "most_characters": MAX_CHARACTERS}
        raise UsageError(desk.words("too_many_posts", count=len(texts), characters=characters, **most))
    if len(texts) < ENOUGH_POSTS:
        desk.say("few_posts", count=len(texts))


def _source(files: Sequence[str], pages: Sequence[str]) -> str:
    """Names without their folders: a profile is handed on, and where its author keeps files is their own affair."""
    told = ", ".join([*("stdin" if file == STDIN else Path(file).name for file in files), *pages])
    return told if len(told) <= MAX_SOURCE_CHARACTERS else told[: MAX_SOURCE_CHARACTERS - 1] + "…"
