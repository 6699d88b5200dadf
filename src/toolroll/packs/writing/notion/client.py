"""The Notion API: the token, the version, rate limits, failures that are worth another attempt, one deadline for all.

Every request returns the JSON object of a good answer or raises ServiceFailed. The token goes to the one origin given
and nowhere else: redirects are not followed, and no message holds it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from toolroll.errors import JsonRefused, ServiceFailed
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.serialize import dump_json
from toolroll.messages import (
    SERVICE_STATUS,
    SERVICE_STATUS_DETAIL,
    SERVICE_TIMEOUT,
    SERVICE_UNREADABLE,
    Template,
)
from toolroll.packs.writing.notion.blocks import Json, text
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key, Lang, say
from toolroll.safe.net.http import HttpClient, HttpLimits, HttpResponse, Method
from toolroll.safe.net.retries import Retries, Sleep, parse_retry_after
from toolroll.safe.secrets.redact import redact_shown
from toolroll.safe.text import one_line

ErrorCode: TypeAlias = Literal[
    "notion_not_configured",
    "page_not_found",
    "no_access",
    "notion_unauthorized",
    "invalid_page_id",
    "page_not_named",
    "notion_error",
]

TOKEN_MALFORMED: Final = Template(
    "notion_token_malformed", "NOTION_TOKEN holds characters that no token has.", "Copy it again."
)()

API_URL: Final = "https://api.notion.com"
API_VERSION: Final = "2026-03-11"
"""With data sources in databases (since 2025-09-03), and `in_trash` in place of `archived`."""

TIMEOUT_S: Final = 15.0
"""For all requests of one call together (W17)."""

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""A hundred blocks of a hundred texts of 2,000 characters would be 20 MB; pages that people write have a hundredth."""

PAUSES_S: Final = (0.5, 1.0, 2.0)
"""Before each further attempt, where the server does not say how long."""

_TEXTS: Final[Mapping[ErrorCode, Key]] = {
    "notion_not_configured": "notion_not_configured",
    "page_not_found": "notion_page_not_found",
    "no_access": "notion_no_access",
    "notion_unauthorized": "notion_unauthorized",
    "invalid_page_id": "notion_invalid_page",
    "page_not_named": "notion_page_not_named",
    "notion_error": "notion_error",
}
_BY_STATUS: Final[Mapping[int, ErrorCode]] = {401: "notion_unauthorized", 403: "no_access", 404: "page_not_found"}
_SERVICE: Final = "Notion"
_MAX_MESSAGE_CHARACTERS: Final = 200
_LIMITED: Final = 429
_CONFLICT: Final = 409
_SERVER_FAILED: Final = 500
_OK: Final = range(200, 300)


class NotionClient:
    """Sends requests with one token from one event loop. Close it after the last request."""

    def __init__(
        self, token: str, *, base_url: str = API_URL, timeout_s: float = TIMEOUT_S, sleep: Sleep | None = None
    ) -> None:
        self.base_url: Final = base_url.rstrip("/")
        self.timeout_s: Final = timeout_s
        self._token = token.strip()
        self._http = HttpClient(HttpLimits(total_s=timeout_s, body_bytes=MAX_ANSWER_BYTES))
        # A longer wait than the deadline is reported instead: nobody is there any more when it ends.
        self._retries = Retries(pauses_s=PAUSES_S, max_wait_s=timeout_s, sleep=sleep)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[None]:
        """Bound everything inside together by `timeout_s`; after that, raise ServiceFailed."""
        try:
            async with asyncio.timeout(self.timeout_s):
                yield
        except TimeoutError as error:
            raise ServiceFailed(SERVICE_TIMEOUT(service=_SERVICE, seconds=f"{self.timeout_s:g}")) from error

    async def get(self, path: str) -> Json:
        """Return the object at a path below `/v1/`, with further attempts if the server fails."""
        return await self._request("GET", path, None)

    async def post(self, path: str, body: Json) -> Json:
        """Return the answer to a POST; after a ServiceFailed without status or from 500 on, it may have been done."""
        return await self._request("POST", path, body)

    async def patch(self, path: str, body: Json) -> Json:
        """Return the answer to a PATCH; a failure means the same as for `post`."""
        return await self._request("PATCH", path, body)

    async def _request(self, method: Method, path: str, body: Json | None) -> Json:
        return await self._retries.run(
            partial(self._attempt, method, path, body), should_retry=partial(_should_retry, method=method)
        )

    async def _attempt(self, method: Method, path: str, body: Json | None) -> Json:
        answer = await self._http.request(
            method,
            f"{self.base_url}/v1/{path}",
            service=_SERVICE,
            headers={
                "authorization": f"Bearer {_check_token(self._token)}",
                "content-type": "application/json",
                "notion-version": API_VERSION,
            },
            content=None if body is None else dump_json(body).encode(),
        )
        if answer.status not in _OK:
            raise self._status_error(answer)
        try:
            found = parse_json(answer.body, limit_bytes=MAX_ANSWER_BYTES)
        except JsonRefused as error:
            raise unreadable_error() from error
        if not isinstance(found, dict):
            raise unreadable_error()
        return found

    def _status_error(self, answer: HttpResponse) -> ServiceFailed:
        code, said = _problem(answer.body)
        words = redact_shown(": ".join(part for part in (code, said) if part), known=(self._token,))
        detail = one_line(words, _MAX_MESSAGE_CHARACTERS)
        template = SERVICE_STATUS_DETAIL if detail else SERVICE_STATUS
        message = template(service=_SERVICE, status=answer.status, detail=detail)
        wait_s = parse_retry_after(answer.headers) if answer.status >= _LIMITED else None
        return ServiceFailed(message, status=answer.status, retry_after_s=wait_s)


def unreadable_error() -> ServiceFailed:
    """Return the error for an answer that has not the documented form."""
    return ServiceFailed(SERVICE_UNREADABLE(service=_SERVICE), status=200)


def _should_retry(error: ServiceFailed, *, method: Method) -> bool:
    """Return whether another attempt makes sense: after a rate limit or a conflict always, since nothing was done.

    After a failure of the server, a page that is asked for again is the same page; one that is made again is a second.
    """
    if error.status in (_LIMITED, _CONFLICT):
        return True
    return method == "GET" and (error.status is None or error.status >= _SERVER_FAILED)


def _problem(body: bytes) -> tuple[str, str]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    return (text(found.get("code")), text(found.get("message"))) if isinstance(found, dict) else ("", "")


def _check_token(token: str) -> str:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ServiceFailed(TOKEN_MALFORMED, status=401)
    return token


def error_code(error: ServiceFailed) -> ErrorCode:
    """Return the code for what went wrong."""
    return _BY_STATUS.get(error.status or 0, "notion_error")


def describe_notion_error(
    code: ErrorCode, lang: Lang, *, detail: ServiceFailed | None = None, missing: str = "NOTION_TOKEN"
) -> str:
    """Return the message for the person; an error without a text of its own says what the service answered."""
    message = say(_TEXTS[code], lang, missing=missing)
    return f"{message} {describe_error(detail, lang)}" if code == "notion_error" and detail is not None else message
