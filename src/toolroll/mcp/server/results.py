"""What a client gets for a call: the content that a model reads, and JSON as data beside it."""

import base64
import json
from typing import Any, Final

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import DocumentPart, OutputRef, Part, TextPart, ToolMessage

OUTPUT_URI: Final = "toolroll://output/"
CODE_KEY: Final = "toolroll/code"
"""The key of `_meta` with the stable code of a failure."""


def to_client_result(
    result: ToolResult, message: ToolMessage, *, is_modern: bool, link: OutputRef | None, hint: str = ""
) -> CallToolResult:
    """Return the result of a call: `message` is what the model reads of it, `link` where the whole is if it was cut.

    Clients show a model the content, the data, or both: the content is complete without the data.
    """
    content = _blocks(message.content)
    if hint:
        content.append(TextContent(type="text", text=hint))
    if link is not None:
        content.append(_output_link(link, message.name))
    return CallToolResult(
        content=content,
        structured_content=_data(result, is_modern=is_modern) if link is None else None,
        is_error=result.is_error,
        _meta={CODE_KEY: result.code} if result.is_error else None,
    )


def _blocks(content: str | tuple[Part, ...]) -> list[ContentBlock]:
    if isinstance(content, str):
        return [TextContent(type="text", text=content)]
    return [_block(part, number) for number, part in enumerate(content, start=1)]


def _block(part: Part, number: int) -> ContentBlock:
    if isinstance(part, TextPart):
        return TextContent(type="text", text=part.text)
    data = base64.b64encode(part.data).decode("ascii")
    if not isinstance(part, DocumentPart):
        return ImageContent(type="image", data=data, mime_type=part.media_type)
    if part.media_type.startswith("audio/"):
        return AudioContent(type="audio", data=data, mime_type=part.media_type)
    uri = f"toolroll://part/{number}"
    if part.media_type.startswith("text/") or part.media_type == "application/json":
        text = TextResourceContents(uri=uri, mime_type=part.media_type, text=part.data.decode("utf-8", "replace"))
        return EmbeddedResource(type="resource", resource=text)
    return EmbeddedResource(
        type="resource", resource=BlobResourceContents(uri=uri, mime_type=part.media_type, blob=data)
    )


def _output_link(ref: OutputRef, tool: str) -> ResourceLink:
    return ResourceLink(
        type="resource_link",
        uri=f"{OUTPUT_URI}{ref.id}",
        name=f"output-{ref.id}",
        title=f"The whole output of {tool}",
        description=f"{ref.byte_size:,} bytes, {ref.line_count:,} lines",
        mime_type="text/plain",
        size=ref.byte_size,
    )


def _data(result: ToolResult, *, is_modern: bool) -> Any:
    """The value of a JSON result; the protocol before 2026-07-28 takes objects only."""
    if result.type != "json" or result.is_error:
        return None
    value = json.loads(result.text)
    return value if is_modern or isinstance(value, dict) else {"result": value}
