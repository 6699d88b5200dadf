"""Posts to learn from: read from files or Notion pages, or pasted at the terminal."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.lazy import lazily
from toolroll.errors import FileTooLarge, NotAFile, NotText, ToolrollError, UsageError
from toolroll.messages import Template
from toolroll.packs.writing.posts.front_matter import split_front_matter
from toolroll.packs.writing.posts.post_file import MAX_POST_BYTES
from toolroll.packs.writing.profiles.analysis import ENOUGH_POSTS, MAX_CHARACTERS, MAX_POSTS
from toolroll.packs.writing.tools.post_tools import display_path
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors
from toolroll.workspace.text import decode

POSTS_TOO_LARGE: Final = Template("posts_too_large", "'{path}' has more than {limit} bytes.")
PASTED_FILE: Final = "pasted-posts.md"
PASTED_SOURCE: Final = "pasted posts"
"""Kept in the profile; languages have a name for it (`names.source`)."""
STDIN: Final = "-"
END: Final = "."
"""Alone on a line, as in mail since 1982."""
MAX_LINE_BYTES: Final = 4_095
"""Of one line that a Linux terminal passes on; the rest is lost."""
MAX_SOURCE_CHARACTERS: Final = 200
"""Of the note in a profile about where its posts are from."""

_read_notion_pages: Final = lazily("toolroll.cli.ghostpen.notion_posts:read_notion_pages")

_BETWEEN: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePosts:
    """Texts to learn from, where they are from, and whether only the terminal had them."""

    texts: tuple[str, ...]
    source: str
    is_pasted: bool = False


def read_posts(context: CommandContext, files: Sequence[str]) -> tuple[str, ...]:
    """Return all posts in files. Each file is read once: it may be a pipe."""
    return tuple(text for file in files for text in posts_in_file(context, file))


def collect_posts(
    context: CommandContext, texts: Sequence[str], *, files: Sequence[str], pages: Sequence[str] = ()
) -> SourcePosts:
    """Return the texts of files with those of pages, or ask for posts where neither is named.

    Few of them get a warning; none or too many are refused.
    """
    if files or pages:
        more = _read_notion_pages(context, pages) if pages else ()
        posts = SourcePosts(texts=(*texts, *more), source=_source(files, pages))
    else:
        posts = SourcePosts(texts=_pasted_posts(context), source=PASTED_SOURCE, is_pasted=True)
    with keep_pasted(context, posts.texts if posts.is_pasted else ()):
        _check(context, posts.texts)
    return posts


@contextmanager
def keep_pasted(context: CommandContext, pasted: Sequence[str]) -> Iterator[None]:
    """Save posts that were pasted to a file when something fails, or on Ctrl-C: nobody else has them."""
    try:
        yield
    except (ToolrollError, KeyboardInterrupt):
        if pasted:
            path = private_folder(context.data) / PASTED_FILE
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os_errors(str(path)), os.fdopen(os.open(path, flags, PRIVATE_FILE_MODE), "wb") as file:
                file.write("\n---\n".join(pasted).encode("utf-8", "replace") + b"\n")
            context.say("posts_kept", file=display_path(path))
        raise


def _pasted_posts(context: CommandContext) -> tuple[str, ...]:
    texts: list[str] = []
    with keep_pasted(context, texts):
        for text in ask_for_posts(context):
            texts.append(text)  # noqa: PERF402 - one by one: those before a Ctrl-C are there then
    return tuple(texts)


def posts_in_file(context: CommandContext, file: str) -> Iterator[str]:
    """Yield the posts in one file: a saved post with its header, or texts with lines of `---` between them."""
    fields, body = split_front_matter(_read_text(context, file))
    found = [body.strip()] if fields and body.strip() else split_posts(body)
    if not found:
        raise UsageError(context.text("no_posts_in", file=quote_path(file)))
    yield from found


def split_posts(text: str) -> list[str]:
    """Return the posts in a text that has lines of `---` between them."""
    return [part.strip() for part in _BETWEEN.split(text) if part.strip()]


def ask_for_posts(context: CommandContext) -> Iterator[str]:
    """Yield posts as they are pasted or typed, until an empty one."""
    context.say("paste_posts")
    number = 1
    while True:
        context.say("paste_post", number=number)
        lines = list(_lines(context))
        text = "\n".join(lines).strip()
        if not text:
            return
        if any(len(line.encode()) >= MAX_LINE_BYTES for line in lines):
            context.say("paste_cut")
            continue
        for part in split_posts(text):
            context.say("paste_taken", count=len(part))
            yield part
            number += 1


def _lines(context: CommandContext) -> Iterator[str]:
    assert context.terminal is not None  # `pasted` has looked
    while (line := context.terminal.ask("")) is not None and line != END:
        yield line


def _read_text(context: CommandContext, file: str) -> str:
    with context.file_errors(quote_path(file)):
        if file == STDIN:
            data = sys.stdin.buffer.read(MAX_POST_BYTES + 1)
        elif Path(file).is_dir():
            raise NotAFile(context.text("is_folder", file=quote_path(file)), path=quote_path(file))
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MAX_POST_BYTES + 1)
    if len(data) > MAX_POST_BYTES:
        message = POSTS_TOO_LARGE(path=quote_path(file), limit=f"{MAX_POST_BYTES:,}")
        raise FileTooLarge(message, path=quote_path(file), limit_bytes=MAX_POST_BYTES)
    try:
        return decode(data, path=quote_path(file)).text
    except NotText:
        raise NotText(context.text("not_text", file=quote_path(file)), path=quote_path(file)) from None


def _check(context: CommandContext, texts: Sequence[str]) -> None:
    if not texts:
        raise UsageError(context.text("no_posts"))
    characters = sum(map(len, texts))
    if len(texts) > MAX_POSTS or characters > MAX_CHARACTERS:
        raise UsageError(
            context.text(
                "too_many_posts",
                posts=context.text("count_posts", count=len(texts)),
                characters=context.text("count_characters", count=characters),
                most_posts=context.text("count_posts", count=MAX_POSTS),
                most_characters=context.text("count_characters", count=MAX_CHARACTERS),
            )
        )
    if len(texts) < ENOUGH_POSTS:
        context.say("few_posts", count=len(texts))


def _source(files: Sequence[str], pages: Sequence[str]) -> str:
    """Return the names without their folders: profiles are shared, and where files are is the author's own business."""
    names = ", ".join([*("stdin" if file == STDIN else Path(file).name for file in files), *pages])
    return names if len(names) <= MAX_SOURCE_CHARACTERS else names[: MAX_SOURCE_CHARACTERS - 1] + "…"
