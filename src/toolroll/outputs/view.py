"""Parts as one text that can be paged and searched: texts as they are, everything else as a line that names it."""

from toolroll.kernel.data.messages import DocumentPart, ImagePart


def placeholder(part: ImagePart | DocumentPart) -> str:
    """The line that stands for a part that is no text."""
    title = f" {' '.join(part.title.split())!r}" if isinstance(part, DocumentPart) and part.title else ""
    return f"[{part.type}{title} {part.media_type}, {len(part.data):,} bytes]\n"
