"""The style that a post is written in: one profile, or the voice of one with the techniques of another (W31)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolroll.errors import UsageError
from toolroll.messages import Template
from toolroll.packs.writing.posts.checks import DraftRules, check_draft
from toolroll.packs.writing.profiles.schema import PlatformStyle, ProfileFields, Voice, specs_of
from toolroll.packs.writing.profiles.store import ProfileStore

MIX_OF_ONE: Final = Template(
    "mix_of_one_profile", "A mix needs two different profiles, but '{name}' is named twice.", "Use --profile {name}."
)

_NO_LIMIT: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The fields to write by, where they are from, and how a saved post names that.

    `base` is the only profile that feedback may change, and only where it is a personal one.
    """

    base: str
    fields: ProfileFields
    profiles: tuple[str, ...]
    profile_used: str
    is_personal: bool

    @property
    def is_mix(self) -> bool:
        """Return whether it is of two profiles."""
        return len(self.profiles) > 1


def load_style(store: ProfileStore, base: str, techniques: str | None = None) -> Style:
    """Return the style of a profile, or of two; raises what the store raises for one that cannot be read."""
    found = store.read(base)
    is_personal = found.profile.profile_type == "personal"
    if techniques is None:
        return Style(base=base, fields=found.fields, profiles=(base,), profile_used=base, is_personal=is_personal)
    if techniques == base:
        raise UsageError(MIX_OF_ONE(name=base))
    return Style(
        base=base,
        fields=mix_profiles(found.fields, store.read(techniques).fields),
        profiles=(base, techniques),
        profile_used=f"mix:{base}+{techniques}",
        is_personal=is_personal,
    )


def mix_profiles(base: ProfileFields, techniques: ProfileFields) -> ProfileFields:
    """Return the base with the techniques of another profile; where the two disagree, the base wins."""
    platforms = {**base["platforms"], **techniques["platforms"]}
    return base | {
        "voice": _mix_voice(base["voice"], techniques["voice"]),
        "platforms": {
            name: _mix_platform(base["platforms"].get(name), techniques["platforms"].get(name)) for name in platforms
        },
    }


def technique_fields() -> tuple[str, ...]:
    """Return the names of the fields that a mix takes from the profile with the techniques."""
    specs = {**specs_of(Voice), **specs_of(PlatformStyle)}
    return tuple(name for name, one in specs.items() if one.mix == "techniques")


def _mix_voice(base: ProfileFields, techniques: ProfileFields) -> ProfileFields:
    mixed = dict(base)
    for name, spec in specs_of(Voice).items():
        if spec.mix == "techniques":
            value = techniques[name]
            mixed[name] = (_without_avoided(value, base["avoid"]) or base[name]) if spec.obeys_avoid else value
    return mixed


def _mix_platform(own: ProfileFields | None, other: ProfileFields | None) -> ProfileFields:
    specs = specs_of(PlatformStyle)
    if own is None:
        assert other is not None  # one of the two has it
        return other | dict.fromkeys((name for name, one in specs.items() if one.mix == "author"), None)
    taken: Mapping[str, object] = other or {}
    return own | {name: taken[name] for name, one in specs.items() if one.mix == "techniques" and name in taken}


def _without_avoided(phrases: list[str], avoid: list[str]) -> list[str]:
    """Return the phrases that say nothing of what the base avoids."""
    rules = DraftRules(platform="linkedin", max_length=_NO_LIMIT, avoid=avoid, language="uk+en")
    return [one for one in phrases if not any(found.kind == "avoid" for found in check_draft(one, rules).findings)]
