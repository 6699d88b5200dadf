"""A whole document in Markdown: rendered at a terminal, as it is elsewhere."""

import os

from toolroll.cli.render.live.markdown import render_markdown
from toolroll.cli.render.live.region import Region
from toolroll.cli.session import Session


def show_markdown(session: Session, text: str) -> None:
    """Write Markdown to stdout: laid out for a person at a terminal, and otherwise, or with `--plain`, as it is."""
    if session.plain or not session.out.isatty():
        session.write(text)
        return
    region = Region(session.out, environment=os.environ)
    region.write(render_markdown(text, region.size[0], region.console))
    region.draw()
    region.clear()
