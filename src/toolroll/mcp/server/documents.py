"""The documents of the packs as resources: research, style profiles and past posts.

Each is listed and read under the name of the tool by which a model reads it, so that a rule about that tool holds here.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.depends.dependency import Depends
from toolroll.mcp.server.resources import Document, DocumentSource, Reader
from toolroll.packs.research.read_research import SOURCE, read_research
from toolroll.packs.research.source import ResearchSource
from toolroll.packs.writing.posts.store import FOLDER, PostStore
from toolroll.packs.writing.tools.dependencies import keep_visible
from toolroll.packs.writing.tools.post_tools import POSTS, read_past_posts
from toolroll.packs.writing.tools.profile_tools import list_profiles, read_style_profile
from toolroll.workspace.denials import Denials


@tool(name=read_research.name)
async def _list_research(source: Annotated[ResearchSource, Depends(SOURCE)], ctx: ToolContext) -> list[dict[str, str]]:
    """List the research documents."""
    ideas = await source.list_ideas()
    seen = Denials(ctx.denied_paths, protected=()).visible([one.path for one in ideas])
    return [{"name": one.path, "title": one.title} for one in ideas if one.path in seen]


@tool(name=read_past_posts.name)
def _list_posts(store: Annotated[PostStore, Depends(POSTS)], ctx: ToolContext) -> list[str]:
    """List the posts."""
    return _visible_posts(store, ctx)


@tool(name=read_past_posts.name)
def _read_post(file: str, store: Annotated[PostStore, Depends(POSTS)], ctx: ToolContext) -> dict[str, str | None]:
    """Read a whole post."""
    return {"text": store.read(file) if file in _visible_posts(store, ctx) else None}


def _visible_posts(store: PostStore, ctx: ToolContext) -> list[str]:
    paths = {f"{FOLDER.as_posix()}/{name}": name for name in store.names()}
    return [paths[path] for path in keep_visible([*paths], ctx)]


@dataclass(frozen=True, slots=True)
class ResearchDocuments:
    """The documents of explored ideas."""

    prefix: str = "toolroll://research/"
    title: str = "Research document"
    template: str = "toolroll://research/{+path}"

    async def list(self, reader: Reader, /) -> Sequence[Document]:
        """Return the documents, the newest first."""
        found = await reader.look(_list_research, {}) or []
        return [Document(name=one["name"], title=one["title"]) for one in found]

    async def read(self, name: str, reader: Reader, /) -> str | None:
        """Return a document; None if there is none."""
        found = await reader.read(read_research, {"path": name})
        return None if found is None else str(found["content"])


@dataclass(frozen=True, slots=True)
class StyleProfiles:
    """The style profiles of Ghostpen."""

    prefix: str = "toolroll://profile/"
    title: str = "Style profile"
    template: str = "toolroll://profile/{name}"

    async def list(self, reader: Reader, /) -> Sequence[Document]:
        """Return the profiles, the person's own first."""
        found: dict[str, Any] = await reader.look(list_profiles, {}) or {"profiles": []}
        return [Document(name=one["name"], media_type="application/json") for one in found["profiles"]]

    async def read(self, name: str, reader: Reader, /) -> str | None:
        """Return a profile as JSON; None if there is none."""
        found = await reader.read(read_style_profile, {"profile_name": name})
        return None if found is None else json.dumps(found["profile"], ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True)
class PastPosts:
    """The posts that were saved."""

    prefix: str = "toolroll://post/"
    title: str = "Past post"
    template: str = "toolroll://post/{file}"

    async def list(self, reader: Reader, /) -> Sequence[Document]:
        """Return the posts, the newest first."""
        return [Document(name=one) for one in await reader.look(_list_posts, {}) or []]

    async def read(self, name: str, reader: Reader, /) -> str | None:
        """Return a post; None if there is none."""
        found = await reader.read(_read_post, {"file": name})
        return None if found is None else found["text"]


_SOURCES: Final[tuple[tuple[Tool, DocumentSource], ...]] = (
    (read_research, ResearchDocuments()),
    (read_style_profile, StyleProfiles()),
    (read_past_posts, PastPosts()),
)


def documents_of(tools: Iterable[Tool]) -> tuple[DocumentSource, ...]:
    """Return the documents that these tools read: what a client may not ask a tool for, it cannot read either."""
    served = {id(one.core) for one in tools}
    return tuple(source for one, source in _SOURCES if id(one.core) in served)
