"""One post as a file: its name, its content, and how both are read again."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from toolroll.packs.writing.posts.front_matter import join_front_matter, split_front_matter
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.posts.slugs import topic_slug

SUFFIX: Final = ".md"
MAX_POST_BYTES: Final = 1_048_576
"""Read of one file: some three hundred of the longest posts."""
PREVIEW_CHARACTERS: Final = 200

_DATED: Final = re.compile(r"(\d{4}-\d\d-\d\d)-(.+?)(?:-(linkedin|instagram|x))?(?:-\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A finished post before it is saved."""

    content: str
    platform: Platform
    topic: str
    profile_used: str = "default"
    style_profile_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostFile:
    """A post as it was found; fields that its front matter lacks come from its name, or are empty."""

    file: str
    size: int
    mtime_ns: int
    platform: str
    topic: str
    created: str
    profile_used: str
    body: str

    @property
    def preview(self) -> str:
        """The beginning of the text."""
        return self.body[:PREVIEW_CHARACTERS]


def file_stem(draft: Draft, now: datetime) -> str:
    """Return `{date}-{topic-slug}-{platform}`, the name of its file before it is known whether that is free."""
    return f"{now:%Y-%m-%d}-{topic_slug(draft.topic)}-{draft.platform}"


def file_text(draft: Draft, now: datetime) -> str:
    """Return the content of its file."""
    fields = {
        "platform": draft.platform,
        "topic": draft.topic,
        "created": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "profile_used": draft.profile_used,
        "style_profile_version": draft.style_profile_version,
    }
    return join_front_matter(fields, draft.content)


def is_post_name(name: str) -> bool:
    """Return whether a file of that name is a post; names that are not Unicode cannot be indexed."""
    return name.endswith(SUFFIX) and not name.startswith(".") and name.isprintable()


def parse_post(file: str, data: bytes, *, size: int, mtime_ns: int) -> PostFile:
    """Return the post in a file. Any text is one: a person may have written it without front matter."""
    text = unicodedata.normalize("NFC", data.decode(errors="replace").replace("\0", "\ufffd"))
    fields, body = split_front_matter(text)
    name = _DATED.fullmatch(file.removesuffix(SUFFIX))
    date, topic, platform = name.groups("") if name else ("", file.removesuffix(SUFFIX), "")
    return PostFile(
        file=file,
        size=size,
        mtime_ns=mtime_ns,
        platform=fields.get("platform", platform),
        topic=fields.get("topic", topic),
        created=fields.get("created", date),
        profile_used=fields.get("profile_used", ""),
        body=body.strip(),
    )
