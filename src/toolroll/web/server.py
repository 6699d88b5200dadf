"""The server: uvicorn with our guards, until somebody ends it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import uvicorn

from toolroll.web.guard import MAX_CONNECTIONS, GuardedProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SHUTDOWN_SECONDS: Final = 10


class Server(uvicorn.Server):
    """A server on one port; `on_start` is called with it once somebody can connect."""

    def __init__(self, app: "ASGIApp", *, host: str, port: int, on_start: Callable[[int], None]) -> None:
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            http=GuardedProtocol,
            ws="none",
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            access_log=False,
            log_level="warning",
            server_header=False,
        )
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]  # sockets of any kind
        """Open the sockets, and say so."""
        await super().startup(None if sockets is None else sockets)  # type: ignore[arg-type]  # as above
        for server in self.servers:
            for one in server.sockets:
                self._on_start(one.getsockname()[1])
                return


def run_server(app: "ASGIApp", *, host: str, port: int, on_start: Callable[[int], None]) -> None:
    """Serve an application until SIGTERM or Ctrl-C; `on_start` is called with the port."""
    Server(app, host=host, port=port, on_start=on_start).run()
