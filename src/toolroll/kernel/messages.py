"""What travels between a model and the tools: calls, results as messages, and the parts they are made of."""

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A piece of text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image, whole, with its media type (`image/png`, `image/jpeg`, ...)."""

    data: bytes
    media_type: str
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """A document, whole, with its media type (`application/pdf`, `text/plain`, ...)."""

    data: bytes
    media_type: str
    title: str | None = None
    type: Literal["document"] = "document"


Part: TypeAlias = TextPart | ImagePart | DocumentPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's request to run a tool: `arguments` is the JSON text exactly as it came."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRef:
    """Where the whole of a tool's output is kept."""

    id: str
    byte_size: int
    line_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The answer to one `ToolCall`, as a model reads it."""

    call_id: str
    name: str
    content: str | tuple[Part, ...]
    is_error: bool = False
    output_ref: OutputRef | None = None
