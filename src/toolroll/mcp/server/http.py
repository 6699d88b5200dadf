"""Streamable HTTP: an ASGI application for one path, which any application on Starlette can mount.

Checked before anything else: the host that the request names, the page that it comes from (DNS rebinding), and the
token. A session belongs to the token that began it. The token itself is used for that alone: no tool sees it, and
nothing passes it on.
"""

import asyncio
from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Final, TypeAlias

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolroll.mcp.server.client_runs import IDLE_SECONDS, SESSION_HEADER, session_key
from toolroll.mcp.server.server import ToolServer

LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
MAX_SESSIONS: Final = 1_000
MAX_BODY_BYTES: Final = 4_194_304

FindClient: TypeAlias = Callable[[str], str | None]
"""Returns whose token this is, None if it lets nobody in."""


class HttpEndpoint:
    """Serves a `ToolServer` over HTTP, both eras of the protocol. It begins with the first request.

    Mount it (`Mount("/mcp", app=endpoint)` or `Route("/mcp", endpoint)`), and `aclose` it at the end. `names` are the
    hosts that it answers for. `find_client` looks tokens up; without it, everybody who can reach it is let in.
    """

    def __init__(
        self,
        server: ToolServer,
        *,
        names: Collection[str] = LOCAL_NAMES,
        find_client: FindClient | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._server = server
        self._find_client = find_client
        self._manager = StreamableHTTPSessionManager(
            app=server.protocol,
            security_settings=_security(names),
            session_idle_timeout=idle_seconds,
            max_request_body_size=MAX_BODY_BYTES,
            max_sessions=MAX_SESSIONS,
        )
        self._app: ASGIApp = AuthContextMiddleware(self._manager.handle_request)
        self._started: asyncio.Future[None] | None = None
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        assert scope["type"] == "http"
        user = self._authenticate(scope)
        if user is None and self._find_client is not None:
            await _refuse()(scope, receive, send)
            return
        await self._start()
        statuses: list[int] = []

        async def note_status(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        await self._app({**scope, "user": user} if user is not None else scope, receive, note_status)
        session = Headers(scope=scope).get(SESSION_HEADER)
        if scope["method"] == "DELETE" and session is not None and statuses == [HTTPStatus.OK]:
            await self._server.end_client(session_key(session))

    async def aclose(self) -> None:
        """End all sessions and the runs of all clients."""
        self._stop.set()
        if self._task is not None:
            await self._task

    def _authenticate(self, scope: Scope) -> AuthenticatedUser | None:
        if self._find_client is None:
            return None
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
        kind, _, secret = (given[0] if len(given) == 1 else "").partition(" ")
        name = self._find_client(secret.strip()) if kind.casefold() == "bearer" else None
        # The SDK ties sessions and answers to the client_id; it has no need of the secret, so it does not get it.
        return None if name is None else AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))

    async def _start(self) -> None:
        """Begin with the first request: an application does not tell what is mounted in it that it begins."""
        if self._started is None:
            self._started = asyncio.get_running_loop().create_future()
            self._task = asyncio.ensure_future(self._run(self._started))
        await asyncio.shield(self._started)

    async def _run(self, started: "asyncio.Future[None]") -> None:
        async with self._manager.run():
            started.set_result(None)
            await self._stop.wait()


def _security(names: Collection[str]) -> TransportSecuritySettings:
    hosts = sorted(names)
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*hosts, *(f"{name}:*" for name in hosts)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )


def _refuse() -> JSONResponse:
    text = "Send a token: 'Authorization: Bearer TOKEN'. Make one: toolroll tokens create NAME --scope mcp"
    return JSONResponse(
        {"error": "invalid_token", "error_description": text}, status_code=401, headers={"WWW-Authenticate": "Bearer"}
    )
