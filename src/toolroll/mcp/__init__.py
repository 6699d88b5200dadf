"""The Model Context Protocol: any tools as a server for other programs' models.

`ToolServer` serves tools, `HttpEndpoint` over HTTP in any application on Starlette, `serve_stdio` over stdin and
stdout.
For the tools of other servers, see `toolroll.mcp_client`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolroll.mcp.server.http import HttpEndpoint as HttpEndpoint
    from toolroll.mcp.server.resources import Document as Document
    from toolroll.mcp.server.resources import DocumentSource as DocumentSource
    from toolroll.mcp.server.server import ToolServer as ToolServer
    from toolroll.mcp.server.stdio import serve_stdio as serve_stdio

_HOMES: Final = {
    "Document": "server.resources",
    "DocumentSource": "server.resources",
    "HttpEndpoint": "server.http",
    "ToolServer": "server.server",
    "serve_stdio": "server.stdio",
}

__all__ = ["Document", "DocumentSource", "HttpEndpoint", "ToolServer", "serve_stdio"]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: who serves over stdio does not wait for HTTP."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolroll.mcp' has no attribute {name!r}")
    value: object = getattr(import_module(f"toolroll.mcp.{home}"), name)
    globals()[name] = value
    return value
