"""Files that come with a message: what they say they are is checked, and only what every provider takes is sent on."""

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from toolroll.agent.attachment import IMAGE_STARTS
from toolroll.kernel.data.messages import DocumentPart, ImagePart, Part, Prompt, TextPart
from toolroll.web.page_models import FileModel
from toolroll.web.problems import Problem

_PDF: Final = "application/pdf"
_PDF_START: Final = b"%PDF-"
_TEXT: Final = "text/plain"


def make_prompt(text: str, files: Sequence[FileModel]) -> Prompt:
    """Return a message with its files; Problem if one of them is not what it says."""
    if not files:
        return text
    return [TextPart(text=text), *map(_make_part, files)]


def _make_part(file: FileModel) -> Part:
    try:
        data = base64.b64decode(file.data, validate=True)
    except binascii.Error:
        raise Problem(400, "invalid_body", f"files: '{file.name}' is not in base64.") from None
    starts = IMAGE_STARTS.get(file.media_type)
    if starts is not None and data.startswith(starts):
        return ImagePart(data=data, media_type=file.media_type)
    if file.media_type == _PDF and data.startswith(_PDF_START):
        return DocumentPart(data=data, media_type=_PDF, title=file.name)
    try:
        data.decode()
    except UnicodeDecodeError:
        what = "PNG, JPEG, GIF and WebP images, PDF files and texts in UTF-8 can be attached"
        raise Problem(400, "file_refused", f"'{file.name}' is none of these: {what}.") from None
    return DocumentPart(data=data, media_type=_TEXT, title=file.name)
