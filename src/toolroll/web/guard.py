"""Limits that uvicorn lacks, and checks before any route: which host, how much, how long (XW1, XW3)."""

import asyncio
import re
from collections.abc import Collection
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolroll.web.problems import Problem, problem_response

HEAD_SECONDS: Final = 10.0
BODY_SECONDS: Final = 20.0
BODY_BYTES: Final = 1_048_576
MAX_CONNECTIONS: Final = 512

_HOST: Final = re.compile(rb"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_ENDLESS: Final = "toolroll.endless"
"""In the scope of a request: whether its answer is a stream of events."""
_EVENTS: Final = b"text/event-stream"
LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})

_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


class GuardedProtocol(H11Protocol):
    """Closes a connection on which no request is complete within some seconds."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._start_clock()

    def on_response_complete(self) -> None:
        """Start the clock for the next head."""
        super().on_response_complete()
        self._start_clock()

    def shutdown(self) -> None:
        """Let the answer end that is being sent; a stream of events never does, and is closed."""
        cycle: object = self.cycle
        if not getattr(cycle, "response_complete", True) and self.scope.get(_ENDLESS):
            self.transport.close()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        self._stop_clock()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._close_if_idle)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _close_if_idle(self) -> None:
        cycle: object = self.cycle  # None at first, which its type does not say
        if getattr(cycle, "response_complete", True):
            self.transport.abort()


class HostGuard:
    """Refuses requests that name another host: a page elsewhere can make a browser send them here (XW1)."""

    def __init__(self, app: ASGIApp, *, names: Collection[str] = LOCAL_NAMES) -> None:
        self.app = app
        self._names = {name.casefold() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        if scope["type"] == "http" and not self._is_known(scope):
            refusal = Problem(421, "unknown_host", "This service does not answer for the host that was named.")
            await problem_response(refusal)(scope, receive, send)
            return
        await self.app(scope, receive, _with_headers(scope, send))

    def _is_known(self, scope: Scope) -> bool:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1:
            return False
        found = _HOST.fullmatch(hosts[0])
        return found is not None and found["name"].decode().casefold() in self._names


class BodyGuard:
    """Refuses bodies that are too large, or that take too long (XW3)."""

    def __init__(self, app: ASGIApp, *, limit_bytes: int = BODY_BYTES, seconds: float = BODY_SECONDS) -> None:
        self.app: ASGIApp = app
        self._limit, self._seconds = limit_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _LimitedBody(receive, self._limit, self._seconds)
        try:
            body.check_length(scope)
            await self.app(scope, body.receive, send)
        except Problem as problem:  # of the body only: the routes answer their own
            await problem_response(problem)(scope, receive, send)


class _LimitedBody:
    def __init__(self, receive: Receive, limit_bytes: int, seconds: float) -> None:
        self._receive, self._limit, self._seconds = receive, limit_bytes, seconds
        self._ends = asyncio.get_running_loop().time() + seconds
        self._received = 0
        self._is_whole = False

    def check_length(self, scope: Scope) -> None:
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not value.isdigit() or int(value) > self._limit for value in lengths):
            raise self._too_large()

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._ends):
                message = await self._receive()
        except TimeoutError:
            raise Problem(408, "too_slow", f"The body did not arrive within {self._seconds:g} seconds.") from None
        self._received += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._received > self._limit:
            raise self._too_large()
        return message

    def _too_large(self) -> Problem:
        return Problem(413, "too_large", f"The body may have up to {self._limit:,} bytes.")


def _with_headers(scope: Scope, send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            scope[_ENDLESS] = any(
                name == b"content-type" and value.startswith(_EVENTS) for name, value in message["headers"]
            )
            given = {name for name, _ in message["headers"]}
            message = {**message, "headers": [*message["headers"], *(one for one in _HEADERS if one[0] not in given)]}
        await send(message)

    return send_with_headers
