"""Keywords as a question to the index: any of them, each also as the beginning of a word and in most of its forms."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from toolroll.packs.writing.stems import prefix_of, words_of

MAX_KEYWORDS: Final = 32
MAX_KEYWORD_CHARACTERS: Final = 200
"""More of them, or longer ones, are no keywords but a text."""


def match_of(keywords: Sequence[str], platform: str | None) -> str | None:
    """The question in the language of FTS5, in which no keyword is anything but words; None where there are none."""
    phrases = list(dict.fromkeys(_phrases(keywords)))
    if not phrases:
        return None
    wanted = f"{{topic body file}} : ({' OR '.join(phrases)})"
    return wanted if platform is None else f'(platform : "{_escaped(platform)}") AND ({wanted})'


def _phrases(keywords: Iterable[str]) -> Iterator[str]:
    for keyword in list(keywords)[:MAX_KEYWORDS]:
        text = unicodedata.normalize("NFC", keyword[:MAX_KEYWORD_CHARACTERS])
        words = [word.text for word in words_of(text)]
        if words:
            # A star after the last word: it may go on. The longer phrase counts for more where it is there.
            yield f'"{_escaped(" ".join(words))}" *'
            yield f'"{_escaped(" ".join([*words[:-1], prefix_of(words[-1])]))}" *'


def _escaped(text: str) -> str:
    return text.replace('"', '""').replace("\0", " ")
