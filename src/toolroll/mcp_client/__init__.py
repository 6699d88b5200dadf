"""Use the tools of MCP servers: `MCPServer` starts or calls a server, and its tools are tools of an agent."""

from toolroll.mcp_client.server import MCPServer as MCPServer
from toolroll.mcp_client.spec import ServerSpec as ServerSpec

__all__ = ["MCPServer", "ServerSpec"]
