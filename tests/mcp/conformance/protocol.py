"""What the suite asks for and toolroll does not offer, on the same server: prompts, completion, sampling, roots.

toolroll answers with a question where a change has to be approved. The suite has questions of its own, which are asked
here by the SDK's means.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from tests.mcp.conformance.fixtures import BUS, PIXEL

from toolroll import Tool, tool

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult
Given = Mapping[str, Any]


def _form(message: str, **fields: str) -> types.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in fields.items()}}
    schema["required"] = [*fields]
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


NAME = {"user_name": _form("What is your name?", name="string")}
ROOTS = {"client_roots": types.ListRootsRequest()}


def _say(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def _ask(requests: Mapping[str, Any], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=dict(requests), request_state=state)


def _content(answer: object, key: str) -> str | None:
    if isinstance(answer, types.ElicitResult) and answer.action == "accept" and answer.content:
        return str(answer.content[key]) if key in answer.content else None
    return None


def _elicitation(given: Given, _state: str | None, _ctx: Context) -> Answer:
    name = _content(given.get("user_name"), "name")
    return _ask(NAME) if name is None else _say(f"Hello, {name}!")


def _sampling(given: Given, _state: str | None, _ctx: Context) -> Answer:
    answer = given.get("capital_question")
    if not isinstance(answer, types.CreateMessageResult):
        return _ask({"capital_question": _sample("What is the capital of France?")})
    return _say(getattr(answer.content, "text", ""))


def _list_roots(given: Given, _state: str | None, _ctx: Context) -> Answer:
    answer = given.get("client_roots")
    if not isinstance(answer, types.ListRootsResult):
        return _ask(ROOTS)
    return _say(", ".join(str(root.uri) for root in answer.roots))


def _request_state(given: Given, state: str | None, _ctx: Context) -> Answer:
    if "confirm" not in given or state != "confirming":
        return _ask({"confirm": _form("Please confirm", ok="boolean")}, "confirming")
    return _say("state-ok")


def _multiple_inputs(given: Given, state: str | None, _ctx: Context) -> Answer:
    wanted = {**NAME, "greeting": _sample("Generate a greeting"), **ROOTS}
    return _say("All there.") if wanted.keys() <= given.keys() and state == "many" else _ask(wanted, "many")


def _multi_round(given: Given, state: str | None, _ctx: Context) -> Answer:
    if state == "second" and "step2" in given:
        return _say("All rounds done.")
    if state == "first" and "step1" in given:
        return _ask({"step2": _form("Step 2: What is your favorite color?", color="string")}, "second")
    return _ask({"step1": _form("Step 1: What is your name?", name="string")}, "first")


def _capabilities(_given: Given, _state: str | None, ctx: Context) -> Answer:
    declared = ctx.session.client_capabilities or types.ClientCapabilities()
    wanted: dict[str, Any] = {}
    if declared.elicitation is not None:
        wanted |= NAME
    if declared.sampling is not None:
        wanted["greeting"] = _sample("Generate a greeting")
    return _ask(wanted) if wanted else _say("Nothing can be asked.")


def _missing_capability(_given: Given, _state: str | None, ctx: Context) -> Answer:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This needs sampling.",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return _say("It has it.")


QUESTIONS: dict[str, Callable[[Given, str | None, Context], Answer]] = {
    "test_input_required_result_elicitation": _elicitation,
    "test_input_required_result_sampling": _sampling,
    "test_input_required_result_list_roots": _list_roots,
    "test_input_required_result_request_state": _request_state,
    "test_input_required_result_multiple_inputs": _multiple_inputs,
    "test_input_required_result_multi_round": _multi_round,
    "test_input_required_result_tampered_state": _request_state,
    "test_input_required_result_capabilities": _capabilities,
    "test_streaming_elicitation": _elicitation,
    "test_missing_capability": _missing_capability,
}


def question_tools() -> list[Tool]:
    """The tools that ask: listed as tools of toolroll, answered below."""

    def make(name: str) -> Tool:
        @tool(name=name)
        def ask() -> str:
            """Ask the client for something."""
            raise AssertionError

        return ask

    return [make(name) for name in QUESTIONS]


def add_protocol(server: Server[Any]) -> None:
    """Add to a server what only the suite wants."""
    entry = server.get_request_handler("tools/call")
    assert entry is not None
    server.add_request_handler("tools/call", types.CallToolRequestParams, _answer_questions(entry.handler))
    server.add_request_handler("prompts/list", types.PaginatedRequestParams, _list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, _get_prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, _complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _accept)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, _accept)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, _accept)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(BUS))


def _answer_questions(call: Callable[[Context, Any], Awaitable[Any]]) -> Callable[[Context, Any], Awaitable[Any]]:
    async def handle(ctx: Context, params: types.CallToolRequestParams) -> Any:
        if params.name not in QUESTIONS:
            return await call(ctx, params)
        return QUESTIONS[params.name](params.input_responses or {}, params.request_state, ctx)

    return handle


async def _accept(_ctx: Context, _params: object) -> types.EmptyResult:
    return types.EmptyResult()


async def _complete(_ctx: Context, _params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris"], total=1, has_more=False))


async def _list_prompts(_ctx: Context, _params: types.PaginatedRequestParams) -> types.ListPromptsResult:
    def prompt(name: str, *arguments: str) -> types.Prompt:
        wanted = [types.PromptArgument(name=one, description=one, required=True) for one in arguments]
        return types.Prompt(name=name, description="A prompt of the suite.", arguments=wanted)

    found = [
        prompt("test_simple_prompt"),
        prompt("test_prompt_with_arguments", "arg1", "arg2"),
        prompt("test_prompt_with_embedded_resource", "resourceUri"),
        prompt("test_prompt_with_image"),
        prompt("test_input_required_result_prompt"),
    ]
    return types.ListPromptsResult(prompts=found, ttl_ms=1_000, cache_scope="private")


async def _get_prompt(
    _ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            contents: list[Any] = [_text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            contents = [_text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            text = "Embedded resource content for testing."
            resource = types.TextResourceContents(uri=given["resourceUri"], mime_type="text/plain", text=text)
            embedded = types.EmbeddedResource(type="resource", resource=resource)
            contents = [embedded, _text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            image = types.ImageContent(type="image", data=base64.b64encode(PIXEL).decode(), mime_type="image/png")
            contents = [image, _text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            found = _content((params.input_responses or {}).get("user_context"), "context")
            if found is None:
                return _ask({"user_context": _form("What context should the prompt use?", context="string")})
            contents = [_text(found)]
        case _:
            raise MCPError(code=types.INVALID_PARAMS, message="There is no such prompt.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in contents])


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
