"""Messages that are made in English, said in Ukrainian: each is one of the phrases that are known, or stays as it is.

Errors of files, of JSON and of services come from rooms that speak English only. A phrase has the English text with its
`{placeholders}`; what stands in their places is taken over, and translated where it is a phrase itself. No phrase is
longer than a line, and no value in one.
"""

import re
from functools import cache
from typing import Final

from toolroll.packs.writing.texts.phrase_texts import PHRASES, WORDS
from toolroll.packs.writing.texts.wording import Text

MAX_CHARACTERS: Final = 2_000
"""Of a message that is looked up: ours are shorter, and a provider's can be of any length."""

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_STOP: Final = "."


def in_ukrainian(text: str) -> str | None:
    """The message in Ukrainian; None where it is no phrase that is known."""
    if len(text) > MAX_CHARACTERS:
        return None
    bare = text.removesuffix(_STOP)
    if bare in WORDS:
        return WORDS[bare] + text[len(bare) :]
    for pattern, phrase in _patterns():
        found = pattern.fullmatch(text)
        if found is not None:
            return _filled(phrase.uk.removesuffix(_STOP), found) + found["stop"]
    return None


def _filled(template: str, found: re.Match[str]) -> str:
    return _PLACEHOLDER.sub(lambda one: in_ukrainian(found[one[1]]) or found[one[1]], template)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Text], ...]:
    return tuple((re.compile(_regex(phrase.en)), phrase) for phrase in PHRASES)


def _regex(template: str) -> str:
    """With or without the full stop at its end: inside another message it is left out."""
    parts = _PLACEHOLDER.split(template.removesuffix(_STOP))  # texts and names in turn
    body = "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return rf"{body}(?P<stop>\.?)"
