"""Who may use the page: the person who has the link of this launch. A browser that has it gets a cookie (S21, XW2)."""

import hmac
import secrets
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from toolroll.home.tokens import SCOPES, Token
from toolroll.kernel.call.context import utc_now
from toolroll.web.problems import Problem

MAX_SESSIONS: Final = 1_000
_SAFE_METHODS: Final = ("GET", "HEAD")
_RANDOM_BYTES: Final = 32


class Sessions:
    """The sessions of one launch, in memory: with the process they are gone, and so is its link."""

    def __init__(self, launch_token: str | None = None) -> None:
        self.launch_token: str = launch_token or secrets.token_urlsafe(_RANDOM_BYTES)
        self._ids: list[str] = []
        # Cookies of one host are shared by all its ports: each launch has a name of its own.
        self._cookie = f"toolroll_{secrets.token_hex(4)}"
        # What jobs of the page belong to; it is no token that could be sent.
        self._person = Token(name="page", sha256="0" * 64, scopes=SCOPES, created=utc_now())

    def open(self, given: str, response: Response) -> None:
        """Begin a session for whoever has the token of the launch; Problem for everybody else."""
        if not hmac.compare_digest(given.encode(), self.launch_token.encode()):
            raise Problem(401, "unauthorized", "This link is not valid any more. Open the one that the terminal shows.")
        session_id = secrets.token_urlsafe(_RANDOM_BYTES)
        self._ids = [*self._ids[-MAX_SESSIONS + 1 :], session_id]
        response.set_cookie(self._cookie, session_id, httponly=True, samesite="strict", path="/")

    def find(self, request: Request) -> Token | None:
        """Return the person behind a request with the cookie; None without it. Problem if another page sent it."""
        given = request.cookies.get(self._cookie, "")
        known = [one for one in self._ids if hmac.compare_digest(one.encode(), given.encode())]
        if not known:
            return None
        check_origin(request)
        return self._person


def check_origin(request: Request) -> None:
    """Refuse what another page made the browser send. A change must say that it comes from this page (XW2)."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _foreign()
    if request.method in _SAFE_METHODS:
        return
    origin = urlsplit(request.headers.get("origin", ""))
    if origin.netloc != request.headers["host"] or origin.scheme not in ("http", "https"):
        raise _foreign()


def _foreign() -> Problem:
    return Problem(403, "foreign_origin", "Only the page itself may ask for this.")
