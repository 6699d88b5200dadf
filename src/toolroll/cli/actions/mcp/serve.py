"""What `toolroll mcp` does: it serves tools to the models of other programs."""

import asyncio
import os
import secrets
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path

from toolroll.apps.project import Project, ResearchPlace
from toolroll.apps.run_log import RunLog, open_journal
from toolroll.apps.surface import Surface
from toolroll.cli.actions.mcp.endpoint import PATH, LazyEndpoint, make_finder
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.surface import show_note
from toolroll.errors import UsageError
from toolroll.home.tokens import TokenBook
from toolroll.lazy import load

_HOST = "127.0.0.1"
_RANDOM_BYTES = 32


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
    http: bool,
    port: int | None,
    names: tuple[str, ...],
) -> int:
    """Serve over stdin and stdout until the client is gone, or over HTTP until Ctrl-C; return the exit code."""
    check_sdk()
    if not http and (port is not None or names):
        raise UsageError("--port and --name are for --http.")
    session.set_up_logging()
    session.claim_stdout()  # before anything is loaded: a module may print
    options = load("toolroll.mcp.server.build:ServerOptions")(
        root=(root or Path.cwd()).resolve(),
        packs=packs,
        sources=sources,
        read_only=read_only,
        yes=yes,
        data=data,
        place=ResearchPlace(ideas=None if ideas is None else str(ideas), repo=repo, branch=branch),
    )
    with closing(open_journal(os.environ)) as journal, ExitStack() as stack:
        server = make_server(options, journal, stack)
        if http:
            _serve_http(session, server, port=port, names=names)
        else:
            asyncio.run(load("toolroll.mcp.server.stdio:serve_stdio")(server, session.out))
    return DONE


def make_server(options: object, journal: RunLog, stack: ExitStack) -> object:
    """Return the server for these options; what it needs is open as long as the stack."""
    root: Path = options.root  # type: ignore[attr-defined]  # ServerOptions, of a module that is loaded when it is used
    project = stack.enter_context(Project.open(root, os.environ))
    surface = Surface(environment=os.environ, notify=show_note)
    made: object = load("toolroll.mcp.server.build:build_server")(
        options, project=project, surface=surface, journal=journal
    )
    return made


def _serve_http(session: Session, server: object, *, port: int | None, names: tuple[str, ...]) -> None:
    known = {*load("toolroll.web.guard:LOCAL_NAMES"), *names}
    launch_token = secrets.token_urlsafe(_RANDOM_BYTES)
    find = make_finder(TokenBook.from_environment(os.environ), launch_token)
    endpoint = LazyEndpoint(lambda _stack: server, names=known, find=find)
    app = load("toolroll.web.app:make_guarded")({PATH: endpoint}, names=known)

    def on_start(actual: int) -> None:
        url = f"http://{_HOST}:{actual}{PATH}"
        if session.json:
            session.write_json({"url": url, "token": launch_token})
            return
        session.show(f"Serving {url} (Ctrl-C ends it). The client sends this header:\n")
        session.write(f"  Authorization: Bearer {launch_token}\n")
        session.show(
            "The token ends with this command; 'toolroll tokens create NAME --scope mcp' makes one that stays."
        )

    load("toolroll.web.server:run_server")(app, host=_HOST, port=8_421 if port is None else port, on_start=on_start)


def check_sdk() -> None:
    """Refuse to begin without the SDK, and say how to install it."""
    if find_spec("mcp") is None:
        raise UsageError("MCP needs one more package. Install it: pip install 'toolroll[mcp]'")
