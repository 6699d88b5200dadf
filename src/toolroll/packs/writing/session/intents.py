"""What a person's words mean, as far as the program itself must know: to save, to leave, yes or no, which platform."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.posts.post_file import Platform

Intent: TypeAlias = Literal["save", "notion", "leave"]
"""Keep the draft in a file, keep it in Notion, or go."""

QuestionTopic: TypeAlias = Literal["save", "update", "other"]
"""What a question is about to which yes or no is the answer: to save a post, to update a profile, or neither."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_YES: Final = _set("y yes yep yeah ok okay т так ага ок окей добре гаразд давай")
# Said of a draft, these accept it. They are no yes to a question: "perfect" does not mean "leave it unsaved".
_PRAISE: Final = _set("perfect great good fine супер чудово гарно відмінно")
_SAVE: Final = _set("save done готово зберігай збережи зберегти зберігаємо зберігайте збережіть")
_CONFIRM: Final = _YES | _PRAISE | _SAVE
_NOTION: Final = _set("notion ноушн ноушен нотіон")
_LEAVE: Final = _set("exit quit q leave вихід вийти вийди виходь виходжу")
_NOT: Final = _set("not don dont don't without saving не без зберігаючи збереження")
# Said around these words without another meaning: whoever says more than that wants something changed.
_AROUND: Final = _set(
    "it this the a post draft please now and then to in into as file close thanks thank you looks all let's lets it's "
    "its that's is "
    "це його пост чернетку будь ласка і й та в у до як файл закрий закривай закрити дякую все усе тепер вже"
)
_TAKE: Final = _set("take use бери беру берімо візьми візьміть взяти використай")
_UNFINISHED: Final = _set(
    "unfinished cut off one new newer text anyway недописане недописаний обірване обірвану нову нове"
)
_NOT_SAVING: Final = re.compile(r"\b(?:not|don['’ʼ]?t|never|without|не|без)\s+(?:sav\w*|keep\w*|збер\w*)")
_SAVING: Final = re.compile(r"\b(?:sav(?:e|ing)|keep|збер\w*|notion|готово|done|ok|okay|ок|окей)\b")
_PROFILE: Final = re.compile(r"\b(?:profile\w*|профіл\w*)\b")
_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")

_NO: Final = _set("n no nope н ні нє")
_ALSO_YES: Final[Mapping[QuestionTopic, frozenset[str]]] = {
    "save": _PRAISE | _SAVE,
    "update": _set("update оновлюй онови оновити оновіть"),
    "other": frozenset(),
}

_PLATFORMS: Final[tuple[tuple[Platform, re.Pattern[str]], ...]] = (
    ("linkedin", re.compile(r"\b(?:linked\s?in|лінкед\s?ін\w*|лінкдін\w*)\b")),
    ("instagram", re.compile(r"\b(?:instagram|insta|інстаграм\w*|інст[аиуі])\b")),
    # A lone X is the platform only behind a word that says so: "about X" is about something.
    ("x", re.compile(r"\b(?:twitter|tweet|твіт\w*|x\.com)\b|\b(?:for|on|для|на|в|у)\s+[xх]\b(?!\s*(?!about|про)\w)")),
)

_FOR: Final = re.compile(r"\b(?:for|для)\s+(?:(?:my|our|the|мого|нашого)\s+)?(?:$|[xх]$)")
_TWEET: Final = re.compile(r"tweet|твіт(?!ер)")
_POST: Final = re.compile(r"[\s-]+(?:post|caption|thread|пост|допис)")


def parse_intent(text: str) -> Intent | None:
    """What the person wants done with the draft; None where they want it changed.

    Case, punctuation and polite words do not matter: "OK!", "Зберігай, будь ласка", "save and close".
    """
    words = frozenset(_split_words(text))
    asked, leaves, negated = words & _CONFIRM, words & _LEAVE, words & _NOT
    if words - _CONFIRM - _NOTION - _LEAVE - _NOT - _AROUND or not (asked or leaves):
        return None
    if negated or (leaves and not words & (_SAVE | _NOTION)):  # "yes, exit" keeps nothing
        return "leave" if leaves else None
    if asked:
        return "notion" if words & _NOTION else "save"
    return None


def accepts_unfinished(text: str) -> bool:
    """Whether a person wants the text that was cut off, where there is one: "take it", «бери недописане»."""
    words = frozenset(_split_words(text))
    return bool(words & _TAKE) and not words - _TAKE - _UNFINISHED - _AROUND - _CONFIRM


def parse_yes_no(text: str | None, *, about: QuestionTopic = "other") -> bool | None:
    """A clear yes, a clear no (a closed input is one), or None where it is neither.

    "Save" is a yes only where saving is asked about: to leave a draft unsaved it is the opposite of one.
    """
    if text is None:
        return False
    words, yes = frozenset(_split_words(text)), _YES | _ALSO_YES[about]
    if words - yes - _NO - _PRAISE - _AROUND or not words & (yes | _NO):
        return None
    return not words & _NO


def mentions_saving(text: str) -> bool:
    """Whether a word of what was said is about keeping the draft, and not about not keeping it."""
    return _SAVING.search(_NOT_SAVING.sub(" ", _fold(text))) is not None


def mentions_profile(text: str) -> bool:
    """Whether the person themselves speaks of a profile."""
    return _PROFILE.search(_fold(text)) is not None


def find_platforms(text: str) -> tuple[Platform, ...]:
    """The platforms that a request names, the one that it is for first.

    That is the one behind "for" or «для», else the one before "post", else a tweet, else the last one: "a post about
    leaving LinkedIn, for Instagram" is for Instagram.
    """
    folded = _fold(text)
    found = [
        (_rank(folded, one), one.start(), platform)
        for platform, pattern in _PLATFORMS
        for one in pattern.finditer(folded)
    ]
    return tuple(dict.fromkeys(platform for _, _, platform in sorted(found, reverse=True)))


def _rank(folded: str, found: re.Match[str]) -> int:
    if _FOR.search(folded[: found.start()]) or _FOR.match(found[0]):
        return 3
    return 2 if _POST.match(folded[found.end() :]) else int(bool(_TWEET.match(found[0])))


def _split_words(text: str) -> list[str]:
    return _WORD.findall(_fold(text))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
