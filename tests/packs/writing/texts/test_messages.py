"""What a person reads, in both languages: complete, with the same placeholders, for each row of the error matrix."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

import toolroll
import toolroll.messages as program_messages
from toolroll.messages import A_FILE, A_FOLDER, FILE_MISSING, WRONG_KIND, Template, Text
from toolroll.packs.writing.texts.messages import (
    MATRIX,
    Key,
    Lang,
    choose_language,
    language_of,
    languages,
    load_language,
    placeholders,
    read_language,
    say,
)

# Tool and error, and what the person sees, as the seed's table has it; nothing for the last one.
SEEN = {
    ("read_style_profile", "File not found"): "Профіль не знайдений",
    ("read_style_profile", "Invalid JSON"): "Профіль пошкоджений",
    ("update_style_profile", "Reference profile"): "Reference профілі не оновлюються автоматично",
    ("update_style_profile", "Validation failed"): "Невалідне значення для [field]",
    ("search_web", "Timeout / API error"): "Пошук недоступний, генерую без зовнішніх даних",
    ("read_notion_page", "Not configured"): "Notion не налаштований",
    ("read_notion_page", "Page not found"): "Сторінку не знайдено",
    ("write_to_notion", "Not configured"): "Notion не налаштований, зберігаю локально",
    ("write_to_notion", "API error"): "Помилка Notion, зберігаю локально",
    ("save_to_file", "Disk error"): "Помилка збереження",
    ("track_feedback", "File error"): "",
}


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("key", ["notion_not_configured", "notion_not_configured_saved"])
def test_W17_W34_who_has_no_token_is_told_where_it_is_looked_for(key: Key, lang: Lang) -> None:
    """No .env file is read; the seed's sentence about one stays in Ukrainian, with what is true after it."""
    told = say(key, lang, missing="NOTION_TOKEN")
    assert told.endswith("toolroll config key set NOTION_TOKEN")
    assert ("environment" if lang == "en" else "змінних середовища") in told
    assert ".env" not in told or "Сама програма .env не читає" in told


DECLARED = [*vars(program_messages).values(), *program_messages.SYSTEM_ADVICE.values()]
TEMPLATES = {
    template.key: template
    for one in DECLARED
    if isinstance(one, (Text, Template))
    for template in [one.template if isinstance(one, Text) else one]
}

TOY = """
name = "Toy"
plural_rule = "one_other"

[texts]
{texts}
repairing = {{ count = "count", one = "TOY one rule", other = "TOY {{count}} rules" }}
"""


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


def test_W34_no_key_is_left_over() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(toolroll.__file__).parent.rglob("*.py")
        if path.name != "keys.py"
    )
    unused = [key for key in get_args(Key) if not re.search(rf"[\"']{key}[\"']", sources)]
    assert [key for key in unused if not key.startswith("feedback_")] == []


def test_W34_every_message_of_the_program_is_there_in_ukrainian() -> None:
    translated = load_language("uk").messages
    assert set(translated) == set(TEMPLATES)
    for key, text in translated.items():
        template = TEMPLATES[key]
        assert placeholders(text) <= placeholders(f"{template.text} {template.advice}") | {"line", "column"}, key


def test_W34_a_third_language_is_a_third_file() -> None:
    english = load_language("en").texts
    texts = "\n".join(f'{key} = "TOY {key}"' for key in english if key != "repairing")
    toy = read_language(TOY.format(texts=texts))
    assert toy.fill("saved", {"file": "a.md"}) == "TOY saved"
    assert [toy.fill("repairing", {"count": count}) for count in (1, 2)] == ["TOY one rule", "TOY 2 rules"]
    assert toy.translate(FILE_MISSING(path="a.md")) == "There is no 'a.md'."  # not translated yet


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


def test_W34_every_row_of_the_matrix_has_a_text() -> None:
    assert set(SEEN) == set(MATRIX)
    for row, seen in SEEN.items():
        text = load_language("uk").texts[MATRIX[row]]
        assert isinstance(text, str), row
        assert text.startswith(seen.replace("[field]", "{field}")), row


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
