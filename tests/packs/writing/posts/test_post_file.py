"""Topics as parts of file names: the Ukrainian standard of 2010, and whatever else a topic may be."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.packs.writing.posts.post_file import FALLBACK, MAX_SLUG_CHARACTERS, romanize, topic_slug

# Examples of the resolution itself, in small letters, then words of posts.
STANDARD = {
    "Алушта": "alushta",
    "Борщагівка": "borshchahivka",
    "Вінниця": "vinnytsia",
    "Гадяч": "hadiach",
    "Згорани": "zghorany",
    "Розгон": "rozghon",
    "Ґалаґан": "galagan",
    "Єнакієве": "yenakiieve",
    "Гаєвич": "haievych",
    "Їжакевич": "yizhakevych",
    "Кадиївка": "kadyivka",
    "Йосипівка": "yosypivka",
    "Стрий": "stryi",
    "Харків": "kharkiv",
    "Юрій": "yurii",
    "Корюківка": "koriukivka",
    "Яготин": "yahotyn",
    "Костянтин": "kostiantyn",
    "Знам'янка": "znamianka",
    "Русь": "rus",
    "вигорання": "vyhorannia",
}


@pytest.mark.parametrize("word", STANDARD)
def test_W15_ukrainian_is_written_by_the_standard_of_2010(word: str) -> None:
    assert STANDARD[word] == topic_slug(word)
    assert STANDARD[word] == topic_slug(word.upper())
    assert STANDARD[word] == topic_slug(unicodedata.normalize("NFD", word))


@pytest.mark.parametrize("apostrophe", ["'", "’", "ʼ", "`", "‘", "´", "＇"])
def test_W15_every_apostrophe_is_left_out_inside_a_word(apostrophe: str) -> None:
    assert topic_slug(f"сім{apostrophe}я і під{apostrophe}їзд") == "simia-i-pidizd"


@pytest.mark.parametrize(
    ("topic", "slug"),
    [
        ("вигорання на роботі", "vyhorannia-na-roboti"),
        ("  AI & Машини — 2026!  ", "ai-mashyny-2026"),
        ("объявление, ёлка, мышь, это", "obiavlenye-elka-mysh-eto"),
        ("воўк", "vouk"),
        ("за\u0301мок", "zamok"),
        ("Łódź café Straße Øre", "lodz-cafe-strasse-ore"),
        ("a_b/c..\\d", "a-b-c-d"),
        ("burnout 🔥", "burnout"),
    ],
)
def test_W15_other_letters_marks_and_signs(topic: str, slug: str) -> None:
    assert slug == topic_slug(topic)


@pytest.mark.parametrize("topic", ["", " ", "🔥🔥", "---", "!?", "日本", "\n\t", "ь", "'''", "\ud800"])
def test_XJ8_a_topic_that_transliterates_to_nothing_gets_a_fallback(topic: str) -> None:
    assert topic_slug(topic) == FALLBACK


def test_XJ8_a_topic_of_5000_characters_is_cut_between_words() -> None:
    assert topic_slug("слово " * 1_000) == "-".join(["slovo"] * 10)
    assert topic_slug("щ" * 5_000) == ("shch" * 20)[:MAX_SLUG_CHARACTERS]


@given(st.text(max_size=200))
def test_XJ8_every_topic_is_a_safe_part_of_a_name(topic: str) -> None:
    slug = topic_slug(topic)
    assert re.fullmatch("[a-z0-9]+(?:-[a-z0-9]+)*", slug)
    assert len(slug) <= MAX_SLUG_CHARACTERS


def test_W15_what_is_no_letter_stays_in_a_romanized_text() -> None:
    assert romanize("Привіт, світе!") == "pryvit, svite!"
