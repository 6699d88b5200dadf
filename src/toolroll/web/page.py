"""The files of the page: served from the package, with a policy that loads nothing from elsewhere (S21, XW4)."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.web.problems import Problem, problem_response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

FOLDER: Final = Path(__file__).parent / "static"
PREFIX: Final = "/static/"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_METHODS: Final = ("GET", "HEAD")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
)


def is_page_path(path: str) -> bool:
    """Return whether a path is that of the page or of one of its files."""
    return path == "/" or path.startswith(PREFIX)


class PageFiles:
    """An application of the page's files alone. It needs no framework, so that a browser has them at once."""

    def __init__(self) -> None:
        found = (file for file in sorted(FOLDER.rglob("*")) if file.suffix in _TYPES and file.is_file())
        self._files = {f"{PREFIX}{file.relative_to(FOLDER).as_posix()}": file for file in found}
        self._files["/"] = FOLDER / "index.html"

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Send a file. Only names that are in the package: nothing is looked up by what the request says."""
        file = self._files.get(scope["path"])
        if file is None or scope["method"] not in _METHODS:
            missing = Problem(404, "not_found", "There is no such file.")
            refused = Problem(405, "method_not_allowed", "There is nothing here, or not by this method.")
            await problem_response(missing if file is None else refused)(scope, receive, send)
            return
        body = file.read_bytes()
        kinds = [(b"content-type", _TYPES[file.suffix].encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": [*kinds, *_HEADERS]})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})
