"""Requests to the GitHub API: the token, rate limits, unchanged answers, failures worth another try.

Whoever asks gets an answer with its status, or ServiceFailed. The token goes to the one origin that the user named and
nowhere else: a redirect to another one is not followed (XW8).
"""

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from pydantic import BaseModel, ValidationError

from toolroll.errors import ServiceFailed, UsageError
from toolroll.kernel.call.context import utc_now
from toolroll.safe.net.urls import check_service_url, is_loopback
from toolroll.safe.secrets.redact import redact
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    import httpx2

JSON: Final = "application/vnd.github+json"
RAW: Final = "application/vnd.github.raw+json"

API_VERSION: Final = "2022-11-28"
TIMEOUT_S: Final = 15.0
"""GitHub itself ends a request after 10 seconds; the rest is for the network."""

MAX_WAIT_S: Final = 10.0
"""For a rate limit to end: a run that stands still for longer is better told."""

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""A recursive tree has at most 7 MB, a file that is changed 8."""

MAX_REMEMBERED: Final = 256
MAX_REMEMBERED_BYTES: Final = 131_072
"""Of one answer that is kept for its ETag: 50 KB in base64 with what is around it."""

PAUSES_S: Final = (0.5, 2.0)
"""Before each further try at a server that failed: most of its failures are over within a second."""

_MAX_REDIRECTS: Final = 3  # a repository that was renamed leads once; transferred and renamed, twice
_MAX_TOLD_WAIT_S: Final = 86_400.0  # GitHub's windows are an hour; what claims more than a day is no date at all
_UNKNOWN_WAIT_S: Final = 60.0  # what GitHub's documentation asks for where it does not say how long
_SHOWN_CHARACTERS: Final = 200
_LIMITED: Final = frozenset({403, 429})
_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_NOT_MODIFIED: Final = 304
_SERVER_FAILED: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server said, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Problem(BaseModel):
    message: str = ""


class GitHubApi:
    """One server, asked on behalf of one user, from one event loop. Close it after the last request."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = TIMEOUT_S,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        self.base_url: Final = check_service_url(
            base_url, service="a GitHub API", example="https://github.example.com/api/v3"
        )
        self._token = _check_token(token)
        self._timeout_s = timeout_s
        self._clock = clock
        self._sleep = sleep
        self._client: httpx2.AsyncClient | None = None
        self._blocked_until = datetime.min.replace(tzinfo=UTC)
        self._remembered: OrderedDict[tuple[str, str], Answer] = OrderedDict()

    async def get(self, path: str, *, accept: str = JSON) -> Answer:
        """The answer to a GET of `path` below the base address, with another try where the server failed.

        One that has not changed since it was last asked for costs nothing of the rate limit.
        """
        url = f"{self.base_url}/{path}"
        for pause_s in PAUSES_S:
            try:
                return await self._get(url, accept)
            except ServiceFailed as error:
                if error.retry_after_s is not None:
                    raise
            await self.pause(pause_s)
        return await self._get(url, accept)

    async def put(self, path: str, body: Mapping[str, object]) -> Answer:
        """The answer to a PUT; after a ServiceFailed without `retry_after_s`, nobody knows whether it was done."""
        return await self._ask("PUT", f"{self.base_url}/{path}", {"accept": JSON}, json.dumps(body).encode())

    async def pause(self, seconds: float) -> None:
        """Wait."""
        import asyncio  # noqa: PLC0415 - who waits has loaded it

        await (self._sleep or asyncio.sleep)(seconds)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def said(self, answer: Answer) -> str:
        """What the server says of itself about a failure, in one line without secrets; empty if nothing."""
        try:
            problem = _Problem.model_validate_json(answer.body)
        except ValidationError:
            return ""
        return self._told(problem.message)

    async def _get(self, url: str, accept: str) -> Answer:
        for _ in range(_MAX_REDIRECTS):
            answer = await self._get_there(url, accept)
            if answer.status not in _REDIRECTS:
                return answer
            url = self._redirected(url, answer)
        raise ServiceFailed("GitHub sends requests in circles.")

    async def _get_there(self, url: str, accept: str) -> Answer:
        known = self._remembered.get((url, accept))
        headers = {"accept": accept} | ({"if-none-match": known.headers["etag"]} if known else {})
        answer = await self._ask("GET", url, headers)
        if known and answer.status == _NOT_MODIFIED:
            self._remembered.move_to_end((url, accept))
            return known
        if answer.status == 200 and "etag" in answer.headers and len(answer.body) <= MAX_REMEMBERED_BYTES:  # noqa: PLR2004 - OK
            self._remembered[url, accept] = answer
            if len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)
        return answer

    def _redirected(self, url: str, answer: Answer) -> str:
        target = urljoin(url, answer.headers.get("location", ""))
        if urlsplit(target)[:2] != urlsplit(self.base_url)[:2]:
            raise ServiceFailed("GitHub sends the request to another server, which is not followed.")
        return target

    async def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """One request, and a second one where a rate limit ends soon."""
        await self._wait_for_limit()
        answer = await self._send(method, url, headers, body)
        if self._is_limited(answer):
            await self._wait_for_limit()
            answer = await self._send(method, url, headers, body)
            if self._is_limited(answer):
                raise self._limited()
        if answer.status >= _SERVER_FAILED:
            raise ServiceFailed(
                f"GitHub failed with status {answer.status}. {self.said(answer)}".rstrip(), status=answer.status
            )
        return answer

    def _is_limited(self, answer: Answer) -> bool:
        """Whether this was the rate limit; then everything waits until it ends: asking on can get a user banned."""
        wait_s = rate_limit_wait_s(answer, now=self._clock())
        if wait_s is None:
            return False
        self._blocked_until = self._clock() + timedelta(seconds=wait_s)
        return True

    async def _wait_for_limit(self) -> None:
        left_s = self._left_s()
        if left_s > MAX_WAIT_S:
            raise self._limited()
        if left_s > 0:
            await self.pause(left_s)

    def _left_s(self) -> float:
        return max((self._blocked_until - self._clock()).total_seconds(), 0.0)

    def _limited(self) -> ServiceFailed:
        left_s, until = self._left_s(), f"{self._blocked_until:%H:%M:%S} UTC"
        advice = "" if self._token else " With a token in GITHUB_TOKEN the limit is higher."
        text = f"GitHub's rate limit is reached; it ends at {until}, in {left_s:.0f} seconds.{advice}"
        return ServiceFailed(text, status=429, retry_after_s=left_s)

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who talks to GitHub pays them

        try:
            async with self._line().stream(method, url, headers=headers, content=body) as response:
                read = bytearray()
                async for chunk in response.aiter_bytes():
                    read += chunk
                    if len(read) > MAX_ANSWER_BYTES:
                        raise ServiceFailed(f"GitHub's answer has more than {MAX_ANSWER_BYTES:,} bytes.")
                return Answer(status=response.status_code, headers=response.headers, body=bytes(read))
        except httpx2.TimeoutException as error:
            raise ServiceFailed(f"GitHub did not answer within {self._timeout_s:g} seconds.") from error
        except httpx2.RequestError as error:
            said = self._told(str(error)) or type(error).__name__
            raise ServiceFailed(f"GitHub could not be reached: {said}") from error

    def _line(self) -> "httpx2.AsyncClient":
        import httpx2  # noqa: PLC0415 - as above

        if self._client is None:
            headers = {"user-agent": "toolroll", "x-github-api-version": API_VERSION}
            if self._token:
                headers["authorization"] = f"Bearer {self._token}"
            self._client = httpx2.AsyncClient(
                headers=headers,
                timeout=self._timeout_s,
                follow_redirects=False,
                # What is on this machine is not reached through a proxy, whatever the environment says.
                trust_env=not is_loopback(self.base_url),
                # Reading the certificates takes 30 ms; without TLS, nobody looks at them.
                verify=not self.base_url.startswith("http://"),
            )
        return self._client

    def _told(self, text: str) -> str:
        return one_line(redact(text, known=(self._token,) if self._token else ()), _SHOWN_CHARACTERS)


