"""Errors of the HTTP API: problem details (RFC 9457) with the stable codes of toolroll."""

from typing import TYPE_CHECKING, Final

from toolroll.errors import (
    DecisionRefused,
    FileMissing,
    JournalRefused,
    RunMissing,
    ToolrollError,
    UrlRefused,
    UsageError,
)
from toolroll.lazy import load

if TYPE_CHECKING:
    from starlette.responses import JSONResponse

MEDIA_TYPE: Final = "application/problem+json"

_TITLES: Final = {
    400: "The request is not valid",
    401: "A token is needed",
    403: "The token does not allow this",
    404: "Not found",
    405: "Method not allowed",
    408: "The request took too long",
    409: "Not possible in this state",
    413: "The request is too large",
    415: "The body must be JSON",
    421: "Unknown host",
    500: "Something unexpected went wrong",
    503: "Not available at the moment",
}


class Problem(Exception):
    """A request that is refused: the status, a stable code, and a sentence for the person."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status: int = status
        self.code: str = code
        self.detail: str = detail


def problem_response(problem: Problem) -> "JSONResponse":
    """Return the answer that says what is wrong."""
    body = {
        "type": "about:blank",
        "title": _TITLES.get(problem.status, "Refused"),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
    }
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else None  # noqa: PLR2004 - an HTTP status
    # Three interpreter starts: a page that nobody refuses does without.
    make: type[JSONResponse] = load("starlette.responses:JSONResponse")
    return make(body, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers)


def problem_of(error: ToolrollError) -> Problem:
    """Return the problem that an error of toolroll is for who asks over HTTP."""
    match error:
        case UsageError() | UrlRefused():
            status = 400
        case FileMissing() | RunMissing():
            status = 404
        case DecisionRefused():
            status = 409
        case JournalRefused():
            status = 503
        case _:
            status = 500
    return Problem(status, error.code, str(error.message))
