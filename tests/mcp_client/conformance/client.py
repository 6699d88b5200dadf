"""Our client in the scenarios of the conformance suite: it serves each at a URL, and watches what we send."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl

from toolroll import Agent, ScriptedModel
from toolroll.home.mcp_tokens import McpTokenBook
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.mcp_client import MCPServer, ServerSpec
from toolroll.mcp_client.oauth import StoredTokens, make_auth
from toolroll.models import Call

CIMD = "https://conformance-test.local/client-metadata.json"
SAMPLES: dict[str, object] = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
CALLBACK = "http://127.0.0.1:3000/callback"


class Yes:
    """A person who agrees to everything, with the values that a form begins with."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return [Approve() for _ in requests]


class Browser:
    """A browser that is logged in already: the authorization server sends it straight back."""

    def __init__(self) -> None:
        self._back = ""

    async def open(self, url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
            self._back = (await client.get(url, follow_redirects=False)).headers["location"]

    async def answer(self) -> AuthorizationCodeResult:
        found = {name: words[0] for name, words in parse_qs(urlsplit(self._back).query).items()}
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))


def make_arguments(schema: Mapping[str, Any]) -> dict[str, object]:
    """Return a value for each argument that is required."""
    kinds = {name: schema["properties"][name].get("type") for name in schema.get("required", ())}
    return {name: SAMPLES.get(kind, "x") for name, kind in kinds.items()}


async def call_tools(server: MCPServer, *wanted: Call) -> None:
    """Run an agent that calls these tools, or each one that there is with what it needs."""
    async with server:
        calls = wanted or [Call(tool.name, make_arguments(tool.parameters)) for tool in server]
        await Agent(model=ScriptedModel([*calls, "Done."]), tools=[server], approver=Yes()).run("Go.")


async def add_numbers(server: MCPServer, _context: dict[str, Any]) -> None:
    await call_tools(server, Call("c__add_numbers", {"a": 5, "b": 3}))


async def call_all(server: MCPServer, _context: dict[str, Any]) -> None:
    await call_tools(server)


async def call_as_told(server: MCPServer, context: dict[str, Any]) -> None:
    """Make the calls that the suite wants; a value that the schema of the tool does not take is left out."""
    told = [
        Call(f"c__{one['name']}", {name: value for name, value in one["arguments"].items() if value is not None})
        for one in context["toolCalls"]
    ]
    await call_tools(server, *told)


async def list_only(server: MCPServer, _context: dict[str, Any]) -> None:
    async with server:
        await server.inspect()


async def echo_schema(server: MCPServer, _context: dict[str, Any]) -> None:
    """Send back the schema of a tool as it reached us."""
    async with server:
        schemas = {tool.name: tool.parameters for tool in server}
    other = next(schema for name, schema in schemas.items() if name != "c__json_schema_echo")
    await call_tools(server, Call("c__json_schema_echo", {"schema": other}))


SCENARIOS: dict[str, Callable[[MCPServer, dict[str, Any]], Awaitable[None]]] = {
    "tools_call": add_numbers,
    "initialize": list_only,
    "http-custom-headers": call_as_told,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
}


async def play(scenario: str, url: str, context: dict[str, Any]) -> None:
    """Do what a scenario needs."""
    spec = ServerSpec(name="c", url=url, oauth=scenario.startswith("auth/"))
    with TemporaryDirectory() as folder:
        book, browser = McpTokenBook(Path(folder)), Browser()
        if "client_id" in context:
            known = OAuthClientInformationFull(
                redirect_uris=[AnyUrl(CALLBACK)],
                client_id=context["client_id"],
                client_secret=context.get("client_secret"),
                token_endpoint_auth_method="client_secret_basic",
            )
            await StoredTokens(spec, book).set_client_info(known)

        def auth() -> httpx2.Auth:
            return make_auth(
                spec, book, redirect=browser.open, callback=browser.answer, address=CALLBACK, metadata_url=CIMD
            )

        server = MCPServer.from_spec(spec, environment={}, make_auth=auth if spec.oauth else None)
        await SCENARIOS.get(scenario, call_all)(server, context)
