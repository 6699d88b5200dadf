"""Requests to the Notion API: the token, the version, rate limits, failures worth another try, one deadline for all.

Whoever asks gets the JSON object of a good answer, or ServiceFailed. The token goes to the one origin given and nowhere
else: redirects are not followed, and no message holds it.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

from toolroll.errors import JsonRefused, ServiceFailed
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.serialize import dump_json
from toolroll.packs.writing.notion.blocks import Json, text
from toolroll.safe.net.urls import is_loopback
from toolroll.safe.secrets.redact import redact
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    import httpx2

API_URL: Final = "https://api.notion.com"
API_VERSION: Final = "2026-03-11"
"""With data sources in databases (since 2025-09-03), and `in_trash` in place of `archived`."""

TIMEOUT_S: Final = 15.0
"""For all requests of one call together (W17)."""

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""A hundred blocks of a hundred texts of 2,000 characters would be 20 MB; pages that people write have a hundredth."""

PAUSES_S: Final = (0.5, 1.0, 2.0)
"""Before each further try, where the server does not say how long."""

_MAX_TOLD_WAIT_S: Final = 86_400.0
_SHOWN_CHARACTERS: Final = 200
_LIMITED: Final = 429
_CONFLICT: Final = 409
_SERVER_FAILED: Final = 500
_OK: Final = range(200, 300)

Method: TypeAlias = Literal["GET", "POST", "PATCH"]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class NotionClient:
    """The API, asked with one token from one event loop. Close it after the last request."""

    def __init__(
        self, token: str, *, base_url: str = API_URL, timeout_s: float = TIMEOUT_S, sleep: Sleep | None = None
    ) -> None:
        self.base_url: Final = base_url.rstrip("/")
        self.timeout_s: Final = timeout_s
        self._token = token.strip()
        self._sleep = sleep
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[None]:
        """Inside, everything together takes at most `timeout_s`; after that, ServiceFailed."""
        import asyncio  # noqa: PLC0415 - who waits for this has loaded it

        try:
            async with asyncio.timeout(self.timeout_s):
                yield
        except TimeoutError as error:
            raise ServiceFailed(f"Notion did not answer within {self.timeout_s:g} seconds.") from error

    async def get(self, path: str) -> Json:
        """The object at a path below `/v1/`; where the server fails, with further tries."""
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: Json) -> Json:
        """The answer to a POST; after a ServiceFailed without status or with 500 on, nobody knows if it was done."""
        return await self._ask("POST", path, body)

    async def patch(self, path: str, body: Json) -> Json:
        """The answer to a PATCH; a failure means what it does for `post`."""
        return await self._ask("PATCH", path, body)

    async def _ask(self, method: Method, path: str, body: Json | None) -> Json:
        for pause_s in PAUSES_S:
            try:
                return await self._once(method, path, body)
            except ServiceFailed as error:
                if not _may_pass(error, method):
                    raise
                wait_s = pause_s if error.retry_after_s is None else error.retry_after_s
                if wait_s > self.timeout_s:  # nobody is there any more when it ends
                    raise
            await self._pause(wait_s)
        return await self._once(method, path, body)

    async def _pause(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415 - as above

        await (self._sleep or asyncio.sleep)(seconds)

    async def _once(self, method: Method, path: str, body: Json | None) -> Json:
        content = None if body is None else dump_json(body).encode()
        answer = await self._send(method, f"{self.base_url}/v1/{path}", content)
        if answer.status not in _OK:
            raise self._refusal(answer)
        try:
            found = parse_json(answer.body, limit_bytes=MAX_ANSWER_BYTES)
        except JsonRefused as error:
            raise unreadable() from error
        if not isinstance(found, dict):
            raise unreadable()
        return found

    async def _send(self, method: Method, url: str, content: bytes | None) -> _Answer:
        import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who talks to Notion pays them

        try:
            async with self._line().stream(method, url, content=content) as response:
                read = bytearray()
                async for chunk in response.aiter_bytes():
                    read += chunk
                    if len(read) > MAX_ANSWER_BYTES:
                        raise ServiceFailed(f"Notion's answer has more than {MAX_ANSWER_BYTES:,} bytes.", status=200)
                return _Answer(status=response.status_code, headers=response.headers, body=bytes(read))
        except httpx2.TimeoutException as error:
            raise ServiceFailed(f"Notion did not answer within {self.timeout_s:g} seconds.") from error
        except httpx2.RequestError as error:
            raise ServiceFailed(f"Notion could not be reached ({type(error).__name__}).") from error

    def _line(self) -> "httpx2.AsyncClient":
        import httpx2  # noqa: PLC0415 - as above

        if self._client is None:
            self._client = httpx2.AsyncClient(
                headers={
                    "authorization": f"Bearer {_checked(self._token)}",
                    "content-type": "application/json",
                    "notion-version": API_VERSION,
                    "user-agent": "toolroll",
                },
                timeout=self.timeout_s,
                follow_redirects=False,
                # What is on this machine is not reached through a proxy, whatever the environment says.
                trust_env=not is_loopback(self.base_url),
                # Reading the certificates takes 30 ms; without TLS, nobody looks at them.
                verify=not self.base_url.startswith("http://"),
            )
        return self._client

    def _refusal(self, answer: _Answer) -> ServiceFailed:
        code, said = _problem(answer.body)
        told = redact(": ".join(part for part in (code, said) if part), known=(self._token,))
        words = one_line(told, _SHOWN_CHARACTERS)
        message = f"Notion answered with status {answer.status}. {words}".rstrip()
        return ServiceFailed(message, status=answer.status, retry_after_s=_told_wait_s(answer))


def unreadable() -> ServiceFailed:
    """What is said of an answer that has not the promised form."""
    return ServiceFailed("Notion sent an answer that cannot be read.", status=200)


def _may_pass(error: ServiceFailed, method: Method) -> bool:
    """Whether another try makes sense: after a rate limit or a conflict always, as then nothing was done.

    After a failure of the server, a page that is asked for again is the same page; one that is made again is a second.
    """
    if error.status in (_LIMITED, _CONFLICT):
        return True
    return method == "GET" and (error.status is None or error.status >= _SERVER_FAILED)


def _told_wait_s(answer: _Answer) -> float | None:
    told = answer.headers.get("retry-after", "")
    if answer.status < _LIMITED or not (told.isascii() and told.isdigit()):
        return None
    # Twelve digits are the next 30,000 years; more are no number of seconds.
    return min(float(told[:12]), _MAX_TOLD_WAIT_S)


def _problem(body: bytes) -> tuple[str, str]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    return (text(found.get("code")), text(found.get("message"))) if isinstance(found, dict) else ("", "")


def _checked(token: str) -> str:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ServiceFailed("NOTION_TOKEN has characters that no token has. Copy it again.", status=401)
    return token
