"""Topics as parts of file names: small Latin letters, digits and dashes, whatever the topic is written in (W15).

Ukrainian goes by the national standard of 2010 (resolution 55 of the Cabinet of Ministers), with its rules of position:
є, ї, й, ю, я are written differently at the beginning of a word, зг is zgh, ь and the apostrophe are left out.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

MAX_SLUG_CHARACTERS: Final = 60
"""Ten words: with date and platform, a file name that any system holds and a person can read."""
FALLBACK: Final = "post"
"""For topics without a letter or digit that can be written in Latin: emoji, symbols, other scripts."""

# Of a topic, what can be seen in a slug; every step after it takes time by its length.
_MAX_TOPIC_CHARACTERS: Final = 1_000
_APOSTROPHES: Final = re.compile("(?<=\\w)['`´‘’‛ʹʼʾˈ′＇](?=\\w)")
_MARKS: Final = re.compile("[\u0300-\u036f]")
_OTHERS: Final = re.compile("[^a-z0-9]+")
# Letters that Ukrainian does not have, as ICAO 9303 writes them in passports; and Latin ones that do not decompose.
_FOREIGN: Final[Mapping[int, str]] = str.maketrans(
    {
        "ё": "e",
        "ъ": "",
        "ы": "y",
        "э": "e",
        "ў": "u",
        "æ": "ae",
        "ð": "d",
        "đ": "d",
        "ı": "i",
        "ł": "l",
        "ø": "o",
        "œ": "oe",
        "þ": "th",
    }
)


def topic_slug(topic: str) -> str:
    """Return the topic in `[a-z0-9-]`: never empty or longer than MAX_SLUG_CHARACTERS, no dashes at the ends."""
    words = _OTHERS.sub("-", romanize(topic[:_MAX_TOPIC_CHARACTERS])).strip("-")
    return _shorten_slug(words) or FALLBACK


def romanize(text: str) -> str:
    """Return the text in small letters, with Cyrillic and accented Latin letters as plain Latin ones."""
    from translitua import translit  # noqa: PLC0415 - half an interpreter start, only when something is saved

    # Composed first, or й would lose its breve with the marks of stress, which go because a mark ends a word.
    composed = _APOSTROPHES.sub("", unicodedata.normalize("NFC", text))
    small = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", composed).casefold())
    plain = _APOSTROPHES.sub("", _MARKS.sub("", small)).translate(_FOREIGN)
    return _MARKS.sub("", unicodedata.normalize("NFKD", translit(plain)))


def _shorten_slug(slug: str) -> str:
    if len(slug) <= MAX_SLUG_CHARACTERS:
        return slug
    whole_words, dash, _ = slug[: MAX_SLUG_CHARACTERS + 1].rpartition("-")
    return whole_words if dash else slug[:MAX_SLUG_CHARACTERS]
