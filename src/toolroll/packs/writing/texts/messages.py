"""The texts that a writer reads, in every language that has a file beside this module (W34).

`en.toml` and `uk.toml` hold the texts by key, and the words of the writer that the program understands. A third
language is a third file with the same keys, and nothing else.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from toolroll.messages import Text, for_person
from toolroll.packs.writing.texts.keys import Key

__all__ = [
    "DEFAULT",
    "LANG",
    "Key",
    "Lang",
    "Language",
    "choose_language",
    "known_language",
    "language_of",
    "languages",
    "load_language",
    "name_value",
    "page_texts",
    "placeholders",
    "say",
    "translate",
    "understood_pattern",
    "understood_words",
]

Lang: TypeAlias = str
"""The code of a language: the name of its file."""

LANG: Final = "lang"
"""The name under which a surface gives the language to a run."""

DEFAULT: Final = "en"
FOLDER: Final = Path(__file__).parent
_FILE_TYPE: Final = ".toml"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

Forms: TypeAlias = Mapping[str, str]
"""The plural forms of a text, `other` among them, and under `count` the name of the value that decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language: its texts, and what it adds to the words that are understood."""

    name: str
    """What the language is called in English, for a model."""
    plural: tuple[tuple[str, re.Pattern[str]], ...]
    """The plural forms, each with a pattern for the digits of a number; the first that matches counts."""
    texts: Mapping[str, str | Forms]
    names: Mapping[str, Mapping[str, str]]
    """Names of stored values, by the kind of value: fields of a profile, categories of feedback, ..."""
    messages: Mapping[str, str]
    """Translations of messages of the whole program, by the keys of their templates."""
    page: Mapping[str, str]
    """What only the page says: labels and buttons. A language that lacks one has the English one."""
    understood: Mapping[str, str]
    patterns: Mapping[str, tuple[str, ...]]

    def fill(self, key: Key, values: Mapping[str, object]) -> str:
        """Return a text with its values; they are inserted as they are, braces and all."""
        found = self.texts[key]
        text = found if isinstance(found, str) else self._choose_form(found, values)
        return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), text)

    def translate(self, message: str) -> str:
        """Return a message of the program in this language; one without a translation stays in English."""
        if not isinstance(message, Text) or message.key not in self.messages:
            return for_person(message)
        values = {name: self.translate(one) if isinstance(one, Text) else one for name, one in message.values.items()}
        return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), self.messages[message.key])

    def _choose_form(self, forms: Forms, values: Mapping[str, object]) -> str:
        digits = str(values[forms["count"]])
        form = next((form for form, pattern in self.plural if pattern.search(digits)), "other")
        return forms[form]


def say(key: Key, lang: Lang, /, **values: object) -> str:
    """Return a text in that language with its placeholders filled."""
    return load_language(lang).fill(key, values)


def translate(message: str, lang: Lang) -> str:
    """Return a message of the program as a person reads it in that language."""
    return load_language(lang).translate(message)


def name_value(kind: str, value: object, lang: Lang) -> str:
    """Return the name that a language has for a stored value; a value without one is its own name."""
    return load_language(lang).names[kind].get(str(value), str(value))


def page_texts(lang: Lang) -> Mapping[str, str]:
    """Return the labels and buttons of the page in that language."""
    return {**load_language(DEFAULT).page, **load_language(lang).page}


def understood_words(*groups: str) -> frozenset[str]:
    """Return the words of these groups in all languages: people mix them, whichever the program speaks."""
    spoken = [load_language(lang) for lang in languages()]
    return frozenset(word for one in spoken for group in groups for word in one.understood[group].split())


def understood_pattern(name: str) -> str:
    """Return a regular expression that matches any of the patterns of that name, in all languages."""
    return "|".join(pattern for lang in languages() for pattern in load_language(lang).patterns[name])


def languages() -> tuple[Lang, ...]:
    """Return the codes of all languages: every file is one."""
    return _list_languages(FOLDER)


def load_language(lang: Lang) -> Language:
    """Return the texts of a language."""
    return _read_language(FOLDER / f"{lang}{_FILE_TYPE}")


@lru_cache
def _list_languages(folder: Path) -> tuple[Lang, ...]:
    return tuple(sorted(path.stem for path in folder.glob(f"*{_FILE_TYPE}")))


@lru_cache
def _read_language(path: Path) -> Language:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Language(
        name=data["name"],
        plural=tuple((form, re.compile(pattern)) for form, pattern in data["plural"].items()),
        texts=data["texts"],
        names=data["names"],
        messages=data.get("messages", {}),
        page=data.get("page", {}),
        understood=data["understood"],
        patterns={name: tuple(patterns) for name, patterns in data["patterns"].items()},
    )


def placeholders(text: str) -> frozenset[str]:
    """Return the names that a text needs values for."""
    return frozenset(_PLACEHOLDER.findall(text))


def choose_language(option: str | None, environment: Mapping[str, str], profile: str | None = None) -> Lang:
    """Choose the language for messages: the option, else that of the locale, else that of the profile, else English.

    A locale that names no language (C, POSIX) decides nothing; one that has no file here means English.
    """
    return known_language(option or _locale(environment) or (profile or "").partition("+")[0])


def language_of(deps: Mapping[str, object]) -> Lang:
    """Return the language of a run, as its surface chose it."""
    return known_language(deps.get(LANG))


def known_language(given: object) -> Lang:
    """Return the language if it has a file, else English."""
    return given if isinstance(given, str) and given in languages() else DEFAULT


def _locale(environment: Mapping[str, str]) -> str:
    # The order of POSIX: the first that is set to something decides alone.
    name = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = re.split(r"[_.@-]", name)[0].casefold()
    return "" if language in {"c", "posix"} else language
