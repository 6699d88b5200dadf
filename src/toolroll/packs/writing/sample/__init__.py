"""A sample author, a bicycle workshop: a style profile and posts in English and Ukrainian, to try everything out on."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from toolroll.models.scripted import Call, Line
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.profiles.schema import ProfileFields
from toolroll.packs.writing.texts.messages import Lang

_FOLDER: Final = Path(__file__).parent


def sample_profile(lang: Lang) -> ProfileFields:
    """Return what the profile `default` of the sample author says, for `ProfileStore.create`."""
    fields: ProfileFields = _sample(lang)["profile"]
    return fields


def sample_posts(lang: Lang) -> tuple[Draft, ...]:
    """Posts of the sample author, to learn a style from or to search among."""
    return tuple(Draft(content=one["text"], platform=one["platform"], topic=one["topic"]) for one in _posts(lang))


def _posts(lang: Lang) -> list[dict[str, Any]]:
    posts: list[dict[str, Any]] = _sample(lang)["posts"]
    return posts


def _sample(lang: Lang) -> ProfileFields:
    found: ProfileFields = json.loads(_file(f"{lang}.json", "en.json").read_text(encoding="utf-8"))
    return found


def _file(name: str, otherwise: str) -> Path:
    """Return a file of the sample; a language without one gets the English one."""
    path = _FOLDER / name
    return path if path.exists() else _FOLDER / otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A post as it once came about: what was asked for, what the person answered, and what the model said."""

    request: str
    answers: tuple[str, ...]
    turns: tuple[Line, ...]


def load_recording(lang: Lang) -> Recording:
    """Return the recorded sides of the demo in a language."""
    found = json.loads(_file(f"demo.{lang}.json", "demo.en.json").read_text(encoding="utf-8"))
    return Recording(request=found["request"], answers=tuple(found["answers"]), turns=tuple(map(_line, found["turns"])))


def _line(turn: dict[str, Any]) -> Line:
    calls = [Call(one["name"], one["arguments"]) for one in turn.get("calls", ())]
    return calls or str(turn["text"])
