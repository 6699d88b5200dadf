"""The commands of `ghostpen posts`: what they take; the work is done in `posts`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.ghostpen.commands import place_options
from toolroll.cli.lazy import lazily
from toolroll.cli.options import limit_option, output_options
from toolroll.cli.session import Session

if TYPE_CHECKING:
    from toolroll.cli.ghostpen.context import CommandContext

_complete_posts: Final = lazily("toolroll.cli.actions.completion:complete_posts")
_run_command: Final = lazily("toolroll.cli.ghostpen.context:run_command")
_list_posts: Final = lazily("toolroll.cli.ghostpen.posts:list_posts")
_show_post: Final = lazily("toolroll.cli.ghostpen.posts:show_post")
_copy_post: Final = lazily("toolroll.cli.ghostpen.posts:copy_post")
_open_post: Final = lazily("toolroll.cli.ghostpen.posts:open_post")


@click.group()
def posts() -> None:
    """List, show, copy and open the posts you saved.

    \b
    Examples:
      ghostpen posts list
      ghostpen posts copy          the newest, into the clipboard
      ghostpen posts show burnout
    """


@posts.command("list", short_help="List the posts, the newest first.")
@limit_option(20)
@place_options
@output_options
@click.pass_obj
def list_(session: Session, *, limit: int, data: Path | None, lang: str | None) -> int:
    """List the saved posts, the newest first: date, platform, topic and file.

    \b
    Example:
      ghostpen posts list --limit 5
    """

    return _run(session, lambda context: _list_posts(context, limit), data=data, lang=lang)


@posts.command(short_help="Write a post as it is to be published.")
@click.argument("name", required=False, shell_complete=_complete_posts)
@place_options
@output_options
@click.pass_obj
def show(session: Session, name: str | None, *, data: Path | None, lang: str | None) -> int:
    """Write the post NAME, without its header: its file or a part of it; without NAME, the newest.

    \b
    Examples:
      ghostpen posts show
      ghostpen posts show burnout > post.txt
    """

    return _run(session, lambda context: _show_post(context, name), data=data, lang=lang)


@posts.command(short_help="Copy a post into the clipboard.")
@click.argument("name", required=False, shell_complete=_complete_posts)
@place_options
@output_options
@click.pass_obj
def copy(session: Session, name: str | None, *, data: Path | None, lang: str | None) -> int:
    """Copy the post NAME, or the newest, into the clipboard of your terminal, also over ssh (OSC 52).

    Without a terminal the text goes to stdout. In tmux, allow it once: set -g set-clipboard on.

    \b
    Example:
      ghostpen posts copy
    """

    return _run(session, lambda context: _copy_post(context, name), data=data, lang=lang)


@posts.command("open", short_help="Open the file of a post.")
@click.argument("name", required=False, shell_complete=_complete_posts)
@place_options
@output_options
@click.pass_obj
def open_(session: Session, name: str | None, *, data: Path | None, lang: str | None) -> int:
    """Open the file of the post NAME, or of the newest, with the program that your system has for it.

    \b
    Example:
      ghostpen posts open burnout
    """

    return _run(session, lambda context: _open_post(context, name), data=data, lang=lang)


def _run(session: Session, work: "Callable[[CommandContext], int]", *, data: Path | None, lang: str | None) -> int:
    code: int = _run_command(session, work, data=data, lang=lang)
    return code
