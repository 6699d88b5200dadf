"""The style profile: every field described once (W1), and the check of a whole profile (W2).

A field is one line in one of the classes below. Its annotation says what it may hold; a `FieldSpec` says the rest:
whose value a mix takes, what an analysis looks for, what older files get in its place. The stored format, the
description, mixes, changes, the editor and the prompts are made from these classes. The label of a field is the text
of that name under `names.field` in the language files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from toolroll.errors import PathRefused
from toolroll.messages import Text
from toolroll.packs.writing.posts.platforms import LIMITS, PLATFORMS, Platform
from toolroll.packs.writing.profiles.faults import to_fault
from toolroll.packs.writing.profiles.names import check_profile_name

ProfileFields: TypeAlias = dict[str, Any]
"""A profile as plain JSON data, in the order of its file."""

ProfileType: TypeAlias = Literal["personal", "reference"]
Language: TypeAlias = Literal["uk", "en", "uk+en"]

MixPart: TypeAlias = Literal["base", "techniques", "author"]
"""Whose value a mix takes: the base profile's, that of the profile with the techniques, or only ever the author's own.

They differ where the base does not have the platform: it is taken from the techniques, without what is the author's.
"""

FIRST_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """What a field is, beyond the values that it may hold."""

    mix: MixPart = "base"
    obeys_avoid: bool = False
    """In a mix, entries with words that the base avoids are left out."""
    hint: str = ""
    """What an analysis of posts is told about it."""
    change: Literal["free", "fixed", "generated"] = "free"
    """`fixed` fields never change; `generated` ones go with each version by themselves."""
    is_shown: bool = True
    """Whether the description of a profile has a line for it."""
    value_names: str = ""
    """The names that languages have for its values, as `name_value` takes it."""
    since: int = FIRST_FORMAT
    """The format of profiles in which it first appeared; the highest of all fields is the current format."""
    initial: object = None
    """Its value in profiles of older formats."""


_FIXED: Final = FieldSpec(is_shown=False, change="fixed")
_GENERATED: Final = FieldSpec(is_shown=False, change="generated")
_TECHNIQUE: Final = FieldSpec(mix="techniques")


def timestamp(moment: datetime) -> str:
    """Return a moment as profiles and posts keep it: in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Cached: the same moments stand in every file, and a list of a thousand profiles checks four thousand of them.
@lru_cache(maxsize=4096)
def _check_moment(text: str) -> str:
    try:
        offset = datetime.fromisoformat(text).utcoffset() if "T" in text else None
    except ValueError:
        offset = None
    if offset != timedelta(0):
        raise PydanticCustomError("moment", "must be a moment in UTC")
    return text


@lru_cache(maxsize=4096)
def _check_day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        return _check_moment(text)
    return text


def _check_slug(text: str) -> str:
    try:
        return check_profile_name(text)
    except PathRefused:
        raise PydanticCustomError("slug", "must be a profile name") from None


Moment: TypeAlias = Annotated[str, AfterValidator(_check_moment)]
Day: TypeAlias = Annotated[str, AfterValidator(_check_day)]
Count: TypeAlias = Annotated[int, Field(gt=0)]
# A blank among the words to avoid would be found in every draft.
Phrase: TypeAlias = Annotated[str, StringConstraints(pattern=r"\S")]


class _Fields(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)


class Voice(_Fields):
    """How somebody writes, wherever they do."""

    tone: str
    formality: str
    personality: str
    sentence_style: Annotated[str, _TECHNIQUE]
    paragraph_style: Annotated[str, _TECHNIQUE]
    hooks: Annotated[
        list[Phrase],
        FieldSpec(mix="techniques", obeys_avoid=True, hint="patterns that really occur"),
    ]
    closings: Annotated[list[Phrase], FieldSpec(mix="techniques", obeys_avoid=True, hint="patterns that really occur")]
    signature_phrases: Annotated[list[Phrase], FieldSpec(hint="phrases that really occur")]
    avoid: Annotated[
        list[Phrase],
        FieldSpec(hint="words, phrases and manners that this author would not use"),
    ]
    emoji_usage: str


class PlatformStyle(_Fields):
    """What is different on one platform."""

    max_length: Annotated[Count, FieldSpec(hint="in characters, near the longest post")]
    structure: Annotated[str, _TECHNIQUE]
    formatting: str
    tone_override: Annotated[str | None, FieldSpec(mix="author")]
    hashtags: str | None = None
    notes: str | None = None


class Example(_Fields):
    """A post that shows the style."""

    id: str
    platform: Platform
    text: str
    why_good: str
    added_at: Day


class ChangelogEntry(_Fields):
    """One version of a profile: when it came, and what is different in it."""

    version: Count
    date: Day
    action: Literal["created", "updated"]
    description: str
    fields_changed: list[str] | None = None


