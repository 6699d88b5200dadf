"""What `toolroll serve` and `toolroll tokens` do."""

import os
import webbrowser
from collections.abc import Collection
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Final, cast

from toolroll.apps.explore import ExploreOptions, check_token
from toolroll.apps.jobs import JobStore, open_jobs
from toolroll.apps.project import ResearchPlace
from toolroll.apps.run_log import RunLog
from toolroll.cli.actions.mcp.endpoint import PATH, LazyEndpoint, make_finder
from toolroll.cli.actions.mcp.serve import make_server
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.errors import UsageError
from toolroll.home.tokens import Scope, TokenBook
from toolroll.home.webhook_secret import WebhookSecret
from toolroll.kernel.call.context import utc_now
from toolroll.lazy import load
from toolroll.packs.writing.tools.dependencies import data_folder

LOCAL_ADDRESSES: Final = ("127.0.0.1", "localhost", "::1")


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
    place = ResearchPlace(ideas=None if ideas is None else str(ideas.absolute()), repo=repo, branch=branch)
    check_token(place, os.environ)
    book = TokenBook.from_environment(os.environ)
    if api and not book.tokens():
        notify("! There are no tokens yet, so that nobody can use it. Create one: toolroll tokens create NAME")
    folder = (root or Path.cwd()).resolve()
    options = ExploreOptions(
        idea="", mode="exploration", model="", ideas=place.ideas, repo=repo, branch=branch, folder=str(folder)
    )
    session.claim_stdout()
    session.set_up_logging()
    make_service, make_app = load("toolroll.web.api:Service"), load("toolroll.web.app:make_app")
    sessions = None if api else load("toolroll.web.sessions:Sessions")()
    with open_jobs(os.environ) as store:
        service = make_service(
            store=store,
            tokens=book,
            environment=os.environ,
            folder=folder,
            place=options,
            sessions=sessions,
            data=data or _find_data(),
            doctor=lambda: load("toolroll.cli.actions.doctor.report:describe_everything")(folder),
        )
        known = {*load("toolroll.web.guard:LOCAL_NAMES"), *names}
        app = make_app(service, names=known, slots=concurrency, mounted=_mount_mcp(folder, place, store, book, known))
        place_at = at and f"&at={at}"

        def on_start(actual: int) -> None:
            address = f"http://{host}:{actual}"
            # Behind the '#' the token stays in the browser: no log and no other page sees it.
            link = f"{address}/api" if sessions is None else f"{address}/#token={sessions.launch_token}{place_at}"
            if session.json:
                session.write_json({"url": address if sessions is None else link})
            else:
                session.show(f"Serving {link} (Ctrl-C ends it).")
            if sessions is not None and is_opened:
                Thread(target=webbrowser.open, args=[link], daemon=True).start()  # some browsers keep it waiting

        load("toolroll.web.app:run_server")(app, host=host, port=port, on_start=on_start)
    return DONE


def _find_data() -> Path | None:
    """The folder of a writer here; None for the one in the home, also where nobody has trusted the one here."""
    try:
        return data_folder()
    except UsageError:
        return None


def _mount_mcp(
    folder: Path, place: ResearchPlace, store: JobStore, book: TokenBook, names: Collection[str]
) -> dict[str, LazyEndpoint]:
    """The tools of the folder for MCP clients that have a token, if the SDK is there."""
    if find_spec("mcp") is None:
        return {}
    journal = cast("RunLog", store.journal)  # as `open_jobs` opens it

    def make(stack: ExitStack) -> object:
        return make_server(load("toolroll.mcp.server.build:ServerOptions")(root=folder, place=place), journal, stack)

    return {PATH: LazyEndpoint(make, names=names, find=make_finder(book))}


def _check_start(host: str, *, api: bool) -> None:
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        raise UsageError("The service needs two more packages. Install them: pip install 'toolroll[web]'")
    if not api and host not in LOCAL_ADDRESSES:
        raise UsageError(
            f"The page is for this machine only, and '{host}' can be reached from others. Serve the API there: --api"
        )


def create_token(session: Session, name: str, *, scopes: tuple[Scope, ...]) -> int:
    """Create a token, and show it; return the exit code."""
    secret = TokenBook.from_environment(os.environ).create(name, scopes, now=utc_now())
    if session.json:
        session.write_json({"name": name, "scopes": list(scopes), "token": secret})
    else:
        notify("Store it now; it cannot be shown again.")
        session.write(secret)
    return DONE


def create_webhook_secret(session: Session, *, is_new: bool) -> int:
    """Create the secret for webhooks, and show it; return the exit code."""
    secret = WebhookSecret.from_environment(os.environ).create(replace=is_new)
    if session.json:
        session.write_json({"secret": secret})
    else:
        notify("Give it to the receiver now; it cannot be shown again.")
        session.write(secret)
    return DONE


def list_tokens(session: Session) -> int:
    """List the tokens; return the exit code."""
    tokens = TokenBook.from_environment(os.environ).tokens()
    if session.json:
        shown = [{"name": one.name, "scopes": list(one.scopes), "created": one.created.isoformat()} for one in tokens]
        session.write_json({"tokens": shown})
    elif tokens:
        session.show("\n".join(f"{one.name:<20} {', '.join(one.scopes)}" for one in tokens))
    else:
        notify("There are no tokens. Create one: toolroll tokens create NAME")
    return DONE


def revoke_token(session: Session, name: str) -> int:
    """Revoke a token; return the exit code."""
    if not TokenBook.from_environment(os.environ).revoke(name):
        session.fail("not_found", f"There is no token '{name}'. See 'toolroll tokens list'.")
        return FAILED
    if session.json:
        session.write_json({"revoked": name})
    else:
        session.show(f"Revoked: {name}.")
    return DONE
