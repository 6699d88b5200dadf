"""Our server with what the suite wants to find: `python -m tests.mcp.conformance.server` serves it and says where."""

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route
from tests.mcp.conformance.fixtures import TOOLS, TestDocuments
from tests.mcp.conformance.protocol import add_protocol, question_tools

from toolroll.journal.journal import MemoryJournal
from toolroll.mcp.server.http import HttpEndpoint
from toolroll.mcp.server.server import ToolServer


def make_endpoint() -> HttpEndpoint:
    """The server of the suite, over HTTP."""
    server = ToolServer([*TOOLS, *question_tools()], journal=MemoryJournal(), documents=[TestDocuments()])
    add_protocol(server.protocol)
    return HttpEndpoint(server)


if __name__ == "__main__":
    app = Starlette(routes=[Route("/mcp", make_endpoint())])
    uvicorn.run(app, host="127.0.0.1", port=8_431, http="h11", log_level="warning")
