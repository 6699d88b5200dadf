"""Which client a request is from: each client's calls are one run, as long as the client is there.

A pipe, or a pair of streams in one process, is one client. Over HTTP a client with a session is that session; one of
the protocol without sessions is whoever has the token, under the name that the client gives itself.
"""

import asyncio
from collections.abc import Hashable
from time import monotonic
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolroll.mcp.server.served_run import ServedRun, Serving
from toolroll.safe.text import one_line

MAX_NAME_CHARACTERS: Final = 100
"""Of a client, as it calls itself."""
MAX_RUNS: Final = 1_000
"""Clients over HTTP at a time; the one that was quiet longest makes room."""
IDLE_SECONDS: Final = 1_800.0
"""How long a client over HTTP may be quiet: the next call begins another run. Longer than any question waits."""
SWEEP_SECONDS: Final = 60.0
SESSION_HEADER: Final = "mcp-session-id"


class ClientRuns:
    """The runs of the clients of one connection, or of one endpoint over HTTP."""

    def __init__(self, serving: Serving, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._serving = serving
        self._idle_seconds = idle_seconds
        self._runs: dict[Hashable, ServedRun] = {}
        self._used: dict[Hashable, float] = {}
        self._sweeper: asyncio.Task[None] | None = None

    async def find(self, ctx: ServerRequestContext[Any, Any]) -> ServedRun:
        """Return the run of the client that a request is from; its first request begins one."""
        key = client_key(ctx)
        if key not in self._runs:
            self._runs[key] = ServedRun(self._serving, client_name(ctx))
        if key is not None:
            # The order is that of the last use.
            self._used.pop(key, None)
            self._used[key] = monotonic()
            if self._sweeper is None:
                self._sweeper = asyncio.ensure_future(self._sweep())
            if len(self._runs) > MAX_RUNS:
                await self.end(next(iter(self._used)))
        return self._runs[key]

    async def end(self, key: Hashable) -> None:
        """End the run of one client, if it has one."""
        self._used.pop(key, None)
        run = self._runs.pop(key, None)
        if run is not None:
            await run.close()

    async def close(self) -> None:
        """End all runs."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for key in [*self._runs]:
            await self.end(key)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self._idle_seconds))
            for key, used in [*self._used.items()]:
                if monotonic() - used >= self._idle_seconds and not self._runs[key].is_busy:
                    await self.end(key)


def session_key(session_id: str) -> Hashable:
    """Return what a client with a session over HTTP is known by."""
    return ("session", session_id)


def client_key(ctx: ServerRequestContext[Any, Any]) -> Hashable:
    """Return what the client behind a request is known by; None for the one at the other end of a pipe."""
    request = ctx.request
    if request is None:
        return None
    session = request.headers.get(SESSION_HEADER)
    if session is not None and not is_modern(ctx):
        return session_key(session)
    user = request.scope.get("user")
    return ("name", None if user is None else user.display_name, client_name(ctx))


def is_modern(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Return whether a request is of a version without sessions."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def client_name(ctx: ServerRequestContext[Any, Any]) -> str:
    """Return how a client calls itself."""
    client = ctx.session.client_params
    return "unknown" if client is None else one_line(client.client_info.name, MAX_NAME_CHARACTERS)
