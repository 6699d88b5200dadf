"""A draft as each platform would show it: its length there, where it is folded, and the places that break a rule."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.posts.checks import DraftFinding, check_draft
from toolroll.packs.writing.posts.platforms import PLATFORMS, Platform, post_length
from toolroll.packs.writing.profiles.schema import ProfileFields
from toolroll.packs.writing.session.drafts import rules_for
from toolroll.packs.writing.texts.messages import Lang

Mark: TypeAlias = Literal["", "avoid", "over"]
"""What is wrong with a part: nothing, it has words that the profile avoids, or it is beyond the limit."""

FOLDS: Final[Mapping[Platform, int]] = {"linkedin": 210, "instagram": 125}
"""Characters that are seen before somebody opens the post. The platforms do not publish them; this is what they do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a draft, what is wrong with it, and whether it is behind the fold."""

    text: str
    mark: Mark = ""
    note: str = ""
    is_folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A draft on one platform; the parts together are its text."""

    platform: Platform
    length: int
    limit: int
    parts: tuple[Part, ...]
    notes: tuple[str, ...]


def make_looks(text: str, fields: ProfileFields, lang: Lang) -> tuple[Look, ...]:
    """Return how a draft looks on each platform, by the rules of a profile."""
    return tuple(_look(text, fields, platform, lang) for platform in PLATFORMS)


def _look(text: str, fields: ProfileFields, platform: Platform, lang: Lang) -> Look:
    rules = rules_for(fields, platform)
    report = check_draft(text, rules, lang=lang)
    limit = find_limit(text, platform, rules.max_length)
    fold = find_fold(text, platform)
    return Look(
        platform=platform,
        length=report.length,
        limit=rules.max_length,
        parts=tuple(_parts(text, report.findings, limit=limit, fold=fold)),
        notes=tuple(one.message for one in report.findings),
    )


def find_fold(text: str, platform: Platform) -> int:
    """Return how many characters are seen before somebody opens the post; no word is cut."""
    most = FOLDS.get(platform, len(text))
    return len(text) if len(text) <= most else text.rfind(" ", 0, most) + 1 or most


def find_limit(text: str, platform: Platform, limit: int) -> int:
    """Return how many characters of a text are within the limit, as the platform counts them."""
    if post_length(text, platform) <= limit:
        return len(text)
    return bisect_left(range(len(text) + 1), limit + 1, key=lambda end: post_length(text[:end], platform)) - 1


def _parts(text: str, findings: tuple[DraftFinding, ...], *, limit: int, fold: int) -> Iterator[Part]:
    places = [one for one in findings if one.end > one.start]
    cuts = sorted({0, limit, fold, len(text), *(end for one in places for end in (one.start, one.end))})
    for start, end in pairwise(cuts):
        found = next((one for one in places if one.start <= start and end <= one.end), None)
        mark: Mark = "avoid" if found is not None else "over" if start >= limit else ""
        note = "" if found is None else found.message
        yield Part(text=text[start:end], mark=mark, note=note, is_folded=start >= fold)
