"""The GitHub API: the token, rate limits, unchanged answers, and failures that are worth another attempt.

Every request returns an answer with its status or raises ServiceFailed. The token goes to the one origin that the user
named and nowhere else (XW8).
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from pydantic import BaseModel, ValidationError

from toolroll.errors import ServiceFailed, UsageError
from toolroll.kernel.call.context import utc_now
from toolroll.safe.limits import MAX_RETRY_AFTER_S
from toolroll.safe.net.http import HttpClient, HttpLimits, HttpResponse, Method
from toolroll.safe.net.retries import Retries, Sleep, parse_retry_after
from toolroll.safe.net.urls import check_service_url
from toolroll.safe.secrets.redact import redact_shown
from toolroll.safe.text import one_line

JSON: Final = "application/vnd.github+json"
RAW: Final = "application/vnd.github.raw+json"

API_VERSION: Final = "2022-11-28"
MAX_WAIT_S: Final = 10.0
"""For a rate limit to end: a run that stands still for longer is better told."""

LIMITS: Final = HttpLimits(total_s=60.0, read_s=15.0, body_bytes=16 * 1024 * 1024)
"""GitHub itself ends a request after 10 seconds. A recursive tree has at most 7 MB, a file that is changed 8."""

PAUSES_S: Final = (0.5, 2.0)
"""Before each further attempt after a server failure: most of them are over within a second."""

MAX_CACHED: Final = 256
MAX_CACHED_BYTES: Final = 131_072
"""Of one answer that is cached with its ETag: 50 KB in base64 with what is around it."""

_SERVICE: Final = "GitHub"
_MAX_REDIRECTS: Final = 2  # a repository that was renamed leads once; transferred and renamed, twice
_UNKNOWN_WAIT_S: Final = 60.0  # what GitHub's documentation asks for where it does not say how long
_MAX_MESSAGE_CHARACTERS: Final = 200
_MAX_TIME_DIGITS: Final = 12  # the next 30,000 years; more are no date
_LIMITED: Final = frozenset({403, 429})
_NOT_MODIFIED: Final = 304
_SERVER_FAILED: Final = 500


class _Problem(BaseModel):
    message: str = ""


class GitHubApi:
    """Sends requests to one server on behalf of one user, from one event loop. Close it after the last request."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        limits: HttpLimits = LIMITS,
        clock: Callable[[], datetime] = utc_now,
        sleep: Sleep | None = None,
    ) -> None:
        self.base_url: Final = check_service_url(
            base_url, service="a GitHub API", example="https://github.example.com/api/v3"
        )
        self._token = _check_token(token)
        self._clock = clock
        self._http = HttpClient(limits)
        self._retries = Retries(pauses_s=PAUSES_S, max_wait_s=MAX_WAIT_S, sleep=sleep)
        self._blocked_until = datetime.min.replace(tzinfo=UTC)
        self._cache: OrderedDict[tuple[str, str], HttpResponse] = OrderedDict()

    async def get(self, path: str, *, accept: str = JSON) -> HttpResponse:
        """Return the answer to a GET of `path` below the base address, with further attempts if the server fails.

        An answer that has not changed since it was last asked for costs nothing of the rate limit.
        """
        return await self._retries.run(partial(self._get, path, accept), should_retry=_may_be_temporary)

    async def put(self, path: str, body: Mapping[str, object]) -> HttpResponse:
        """Return the answer to a PUT; after a ServiceFailed without `retry_after_s`, it may have been carried out."""
        return await self._request("PUT", path, {"accept": JSON}, json.dumps(body).encode())

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await self._retries.pause(seconds)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def error_message(self, answer: HttpResponse) -> str:
        """Return what the server says about a failure, in one line without secrets; empty if it says nothing."""
        try:
            problem = _Problem.model_validate_json(answer.body)
        except ValidationError:
            return ""
        known = (self._token,) if self._token else ()
        return one_line(redact_shown(problem.message, known=known), _MAX_MESSAGE_CHARACTERS)

    async def _get(self, path: str, accept: str) -> HttpResponse:
        key = path, accept
        known = self._cache.get(key)
        headers = {"accept": accept} | ({"if-none-match": known.headers["etag"]} if known else {})
        answer = await self._request("GET", path, headers)
        if known and answer.status == _NOT_MODIFIED:
            self._cache.move_to_end(key)
            return known
        if answer.status == 200 and "etag" in answer.headers and len(answer.body) <= MAX_CACHED_BYTES:  # noqa: PLR2004 - OK
            self._cache[key] = answer
            if len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return answer

    async def _request(
        self, method: Method, path: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> HttpResponse:
        """Send a request, and send it again where a rate limit ends soon."""
        await self._wait_for_limit()
        answer = await self._send(method, path, headers, content)
        if self._is_limited(answer):
            await self._wait_for_limit()
            answer = await self._send(method, path, headers, content)
            if self._is_limited(answer):
                raise self._limit_error()
        if answer.status >= _SERVER_FAILED:
            message = f"GitHub failed with status {answer.status}. {self.error_message(answer)}".rstrip()
            raise ServiceFailed(message, status=answer.status)
        return answer

    async def _send(self, method: Method, path: str, headers: Mapping[str, str], content: bytes | None) -> HttpResponse:
        authorization = {"authorization": f"Bearer {self._token}"} if self._token else {}
        return await self._http.request(
            method,
            f"{self.base_url}/{path}",
            service=_SERVICE,
            headers={"x-github-api-version": API_VERSION, **authorization, **headers},
            content=content,
            max_redirects=_MAX_REDIRECTS if method == "GET" else 0,
        )

    def _is_limited(self, answer: HttpResponse) -> bool:
        """Return whether this was the rate limit; then all requests wait: asking on can get a user banned."""
        wait_s = rate_limit_wait_s(answer, now=self._clock())
        if wait_s is None:
            return False
        self._blocked_until = self._clock() + timedelta(seconds=wait_s)
        return True

    async def _wait_for_limit(self) -> None:
        left_s = self._left_s()
        if left_s > MAX_WAIT_S:
            raise self._limit_error()
        if left_s > 0:
            await self.pause(left_s)

    def _left_s(self) -> float:
        return max((self._blocked_until - self._clock()).total_seconds(), 0.0)

    def _limit_error(self) -> ServiceFailed:
        left_s, until = self._left_s(), f"{self._blocked_until:%H:%M:%S} UTC"
        advice = "" if self._token else " With a token in GITHUB_TOKEN the limit is higher."
        text = f"GitHub's rate limit is reached; it ends at {until}, in {left_s:.0f} seconds.{advice}"
        return ServiceFailed(text, status=429, retry_after_s=left_s)


def rate_limit_wait_s(answer: HttpResponse, *, now: datetime) -> float | None:
    """Return how long a rate limit asks to wait, at least 0; None if the answer is about something else."""
    if answer.status not in _LIMITED:
        return None
    headers = answer.headers
    if "retry-after" in headers:
        wait_s = parse_retry_after(headers)
        return _UNKNOWN_WAIT_S if wait_s is None else wait_s
    if headers.get("x-ratelimit-remaining") == "0":
        return _wait_until_reset_s(headers.get("x-ratelimit-reset", ""), now=now)
    return _UNKNOWN_WAIT_S if answer.status == 429 or b"rate limit" in answer.body.lower() else None  # noqa: PLR2004 - HTTP


def _wait_until_reset_s(reset: str, *, now: datetime) -> float:
    # A time in whole seconds since 1970: one second more, so as not to come too early.
    if not (reset.isascii() and reset.isdigit() and len(reset) <= _MAX_TIME_DIGITS):
        return _UNKNOWN_WAIT_S + 1
    return min(max(float(reset) + 1 - now.timestamp(), 0.0), MAX_RETRY_AFTER_S)


def _may_be_temporary(error: ServiceFailed) -> bool:
    return error.retry_after_s is None and (error.status is None or error.status >= _SERVER_FAILED)


def _check_token(token: str | None) -> str | None:
    token = (token or "").strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("The GitHub token has characters that no token has. Copy it again, without what is around it.")
    return token or None
