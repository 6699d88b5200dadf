"""What a person's words mean to the program: to save, to leave, yes, no, and the platform."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.packs.writing.session.intents import (
    Intent,
    QuestionTopic,
    accepts_unfinished,
    find_platforms,
    mentions_profile,
    mentions_saving,
    parse_intent,
    parse_yes_no,
)

WORDS = ["ok", "OK!", "зберігай", "Готово.", "save", "exit", "так", "notion", "не", "it", "заміни", "«»", "\n", "1"]


@pytest.mark.parametrize(
    "text",
    [
        *("ok", "OK", "Ok!", "ок", "Окей.", "okay", "зберігай", "ЗБЕРІГАЙ!!!", "Зберігай, будь ласка.", "готово"),
        *("Готово 👍", "save", "Save it, please", "save and close", "Save & close", "зберігай і закривай", " save. "),
        *("/save", "ok, thanks", "Great, save it!", "так, зберігай", "Чудово, готово"),
    ],
)
def test_W30_words_that_keep_the_draft(text: str) -> None:
    assert parse_intent(text) == "save"
    assert mentions_saving(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "perfect",
            "Perfect!",
            "yes",
            "Yes.",
            "y",
            "looks good",
            "great, thanks",
            "так",
            "Так!",
            "т",
            "добре",
            "Добре.",
        ),
        *("гаразд", "ГАРАЗД", "чудово", "Супер, дякую!", "так, все гарно"),
    ],
)
def test_W30_W32_words_that_agree_keep_the_draft_too(text: str) -> None:
    assert parse_intent(text) == "save"


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("save to Notion", "notion"),
        ("збережи в Notion", "notion"),
        ("ok, Notion", "notion"),
        ("exit", "leave"),
        ("Exit!", "leave"),
        ("вихід", "leave"),
        ("вийти без збереження", "leave"),
        ("exit without saving", "leave"),
        ("quit", "leave"),
        ("yes, exit", "leave"),
        ("Добре, вихід", "leave"),
        ("save and exit", "save"),
        ("ok, Notion, then exit", "notion"),
    ],
)
def test_W30_words_that_keep_it_elsewhere_or_leave(text: str, wish: Intent) -> None:
    assert parse_intent(text) == wish


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "too formal", "занадто офіційно", "ok but shorter", "save the last line, drop the rest"),
        *("не зберігай", "don't save", "readme", "the word 'ok' is wrong", "зміни слово «готово» на «зроблено»"),
        *(
            "notion",
            "leave notion",
            "make the hook stronger",
            "👍",
            "не добре",
            "not good",
            "так, але коротше",
            "дякую",
        ),
    ],
)
def test_W30_everything_else_is_for_the_model(text: str) -> None:
    assert parse_intent(text) is None


@given(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.text())
def test_W30_any_text_means_one_thing_and_never_fails(text: str) -> None:
    wish = parse_intent(text)
    assert wish in ("save", "notion", "leave", None)
    assert parse_intent(text.upper()) == wish or not text.isascii()
    assert parse_intent(f"  {text}! ") == wish
    if "заміни" in text:
        assert wish is None


@pytest.mark.parametrize("text", ["y", "Y", "yes", "так", "т", "Так!", "ok", "давай", "Гаразд.", "yes, great"])
def test_W30_a_clear_yes(text: str) -> None:
    assert [parse_yes_no(text, about=one) for one in get_args(QuestionTopic)] == [True, True, True]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        *((text, "save") for text in ("save", "Зберігай!", "yes, save it", "done", "perfect", "збережи, будь ласка")),
        *((text, "update") for text in ("онови", "так, оновлюй", "Update it")),
    ],
)
def test_W30_a_yes_to_the_one_question_that_it_is_about(text: str, about: QuestionTopic) -> None:
    assert [one for one in get_args(QuestionTopic) if parse_yes_no(text, about=one)] == [about]
    assert [one for one in get_args(QuestionTopic) if parse_yes_no(text, about=one) is False] == []


@pytest.mark.parametrize("text", ["n", "no", "Ні.", "н", None, "no yes"])
def test_W30_a_clear_no(text: str | None) -> None:
    assert parse_yes_no(text) is False


@pytest.mark.parametrize("text", ["", "maybe", "yes but later", "it", "1", "замість цього", "не зберігай", "don't"])
def test_W30_neither_is_neither(text: str) -> None:
    assert [parse_yes_no(text, about=one) for one in get_args(QuestionTopic)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("post about X for LinkedIn", "linkedin"),
        ("пост для лінкедіну", "linkedin"),
        ("a Linked In post", "linkedin"),
        ("для інстаграму", "instagram"),
        ("for Insta", "instagram"),
        ("a tweet about tea", "x"),
        ("post about tea for X", "x"),
        ("пост про чай для X", "x"),
        ("твіт про чай", "x"),
        ("post about X", None),
        ("for X reasons", None),
        ("пост про чай", None),
    ],
)
def test_W30_the_platform_that_a_request_names(text: str, platform: str | None) -> None:
    assert find_platforms(text) == (() if platform is None else (platform,))


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        ("a post about leaving LinkedIn, for Instagram", ["instagram", "linkedin"]),
        ("for Instagram: what LinkedIn has taught me", ["instagram", "linkedin"]),
        ("for my LinkedIn, about twitter", ["linkedin", "x"]),
        ("for X about LinkedIn", ["x", "linkedin"]),
        ("пост про лінкедін для інстаграму", ["instagram", "linkedin"]),
        ("для інстаграму про те, чому я пішов із LinkedIn", ["instagram", "linkedin"]),
        ("для X про Instagram", ["x", "instagram"]),
        ("a LinkedIn post about Instagram", ["linkedin", "instagram"]),
        ("a LinkedIn post about a tweet", ["linkedin", "x"]),
        ("Instagram-пост про LinkedIn", ["instagram", "linkedin"]),
        ("a tweet about LinkedIn", ["x", "linkedin"]),
        ("твіт про інстаграм", ["x", "instagram"]),
        ("why Instagram beats LinkedIn", ["linkedin", "instagram"]),
        ("for LinkedIn and Instagram", ["linkedin", "instagram"]),
    ],
)
def test_W30_of_several_platforms_the_one_that_the_request_is_for(text: str, platforms: list[str]) -> None:
    assert list(find_platforms(text)) == platforms


@given(st.lists(st.sampled_from(["for", "для", "X", "LinkedIn", "insta", "tweet", "post", "tea,"]), max_size=8))
def test_W30_a_platform_is_named_once_and_only_where_it_is_there(words: list[str]) -> None:
    found = find_platforms(" ".join(words))
    assert len(set(found)) == len(found)
    assert ("linkedin" in found) == ("LinkedIn" in words)
    assert ("instagram" in found) == ("insta" in words)


def test_W30_whether_the_person_speaks_of_saving_or_of_a_profile() -> None:
    assert mentions_saving("please keep this in Notion, titled Tea")
    assert not mentions_saving("too formal")
    for text in ("не зберігай", "Don't save it yet", "shorter, without keeping the hook", "без збереження"):
        assert not mentions_saving(text)
    assert mentions_saving("не зберігай перший рядок, решту збережи")
    assert mentions_profile("онови мій профіль")
    assert mentions_profile("Update my profile.")
    assert not mentions_profile("too formal")


@pytest.mark.parametrize(
    "text", ["take it", "Take it, please", "use the unfinished one", "take it and save", "бери", "візьми!", "Беру нову"]
)
def test_XE8_W30_words_that_take_an_unfinished_draft(text: str) -> None:
    assert accepts_unfinished(text)


@pytest.mark.parametrize(
    "text", ["", "save", "don't take it", "не бери", "take out the last line", "бери коротші слова"]
)
def test_XE8_W30_words_that_do_not(text: str) -> None:
    assert not accepts_unfinished(text)
