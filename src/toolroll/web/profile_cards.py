"""Profiles as the page shows them: cards, portraits in words, and fields to edit."""

from collections.abc import Iterator

from pydantic import BaseModel

from toolroll.errors import ToolrollError
from toolroll.packs.writing.posts.platforms import PLATFORMS
from toolroll.packs.writing.profiles.description import describe_profile
from toolroll.packs.writing.profiles.mix import mix_profiles, technique_fields
from toolroll.packs.writing.profiles.profile_format import StoredProfile
from toolroll.packs.writing.profiles.schema import PlatformStyle, ProfileFields, Voice
from toolroll.packs.writing.profiles.store import ProfileListing, ProfileStore
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Lang, name_value
from toolroll.web.writing_models import (
    BrokenProfile,
    HistoryLine,
    MixModel,
    PortraitLine,
    ProfileCard,
    ProfileField,
    ProfileModel,
)


def list_cards(store: ProfileStore, listing: ProfileListing, lang: Lang) -> tuple[ProfileCard, ...]:
    """Return a card for each profile; one that was taken away meanwhile has none."""
    return tuple(_cards(store, listing, lang))


def _cards(store: ProfileStore, listing: ProfileListing, lang: Lang) -> Iterator[ProfileCard]:
    for name in listing.names:
        try:
            profile = store.read(name).profile
        except ToolrollError:
            continue
        voice = profile.voice
        yield ProfileCard(
            name=name,
            type=profile.profile_type,
            type_name=name_value("profile_type", profile.profile_type, lang),
            language=name_value("language", profile.language, lang),
            version=profile.version,
            updated_at=profile.updated_at,
            tone=voice.tone,
            personality=voice.personality,
            hooks=tuple(voice.hooks),
            avoid=tuple(voice.avoid),
            phrases=tuple(voice.signature_phrases),
            platforms=tuple(profile.platforms),
        )


def list_broken(listing: ProfileListing, lang: Lang) -> tuple[BrokenProfile, ...]:
    """Return the files that are not profiles, each with what is wrong with it."""
    return tuple(BrokenProfile(file=one.file, problem=describe_error(one.error, lang)) for one in listing.unreadable)


def make_profile(stored: StoredProfile, lang: Lang) -> ProfileModel:
    """Return a profile with its portrait and what can be edited."""
    profile = stored.profile
    return ProfileModel(
        name=profile.profile_name,
        type=profile.profile_type,
        type_name=name_value("profile_type", profile.profile_type, lang),
        version=profile.version,
        base=stored.hash,
        portrait=make_portrait(stored.fields, lang),
        fields=tuple(_fields(stored.fields, lang)),
        examples=tuple(one.text for one in profile.examples),
        history=tuple(
            HistoryLine(version=one.version, date=one.date, text=one.description) for one in reversed(profile.changelog)
        ),
    )


def make_portrait(fields: ProfileFields, lang: Lang) -> tuple[PortraitLine, ...]:
    """Return what a profile says, in words."""
    return tuple(PortraitLine(label=one.label, text=one.text) for one in describe_profile(fields, lang))


def make_mix(base: StoredProfile, techniques: StoredProfile, lang: Lang) -> MixModel:
    """Return two profiles as one; each line of the portrait says whose it is."""
    names = base.profile.profile_name, techniques.profile.profile_name
    taken = {name_value("field", one, lang) for one in technique_fields()}
    mixed = mix_profiles(base.fields, techniques.fields)
    lines = (
        PortraitLine(label=one.label, text=one.text, source=names[one.label.rpartition(" · ")[2] in taken])
        for one in describe_profile(mixed, lang)
    )
    return MixModel(base=names[0], techniques=names[1], portrait=tuple(lines))


def label_of(path: str, lang: Lang) -> str:
    """Return what a field is called: the platform before it if it has one."""
    parent, _, name = path.rpartition(".")
    label = name_value("field", name, lang)
    platform = parent.rpartition(".")[2]
    return f"{platform} · {label}" if platform in PLATFORMS else label


def _fields(fields: ProfileFields, lang: Lang) -> Iterator[ProfileField]:
    yield _field("language", "", fields["language"], lang)
    yield from _group("voice", "", Voice, fields["voice"], lang)
    for platform, style in fields["platforms"].items():
        yield from _group(f"platforms.{platform}", platform, PlatformStyle, style, lang)


def _group(path: str, group: str, shape: type[BaseModel], values: ProfileFields, lang: Lang) -> Iterator[ProfileField]:
    for name in shape.model_fields:
        yield _field(f"{path}.{name}", group, values.get(name), lang)


def _field(path: str, group: str, value: object, lang: Lang) -> ProfileField:
    kind = {list: "lines", int: "number"}.get(type(value), "text")
    return ProfileField.model_validate(
        {
            "path": path,
            "label": name_value("field", path.rpartition(".")[2], lang),
            "group": group,
            "kind": "language" if path == "language" else kind,
            "value": value,
        }
    )
