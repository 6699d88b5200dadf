"""A profile in words: what it says about how somebody writes, line by line, for the person themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from toolroll.packs.writing.profiles.schema import (
    FieldSpec,
    PlatformStyle,
    ProfileFields,
    StyleProfile,
    Voice,
    specs_of,
)
from toolroll.packs.writing.texts.messages import Lang, name_value


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine:
    """One thing about a profile: its label in the reader's language, and what the profile says."""

    label: str
    text: str

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"


def describe_profile(fields: ProfileFields, lang: Lang) -> tuple[ProfileLine, ...]:
    """Return everything a profile says that a person would correct; empty fields are left out."""
    return tuple(line for line in _profile_lines(fields, lang) if line.text)


def _profile_lines(fields: ProfileFields, lang: Lang) -> Iterator[ProfileLine]:
    for name, spec in specs_of(StyleProfile).items():
        if name == "voice":
            yield from _lines(fields[name], Voice, lang)
        elif name == "platforms":
            for platform, style in fields[name].items():
                for line in _lines(style, PlatformStyle, lang):
                    yield ProfileLine(label=f"{platform} · {line.label}", text=line.text)
        elif spec.is_shown:
            yield _line(name, spec, fields.get(name), lang)


def _lines(values: Mapping[str, object], shape: type[BaseModel], lang: Lang) -> Iterator[ProfileLine]:
    for name, spec in specs_of(shape).items():
        if spec.is_shown:
            yield _line(name, spec, values.get(name), lang)


def _line(name: str, spec: FieldSpec, value: object, lang: Lang) -> ProfileLine:
    text = name_value(spec.value_names, value, lang) if spec.value_names else _text(value)
    return ProfileLine(label=name_value("field", name, lang), text=text)


def _text(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        is_text = all(isinstance(one, str) for one in value)
        return " · ".join(map(str, value)) if is_text else str(len(value))
    return "" if value is None else str(value)
