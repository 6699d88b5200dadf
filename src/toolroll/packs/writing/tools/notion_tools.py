"""`read_notion_page` and `write_to_notion` (W17, W18).

Each answers `{success: true, ...}` or `{success: false, error, message, ...}`. The token and the database are the
user's, from the environment (NOTION_TOKEN, NOTION_DATABASE_ID), and so is another address of the API (NOTION_BASE_URL).
"""

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol

from pydantic import Field

from toolroll.errors import ServiceFailed, ToolFailure, ToolrollError
from toolroll.home.keys import with_keys
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.messages import Template
from toolroll.packs.writing.notion.blocks import find_id
from toolroll.packs.writing.notion.client import API_URL, ErrorCode, NotionClient, describe_notion_error, error_code
from toolroll.packs.writing.notion.pages import STATUS, NewPage, make_page, read_page
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Lang, language_of, say
from toolroll.packs.writing.tools.errors import tool_failure
from toolroll.packs.writing.tools.post_tools import WithPosts, WithProfiles, display_path, profile_version
from toolroll.safe.net.urls import check_service_url

DATABASE_INVALID: Final = Template(
    "notion_database_invalid", "{variable} is neither the id nor the URL of a Notion database."
)

TOKEN: Final = "NOTION_TOKEN"  # noqa: S105 - the name of the variable
DATABASE: Final = "NOTION_DATABASE_ID"
ADDRESS: Final = "NOTION_BASE_URL"


class Save(Protocol):
    """Saves a post to a file as `save_to_file` does; raises `ToolFailure` where that fails."""

    async def __call__(
        self, *, content: str, platform: Platform, topic: str, profile_used: str
    ) -> Mapping[str, object]:
        """Save it, and return the answer of `save_to_file`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Notion:
    """The user's Notion, as far as it is configured."""

    client: NotionClient | None
    database: str = ""


async def open_notion(_ctx: ToolContext) -> AsyncIterator[Notion]:
    """Open Notion as the environment configures it; it is closed with the run."""
    token, database = with_keys(os.environ).get(TOKEN, "").strip(), os.environ.get(DATABASE, "").strip()
    if not token:
        yield Notion(client=None, database=database)
        return
    address = os.environ.get(ADDRESS, "").strip() or API_URL
    base_url = check_service_url(address, service="a Notion API", example=API_URL)
    async with NotionClient(token, base_url=base_url) as client:
        yield Notion(client=client, database=database)


def open_save(store: WithPosts, profiles: WithProfiles, ctx: ToolContext) -> Save:
    """Return what saves a post as `save_to_file` does; the yes to the page counts for the file too."""

    async def save(*, content: str, platform: Platform, topic: str, profile_used: str) -> Mapping[str, object]:
        draft = Draft(
            content=content,
            platform=platform,
            topic=topic,
            profile_used=profile_used,
            style_profile_version=profile_version(profiles, profile_used),
        )
        try:
            saved = store.save(draft, now=ctx.now())
        except ToolrollError as error:
            language = language_of(ctx.deps)
            message = say("save_failed", language, reason=describe_error(error, language))
            raise tool_failure("disk_error", message, content=content) from error
        return {"success": True, "file_path": display_path(saved.path)}

    return save


NOTION: Final[DependencyKey[Notion]] = DependencyKey("writing.notion", open_notion, scope="run")
SAVE: Final[DependencyKey[Save]] = DependencyKey("writing.save", open_save, scope="run")

WithNotion = Annotated[Notion, Depends(NOTION)]
WithSave = Annotated[Save, Depends(SAVE)]


# A page is the user's own, as a file of theirs is.
@tool(brings=("private", "untrusted"))
async def read_notion_page(
    page_id: Annotated[str, Field(description="The id of the page, or its whole URL.")],
    notion: WithNotion,
    ctx: ToolContext,
) -> dict[str, object]:
    """Read a Notion page and return its content as Markdown. Use it when the user gives the URL of a Notion page as the
    source for a post.
    """
    language = language_of(ctx.deps)
    if notion.client is None:
        raise _failure("notion_not_configured", language)
    found = find_id(page_id)
    if found is None:
        raise _failure("invalid_page_id", language)
    if ctx.run.said is not None and not _is_named(found, ctx.run.said):
        raise _failure("page_not_named", language)
    try:
        page = await read_page(notion.client, found)
    except ServiceFailed as error:
        raise _failure(error_code(error), language, detail=error) from error
    return {"success": True, "title": page.title, "content": page.content, "last_edited": page.last_edited}


