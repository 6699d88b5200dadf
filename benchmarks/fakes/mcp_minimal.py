"""The floor of the benchmark of MCP: the least server that the SDK makes, with one tool that adds."""

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


def minimal_server() -> Server[Any]:
    """The SDK's own: a list, and a call that adds."""

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        listed = types.Tool(name="add", description="Add.", input_schema=SCHEMA)
        return types.ListToolsResult(tools=[listed], ttl_ms=300_000, cache_scope="private")

    async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = params.arguments or {}
        text = types.TextContent(type="text", text=str(given["a"] + given["b"]))
        return types.CallToolResult(content=[text])

    return Server("minimal", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve() -> None:
    server = minimal_server()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(serve())
