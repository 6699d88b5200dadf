"""Reading documents for one client: by tools that run as its calls do."""

import json
from typing import Any

from mcp.server.context import ServerRequestContext

from toolroll.kernel.call.context import random_id
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.mcp.server.approver import ClientCall
from toolroll.mcp.server.served_run import ServedRun


class ClientReader:
    """Lists and reads for the client that a request is from. What would have to be asked about is not read."""

    def __init__(self, served: ServedRun, ctx: ServerRequestContext[Any, Any], seconds: float) -> None:
        self._served, self._ctx, self._seconds = served, ctx, seconds

    async def look(self, tool: Tool, arguments: dict[str, object], /) -> Any:
        """Return what a tool finds, None where it fails. It is not on record."""
        tools, call = _make_call(tool, arguments)
        return _value(await self._served.look(tools, call, self._client_call()))

    async def read(self, tool: Tool, arguments: dict[str, object], /) -> Any:
        """Return what a tool reads, None where it fails or may not."""
        tools, call = _make_call(tool, arguments)
        answered = await self._served.call(call, self._client_call(), tools=tools)
        return None if answered is None else _value(answered.result)

    def _client_call(self) -> ClientCall:
        return ClientCall(ctx=self._ctx, seconds=self._seconds, may_ask=False)


def _make_call(tool: Tool, arguments: dict[str, object]) -> tuple[Toolset, ToolCall]:
    text = json.dumps(arguments, ensure_ascii=False)
    return Toolset([tool]), ToolCall(id=random_id(), name=tool.name, arguments=text)


def _value(result: ToolResult) -> Any:
    if result.is_error:
        return None
    return json.loads(result.text) if result.type == "json" else result.text
