"""The texts that a writer reads, in every language that has a file beside this module (W34).

`en.toml` and `uk.toml` hold the texts by key. A third language is a third file with the same keys, and nothing else.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, TypeAlias

from toolroll.messages import Text, for_person
from toolroll.packs.writing.texts.keys import Key

__all__ = [
    "DEFAULT",
    "LANG",
    "MATRIX",
    "Key",
    "Lang",
    "Language",
    "choose_language",
    "language_of",
    "languages",
    "load_language",
    "placeholders",
    "read_language",
    "say",
    "translate",
]

Lang: TypeAlias = str
"""The code of a language: the name of its file."""

LANG: Final = "lang"
"""The name under which a surface gives the language to a run."""

DEFAULT: Final = "en"
_FILE_TYPE: Final = ".toml"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

MATRIX: Final[Mapping[tuple[str, str], Key]] = {
    ("read_style_profile", "File not found"): "profile_not_found",
    ("read_style_profile", "Invalid JSON"): "profile_invalid",
    ("update_style_profile", "Reference profile"): "reference_profile",
    ("update_style_profile", "Validation failed"): "validation_failed",
    ("search_web", "Timeout / API error"): "search_failed",
    ("read_notion_page", "Not configured"): "notion_not_configured",
    ("read_notion_page", "Page not found"): "notion_page_not_found",
    ("write_to_notion", "Not configured"): "notion_not_configured_saved",
    ("write_to_notion", "API error"): "notion_failed_saved",
    ("save_to_file", "Disk error"): "save_failed",
    ("track_feedback", "File error"): "feedback_failed",
}
"""The text for each error that a tool of this pack meets."""


Forms: TypeAlias = Mapping[str, str]
"""The forms of a text with a number: `one`, `few`, `many`, `other`, and under `count` the value that decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The texts of one language."""

    name: str
    """What the language is called in English, for a model."""
    plural_rule: str
    texts: Mapping[str, str | Forms]
    messages: Mapping[str, str]
    """Translations of messages of the whole program, by the keys of `toolroll.messages`."""

    def fill(self, key: Key, values: Mapping[str, object]) -> str:
        """Return a text with its values; they are inserted as they are, braces and all."""
        found = self.texts[key]
        text = found if isinstance(found, str) else _choose_form(found, self.plural_rule, values)
        return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), text)

    def translate(self, message: str) -> str:
        """Return a message of the program in this language; one without a translation stays in English."""
        if not isinstance(message, Text) or message.key not in self.messages:
            return for_person(message)
        values = {name: self.translate(one) if isinstance(one, Text) else one for name, one in message.values.items()}
        return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), self.messages[message.key])


def say(key: Key, lang: Lang, /, **values: object) -> str:
    """Return a text in that language with its placeholders filled."""
    return load_language(lang).fill(key, values)


def translate(message: str, lang: Lang) -> str:
    """Return a message of the program as a person reads it in that language."""
    return load_language(lang).translate(message)


@cache
def languages() -> tuple[Lang, ...]:
    """Return the codes of all languages: every file is one."""
    names = (entry.name for entry in resources.files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(_FILE_TYPE) for name in names if name.endswith(_FILE_TYPE)))


@cache
def load_language(lang: Lang) -> Language:
    """Return the texts of a language."""
    return read_language(resources.files(__package__).joinpath(f"{lang}{_FILE_TYPE}").read_text(encoding="utf-8"))


def read_language(source: str) -> Language:
    """Parse the file of a language."""
    data = tomllib.loads(source)
    return Language(
        name=data["name"],
        plural_rule=data["plural_rule"],
        texts=data["texts"],
        messages=data.get("messages", {}),
    )


def placeholders(text: str) -> frozenset[str]:
    """Return the names that a text needs values for."""
    return frozenset(_PLACEHOLDER.findall(text))


def choose_language(option: str | None, environment: Mapping[str, str], profile: str | None = None) -> Lang:
    """Choose the language for messages: the option, else that of the locale, else that of the profile, else English.

    A locale that names no language (C, POSIX) decides nothing; one that has no file here means English.
    """
    given = option or _locale(environment) or (profile or "").partition("+")[0]
    return given if given in languages() else DEFAULT


def language_of(deps: Mapping[str, object]) -> Lang:
    """Return the language of a run, as its surface chose it."""
    given = deps.get(LANG)
    return given if isinstance(given, str) and given in languages() else DEFAULT


def _locale(environment: Mapping[str, str]) -> str:
    # The order of POSIX: the first that is set to something decides alone.
    name = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = re.split(r"[_.@-]", name)[0].casefold()
    return "" if language in {"c", "posix"} else language


def _choose_form(forms: Forms, rule: str, values: Mapping[str, object]) -> str:
    count = int(str(values[forms["count"]]))
    form = _plural_form(count, rule)
    return forms.get(form) or forms["other"]


def _plural_form(count: int, rule: str) -> str:
    """Return the form that a number needs, by the plural rules of the Unicode CLDR."""
    if rule != "slavic":
        return "one" if count == 1 else "other"
    last, last_two = count % 10, count % 100
    if last == 1 and last_two != 11:  # noqa: PLR2004 - the rule itself
        return "one"
    return "few" if 2 <= last <= 4 and not 12 <= last_two <= 14 else "many"  # noqa: PLR2004 - as above
