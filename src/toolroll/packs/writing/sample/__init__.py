"""A sample author, a bicycle workshop: a style profile and posts in English and Ukrainian, to try everything out on."""

import json
from pathlib import Path
from typing import Any, Final

from toolroll.packs.writing.messages import Lang
from toolroll.packs.writing.post_file import Draft
from toolroll.packs.writing.stored import Fields

_FOLDER: Final = Path(__file__).parent


def sample_profile(lang: Lang) -> Fields:
    """What the profile `default` of the sample author says, for `ProfileStore.create`."""
    fields: Fields = _sample(lang)["profile"]
    return fields


def sample_posts(lang: Lang) -> tuple[Draft, ...]:
    """Posts of the sample author, to learn a style from or to search among."""
    return tuple(Draft(content=one["text"], platform=one["platform"], topic=one["topic"]) for one in _posts(lang))


def _posts(lang: Lang) -> list[dict[str, Any]]:
    posts: list[dict[str, Any]] = _sample(lang)["posts"]
    return posts


def _sample(lang: Lang) -> Fields:
    found: Fields = json.loads((_FOLDER / f"{lang}.json").read_text(encoding="utf-8"))
    return found
