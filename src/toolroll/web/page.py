"""The files of the page: served from the package, with a policy that loads nothing from elsewhere (S21, XW4)."""

from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolroll.web.problems import Problem, problem_response

FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


def page_routes() -> list[Route]:
    """Return the routes of the page and its files."""
    found = (file for file in sorted(FOLDER.rglob("*")) if file.is_file() and file.suffix in _TYPES)
    files = {str(file.relative_to(FOLDER)): file for file in found}

    async def show_page(_request: Request) -> Response:
        return _respond(FOLDER / "index.html")

    async def show_file(request: Request) -> Response:
        # Only names that are in the package are served: nothing is looked up by what the request says.
        file = files.get(request.path_params["path"])
        if file is None:
            return problem_response(Problem(404, "not_found", "There is no such file."))
        return _respond(file)

    return [Route("/", show_page), Route("/static/{path:path}", show_file)]


def _respond(file: Path) -> Response:
    return Response(file.read_bytes(), headers={**_HEADERS, "content-type": _TYPES[file.suffix]})
