"""What `toolroll serve` does. What it serves is in `site`, which is loaded while a browser already has the page."""

import secrets
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.errors import UsageError
from toolroll.lazy import load

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOCAL_ADDRESSES: Final = ("127.0.0.1", "localhost", "::1")
_TOKEN_BYTES: Final = 32
_SITE: Final = "toolroll.cli.actions.site"


def serve_page(
    session: Session,
    *,
    api: bool,
    is_opened: bool,
    port: int,
    host: str,
    names: tuple[str, ...],
    concurrency: int,
    root: Path | None,
    ideas: Path | None,
    repo: str | None,
    branch: str | None,
    data: Path | None = None,
    at: str = "",
) -> int:
    """Serve the page, or only the API, until SIGTERM or Ctrl-C; return the exit code."""
    _check_start(host, api=api)
    named = {"ideas": ideas, "repo": repo, "branch": branch}
    place = load(f"{_SITE}:find_place")(**named) if any(named.values()) else None  # what is wrong is said at once
    folder = (root or Path.cwd()).resolve()
    session.claim_stdout()
    session.set_up_logging()
    known = {*load("toolroll.web.guard:LOCAL_NAMES"), *names}
    token = None if api else secrets.token_urlsafe(_TOKEN_BYTES)

    def open_app() -> "AbstractContextManager[Starlette]":
        where = load(f"{_SITE}:find_place")(**named) if place is None else place
        opened: AbstractContextManager[Starlette] = load(f"{_SITE}:open_site")(
            folder, where, launch_token=token, data=data, names=known, slots=concurrency
        )
        return opened

    def on_start(actual: int) -> None:
        address = f"http://{host}:{actual}"
        # Behind the '#' the token stays in the browser: no log and no other page sees it.
        link = f"{address}/api" if token is None else f"{address}/#token={token}{at and f'&at={at}'}"
        if session.json:
            session.write_json({"url": address if token is None else link})
        else:
            session.show(f"Serving {link} (Ctrl-C ends it).")
        if token is not None and is_opened:
            Thread(target=load("webbrowser:open"), args=[link], daemon=True).start()  # some browsers keep it waiting

    if token is not None:
        load("toolroll.web.front:run_front")(open_app, names=known, host=host, port=port, on_start=on_start)
        return DONE
    if not load(f"{_SITE}:has_tokens")():
        notify("! There are no tokens yet, so that nobody can use it. Create one: toolroll tokens create NAME")
    with open_app() as app:
        load("toolroll.web.server:run_server")(app, host=host, port=port, on_start=on_start)
    return DONE


def _check_start(host: str, *, api: bool) -> None:
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        raise UsageError("The service needs two more packages. Install them: pip install 'toolroll[web]'")
    if not api and host not in LOCAL_ADDRESSES:
        raise UsageError(
            f"The page is for this machine only, and '{host}' can be reached from others. Serve the API there: --api"
        )
