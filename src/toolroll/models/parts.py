"""Parts of messages that every wire treats alike: images, documents, ids, names of tools, and arguments of calls."""

import base64
import re
from hashlib import sha256
from typing import Final

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.data.messages import DocumentPart, ImagePart, ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.model import ModelRequest

IMAGE_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""What both vendors look at; anything else makes them refuse the whole request."""

PDF: Final = "application/pdf"
_TEXT_TYPES: Final = frozenset({"application/json", "application/xml", "application/yaml", "application/toml"})
_FITS: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DIGITS: Final = 24


def readable_text(part: DocumentPart) -> str | None:
    """Return the text of a document that is text; None for any other."""
    if part.media_type.startswith("text/") or part.media_type in _TEXT_TYPES:
        return part.data.decode("utf-8", "replace")
    return None


def titled_text(part: DocumentPart, text: str) -> str:
    """Put the title before the text, for wires that have no documents."""
    return f"[document: {part.title}]\n{text}" if part.title else text


def base64_of(part: ImagePart | DocumentPart) -> str:
    """Encode the bytes as text."""
    return base64.b64encode(part.data).decode()


def data_url(part: ImagePart | DocumentPart) -> str:
    """Return the bytes as a `data:` URL."""
    return f"data:{part.media_type};base64,{base64_of(part)}"


def describe_unseen(part: ImagePart | DocumentPart) -> str:
    """Describe a part to a model that cannot be shown it."""
    title = f" {part.title}" if isinstance(part, DocumentPart) and part.title else ""
    return f"[{part.type}{title} ({part.media_type}, {len(part.data):,} bytes): this model cannot be shown it]"


def safe_id(call_id: str) -> str:
    """Return the id itself, or one made from it: equal ids stay equal, different ones stay different."""
    if _FITS.fullmatch(call_id):
        return call_id
    return "call_" + sha256(call_id.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def safe_name(name: str) -> str:
    """Return the name itself, or the nearest one that a provider accepts."""
    return name if _FITS.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unknown_tool"


def arguments_to_send(call: ToolCall) -> str:
    """Return the arguments as the model wrote them, or {} for broken ones.

    Broken arguments were never run, and some servers parse them again and refuse the whole request.
    """
    try:
        parsed = parse_object(call.arguments)
    except JsonRefused:
        return "{}"
    return call.arguments if parsed else "{}"


def arguments_received(written: object) -> str:
    """Return arguments as text: some servers send the object itself, or nothing at all."""
    if isinstance(written, str):
        return written or "{}"
    return "{}" if written is None else dump_json(written)


def is_complete_object(written: str) -> bool:
    """Return whether the text is a complete JSON object already."""
    try:
        parse_object(written)
    except JsonRefused:
        return False
    return bool(written.strip())


def form_in_words(request: ModelRequest) -> str:
    """Return the system text with the form of the answer, for where a request cannot hold it as a schema."""
    form = (
        "When you answer, and make no more calls, reply with one JSON value by this schema and nothing else: "
        f"{dump_json(request.output_schema)}"
    )
    return f"{request.system}\n\n{form}" if request.system else form
