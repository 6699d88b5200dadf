"""A profile in words: what it says about how somebody writes, line by line, for the person themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolroll.packs.writing.texts.messages import Key, Lang, say

_VOICE: Final[Mapping[str, Key]] = {
    "tone": "label_tone",
    "formality": "label_formality",
    "personality": "label_personality",
    "sentence_style": "label_sentence_style",
    "paragraph_style": "label_paragraph_style",
    "hooks": "label_hooks",
    "closings": "label_closings",
    "signature_phrases": "label_signature_phrases",
    "avoid": "label_avoid",
    "emoji_usage": "label_emoji_usage",
}
_PLATFORM: Final[Mapping[str, Key]] = {
    "max_length": "label_max_length",
    "structure": "label_structure",
    "formatting": "label_formatting",
    "tone_override": "label_tone_override",
    "hashtags": "label_hashtags",
    "notes": "label_notes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine:
    """One thing about a profile: what it is about, in the reader's language, and what the profile says."""

    label: str
    text: str

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"


def describe_profile(fields: Mapping[str, Any], lang: Lang) -> tuple[ProfileLine, ...]:
    """Everything a profile says that a person would correct; empty fields are left out."""
    head = (
        ProfileLine(label=say("label_language", lang), text=fields["language"]),
        ProfileLine(label=say("label_source", lang), text=fields["source"]),
    )
    platforms = [line for name in fields["platforms"] for line in _platform(name, fields["platforms"][name], lang)]
    examples = ProfileLine(label=say("label_examples", lang), text=str(len(fields["examples"])))
    return tuple(line for line in (*head, *_lines(fields["voice"], _VOICE, lang), *platforms, examples) if line.text)


def _platform(name: str, style: Mapping[str, Any], lang: Lang) -> Iterator[ProfileLine]:
    for line in _lines(style, _PLATFORM, lang):
        yield ProfileLine(label=f"{name} · {line.label}", text=line.text)


def _lines(values: Mapping[str, Any], labels: Mapping[str, Key], lang: Lang) -> Iterator[ProfileLine]:
    for field, key in labels.items():
        yield ProfileLine(label=say(key, lang), text=_words(values.get(field)))


def _words(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " · ".join(map(str, value))
    return "" if value is None else str(value)
