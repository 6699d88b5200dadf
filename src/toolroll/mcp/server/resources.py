"""What a client can read beside the tools: whole outputs of its own calls, and documents such as research and posts.

A document is read by a tool that runs as any call does: the rules of the person hold for it, and it is on record.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, quote, unquote, urlsplit

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from toolroll.errors import ToolrollError
from toolroll.kernel.data.messages import Part, TextPart
from toolroll.kernel.define.tool import Tool
from toolroll.mcp.server.results import OUTPUT_URI
from toolroll.outputs.reader import StoredOutput, decode_for_display, read_page
from toolroll.outputs.store import OutputStore

PAGE_SIZE: Final = 200
"""Resources in one answer; a cursor leads to the next."""
MAX_WHOLE_BYTES: Final = 1_048_576
"""Of an output that is sent at once; a longer one comes in pages."""
NOT_FOUND: Final = -32_002
"""The code for a resource that is not there, in the protocol before 2026-07-28."""
NEXT_KEY: Final = "toolroll/next"
"""The key of `_meta` with the address of the next page."""
Contents = TextResourceContents | BlobResourceContents


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a source; its name is the end of its address."""

    name: str
    """The end of its address, after the prefix of its source."""
    title: str = ""
    """What a person reads in a list."""
    description: str = ""
    """What it is about, in a sentence."""
    media_type: str = "text/markdown"
    """The kind of its content."""


class Reader(Protocol):
    """Runs the tools by which documents are listed and read, for one client."""

    async def look(self, tool: Tool, arguments: dict[str, object], /) -> Any:
        """Return what a tool finds, None where it fails. It is not on record."""
        ...

    async def read(self, tool: Tool, arguments: dict[str, object], /) -> Any:
        """Return what a tool reads, None where it fails or may not."""
        ...


class DocumentSource(Protocol):
    """Documents whose addresses begin with the same `prefix`."""

    @property
    def prefix(self) -> str:
        """Return the beginning of the addresses: `toolroll://research/`."""
        ...

    @property
    def title(self) -> str:
        """Return what they are, in a word or two."""
        ...

    @property
    def template(self) -> str:
        """Return the address with a name in braces."""
        ...

    async def list(self, reader: Reader, /) -> Sequence[Document]:
        """Return the documents that there are."""
        ...

    async def read(self, name: str, reader: Reader, /) -> str | bytes | None:
        """Return a document; None if there is none of this name, or the client may not read it."""
        ...


async def list_resources(
    sources: Sequence[DocumentSource], reader: Reader, cursor: str | None, *, is_modern: bool
) -> ListResourcesResult:
    """Return one page of all documents."""
    found = [
        Resource(
            uri=source.prefix + quote(one.name),
            name=one.name,
            title=one.title or one.name,
            description=one.description or None,
            mime_type=one.media_type,
        )
        for source in sources
        for one in await source.list(reader)
    ]
    start = _read_cursor(cursor)
    more = str(start + PAGE_SIZE) if start + PAGE_SIZE < len(found) else None
    # Documents come and go while the server runs: a client asks each time.
    caching: dict[str, Any] = {"ttl_ms": 0, "cache_scope": "private"} if is_modern else {}
    return ListResourcesResult(resources=found[start : start + PAGE_SIZE], next_cursor=more, **caching)


def list_templates(
    sources: Sequence[DocumentSource], *, has_outputs: bool, is_modern: bool
) -> ListResourceTemplatesResult:
    """Return the forms of all addresses."""
    found = [
        ResourceTemplate(uri_template=one.template, name=one.title, title=one.title, mime_type="text/markdown")
        for one in sources
    ]
    if has_outputs:
        found.append(
            ResourceTemplate(
                uri_template=f"{OUTPUT_URI}{{ref}}{{?offset,limit}}",
                name="output",
                title="The whole output of a call",
                description="'ref' is named in the result; 'offset' lines are skipped, 'limit' lines are read.",
                mime_type="text/plain",
            )
        )
    caching: dict[str, Any] = {"ttl_ms": 300_000, "cache_scope": "private"} if is_modern else {}
    return ListResourceTemplatesResult(resource_templates=found, **caching)


async def read_document(sources: Sequence[DocumentSource], uri: str, reader: Reader) -> list[Contents] | None:
    """Return the document at an address; None if there is none."""
    for source in sources:
        if not uri.startswith(source.prefix):
            continue
        found = await source.read(unquote(uri.removeprefix(source.prefix)), reader)
        if found is None:
            return None
        listed = {source.prefix + quote(one.name): one.media_type for one in await source.list(reader)}
        return [_contents(uri, found, listed.get(uri))]
    return None


def read_output(store: OutputStore, uri: str) -> list[Contents] | None:
    """Return a whole output, or the page of it that the address names; None if there is none."""
    address = urlsplit(uri)
    query = parse_qs(address.query)
    try:
        kept = store.open(address.path.removeprefix("/"))
        if not query and kept.meta.byte_size <= MAX_WHOLE_BYTES:
            return _whole(uri, kept)
        numbers = {key: int(values[0]) for key, values in query.items() if key in ("offset", "limit", "column")}
        if any(number < 0 for number in numbers.values()):
            return None
        page = read_page(kept, **numbers)
    except (ToolrollError, ValueError):  # none of this run, damaged, past its end, or no number
        return None
    text = decode_for_display(page.data)
    if page.next is None:
        return [TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
    onward = f"{OUTPUT_URI}{kept.meta.id}?offset={page.next.offset}"
    onward += f"&limit={page.next.limit}" if page.next.limit else ""
    onward += f"&column={page.next.column}" if page.next.column else ""
    said = f"[lines {page.offset + 1:,}-{page.offset + len(page.lines):,} of {kept.meta.line_count:,}; next: {onward}]"
    return [
        TextResourceContents(uri=uri, mime_type="text/plain", text=text, _meta={NEXT_KEY: onward}),
        TextResourceContents(uri=onward, mime_type="text/plain", text=said),
    ]


def make_result(contents: Sequence[Contents] | None, uri: str, *, is_modern: bool) -> ReadResourceResult:
    """Return what a client gets; MCPError if there is nothing."""
    if contents is None:
        text = (
            "There is no such resource, or you may not read it. An output can be read by the client whose call it was."
        )
        raise MCPError(code=INVALID_PARAMS if is_modern else NOT_FOUND, message=text, data={"uri": uri})
    caching: dict[str, Any] = {"ttl_ms": 0, "cache_scope": "private"} if is_modern else {}
    return ReadResourceResult(contents=[*contents], **caching)


def _whole(uri: str, kept: StoredOutput) -> list[Contents]:
    content = kept.content()
    if isinstance(content, tuple):
        return [_part(uri, part) for part in content]
    return [_contents(uri, content, None)]


def _part(uri: str, part: Part) -> Contents:
    if isinstance(part, TextPart):
        return TextResourceContents(uri=uri, mime_type="text/plain", text=part.text)
    return _contents(uri, part.data, part.media_type)


def _contents(uri: str, found: str | bytes, media_type: str | None) -> Contents:
    if isinstance(found, str):
        text = found.encode("utf-8", "replace").decode()  # a lone surrogate cannot be sent
        return TextResourceContents(uri=uri, mime_type=media_type or "text/plain", text=text)
    blob = base64.b64encode(found).decode("ascii")
    return BlobResourceContents(uri=uri, mime_type=media_type or "application/octet-stream", blob=blob)


def _read_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit()):
        raise MCPError(code=INVALID_PARAMS, message="This cursor is none of ours. Begin again without one.")
    return int(cursor)
