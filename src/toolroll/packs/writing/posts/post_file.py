"""One post as a file: its name, its content, and how both are read again.

The topic is part of the name, in lower-case Latin letters, digits and dashes (W15). Ukrainian follows the national
standard of 2010 (resolution 55 of the Cabinet of Ministers), with its rules of position: є, ї, й, ю, я are written
differently at the beginning of a word, зг is zgh, ь and the apostrophe are left out.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from toolroll.packs.writing.posts.front_matter import join_front_matter, split_front_matter
from toolroll.packs.writing.posts.platforms import Platform

MAX_SLUG_CHARACTERS: Final = 60
"""Ten words: with date and platform, a file name that any system holds and a person can read."""
FALLBACK: Final = "post"
"""For topics without a letter or digit that can be written in Latin: emoji, symbols, other scripts."""

# Of a topic, what can be seen in a slug; every step after it takes time by its length.
_MAX_TOPIC_CHARACTERS: Final = 1_000
_APOSTROPHES: Final = re.compile("(?<=\\w)['`´‘’‛ʹʼʾˈ′＇](?=\\w)")
_MARKS: Final = re.compile("[\u0300-\u036f]")
_OTHERS: Final = re.compile("[^a-z0-9]+")
# Letters that Ukrainian does not have, as ICAO 9303 writes them in passports; and Latin ones that do not decompose.
_FOREIGN: Final[Mapping[int, str]] = str.maketrans(
    {
        "ё": "e",
        "ъ": "",
        "ы": "y",
        "э": "e",
        "ў": "u",
        "æ": "ae",
        "ð": "d",
        "đ": "d",
        "ı": "i",
        "ł": "l",
        "ø": "o",
        "œ": "oe",
        "þ": "th",
    }
)


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
        """Return the beginning of the text."""
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


def topic_slug(topic: str) -> str:
    """Return the topic in `[a-z0-9-]`: never empty or longer than MAX_SLUG_CHARACTERS, no dashes at the ends."""
    words = _OTHERS.sub("-", romanize(topic[:_MAX_TOPIC_CHARACTERS])).strip("-")
    return _shorten_slug(words) or FALLBACK


def romanize(text: str) -> str:
    """Return the text in small letters, with Cyrillic and accented Latin letters as plain Latin ones."""
    from translitua import translit  # noqa: PLC0415 - half an interpreter start, only when something is saved

    # Composed first, or й would lose its breve with the marks of stress, which go because a mark ends a word.
    composed = _APOSTROPHES.sub("", unicodedata.normalize("NFC", text))
    small = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", composed).casefold())
    plain = _APOSTROPHES.sub("", _MARKS.sub("", small)).translate(_FOREIGN)
    return _MARKS.sub("", unicodedata.normalize("NFKD", translit(plain)))


def _shorten_slug(slug: str) -> str:
    if len(slug) <= MAX_SLUG_CHARACTERS:
        return slug
    whole_words, dash, _ = slug[: MAX_SLUG_CHARACTERS + 1].rpartition("-")
    return whole_words if dash else slug[:MAX_SLUG_CHARACTERS]
