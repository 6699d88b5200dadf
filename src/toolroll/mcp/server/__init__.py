"""Serving tools over MCP: `ToolServer` in `server`, and what it consists of."""
