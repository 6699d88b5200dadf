"""What a post is written by: one profile, or the voice of one with the techniques of another (W31)."""

from dataclasses import dataclass
from typing import Final

from toolroll.errors import UsageError
from toolroll.packs.writing.posts.checks import DraftRules, check_draft
from toolroll.packs.writing.profiles.profile_format import ProfileFields
from toolroll.packs.writing.profiles.store import ProfileStore

OF_BASE: Final = ("tone", "formality", "personality", "avoid", "emoji_usage", "signature_phrases")
"""Who speaks: these stay the base's own, and so does the language."""
OF_TECHNIQUES: Final = ("hooks", "closings", "sentence_style", "paragraph_style")
"""How it is done; and of a platform, its structure."""

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
        """Whether it is of two profiles."""
        return len(self.profiles) > 1


def load_style(store: ProfileStore, base: str, techniques: str | None = None) -> Style:
    """The style of a profile, or of two; raises what the store raises for one that cannot be read."""
    found = store.read(base)
    is_personal = found.profile.profile_type == "personal"
    if techniques is None:
        return Style(base=base, fields=found.fields, profiles=(base,), profile_used=base, is_personal=is_personal)
    if techniques == base:
        raise UsageError(f"A mix is of two profiles, and '{base}' was named twice. Use --profile {base} instead.")
    return Style(
        base=base,
        fields=mix_profiles(found.fields, store.read(techniques).fields),
        profiles=(base, techniques),
        profile_used=f"mix:{base}+{techniques}",
        is_personal=is_personal,
    )


def mix_profiles(base: ProfileFields, techniques: ProfileFields) -> ProfileFields:
    """The base with the techniques of another profile; where the two disagree, the base wins."""
    voice = {key: base["voice"][key] for key in OF_BASE} | {key: techniques["voice"][key] for key in OF_TECHNIQUES}
    for key in ("hooks", "closings"):
        voice[key] = _allowed(voice[key], base) or base["voice"][key]
    platforms = {name: _platform(name, base, techniques) for name in {**base["platforms"], **techniques["platforms"]}}
    return base | {"voice": {key: voice[key] for key in base["voice"]}, "platforms": platforms}


def _platform(name: str, base: ProfileFields, techniques: ProfileFields) -> ProfileFields:
    own, other = base["platforms"].get(name), techniques["platforms"].get(name)
    if own is None:
        return {**other, "tone_override": None}  # all of it but whose voice it is
    return {**own, "structure": own["structure"] if other is None else other["structure"]}


def _allowed(phrases: list[str], base: ProfileFields) -> list[str]:
    """Without those that say what the base avoids."""
    rules = DraftRules(platform="linkedin", max_length=_NO_LIMIT, avoid=base["voice"]["avoid"], language="uk+en")
    return [one for one in phrases if not any(found.kind == "avoid" for found in check_draft(one, rules).findings)]
