"""Ukrainian words without their endings, so that forms of one word meet. A rough cut, not a grammar.

Endings of nouns, adjectives and verbs go; what alternates before them (к/ц/ч, г/з/ж, х/с/ш, і/о/е) is written one way.
Words that only share a stem meet too (робот, робота): good for a question to a person or a search, never for a change.
Words of other scripts, and those that would be left with under three letters, stay as they are. English ones have
so few forms that these are made instead (leverage, leverages, leveraged, leveraging).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

MIN_STEM_LETTERS: Final = 3
"""Shorter ones are in too many words."""

MIN_ENGLISH_LETTERS: Final = 4
"""Of a word with forms: with shorter ones, new would be in news and use in using."""

_LETTERS: Final = "\\w[\\w\u0300-\u036f]*"
_WORD: Final = re.compile(f"{_LETTERS}(?:['`´‘’‛ʹʼʾˈ′＇]{_LETTERS})*")
_APOSTROPHES: Final = re.compile("[`´‘’‛ʹʼʾˈ′＇]")
_MARKS: Final = re.compile("[\u0300-\u036f]")
_CYRILLIC: Final = re.compile("[\u0400-\u04ff']+")
_REFLEXIVE: Final = re.compile("(?<=.{4})(?:ся|сь)$")
_ENDINGS: Final = tuple(
    sorted(
        (
            # nouns
            *("ами", "ями", "іями", "ові", "еві", "єві", "ією", "ою", "ею", "єю", "ам", "ям", "іям", "ах", "ях", "іях"),
            *("ом", "ем", "єм", "ів", "їв", "ей", "ія", "ії", "ію", "ій", "а", "я", "о", "е", "є", "и", "і", "ї", "у"),
            *("ю", "ь", "й"),
            # adjectives
            *("ого", "ому", "ими", "іми", "ий", "ої", "их", "іх", "їх", "им", "ім", "їм"),
            # verbs; not -ив, which would cut мотив and актив
            *("ати", "ає", "аю", "аєш", "аємо", "аєте", "ають", "ав", "ала", "ало", "али", "ємо", "єте", "єш", "ють"),
            *("ити", "ить", "иш", "имо", "ите", "ила", "ило", "или", "ять", "уть"),
        ),
        key=len,
        reverse=True,
    )
)
_VERB: Final = re.compile("(?<=.{2})([ую])в$")  # мотивув(ати), as against мотиву(є)
_DOUBLE: Final = re.compile(r"(.)\1$")  # вигоранн(я), as against вигоран(ь)
_LAST: Final = str.maketrans("цчзжсш", "ккггхх")
_ENGLISH: Final = re.compile(f"[a-z]{{{MIN_ENGLISH_LETTERS},}}")
_PLURAL: Final = re.compile("(?<=[^suix])s$")  # not business, focus, analysis
_CONSONANT_Y: Final = re.compile("(?<=[^aeiou])y$")
_HISSING: Final = re.compile("(?:[sxz]|ch|sh)$")
_CLOSED: Final = re.compile("[^aeiou][aeiou][^aeiouwxy]$")  # plan, planned; not play, show, fix
_SYLLABLE: Final = re.compile("[aeiouy]+")
_VOWEL: Final = re.compile("(?<=.)[іеє](?=[^аеєиіїоуюя]+$)")


@dataclass(frozen=True, slots=True)  # by position: a draft has hundreds
class Word:
    """A word in small letters, without marks of stress, with one kind of apostrophe; and where it is in its text."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Return every word of a text."""
    return [Word(_normalize_word(one[0]), one.start(), one.end()) for one in _WORD.finditer(text)]


def find_stem(word: str) -> str:
    """Return what the forms of a Ukrainian word have in common; a word of another script is its own stem."""
    if not _CYRILLIC.fullmatch(word):
        return word
    cut = _remove_ending(word)
    last = cut[:-1] + cut[-1].translate(_LAST)
    return _VOWEL.sub("о", last) if len(last) > MIN_STEM_LETTERS else last


def search_prefix(word: str) -> str:
    """Return what most forms of a word begin with, for a search: the word without its ending if enough is left."""
    cut = _remove_ending(word)
    return cut if len(cut) > MIN_STEM_LETTERS else word


def english_forms(word: str) -> frozenset[str]:
    """Return an English word with its regular forms; a short word or one of another script has no others."""
    if not _ENGLISH.fullmatch(word):
        return frozenset({word})
    one = word[:-3] + "y" if word.endswith("ies") else _PLURAL.sub("", word)
    return frozenset({word, *_inflect(word), *(_inflect(one) | {one} if _ENGLISH.fullmatch(one) else ())})


def _inflect(word: str) -> set[str]:
    plural = _CONSONANT_Y.sub("ie", word) + ("es" if _HISSING.search(word) else "s")
    if word.endswith("e"):
        return {plural, f"{word}d", f"{word[:-1]}ing"}
    plain = {f"{_CONSONANT_Y.sub('i', word)}ed", f"{word}ing"}
    doubled = {f"{word}{word[-1]}ed", f"{word}{word[-1]}ing"} if _CLOSED.search(word) else set()
    # Which of the two a longer word takes is a matter of its stress: refer, referred; offer, offered.
    is_short = doubled and len(_SYLLABLE.findall(word)) == 1
    return {plural} | doubled | (set() if is_short else plain)


def _normalize_word(word: str) -> str:
    composed = unicodedata.normalize("NFC", word)  # й is no и with a mark of stress
    return _APOSTROPHES.sub("'", _MARKS.sub("", composed)).casefold()


def _remove_ending(word: str) -> str:
    if not _CYRILLIC.fullmatch(word):
        return word
    bare = _REFLEXIVE.sub("", word)
    cut = next((bare.removesuffix(one) for one in _ENDINGS if _leaves_a_stem(bare, one)), bare)
    return _DOUBLE.sub(r"\1", _VERB.sub(r"\1", cut))


def _leaves_a_stem(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= MIN_STEM_LETTERS
