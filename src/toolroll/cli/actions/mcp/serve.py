"""What `toolroll mcp` does: it serves tools to the models of other programs."""

import asyncio
import os
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from toolroll.apps.project import Project, ResearchPlace
from toolroll.apps.run_log import open_journal
from toolroll.apps.surface import Surface
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.surface import show_note
from toolroll.errors import UsageError
from toolroll.lazy import load


def serve_tools(
    session: Session,
    *,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
    root: Path | None,
    data: Path | None,
    ideas: Path | None,
    repo: str | None,
    branch: str | None,
    read_only: bool,
    yes: bool,
) -> int:
    """Serve over stdin and stdout until the client is gone; return the exit code."""
    check_sdk()
    session.set_up_logging()
    folder = (root or Path.cwd()).resolve()
    options = load("toolroll.mcp.server.build:ServerOptions")(
        root=folder,
        packs=packs,
        sources=sources,
        read_only=read_only,
        yes=yes,
        data=data,
        place=ResearchPlace(ideas=None if ideas is None else str(ideas), repo=repo, branch=branch),
    )
    surface = Surface(environment=os.environ, notify=show_note)
    with Project.open(folder, os.environ) as project, closing(open_journal(os.environ)) as journal:
        server = load("toolroll.mcp.server.build:build_server")(
            options, project=project, surface=surface, journal=journal
        )
        asyncio.run(load("toolroll.mcp.server.stdio:serve_stdio")(server))
    return DONE


def check_sdk() -> None:
    """Refuse to begin without the SDK, and say how to install it."""
    if find_spec("mcp") is None:
        raise UsageError("MCP needs one more package. Install it: pip install 'toolroll[mcp]'")
