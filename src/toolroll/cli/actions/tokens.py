"""What `toolroll tokens` does."""

import os

from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.home.tokens import Scope, TokenBook
from toolroll.home.webhook_secret import WebhookSecret
from toolroll.kernel.call.context import utc_now


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
