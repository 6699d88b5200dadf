"""`ToolServer`: any tools as an MCP server, over stdio, over HTTP, or in process."""

import asyncio
import json
from collections.abc import AsyncIterator, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from toolroll._version import __version__
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.kernel.depends.dependency import Overrides
from toolroll.mcp.server.approver import QUESTION, ClientCall, make_form
from toolroll.mcp.server.client_runs import ClientRuns, is_modern
from toolroll.mcp.server.definitions import fit_text, list_tool
from toolroll.mcp.server.reader import ClientReader
from toolroll.mcp.server.resources import (
    DocumentSource,
    list_resources,
    list_templates,
    make_result,
    read_document,
    read_output,
)
from toolroll.mcp.server.results import OUTPUT_URI, to_client_result
from toolroll.mcp.server.served_run import ServedRun, Serving, store_of_call
from toolroll.outputs.tools import output_tools
from toolroll.safe.limits import APPROVAL_TIMEOUT_S

LIST_SECONDS: Final = 300
"""How long a client may keep the list of tools: it stays the same while the server runs."""

_encode: Final = json.JSONEncoder(ensure_ascii=False).encode
"""Made once: `json.dumps` makes one for each call that wants other characters than ASCII."""
Context = ServerRequestContext[ClientRuns, Any]


class ToolServer:
    """Serves tools to the models of other programs.

    Every call is checked, approved and run as for an agent of ours. Without an `approver`, the person behind the client
    is asked. With a `journal`, the calls of a client are a run in it; with `outputs`, a folder, whole outputs are kept.
    `documents` can be read as resources.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        name: str = "toolroll",
        instructions: str = "",
        deps: Mapping[str, object] | None = None,
        overrides: Overrides | None = None,
        policy: Policy | None = None,
        approver: Approver | None = None,
        approval_seconds: float = APPROVAL_TIMEOUT_S,
        journal: Journal | None = None,
        outputs: Path | None = None,
        record: Mapping[str, object] | None = None,
        documents: Sequence[DocumentSource] = (),
    ) -> None:
        readers = () if outputs is None else output_tools(store_of_call)
        self.tools: Toolset = Toolset([*tools, *readers])
        self._serving = Serving(
            tools=self.tools,
            deps=deps or {},
            overrides=overrides or {},
            policy=policy,
            approver=approver,
            approval_seconds=approval_seconds,
            journal=journal,
            outputs=outputs,
            record=record or {},
            documents=tuple(documents),
        )
        self._listed = [list_tool(tool) for tool in sorted(self.tools, key=lambda tool: tool.name)]
        self._schemas = {tool.name: tool.input_schema for tool in self._listed}
        self._connections: list[ClientRuns] = []
        self.protocol: Server[ClientRuns] = self._make_protocol(name, instructions)
        """The server of the SDK, for what it offers beyond this class."""

    def _make_protocol(self, name: str, instructions: str) -> Server[ClientRuns]:
        has_resources = self._serving.outputs is not None or bool(self._serving.documents)
        server: Server[ClientRuns] = Server(
            name,
            version=__version__,
            title=name,
            instructions=fit_text(instructions) or None,
            lifespan=self._lifespan,
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources if has_resources else None,
            on_list_resource_templates=self._list_templates if has_resources else None,
            on_read_resource=self._read_resource if has_resources else None,
        )
        security = RequestStateSecurity.ephemeral(ttl=self._serving.approval_seconds)
        server.middleware.append(RequestStateBoundary(security, default_audience=name))
        return server

    @asynccontextmanager
    async def _lifespan(self, _server: Server[ClientRuns]) -> AsyncIterator[ClientRuns]:
        self._connections.append(runs := ClientRuns(self._serving))
        try:
            yield runs
        finally:
            self._connections.remove(runs)
            await runs.close()

    async def close(self) -> None:
        """End the runs of all clients."""
        for runs in [*self._connections]:
            await runs.close()

    async def end_client(self, key: Hashable) -> None:
        """End the run of one client, which is gone."""
        for runs in [*self._connections]:
            await runs.end(key)

    async def _list_tools(self, _ctx: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self._listed, ttl_ms=LIST_SECONDS * 1_000, cache_scope="private")

    async def _list_resources(self, ctx: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        reader = await self._reader(ctx)
        cursor = None if params is None else params.cursor
        return await list_resources(self._serving.documents, reader, cursor, is_modern=is_modern(ctx))

    async def _list_templates(
        self, ctx: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        has_outputs = self._serving.outputs is not None
        return list_templates(self._serving.documents, has_outputs=has_outputs, is_modern=is_modern(ctx))

    async def _read_resource(self, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        served = await ctx.lifespan_context.find(ctx)
        if params.uri.startswith(OUTPUT_URI):
            found = None if served.outputs is None else await asyncio.to_thread(read_output, served.outputs, params.uri)
        else:
            found = await read_document(self._serving.documents, params.uri, await self._reader(ctx))
        return make_result(found, params.uri, is_modern=is_modern(ctx))

    async def _reader(self, ctx: Context) -> ClientReader:
        return ClientReader(await ctx.lifespan_context.find(ctx), ctx, self._serving.approval_seconds)

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if self.tools.get(params.name) is None:
            raise MCPError(code=INVALID_PARAMS, message=self.tools.describe_unknown(params.name))
        served = await ctx.lifespan_context.find(ctx)
        client_call = ClientCall(ctx=ctx, seconds=self._serving.approval_seconds)
        call_id = _read_answer(served, client_call, params) or random_id()
        call = ToolCall(id=call_id, name=params.name, arguments=_encode(params.arguments or {}))
        answered = await served.call(call, client_call)
        if answered is None:
            assert client_call.question is not None
            return InputRequiredResult(
                input_requests={QUESTION: make_form(client_call.question)}, request_state=json.dumps({"call": call_id})
            )
        message = answered.message
        return to_client_result(
            answered.result,
            message,
            is_modern=client_call.is_modern,
            link=message.output_ref if message.content != answered.result.content else None,
            hint=client_call.hint,
        )


def _read_answer(served: ServedRun, client_call: ClientCall, params: CallToolRequestParams) -> str | None:
    """Take what the client brings back: the id of the call that it was asked about, and the answer."""
    if params.request_state is None:
        return None
    call_id = str(json.loads(params.request_state)["call"])
    digest = served.take_pending(call_id)
    if digest is None:
        raise MCPError(code=INVALID_PARAMS, message="This answer was used already, or came too late. Call again.")
    answer = (params.input_responses or {}).get(QUESTION)
    if isinstance(answer, ElicitResult):
        client_call.answered_digest, client_call.answer = digest, answer
    return call_id
