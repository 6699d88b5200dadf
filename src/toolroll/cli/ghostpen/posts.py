"""The bodies of `ghostpen posts`: list, show, copy and open the posts that were saved."""

import base64
import sys
from pathlib import Path
from typing import Final

import click

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.session import DONE
from toolroll.errors import FileMissing
from toolroll.packs.writing.posts.post_file import PostFile, parse_post, topic_slug
from toolroll.packs.writing.posts.store import PostStore
from toolroll.packs.writing.tools.post_tools import display_path
from toolroll.safe.paths.names import quote_path
from toolroll.safe.text import one_line

MAX_TOPIC_CHARACTERS: Final = 60
MAX_CLIPBOARD_BYTES: Final = 74_000
"""Of a text in base64 that terminals take in one sequence; xterm and tmux stop at about 100,000 characters."""
_NAMED: Final = 5
"""Names that are listed where a part of a name fits several."""


def list_posts(context: CommandContext, limit: int) -> int:
    """List the saved posts, the newest first; return the exit code."""
    with PostStore(context.data) as store:
        names = store.names()
        posts = [_read(store, name) for name in names[:limit]]
    if context.session.json:
        context.session.write_json({"posts": [_fields(context, one) for one in posts], "total": len(names)})
    elif not posts:
        context.say("no_saved_posts")
    else:
        context.session.show("\n".join(map(_format, posts)), hang=12)
        if len(names) > limit:
            context.say("more_posts", count=len(names) - limit, limit=len(names))
    return DONE


def show_post(context: CommandContext, name: str | None) -> int:
    """Write a post as it is to be published; return the exit code."""
    post = _find(context, name)
    if context.session.json:
        context.session.write_json({**_fields(context, post), "text": post.body})
    else:
        context.write(post.body)
    return DONE


def copy_post(context: CommandContext, name: str | None) -> int:
    """Put a post into the clipboard of the person's own terminal, also over ssh; return the exit code."""
    post = _find(context, name)
    data = post.body.encode()
    if context.session.json:
        context.session.write_json({**_fields(context, post), "text": post.body, "copied": False})
        return DONE
    if context.terminal is None or len(data) > MAX_CLIPBOARD_BYTES:
        context.write(post.body)
        context.say("not_copied")
        return DONE
    write_clipboard(data)
    context.say("copied", file=post.file, count=len(post.body))
    return DONE


def open_post(context: CommandContext, name: str | None) -> int:
    """Open the file of a post with the program that the system has for it; return the exit code.

    Its path is written too; where nobody is at a terminal, only that.
    """
    post = _find(context, name)
    path = PostStore(context.data).folder / post.file
    if context.session.json:
        context.session.write_json(_fields(context, post))
        return DONE
    context.write(display_path(path))
    if context.terminal is not None and click.launch(str(path)) != 0:
        context.say("not_opened", file=display_path(path))
    return DONE


def write_clipboard(data: bytes) -> None:
    """Ask the terminal to keep a text in its clipboard (OSC 52); tmux passes it on where it is allowed to."""
    text = base64.b64encode(data).decode()
    out = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else sys.stdout
    out.write(f"\x1b]52;c;{text}\x07")
    out.flush()


def _find(context: CommandContext, name: str | None) -> PostFile:
    """Return the post that a person names by its file or a part of it; without a name, the newest."""
    with PostStore(context.data) as store:
        names = store.names()
        wanted = (name or "").strip().rpartition("/")[2].casefold()
        parts = [wanted] if not wanted or wanted.isascii() else [topic_slug(wanted)]
        found = [one for one in names if one.casefold() in (wanted, f"{wanted}.md")] or [
            one for one in names if any(part in one.casefold() for part in parts)
        ]
        if not found:
            text = context.text("no_such_post", name=quote_path(name)) if name else context.text("no_saved_posts")
            raise FileMissing(text, path=quote_path(name or ""))
        if name is not None and len(found) > 1:
            listed = ", ".join(found[:_NAMED]) + ("…" if len(found) > _NAMED else "")
            text = context.text("several_posts", name=quote_path(name), list=listed)
            raise FileMissing(text, path=quote_path(name))
        return _read(store, found[0])


def _read(store: PostStore, name: str) -> PostFile:
    return parse_post(name, (store.read(name) or "").encode(), size=0, mtime_ns=0)


def _fields(context: CommandContext, post: PostFile) -> dict[str, object]:
    path: Path = PostStore(context.data).folder / post.file
    return {
        "file": post.file,
        "path": str(path.absolute()),
        "platform": post.platform,
        "topic": post.topic,
        "created": post.created,
        "profile_used": post.profile_used,
        "preview": post.preview,
    }


def _format(post: PostFile) -> str:
    topic = one_line(post.topic, MAX_TOPIC_CHARACTERS)
    return f"{post.created[:10]:<10}  {post.platform:<9}  {topic}  {post.file}"
