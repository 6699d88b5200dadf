"""Images and documents, as far as every wire treats them alike."""

import base64
from typing import Final

from toolroll.kernel.data.messages import DocumentPart, ImagePart

IMAGE_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""What both vendors look at; anything else makes them refuse the whole request."""

PDF: Final = "application/pdf"

_TEXT_TYPES: Final = frozenset({"application/json", "application/xml", "application/yaml", "application/toml"})


def readable_text(part: DocumentPart) -> str | None:
    """The text of a document that is text; None for any other."""
    if part.media_type.startswith("text/") or part.media_type in _TEXT_TYPES:
        return part.data.decode("utf-8", "replace")
    return None


def titled_text(part: DocumentPart, text: str) -> str:
    """A text document where documents have no form of their own."""
    return f"[document: {part.title}]\n{text}" if part.title else text


def base64_of(part: ImagePart | DocumentPart) -> str:
    """The bytes, as text."""
    return base64.b64encode(part.data).decode()


def data_url(part: ImagePart | DocumentPart) -> str:
    """The bytes, as an address."""
    return f"data:{part.media_type};base64,{base64_of(part)}"


def describe_unseen(part: ImagePart | DocumentPart) -> str:
    """What a model is told of a part that it cannot be shown."""
    title = f" {part.title}" if isinstance(part, DocumentPart) and part.title else ""
    return f"[{part.type}{title} ({part.media_type}, {len(part.data):,} bytes): this model cannot be shown it]"
