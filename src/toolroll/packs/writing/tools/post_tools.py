"""The tools for posts: `read_past_posts` and `save_to_file`.

Each answers `{success: true, ...}` or `{success: false, error, message, ...}`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from toolroll.errors import ToolrollError
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.packs.writing.posts.index import RANKED, PostMatches
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.posts.post_file import Draft, PostFile
from toolroll.packs.writing.posts.store import FOLDER, PostStore
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Lang, language_of, say
from toolroll.packs.writing.tools.dependencies import PROFILES, DataFolder, check_visible, keep_visible
from toolroll.packs.writing.tools.errors import tool_errors, tool_failure

PlatformFilter: TypeAlias = Literal["linkedin", "instagram", "x", "all"]

DEFAULT_LIMIT: Final = 5
MAX_LIMIT: Final = 50
"""More previews fill the context and help nobody."""
MIX: Final = "mix:"
NOT_WHOLE: Final = "There are so many posts that only the newest were searched so far; the next search goes on."


def open_posts(data: DataFolder) -> Iterator[PostStore]:
    """Open the posts of the data folder for one run."""
    with PostStore(data) as store:
        yield store


POSTS: Final[DependencyKey[PostStore]] = DependencyKey("writing.posts", open_posts, scope="run")

WithPosts = Annotated[PostStore, Depends(POSTS)]
WithProfiles = Annotated[ProfileStore, Depends(PROFILES)]


@tool(brings=("private", "untrusted"))
def read_past_posts(
    keywords: Annotated[list[str], Field(description="Keywords to search for: ['вигорання', 'burnout', 'робота'].")],
    store: WithPosts,
    ctx: ToolContext,
    platform: Annotated[PlatformFilter, Field(description="Only posts for this platform.")] = "all",
    limit: Annotated[float, Field(description="The most posts to return.")] = DEFAULT_LIMIT,
) -> dict[str, object]:
    """Search the posts that were written and saved before for those on a topic. Use it to avoid repetition, and to take
    up what the author has already written. It is optional: for topics that may overlap with earlier posts.
    """
    wanted = None if platform == "all" else platform

    def report(done: int, total: int) -> None:
        ctx.progress(f"read {done:,} of {total:,} posts for the first time", done / total)

    with tool_errors(language_of(ctx.deps)):
        most = min(max(int(limit), 0), MAX_LIMIT)
        found = store.search(keywords, platform=wanted, limit=RANKED if ctx.denied_paths else most, progress=report)
    return search_answer(_keep_visible_posts(found, most, ctx) if ctx.denied_paths else found)


def _keep_visible_posts(found: PostMatches, most: int, ctx: ToolContext) -> PostMatches:
    """Return the posts that no rule keeps from the call; the others are not counted either."""
    seen = set(keep_visible([_post_path(post.file) for post in found.posts], ctx))
    posts = [post for post in found.posts if _post_path(post.file) in seen]
    return replace(found, posts=tuple(posts[:most]), total=len(posts))


def _post_path(file: str) -> str:
    return f"{FOLDER.as_posix()}/{file}"


def search_answer(found: PostMatches) -> dict[str, object]:
    """Return the answer of `read_past_posts`, with a note where not all posts could be searched."""
    answer = {"success": True, "posts": [_post_fields(post) for post in found.posts], "total_found": found.total}
    return answer if found.is_whole else {**answer, "note": NOT_WHOLE}


def _post_fields(post: PostFile) -> dict[str, object]:
    return {
        "file": post.file,
        "platform": post.platform,
        "topic": post.topic,
        "created": post.created,
        "profile_used": post.profile_used,
        "preview": post.preview,
    }


async def _preview_save(arguments: Mapping[str, Any], ctx: ToolContext, edited: str | None) -> Preview:
    lang = language_of(ctx.deps)
    content = arguments["content"] if edited is None else edited
    if not content.strip():
        raise tool_failure("empty_post", say("empty_post", lang))
    draft = Draft(content=content, platform=arguments["platform"], topic=arguments["topic"])
    store = await ctx.resolve(POSTS)
    path = store.next_path(draft, now=ctx.now())
    with tool_errors(lang):
        check_visible(_post_path(path.name), ctx)
    place = display_path(path)
    return Preview.of_text(f"{say('save_preview', lang, file=place)}\n\n{content}", editable=content)


@tool(effect="writes", preview=_preview_save)
def save_to_file(
    content: Annotated[str, Field(description="The whole text of the post.")],
    platform: Platform,
    topic: Annotated[str, Field(description="The topic of the post in 2-3 words, for the name of the file.")],
    store: WithPosts,
    profiles: WithProfiles,
    ctx: ToolContext,
    profile_used: Annotated[
        str, Field(description="The name of the profile, or 'mix:default+competitor-alex'.")
    ] = DEFAULT,
) -> dict[str, object]:
    """Save the final version of a post as a Markdown file with its metadata. Call it after the user has confirmed the
    final version ("ok", "зберігай"), never for drafts on the way. The file can be found again with read_past_posts.
    """
    approved = ctx.preview
    assert approved is not None  # the executor runs nothing that writes without one
    text = approved.editable or content
    draft = Draft(
        content=text,
        platform=platform,
        topic=topic,
        profile_used=profile_used,
        style_profile_version=profile_version(profiles, profile_used),
    )
    with _return_text_on_error(text, language_of(ctx.deps)):
        saved = store.save(draft, now=ctx.now())
    answer: dict[str, object] = {"success": True, "file_path": display_path(saved.path)}
    # The model proposed something else, and must know what the post says now.
    return answer if text == content else {**answer, "content": text}


def profile_version(profiles: ProfileStore, profile_used: str) -> int | None:
    """Return the version of the profile that a post was written with, of a mix that of its base; None without one."""
    name = profile_used.removeprefix(MIX).partition("+")[0]
    try:
        return profiles.read(name).profile.version
    except ToolrollError:  # a post is worth saving whatever became of the profile
        return None


def display_path(path: Path) -> str:
    """Return a path as a person would write it: relative to the working folder if it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@contextmanager
def _return_text_on_error(text: str, lang: Lang) -> Iterator[None]:
    """Turn an error of the disk into a failure that has the text, so that a person can copy it."""
    try:
        yield
    except ToolrollError as error:
        raise tool_failure(
            "disk_error", say("save_failed", lang, reason=describe_error(error, lang)), content=text
        ) from error


POST_TOOLS: Final[tuple[Tool, ...]] = (read_past_posts, save_to_file)
"""In the order in which a model sees them."""
