"""`ghostpen serve`: the page of toolroll, opened at the writer's desk."""

from pathlib import Path
from typing import Final

import click

from toolroll.cli.lazy import lazily
from toolroll.cli.options import output_options
from toolroll.cli.session import Session

_serve_page: Final = lazily("toolroll.cli.actions.serve:serve_page")
_data_folder: Final = lazily("toolroll.packs.writing.tools.dependencies:data_folder")


@click.command()
@click.option("--open/--no-open", "is_opened", default=True, help="Open the page in the browser (default: yes).")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_420, metavar="N", help="The port (default: 8420).")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The folder of profiles and posts (default: ./data if it exists, else one in your home).",
)
@output_options
@click.pass_obj
def serve(session: Session, *, is_opened: bool, port: int, data: Path | None) -> int:
    """Open a page to write on: drafts as LinkedIn, Instagram and X show them, feedback with one tap, profiles.

    It is the page of 'toolroll serve', opened at the desk. It answers on this machine only, and the link that it prints
    lets in whoever has it, until the command ends. Needs pip install 'toolroll[web]'.

    \b
    Examples:
      ghostpen serve
      ghostpen serve --data ~/posts --no-open
    """

    code: int = _serve_page(
        session,
        api=False,
        is_opened=is_opened,
        port=port,
        host="127.0.0.1",
        names=(),
        concurrency=4,
        root=None,
        ideas=None,
        repo=None,
        branch=None,
        data=_data_folder(data).absolute(),
        at="write",
    )
    return code
