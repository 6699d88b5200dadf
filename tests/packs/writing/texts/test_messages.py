"""What a person reads, in both languages: complete, with the same placeholders, for each row of the error matrix."""

from typing import get_args

import pytest

from toolroll.packs.writing.texts.messages import (
    LANGS,
    MATRIX,
    TEXTS,
    Key,
    Lang,
    choose_language,
    language_of,
    placeholders,
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


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("key", ["notion_not_configured", "notion_not_configured_saved"])
def test_W17_W34_who_has_no_token_is_told_where_it_is_looked_for(key: Key, lang: Lang) -> None:
    """No .env file is read; the seed's sentence about one stays in Ukrainian, with what is true after it."""
    told = say(key, lang, missing="NOTION_TOKEN")
    assert told.endswith("toolroll config key set NOTION_TOKEN")
    assert ("environment" if lang == "en" else "змінних середовища") in told
    assert ".env" not in told or "Сама програма .env не читає" in told


def test_W34_both_languages_have_every_key() -> None:
    assert set(get_args(Key)) == set(TEXTS)
    assert all(text.en.strip() and text.uk.strip() and text.en != text.uk for text in TEXTS.values())


@pytest.mark.parametrize("key", get_args(Key))
def test_W34_both_languages_have_the_same_placeholders(key: Key) -> None:
    assert placeholders(TEXTS[key].en) == placeholders(TEXTS[key].uk)


def test_W34_every_row_of_the_matrix_has_a_text() -> None:
    assert set(SEEN) == set(MATRIX)
    for row, seen in SEEN.items():
        assert TEXTS[MATRIX[row]].uk.startswith(seen.replace("[field]", "{field}")), row


@pytest.mark.parametrize("lang", LANGS)
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