class StyleProfile(_Fields):
    """A style profile, checked: all rules of W1 hold."""

    profile_name: Annotated[str, AfterValidator(_check_slug), _FIXED]
    profile_type: Annotated[ProfileType, _FIXED]
    source: Annotated[str, FieldSpec(value_names="source")]
    version: Annotated[Count, _GENERATED]
    created_at: Annotated[Moment, _GENERATED]
    updated_at: Annotated[Moment, _GENERATED]
    language: Annotated[Language, FieldSpec(value_names="language")]
    voice: Voice
    platforms: Annotated[dict[Platform, PlatformStyle], Field(min_length=1)]
    examples: list[Example]
    changelog: Annotated[list[ChangelogEntry], _GENERATED]


def specs_of(shape: type[BaseModel]) -> Mapping[str, FieldSpec]:
    """Return the description of each field of one of the classes above, in their order."""
    return {
        name: next((one for one in field.metadata if isinstance(one, FieldSpec)), FieldSpec())
        for name, field in shape.model_fields.items()
    }


FORMAT: Final = max(one.since for shape in (StyleProfile, Voice, PlatformStyle) for one in specs_of(shape).values())
"""The format that profiles are written in; a file without a number is of the first one."""

FIXED: Final = tuple(name for name, one in specs_of(StyleProfile).items() if one.change != "free")
"""What a profile is, and its history: nobody changes these fields by themselves."""

GENERATED: Final = tuple(name for name, one in specs_of(StyleProfile).items() if one.change == "generated")

PATHS: Final = frozenset(
    [
        *StyleProfile.model_fields,
        *(f"voice.{name}" for name in Voice.model_fields),
        *(f"platforms.{platform}" for platform in PLATFORMS),
        *(f"platforms.{platform}.{name}" for platform in PLATFORMS for name in PlatformStyle.model_fields),
    ]
)
"""Every dot path that names a field of a profile; entries of lists have none, a list is changed whole."""


def check_profile(fields: object, *, lenient: bool = False) -> StyleProfile | tuple[Text, ...]:
    """Return the profile that these fields are, or every rule that they break; `lenient` overlooks unknown fields.

    What is read from a file may have fields that nobody here knows: they are kept, and mean nothing.
    """
    try:
        return StyleProfile.model_validate(fields, extra="ignore" if lenient else "forbid")
    except ValidationError as error:
        return tuple(map(to_fault, error.errors(include_url=False)))


def add_new_fields(fields: ProfileFields, *, since: int = FIRST_FORMAT) -> ProfileFields:
    """Return the fields with the initial value of every missing field that appeared after the format `since`."""
    voice, platforms = fields.get("voice"), fields.get("platforms")
    changed: ProfileFields = {}
    if isinstance(voice, dict):
        changed["voice"] = _add_initial(voice, Voice, since)
    if isinstance(platforms, dict):
        changed["platforms"] = {
            name: _add_initial(style, PlatformStyle, since) if isinstance(style, dict) else style
            for name, style in platforms.items()
        }
    return _add_initial(fields | changed, StyleProfile, since)


def fill_missing(fields: ProfileFields) -> ProfileFields:
    """Return the fields of a profile that a person may have written by hand, with the usual value of what is missing.

    The name, the language and the tone are the author's to say; everything else can be done without.
    """
    voice, platforms = fields.get("voice"), fields.get("platforms")
    filled = _add_missing(fields, _MISSING)
    if isinstance(voice, dict):
        filled["voice"] = _add_missing(voice, _MISSING_VOICE)
    if isinstance(platforms, dict):
        filled["platforms"] = {name: _fill_style(name, style) for name, style in platforms.items()}
    return filled


def _fill_style(name: str, style: object) -> object:
    if not isinstance(style, dict) or name not in LIMITS:
        return style
    return _add_missing(style, {"max_length": LIMITS[name], **_MISSING_STYLE})


def _add_missing(values: ProfileFields, usual: ProfileFields) -> ProfileFields:
    return values | {name: value for name, value in usual.items() if name not in values}


_MISSING: Final[ProfileFields] = {
    "profile_type": "personal",
    "source": "",
    "version": 1,
    "created_at": "2000-01-01T00:00:00Z",
    "updated_at": "2000-01-01T00:00:00Z",
    "examples": [],
    "changelog": [],
}
_MISSING_VOICE: Final[ProfileFields] = {
    **dict.fromkeys(("formality", "personality", "sentence_style", "paragraph_style", "emoji_usage"), ""),
    **{name: [] for name in ("hooks", "closings", "signature_phrases", "avoid")},
}
_MISSING_STYLE: Final[ProfileFields] = {"structure": "", "formatting": "", "tone_override": None}


def _add_initial(values: ProfileFields, shape: type[BaseModel], since: int) -> ProfileFields:
    new = {name: one.initial for name, one in specs_of(shape).items() if one.since > since}
    return values | {name: value for name, value in new.items() if name not in values}
