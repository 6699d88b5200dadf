"""Draft checks: length as the platform counts it, words to avoid in their forms, language; each with a repair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.packs.writing.posts.checks import (
    MAX_FOUND_OF_ITEM,
    DetectedLanguage,
    DraftRules,
    Language,
    check_draft,
    detect_language,
)
from toolroll.packs.writing.posts.platforms import find_emoji, post_length, remove_links
from toolroll.packs.writing.posts.stems import english_forms, find_stem, search_prefix, split_words
from toolroll.packs.writing.texts.messages import Lang

RULES = DraftRules(platform="x", max_length=280)


# --- Length ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("a" * 280, 280),
        ("Привіт, Київ — ґанок…", 22),
        ("“лапки” ‘і’ тире–", 17),
        ("日本語", 6),
        ("한국", 4),
        ("🔥", 2),
        ("👨\u200d👩\u200d👧\u200d👦", 2),
        ("👍🏽", 2),
        ("🇺🇦", 2),
        ("1\ufe0f\u20e3", 2),
        ("❤\ufe0f", 2),
        ("⌚", 2),
        ("→", 2),
        ("e\u0301", 1),
        ("https://example.com/a/very/long/path?with=many&parts=of+it", 23),
        ("див. https://e.co.", 29),
        ("(https://example.com)", 25),
        ("example.com і ще", 28),
        ("example.com/path і", 25),
        ("v1.2 та a.b", 11),
        ("me@example.com", 14),
        ("кінець.Початок", 14),
    ],
)
def test_W33_x_counts_weighted_characters_and_links_as_23(text: str, length: int) -> None:
    assert length == post_length(text, "x")


@pytest.mark.parametrize(("text", "length"), [("Привіт", 6), ("🔥", 2), ("https://example.com", 19), ("\ud800", 1)])
def test_W33_other_platforms_count_utf16_units(text: str, length: int) -> None:
    assert [length, length] == [post_length(text, "linkedin"), post_length(text, "instagram")]


@given(st.text())
def test_W33_a_length_is_never_negative_nor_over_two_a_character_but_for_links(text: str) -> None:
    assert 0 <= post_length(remove_links(text), "x") <= 2 * len(text) + 23
    assert post_length(text, "linkedin") >= len(text)


def test_W33_emoji_are_found_whole_and_older_symbols_are_none() -> None:
    assert find_emoji("a 🔥→👨\u200d👩\u200d👧 ©1 ❤\ufe0f、あ") == ["🔥", "👨\u200d👩\u200d👧", "❤\ufe0f"]


def test_W33_a_draft_that_is_too_long_says_by_how_much() -> None:
    [finding] = check_draft("і" * 300, RULES).findings
    assert finding.kind == "too_long"
    assert finding.message == "Too long for x: 300 characters, and the limit is 280."
    assert finding.repair == "Shorten it by at least 20 characters, to at most 280 as x counts them."


# --- Words to avoid ----------------------------------------------------------------------------------------

FORMS = {
    "вигорання": "вигоранням вигоранню вигорань",
    "робота": "роботу роботою робіт роботі",
    "рука": "руці руками рук",
    "мотивувати": "мотивує мотивував мотивують мотивувала",
    "успішний": "успішного успішна успішними успішне",
    "синергія": "синергії синергією синергій",
    "надихати": "надихає надихав надихаю",
    "світ": "світі світу світом",
    "ділитися": "ділюся ділимося",
    "друг": "друзі друзів",
    "leverage": "leveraging leveraged leverages",
    "game changers": "game-changer",
    "synergy": "synergies",
    "synergies": "synergy",
    "plan": "plans planned planning",
    "offer": "offered offering",
    "refer": "referred",
    "pitch": "pitches pitching",
    "apply": "applies applied applying",
    "deep dive": "deep-dives",
}


@pytest.mark.parametrize("word", FORMS)
def test_W33_forms_of_a_word_to_avoid_are_found(word: str) -> None:
    forms = FORMS[word].split() if " " not in word else [FORMS[word]]
    for form in forms:
        [finding] = check_draft(
            f"Ось {form.upper()}, і все.", DraftRules(platform="x", max_length=280, avoid=[word])
        ).findings
        assert (finding.kind, finding.item, finding.found, finding.is_form) == ("avoid", word, form.upper(), True)
        assert (finding.start, finding.end) == (4, 4 + len(form))


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("мотив", "мотивувати"),
        ("кіт", "який"),
        ("art", "start the article"),
        ("art", "arts"),
        ("new", "news renewed"),
        ("news", "new"),
        ("use", "using used"),
        ("plan", "plane planing"),
        ("lever", "leverage"),
        ("string", "strong stringent"),
        ("focus", "foci"),
        ("business", "busines"),
        ("в сучасному світі", "в світі сучасному"),
        ("🔥", "вогонь"),
        (" ", "будь що"),
    ],
)
def test_W33_other_words_are_not(item: str, text: str) -> None:
    assert check_draft(text, DraftRules(platform="x", max_length=280, avoid=[item])).is_clean


@pytest.mark.parametrize(
    ("item", "text", "found", "is_form"),
    [
        ("в сучасному світі", "Ми живемо В сучасному\nсвіті.", "В сучасному\nсвіті", False),
        ("сучасний світ", "у сучасному світі", "сучасному світі", True),
        ("game-changer", "a Game Changer!", "Game Changer", False),
        ("don't", "We don’t.", "don’t", False),
        ("🔥", "Так 🔥 і", "🔥", False),
        ("!!!", "Так!!!", "!!!", False),
        ("замок", "старий за\u0301мок", "за\u0301мок", False),
    ],
)
def test_W33_phrases_signs_and_apostrophes(item: str, text: str, found: str, *, is_form: bool) -> None:
    [finding] = check_draft(text, DraftRules(platform="linkedin", max_length=280, avoid=[item, item])).findings
    assert (finding.found, finding.is_form) == (found, is_form)
    assert finding.repair == f"Say it without '{item}' in any form; it is there as '{found}'."


def test_W33_of_one_item_so_many_places_are_told() -> None:
    report = check_draft("шок " * 20, DraftRules(platform="x", max_length=280, avoid=["шок"]))
    assert len(report.findings) == MAX_FOUND_OF_ITEM


@given(st.text(), st.lists(st.text(), max_size=4))
def test_W33_any_text_and_any_list_can_be_checked(text: str, avoid: list[str]) -> None:
    report = check_draft(text, DraftRules(platform="x", max_length=10_000, avoid=avoid))
    assert all(text[one.start : one.end] == one.found for one in report.findings if one.kind == "avoid")


@given(st.text(alphabet="абвгґдеєжзиіїйклмнопрстуфхцчшщьюя'", min_size=1))
def test_W33_every_word_has_a_stem_and_a_prefix(word: str) -> None:
    assert find_stem(word)
    assert word.startswith(search_prefix(word)) or len(search_prefix(word)) > 3
    assert [one.text for one in split_words(word.strip("'"))] != [""]


@given(st.from_regex(r"[a-z]{1,12}", fullmatch=True))
def test_W33_forms_of_an_english_word_begin_as_it_does_and_short_ones_have_none(word: str) -> None:
    forms = english_forms(word)
    assert word in forms
    assert all(one.startswith(word[:-3]) and abs(len(one) - len(word)) <= 6 for one in forms)
    assert (len(forms) == 1) is (len(word) < 4)


@given(st.text())
def test_W33_any_word_is_a_form_of_itself(word: str) -> None:
    assert word in english_forms(word)


@given(st.sampled_from("'’‘ʼ`´"), st.sampled_from("'’‘ʼ`´"), st.sampled_from(" -\u2011\n"), st.sampled_from(" -\u2011"))
def test_W33_apostrophes_are_equal_and_a_hyphen_is_a_blank(one: str, other: str, gap: str, between: str) -> None:
    item, text = f"today{one}s{gap}world", f"In today{other}s{between}world we"
    [finding] = check_draft(text, DraftRules(platform="x", max_length=280, avoid=[item])).findings
    assert (finding.found, finding.is_form) == (text[3:-3], False)


# --- Language ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ми багато працюємо, і це добре.", "uk"),
        ("Наш startup зробив MVP за sprint, і це добре", "uk"),
        ("We work a lot, and that is good.", "en"),
        ("Це наш новий post about growth and focus", "uk+en"),
        ("Мы много работаем, это объяснимо, и всё", "other"),
        ("Wir arbeiten viel und hart heute wieder ganz allein", "other"),
        ("日本語のテキスト", "other"),
        ("", "none"),
        ("🔥 123 #tag @name https://example.com `code`", "none"),
        ("Ship it", "en"),
    ],
)
def test_W33_the_language_is_detected(text: str, language: DetectedLanguage) -> None:
    assert language == detect_language(text)


@pytest.mark.parametrize(
    ("text", "wanted", "is_clean"),
    [
        ("Ми працюємо", "uk", True),
        ("We work", "uk", False),
        ("Ми працюємо", "en", False),
        ("We work", "uk+en", True),
        ("Мы это объясним", "uk+en", False),
        ("🔥", "uk", True),
    ],
)
def test_W33_the_language_is_that_of_the_profile(text: str, wanted: Language, *, is_clean: bool) -> None:
    assert is_clean == check_draft(text, DraftRules(platform="x", max_length=280, language=wanted)).is_clean


@pytest.mark.parametrize(
    ("lang", "message"),
    [
        ("en", "The draft should be in Ukrainian, but it is in English."),
        ("uk", "Чернетка має бути українською, а написана англійською."),
    ],
)
def test_W33_W34_findings_speak_the_persons_language(lang: Lang, message: str) -> None:
    report = check_draft("We do work", DraftRules(platform="x", max_length=3, language="uk"), lang=lang)
    assert message in [one.message for one in report.findings]
    assert report.repair.count("\n- ") == 1