def rate_limit_wait_s(answer: Answer, *, now: datetime) -> float | None:
    """How long a rate limit asks to wait, at least 0; None where the answer is about something else."""
    if answer.status not in _LIMITED:
        return None
    headers = answer.headers
    if "retry-after" in headers:
        return min(_parse_seconds(headers["retry-after"]), _MAX_TOLD_WAIT_S)
    if headers.get("x-ratelimit-remaining") == "0":
        reset_s = _parse_seconds(headers.get("x-ratelimit-reset", ""), otherwise=now.timestamp() + _UNKNOWN_WAIT_S)
        # The reset is told in whole seconds: one more, so as not to come too early.
        return min(max(reset_s + 1 - now.timestamp(), 0.0), _MAX_TOLD_WAIT_S)
    return _UNKNOWN_WAIT_S if answer.status == 429 or b"rate limit" in answer.body.lower() else None  # noqa: PLR2004 - HTTP


def _parse_seconds(text: str, *, otherwise: float = _UNKNOWN_WAIT_S) -> float:
    # Twelve digits are the next 30,000 years; more are no date.
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 12 else otherwise  # noqa: PLR2004


def _check_token(token: str | None) -> str | None:
    token = (token or "").strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("The GitHub token has characters that no token has. Copy it again, without what is around it.")
    return token or None
