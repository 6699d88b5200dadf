"""The tools and documents that the official conformance suite wants to find, as tools of toolroll."""

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged

from toolroll import DocumentPart, ImagePart, TextPart, ToolContext, ToolFailure, tool
from toolroll.mcp.server.resources import Document, Reader
from toolroll.mcp.server.served_run import request_of_call

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOUND = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
BUS = InMemorySubscriptionBus()
STEP_SECONDS = 0.05
"""The suite asks for steps that it can tell apart."""


@tool
def test_simple_text() -> str:
    """Answer with a text."""
    return "This is a simple text response for testing."


@tool
def test_image_content() -> tuple[ImagePart, ...]:
    """Answer with an image."""
    return (ImagePart(data=PIXEL, media_type="image/png"),)


@tool
def test_audio_content() -> tuple[DocumentPart, ...]:
    """Answer with a sound."""
    return (DocumentPart(data=SOUND, media_type="audio/wav"),)


@tool
def test_embedded_resource() -> tuple[DocumentPart, ...]:
    """Answer with a document."""
    return (DocumentPart(data=b"This is an embedded resource content.", media_type="text/plain"),)


@tool
def test_multiple_content_types() -> tuple[TextPart | ImagePart | DocumentPart, ...]:
    """Answer with a text, an image and a document."""
    document = DocumentPart(data=b'{"test":"data","value":123}', media_type="application/json")
    return TextPart(text="Multiple content types test:"), ImagePart(data=PIXEL, media_type="image/png"), document


@tool
def test_error_handling() -> str:
    """Fail."""
    raise ToolFailure("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(ctx: ToolContext) -> str:
    """Tell how far it is."""
    for fraction in (0.0, 0.5, 1.0):
        ctx.progress(f"{fraction:.0%}", fraction)
        await asyncio.sleep(STEP_SECONDS)
    return "Done."


async def _log(ctx: ToolContext, *texts: str) -> None:
    session = request_of_call(ctx).session
    for text in texts:
        await session.send_log_message("info", text, related_request_id=request_of_call(ctx).request_id)
        await asyncio.sleep(STEP_SECONDS)


@tool
async def test_tool_with_logging(ctx: ToolContext) -> str:
    """Send messages for the log of the client."""
    await _log(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")
    return "Logged."


@tool
async def test_logging_tool(ctx: ToolContext) -> str:
    """Send a message for the log of the client, if it has asked for messages."""
    await _log(ctx, "logged")
    return "Logged."


@tool
async def test_sampling(prompt: str, ctx: ToolContext) -> str:
    """Ask the model of the client."""
    request = request_of_call(ctx)
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await request.session.create_message([message], max_tokens=100, related_request_id=request.request_id)
    assert isinstance(answer.content, types.TextContent)
    return f"LLM response: {answer.content.text}"


async def _elicit(ctx: ToolContext, message: str, properties: dict[str, Any], required: list[str]) -> str:
    request = request_of_call(ctx)
    schema = {"type": "object", "properties": properties, "required": required}
    answer = await request.session.elicit_form(message, schema, related_request_id=request.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content)}"


@tool
async def test_elicitation(message: str, ctx: ToolContext) -> str:
    """Ask the person behind the client."""
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    return f"User response: {await _elicit(ctx, message, fields, [*fields])}"


@tool
async def test_elicitation_sep1034_defaults(ctx: ToolContext) -> str:
    """Ask with a default for each kind of field."""
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return f"Elicitation completed: {await _elicit(ctx, 'Check this.', fields, [])}"


@tool
async def test_elicitation_sep1330_enums(ctx: ToolContext) -> str:
    """Ask with each kind of choice."""
    plain, titles = ["option1", "option2", "option3"], ["First", "Second", "Third"]
    titled = [{"const": f"value{number}", "title": title} for number, title in enumerate(titles, 1)]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": titles},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return f"Elicitation completed: {await _elicit(ctx, 'Choose.', fields, [])}"


@tool
async def test_reconnection(ctx: ToolContext) -> str:
    """Close the stream in the middle of the call; the client comes back for the answer."""
    request = request_of_call(ctx)
    if request.close_sse_stream is not None:
        await request.close_sse_stream()
        await asyncio.sleep(STEP_SECONDS)
    return "Reconnected."


@tool
async def test_trigger_tool_change() -> str:
    """Say that the list of tools has changed."""
    await BUS.publish(ToolsListChanged())
    return "Said."


@tool
async def test_trigger_prompt_change() -> str:
    """Say that the list of prompts has changed."""
    await BUS.publish(PromptsListChanged())
    return "Said."


class TestDocuments:
    """The resources of the suite."""

    prefix = "test://"
    title = "Test document"
    template = "test://template/{id}/data"

    async def list(self, _reader: Reader, /) -> Sequence[Document]:
        return [
            Document(name="static-text", description="A text.", media_type="text/plain"),
            Document(name="static-binary", description="An image.", media_type="image/png"),
        ]

    async def read(self, name: str, _reader: Reader, /) -> str | bytes | None:
        match name.split("/"):
            case ["static-text"]:
                return "This is the content of the static text resource."
            case ["static-binary"]:
                return PIXEL
            case ["template", found, "data"]:
                return json.dumps({"id": found, "templateTest": True, "data": f"Data for ID: {found}"})
        return None


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_tool_with_logging,
    test_logging_tool,
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_reconnection,
    test_trigger_tool_change,
    test_trigger_prompt_change,
)
