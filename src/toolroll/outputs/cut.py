"""What a context gets of an output that is too long for it: whole lines, then where the rest is.

The same text always gives the same bytes, because a provider's prompt cache depends on that.
"""

import json
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from toolroll.kernel.data.messages import DocumentPart, ImagePart, OutputRef, Part, TextPart

CONTEXT_BYTES: Final = 51_200
"""Of one output in a context (K51): about 13,000 tokens, a tenth of a common window."""
_CONTINUATION: Final = 0b1000_0000
_CONTINUATION_MASK: Final = 0b1100_0000
PAGE_TOOL: Final = "tool_output_cache"
GREP_TOOL: Final = "tool_output_cache_grep"
EXEMPT: Final = frozenset({PAGE_TOOL, GREP_TOOL})
"""Tools whose own output is bounded and is neither kept nor cut: reading back would never end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPage:
    """The call that reads on; as text, exactly what a model has to write."""

    ref_id: str
    offset: int
    limit: int | None = None
    column: int = 0

    def __str__(self) -> str:
        arguments: dict[str, object] = {"ref_id": self.ref_id, "offset": self.offset}
        if self.limit is not None:
            arguments["limit"] = self.limit
        if self.column:
            arguments["column"] = self.column
        return f"{PAGE_TOOL} {json.dumps(arguments)}"


def placeholder(part: ImagePart | DocumentPart) -> str:
    """Return the line that stands for a part that is no text."""
    title = f" {' '.join(part.title.split())!r}" if isinstance(part, DocumentPart) and part.title else ""
    return f"[{part.type}{title} {part.media_type}, {len(part.data):,} bytes]\n"


def truncated_marker(ref: OutputRef | None) -> str:
    """Return the line that ends an output of which the beginning is in the context."""
    return (
        "[tool output truncated; the rest could not be kept]"
        if ref is None
        else f"[tool output truncated; ref={ref.id}]"
    )


def trimmed_marker(ref: OutputRef) -> str:
    """Return what stands for an output that is no longer in the context."""
    return f"[tool output trimmed; ref={ref.id}]"


def cut_for_context(text: str, ref: OutputRef | None, limit_bytes: int = CONTEXT_BYTES) -> str:
    """Return the text, or its first whole lines within the limit, the call that reads on, and the marker.

    A first line that is longer than the limit is clipped between two characters. What is added comes on top of the
    limit. `ref` is None for an output that could not be kept.
    """
    head = _head(text, limit_bytes)
    return text if head is None else _with_marker(head, head, ref)


def cut_from_whole(text: str, whole: str, ref: OutputRef | None, limit_bytes: int = CONTEXT_BYTES) -> str:
    """Cut a text that shows the beginning of a whole: reading goes on after the lines that both have."""
    head = _head(text, limit_bytes)
    if head is not None or ref is None:
        return text if head is None else _with_marker(head, head, ref)
    pairs = zip(text.split("\n"), whole.split("\n"), strict=False)
    common = takewhile(lambda pair: pair[0] == pair[1], pairs)
    return _with_marker(text, "".join(f"{line}\n" for line, _ in common), ref)


def cut_parts(parts: tuple[Part, ...], ref: OutputRef | None, limit_bytes: int = CONTEXT_BYTES) -> tuple[Part, ...]:
    """Cut parts: together their texts get the limit; images and documents stay as they are."""
    kept: list[Part] = []
    before, left = "", limit_bytes
    for part in parts:
        if not isinstance(part, TextPart):
            kept.append(part)
            before += placeholder(part)
            continue
        head = _head(part.text, left)
        if head is not None:
            kept.append(replace(part, text=_with_marker(head, before + head, ref)))
            return (*kept, *(one for one in parts[len(kept) :] if not isinstance(one, TextPart)))
        kept.append(part)
        before += part.text if part.text.endswith("\n") else f"{part.text}\n"
        left -= len(_bytes(part.text))
    return parts


def whole_characters(data: bytes, end: int) -> int:
    """Return the last place at or before `end` that is not inside a character of UTF-8."""
    for start in range(end, max(end - 4, -1), -1):
        if start >= len(data) or data[start] & _CONTINUATION_MASK != _CONTINUATION:
            return start
    return end  # four bytes that continue nothing: this is no UTF-8


def _head(text: str, limit_bytes: int) -> str | None:
    """What is kept of the text; None where that is all of it."""
    limit_bytes = max(limit_bytes, 0)
    # A character is a byte or more: no more of the text than this needs to be looked at.
    data = _bytes(text[: limit_bytes + 1])
    if len(data) <= limit_bytes:
        return None
    # The line end itself may be the byte that is too many: the line before it is whole.
    end = data.rfind(b"\n", 0, limit_bytes + 1) + 1
    return data[: end or whole_characters(data, limit_bytes)].decode("utf-8", "surrogatepass")


def _with_marker(head: str, before: str, ref: OutputRef | None) -> str:
    gap = "" if not head or head.endswith("\n") else "\n"
    if ref is None:
        return f"{head}{gap}{truncated_marker(None)}"
    lines, column = before.count("\n"), len(_bytes(before[before.rfind("\n") + 1 :]))
    onward = NextPage(ref_id=ref.id, offset=lines, column=column)
    shown = (
        f"[{len(_bytes(before)):,} of {ref.byte_size:,} bytes, line {lines:,} of {ref.line_count:,}. Next: {onward}]"
    )
    return f"{head}{gap}{shown}\n{truncated_marker(ref)}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
