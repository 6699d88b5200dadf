"""What `toolroll serve` and `toolroll tokens` do."""

import os
from importlib.util import find_spec
from pathlib import Path

from toolroll.apps.explore import ExploreOptions, check_token
from toolroll.apps.jobs import open_jobs
from toolroll.apps.project import ResearchPlace
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.errors import UsageError
from toolroll.home.tokens import Scope, TokenBook
from toolroll.kernel.call.context import utc_now
from toolroll.lazy import load


def serve_api(
    session: Session,
    *,
    api: bool,  # noqa: ARG001 - the page is to come; until then the option says what is served
    port: int,
    host: str,
    names: tuple[str, ...],
    concurrency: int,
    root: Path | None,
    ideas: Path | None,
    repo: str | None,
    branch: str | None,
) -> int:
    """Serve until SIGTERM or Ctrl-C; return the exit code."""
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        raise UsageError("The service needs two more packages. Install them: pip install 'toolroll[web]'")
    place = ResearchPlace(ideas=None if ideas is None else str(ideas.absolute()), repo=repo, branch=branch)
    check_token(place, os.environ)
    book = TokenBook.from_environment(os.environ)
    if not book.tokens():
        notify("! There are no tokens yet, so that nobody can use it. Create one: toolroll tokens create NAME")
    folder = (root or Path.cwd()).resolve()
    options = ExploreOptions(
        idea="", mode="exploration", model="", ideas=place.ideas, repo=repo, branch=branch, folder=str(folder)
    )
    session.claim_stdout()
    session.set_up_logging()
    make_service, make_app = load("toolroll.web.api:Service"), load("toolroll.web.app:make_app")
    with open_jobs(os.environ) as store:
        service = make_service(store=store, tokens=book, environment=os.environ, folder=folder, place=options)
        local = load("toolroll.web.guard:LOCAL_NAMES")
        app = make_app(service, names={*local, *names}, slots=concurrency)

        def on_start(actual: int) -> None:
            if session.json:
                session.write_json({"url": f"http://{host}:{actual}"})
            else:
                session.show(f"Serving http://{host}:{actual}/api (Ctrl-C ends it).")

        load("toolroll.web.app:run_server")(app, host=host, port=port, on_start=on_start)
    return DONE


def create_token(session: Session, name: str, *, scopes: tuple[Scope, ...]) -> int:
    """Create a token, and show it; return the exit code."""
    secret = TokenBook.from_environment(os.environ).create(name, scopes, now=utc_now())
    if session.json:
        session.write_json({"name": name, "scopes": list(scopes), "token": secret})
    else:
        notify("Store it now; it cannot be shown again.")
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
