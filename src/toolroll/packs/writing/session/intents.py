"""What a person's words mean, as far as the program itself must know: save, leave, yes or no, which platform.

The words are in the language files. Those of all languages are understood, whichever the program speaks.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.posts.platforms import PLATFORMS, Platform
from toolroll.packs.writing.profiles.schema import Language
from toolroll.packs.writing.texts.messages import languages, understood_pattern, understood_words

Intent: TypeAlias = Literal["save", "notion", "leave"]
"""Save the draft to a file, save it to Notion, or leave."""

QuestionTopic: TypeAlias = Literal["save", "update", "other"]
"""What a yes/no question is about: saving a post, updating a profile, or neither."""

Answer: TypeAlias = Literal["yes", "no", "all", "stop"]
"""What a person answers to a question about one of several things."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")


def parse_intent(text: str) -> Intent | None:
    """Return what the person wants done with the draft; None where they want it changed.

    Case, punctuation and polite words do not matter: "OK!", "Зберігай, будь ласка", "save and close".
    """
    words = _split_words(text)
    confirm, notion, leave = (
        understood_words("yes", "praise", "save"),
        understood_words("notion"),
        understood_words("leave"),
    )
    negation = understood_words("negation")
    asked, leaves = words & confirm, words & leave
    if words - confirm - notion - leave - negation - understood_words("polite") or not (asked or leaves):
        return None
    if words & negation or (leaves and not words & (understood_words("save") | notion)):  # "yes, exit" saves nothing
        return "leave" if leaves else None
    if asked:
        return "notion" if words & notion else "save"
    return None


def accepts_unfinished(text: str) -> bool:
    """Return whether the person wants the text that was cut off, where there is one: "take it", «бери недописане»."""
    words, take = _split_words(text), understood_words("take")
    return bool(words & take) and not words - take - understood_words("unfinished", "polite", "yes", "praise", "save")


def parse_yes_no(text: str | None, *, about: QuestionTopic = "other") -> bool | None:
    """Return a clear yes, a clear no (a closed input is one), or None where it is neither.

    "Save" is a yes only where the question is about saving: to "leave without saving?" it is the opposite of one.
    Praise accepts a draft, but "perfect" alone does not mean "leave it unsaved".
    """
    if text is None:
        return False
    words, no = _split_words(text), understood_words("no")
    yes = understood_words("yes", *_ALSO_YES[about])
    if words - yes - no - understood_words("praise", "polite") or not words & (yes | no):
        return None
    return not words & no


_ALSO_YES: Final[dict[QuestionTopic, tuple[str, ...]]] = {
    "save": ("praise", "save"),
    "update": ("update",),
    "other": (),
}


def parse_answer(text: str | None) -> Answer | None:
    """Return the answer to a question about one of several things; a closed input stops, None is no answer."""
    if text is None:
        return "stop"
    agreed = parse_yes_no(text)
    if agreed is not None:
        return "yes" if agreed else "no"
    word = text.strip().casefold()
    return "all" if word in understood_words("all") else "stop" if word in understood_words("stop") else None


def mentions_saving(text: str) -> bool:
    """Return whether the person speaks of saving the draft, and not of not saving it."""
    patterns = _patterns()
    return patterns.saving.search(patterns.not_saving.sub(" ", _fold(text))) is not None


def mentions_profile(text: str) -> bool:
    """Return whether the person themselves speaks of a profile."""
    return _patterns().profile.search(_fold(text)) is not None


def find_platforms(text: str) -> tuple[Platform, ...]:
    """Return the platforms that a request names, the one that it is for first.

    That is the one after "for" or «для», else the one before "post", else a tweet, else the last one: "a post about
    leaving LinkedIn, for Instagram" is for Instagram.
    """
    folded = _fold(text)
    found = [
        (_rank(folded, one), one.start(), platform)
        for platform, pattern in _patterns().platforms.items()
        for one in pattern.finditer(folded)
    ]
    return tuple(dict.fromkeys(platform for _, _, platform in sorted(found, reverse=True)))


def find_language(text: str) -> Language | None:
    """Return the language that the person wants a post in, where they say so: "in English", «англійською»."""
    folded = _fold(text)
    found = [name for name, pattern in _patterns().languages.items() if pattern.search(folded)]
    return found[0] if len(found) == 1 else "uk+en" if found else None


def _rank(folded: str, found: re.Match[str]) -> int:
    patterns = _patterns()
    if patterns.is_for.search(folded[: found.start()]) or patterns.is_for.match(found[0]):
        return 3
    return 2 if patterns.post.match(folded[found.end() :]) else int(bool(patterns.tweet.match(found[0])))


class _Patterns:
    """The regular expressions, made of the patterns of all languages."""

    def __init__(self) -> None:
        any_of = understood_pattern
        self.saving = re.compile(rf"\b(?:{any_of('keep')})\b")
        self.not_saving = re.compile(rf"\b(?:{any_of('not')})\s+(?:{any_of('keeping')})")
        self.profile = re.compile(rf"\b(?:{any_of('profile')})\b")
        self.is_for = re.compile(rf"\b(?:{any_of('for')})\s+(?:(?:{any_of('own')})\s+)?(?:$|[xх]$)")
        self.post = re.compile(rf"[\s-]+(?:{any_of('post')})")
        self.tweet = re.compile(any_of("tweet"))
        # A lone X is the platform only behind a word that says so: "about X" is about something.
        lone_x = rf"\b(?:{any_of('before_platform')})\s+[xх]\b(?!\s*(?!{any_of('about')})\w)"
        self.languages: dict[Language, re.Pattern[str]] = {
            "en": re.compile(rf"\b(?:{any_of('written_en')})\b"),
            "uk": re.compile(rf"\b(?:{any_of('written_uk')})\b"),
        }
        more = {"x": f"|{lone_x}"}
        self.platforms: dict[Platform, re.Pattern[str]] = {
            name: re.compile(rf"\b(?:{any_of(name)})\b{more.get(name, '')}") for name in PLATFORMS
        }


def _patterns() -> _Patterns:
    return _compile(languages())


@lru_cache(maxsize=2)
def _compile(_languages: tuple[str, ...]) -> _Patterns:
    return _Patterns()


def _split_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_fold(text)))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
