"""What a person reads, in both languages: complete, with the same placeholders, for each row of the error matrix."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

import toolroll
import toolroll.messages as program_messages
from toolroll.apps import models
from toolroll.cli import chat, driver, ghostpen
from toolroll.cli.ghostpen.source_posts import PASTED_SOURCE
from toolroll.cli.terminal import terminal
from toolroll.messages import A_FILE, A_FOLDER, WRONG_KIND, Template, Text
from toolroll.packs import writing
from toolroll.packs.writing.profiles.feedback import Category
from toolroll.packs.writing.profiles.schema import Language as ProfileLanguage
from toolroll.packs.writing.profiles.schema import PlatformStyle, ProfileType, StyleProfile, Voice, specs_of
from toolroll.packs.writing.texts.messages import (
    Key,
    Lang,
    choose_language,
    language_of,
    languages,
    load_language,
    placeholders,
    say,
)

# Tool and error, the text for it, and how that begins, as the seed's table has it. Feedback that cannot be written is
# not shown at all: `test_matrix` looks at it, and at the other rows from end to end.
SEEN: dict[tuple[str, str], tuple[Key, str]] = {
    ("read_style_profile", "File not found"): ("profile_not_found", "Профіль не знайдений"),
    ("read_style_profile", "Invalid JSON"): ("profile_invalid", "Профіль пошкоджений"),
    ("update_style_profile", "Reference profile"): (
        "reference_profile",
        "Reference профілі не оновлюються автоматично",
    ),
    ("update_style_profile", "Validation failed"): ("validation_failed", "Невалідне значення для {field}"),
    ("search_web", "Timeout / API error"): ("search_failed", "Пошук недоступний, генерую без зовнішніх даних"),
    ("read_notion_page", "Not configured"): ("notion_not_configured", "Notion не налаштований"),
    ("read_notion_page", "Page not found"): ("notion_page_not_found", "Сторінку не знайдено"),
    ("write_to_notion", "Not configured"): (
        "notion_not_configured_saved",
        "Notion не налаштований, зберігаю локально",
    ),
    ("write_to_notion", "API error"): ("notion_failed_saved", "Помилка Notion, зберігаю локально"),
    ("save_to_file", "Disk error"): ("save_failed", "Помилка збереження"),
}


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("key", ["notion_not_configured", "notion_not_configured_saved"])
def test_W17_W34_who_has_no_token_is_told_where_it_is_looked_for(key: Key, lang: Lang) -> None:
    told = say(key, lang, missing="NOTION_TOKEN")
    assert told.endswith("toolroll config key set NOTION_TOKEN")
    assert ("environment" if lang == "en" else "змінних середовища") in told
    assert ".env" in told


PACKAGE = Path(toolroll.__file__).parent
ROOMS = (PACKAGE / "packs" / "writing", PACKAGE / "cli" / "ghostpen")


def templates_in(module: object) -> Iterator[Template]:
    """Every template that a module declares, alone, as a message without values, or in a table of those."""
    for one in vars(module).values():
        for made in one.values() if isinstance(one, Mapping) else [one]:
            if isinstance(made, (Text, Template)):
                yield made.template if isinstance(made, Text) else made


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


SPEAKERS = (
    program_messages,
    models,
    driver,
    terminal,
    *(one for room in (writing, chat, ghostpen) for one in modules_of(room)),
)
"""The modules with messages that a writer can meet."""
TEMPLATES = {one.key: one for module in SPEAKERS for one in templates_in(module)}
LATIN = re.compile(r"[A-Za-z]{3,}")
KEPT = re.compile(
    r"\{.*?\}|`[^`]*`|'[A-Za-z:. -]*'|«[a-z-]*»|--\w+|\([^()]*\)|[A-Z]{3,}(_[A-Z]+)*|UTF-8|\.json|Ctrl-C|Enter"
    r"|https://[a-z0-9./]*|openai-compatible:\S*|Notion|Ollama|Windows|default|toolroll [a-z ]*"
)
"""What stays Latin in a Ukrainian text: commands, options, names, and what the system calls it."""


def forms_of(text: str | Mapping[str, str]) -> list[str]:
    return [text] if isinstance(text, str) else [form for name, form in text.items() if name != "count"]


@pytest.mark.parametrize("lang", languages())
def test_W34_each_language_has_every_key(lang: Lang) -> None:
    texts = load_language(lang).texts
    assert set(get_args(Key)) == set(texts)
    assert all(form.strip() for text in texts.values() for form in forms_of(text))


@pytest.mark.parametrize("key", get_args(Key))
def test_W34_all_languages_have_the_same_placeholders(key: Key) -> None:
    """A form may leave its number out (`one`), but none wants a value that the others do not have."""
    wanted = {lang: [placeholders(form) for form in forms_of(load_language(lang).texts[key])] for lang in languages()}
    assert len({frozenset().union(*names) for names in wanted.values()}) == 1, wanted


@pytest.mark.parametrize("lang", languages())
def test_W34_a_text_with_a_number_has_every_form_of_its_language(lang: Lang) -> None:
    language = load_language(lang)
    forms = {"other", "count", *(form for form, _ in language.plural)}
    assert {
        key: set(text) for key, text in language.texts.items() if not isinstance(text, str) and set(text) != forms
    } == {}


def test_W34_no_key_is_left_over() -> None:
    sources = [path for room in ROOMS for path in room.rglob("*.py") if path.name != "keys.py"]
    constants = {
        node.value
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(get_args(Key)) - constants == set()


@pytest.mark.parametrize("lang", languages())
def test_W34_what_is_stored_has_a_name_in_each_language(lang: Lang) -> None:
    names = load_language(lang).names
    specs = {name: one for shape in (StyleProfile, Voice, PlatformStyle) for name, one in specs_of(shape).items()}
    shown = {name for name, one in specs.items() if one.is_shown} - {"voice", "platforms"}
    assert set(names) == {"language", "written_in", "source", "category", "profile_type", "field"}
    assert shown == set(names["field"])
    assert set(get_args(Category)) == set(names["category"])
    assert set(get_args(ProfileType)) == set(names["profile_type"])
    assert set(get_args(ProfileLanguage)) == set(names["language"]) == set(names["written_in"]) - {"other"}
    assert PASTED_SOURCE in names["source"]


@pytest.mark.parametrize("lang", languages())
def test_W34_each_language_says_which_words_it_understands(lang: Lang) -> None:
    english, other = load_language("en"), load_language(lang)
    assert (other.understood.keys(), other.patterns.keys()) == (english.understood.keys(), english.patterns.keys())
    assert all(other.understood.values())
    for patterns in other.patterns.values():
        assert all(map(re.compile, patterns))


def test_W34_every_message_of_the_program_is_there_in_ukrainian() -> None:
    translated = load_language("uk").messages
    assert set(translated) == set(TEMPLATES)
    for key, text in translated.items():
        template = TEMPLATES[key]
        assert not LATIN.search(KEPT.sub("", text)), text
        assert placeholders(text) <= placeholders(f"{template.text} {template.advice}") | {"line", "column"}, key


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, "Чернетка порушує 1 правило, переписую…"),
        (2, "Чернетка порушує 2 правила, переписую…"),
        (5, "Чернетка порушує 5 правил, переписую…"),
        (11, "Чернетка порушує 11 правил, переписую…"),
        (22, "Чернетка порушує 22 правила, переписую…"),
        (112, "Чернетка порушує 112 правил, переписую…"),
    ],
)
def test_W34_ukrainian_numbers_have_three_forms(count: int, expected: str) -> None:
    assert say("repairing", "uk", count=count) == expected


def test_W34_a_message_is_translated_with_what_stands_in_it() -> None:
    message = WRONG_KIND(path="a", kind=A_FOLDER, needed=A_FILE)
    assert message == "'a' is a folder, and a file is needed."
    assert load_language("uk").translate(message) == "«a» — це тека, а потрібно: файл."


@pytest.mark.parametrize(("key", "seen"), SEEN.values(), ids=map(" ".join, SEEN))
def test_W34_every_row_of_the_matrix_has_its_text(key: Key, seen: str) -> None:
    text = load_language("uk").texts[key]
    assert isinstance(text, str)
    assert text.startswith(seen)


@pytest.mark.parametrize("lang", languages())
def test_W34_values_are_put_in_as_they_are(lang: Lang) -> None:
    assert "{reason} \\1 {0}" in say("save_failed", lang, reason="{reason} \\1 {0}")


def test_W34_each_language_says_its_own() -> None:
    assert (say("not_saved", "en"), say("not_saved", "uk")) == ("Nothing was saved.", "Нічого не збережено.")


def test_W34_a_value_that_is_missing_is_an_error_in_the_program() -> None:
    with pytest.raises(KeyError):
        say("saved", "en")


@pytest.mark.parametrize(
    ("option", "environment", "profile", "expected"),
    [
        ("uk", {"LANG": "en_US.UTF-8"}, "en", "uk"),
        ("en", {"LANG": "uk_UA.UTF-8"}, "uk", "en"),
        (None, {"LANG": "uk_UA.UTF-8"}, "en", "uk"),
        (None, {"LC_ALL": "", "LC_MESSAGES": "uk", "LANG": "en_US"}, None, "uk"),
        (None, {"LANG": "de_DE.UTF-8"}, "uk", "en"),
        (None, {"LANG": "C.UTF-8"}, "uk", "uk"),
        (None, {"LANG": "POSIX"}, "uk+en", "uk"),
        (None, {}, "en", "en"),
        (None, {}, None, "en"),
    ],
)
def test_W34_the_option_then_the_locale_then_the_profile(
    option: str | None, environment: dict[str, str], profile: str | None, expected: Lang
) -> None:
    assert expected == choose_language(option, environment, profile)


def test_W34_a_run_speaks_the_language_that_its_surface_chose() -> None:
    assert [language_of({"lang": "uk"}), language_of({"lang": "de"}), language_of({})] == ["uk", "en", "en"]
