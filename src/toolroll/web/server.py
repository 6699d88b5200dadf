"""The server: uvicorn with our guards, until somebody ends it."""

import errno
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import uvicorn

from toolroll.errors import ToolrollError
from toolroll.web.guard import MAX_CONNECTIONS, GuardedProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SHUTDOWN_SECONDS: Final = 2
"""For the answers that are being sent, and again for what is at work; more than this feels like a server that hangs."""
_LAST_PORT: Final = 65_535
BACKLOG: Final = 2_048
"""Connections that wait to be accepted; uvicorn's own number."""


class AddressRefused(ToolrollError):
    """A server cannot listen on this address and port; nothing was started."""

    code = "address"

    def __init__(self, message: str, *, host: str, port: int) -> None:
        super().__init__(message)
        self.host = host
        self.port = port


class AddressInUse(AddressRefused):
    """Another process listens on the port."""

    code = "address_in_use"


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

    def listen_and_run(self) -> None:
        """Serve until somebody ends it; AddressRefused, before anything is started, if the port is not to be had."""
        with open_socket(self.config.host, self.config.port) as listener:
            self.run(sockets=[listener])

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]  # sockets of any kind
        """Open the sockets, and say so."""
        await super().startup(None if sockets is None else sockets)  # type: ignore[arg-type]  # as above
        for server in self.servers:
            for one in server.sockets:
                self._on_start(one.getsockname()[1])
                return


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            other = port + 1 if port < _LAST_PORT else 0
            raise AddressInUse(
                f"Port {port} of {host} is in use, perhaps by an earlier server. Choose another one: --port {other}",
                host=host,
                port=port,
            ) from None
        raise AddressRefused(
            f"Nothing can listen on port {port} of {host} ({error.strerror}). Choose others with --host and --port.",
            host=host,
            port=port,
        ) from None


def run_server(app: "ASGIApp", *, host: str, port: int, on_start: Callable[[int], None]) -> None:
    """Serve an application until SIGTERM or Ctrl-C; `on_start` is called with the port."""
    Server(app, host=host, port=port, on_start=on_start).listen_and_run()