def _is_named(page_id: str, said: Iterable[str]) -> bool:
    """Return whether the person has named the page: another id may be private text that a model has encoded."""
    digits = page_id.replace("-", "")
    return any(digits in text.replace("-", "").casefold() for text in said)


def _failure(code: ErrorCode, language: Lang, *, detail: ServiceFailed | None = None) -> ToolFailure:
    return tool_failure(code, describe_notion_error(code, language, detail=detail))


async def _preview_write(arguments: Mapping[str, Any], ctx: ToolContext, _edited: str | None) -> Preview:
    notion = await ctx.resolve(NOTION)
    missing = _missing(notion)
    if missing:
        first = say("notion_not_configured_saved", language_of(ctx.deps), missing=missing)
    else:
        first = say("notion_preview", language_of(ctx.deps), database=notion.database)
    columns = {
        "Title": arguments["title"],
        "Platform": arguments["platform"],
        "Topic": arguments["topic"],
        "Status": STATUS,
        "Profile": arguments["profile_used"],
    }
    # One line each: a title must not be able to pass for a column, or for the text.
    lines = [f"{name}: {' '.join(str(value).split())}" for name, value in columns.items()]
    return Preview.of_text("\n".join([first, *lines, "", arguments["content"]]))


@tool(effect="external", brings="untrusted", preview=_preview_write)
async def write_to_notion(
    *,
    content: Annotated[str, Field(description="The text of the post.")],
    title: Annotated[str, Field(description="The title of the page in Notion.")],
    platform: Platform,
    topic: Annotated[str, Field(description="The topic of the post.")],
    profile_used: Annotated[str, Field(description="The profile that was used.")] = DEFAULT,
    notion: WithNotion,
    save: WithSave,
    ctx: ToolContext,
) -> dict[str, object]:
    """Save the finished post as a new page with the status "Draft" in the user's Notion database. Use it only after the
    user has agreed. If Notion is not configured or fails, the post is saved to a file instead: tell the user.
    """

    async def instead(code: ErrorCode, message: str) -> ToolFailure:
        answer: dict[str, object] = {"success": False, "error": code, "message": message}
        try:
            saved = await save(content=content, platform=platform, topic=topic, profile_used=profile_used)
        except ToolFailure as failed:
            return ToolFailure({**answer, "save_to_file": failed.content}, code=failed.failure_code)
        return ToolFailure({**answer, "save_to_file": dict(saved)}, code=code)

    language, missing = language_of(ctx.deps), _missing(notion)
    if notion.client is None or missing:
        raise await instead("notion_not_configured", say("notion_not_configured_saved", language, missing=missing))
    new = NewPage(title=title, content=content, platform=platform, topic=topic, profile=profile_used, created=ctx.now())
    try:
        made = await make_page(notion.client, _database_id(notion), new)
    except ServiceFailed as error:
        message = f"{say('notion_failed_saved', language)} {describe_error(error, language)}"
        raise await instead("notion_error", message) from error
    return {"success": True, "notion_url": made.url, "page_id": made.page_id}


def _missing(notion: Notion) -> str:
    """Return the names of the settings that are missing."""
    absent = {TOKEN: notion.client is None, DATABASE: not notion.database}
    return ", ".join(name for name, is_absent in absent.items() if is_absent)


def _database_id(notion: Notion) -> str:
    found = find_id(notion.database)
    if found is None:
        raise ServiceFailed(DATABASE_INVALID(variable=DATABASE), status=200)
    return found


NOTION_TOOLS: Final[tuple[Tool, ...]] = (read_notion_page, write_to_notion)
"""In the order in which a model sees them."""
