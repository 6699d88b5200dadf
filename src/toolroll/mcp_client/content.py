"""Turn what a server answers into a result: text, images, documents, links, audio and structured data."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Final, assert_never

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

from toolroll.errors import ToolFailure
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import DocumentPart, ImagePart, Part, TextPart
from toolroll.safe.text import one_line

IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models look at."""
MAX_IMAGE_BYTES: Final = 5_242_880
"""The most that the providers take."""
DOCUMENT_TYPES: Final = frozenset({"application/pdf"})

_MAX_SHOWN: Final = 500


def read_result(tool: str, answer: CallToolResult) -> ToolResult:
    """Return the result of a call; ToolFailure where the server says that it failed."""
    parts = [_read_block(block) for block in answer.content]
    if not parts and answer.structured_content is not None:
        parts = [TextPart(text=json.dumps(answer.structured_content, ensure_ascii=False))]
    if answer.is_error:
        raise ToolFailure(join_text(parts) or f"{tool} failed; its server does not say why.", code="mcp_error")
    if all(isinstance(part, TextPart) for part in parts):
        return ToolResult.of_text(join_text(parts))
    return ToolResult.of_parts(tuple(parts))


def join_text(parts: Sequence[Part]) -> str:
    """Return the text among the parts."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _read_block(block: ContentBlock) -> Part:
    match block:
        case TextContent():
            return TextPart(text=block.text)
        case ImageContent():
            return _read_bytes(block.data, block.mime_type, "image")
        case AudioContent():
            return _read_bytes(block.data, block.mime_type, "audio")
        case ResourceLink():
            kind = f", {block.mime_type}" if block.mime_type else ""
            size = f", {block.size:,} bytes" if block.size is not None else ""
            return TextPart(text=f"[resource {_short(block.name)}: {_short(str(block.uri))}{_short(kind)}{size}]")
        case EmbeddedResource():
            return _read_resource(block.resource)
        case _:
            assert_never(block)


def _read_resource(resource: TextResourceContents | BlobResourceContents) -> Part:
    if isinstance(resource, TextResourceContents):
        return TextPart(text=f"[resource {_short(str(resource.uri))}]\n{resource.text}")
    return _read_bytes(resource.blob, resource.mime_type or "application/octet-stream", "resource", str(resource.uri))


def _read_bytes(text: str, media_type: str, what: str, uri: str = "") -> Part:
    """Return an image or a document that models take; else a note of what it is, with the bytes in it as text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return TextPart(text=f"[{what} {_short(media_type)}: not readable, as it is not base64]")
    if media_type in IMAGE_TYPES and len(data) <= MAX_IMAGE_BYTES:
        return ImagePart(data=data, media_type=media_type)
    if media_type in DOCUMENT_TYPES:
        return DocumentPart(data=data, media_type=media_type, title=_short(uri) or None)
    place = f" {_short(uri)}" if uri else ""
    # A run that stores outputs stores this whole, so that nothing is lost; a model reads the beginning.
    return TextPart(text=f"[{what}{place}: {_short(media_type)}, {len(data):,} bytes, in base64:]\n{text}")


def _short(text: str) -> str:
    return one_line(text, _MAX_SHOWN)
