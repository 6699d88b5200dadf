"""Check a draft before a person sees it (W33): its length, the words to avoid, its language.

The program finds all of it. Each finding has a sentence for the person, and one for the model that repairs the draft.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.posts.platforms import Platform, post_length, remove_links
from toolroll.packs.writing.posts.stems import Word, english_forms, find_stem, split_words
from toolroll.packs.writing.texts.messages import Lang, name_value, say

FindingKind: TypeAlias = Literal["too_long", "avoid", "language"]
DetectedLanguage: TypeAlias = Literal["uk", "en", "uk+en", "other", "none"]
Language: TypeAlias = Literal["uk", "en", "uk+en"]

MAX_FOUND_OF_ITEM: Final = 5
"""Places that are told of one item: whoever repairs it looks for the others."""

# Half: Ukrainian posts on technology are full of English terms, and still Ukrainian.
_UKRAINIAN_SHARE: Final = 0.5
_ENGLISH_SHARE: Final = 0.8
# From so many words on, an English text has one of the words without which English can hardly be written.
_MIN_WORDS_TO_TELL: Final = 8
_COMMON_ENGLISH: Final = re.compile(
    r"\b(?:the|an?|and|or|of|to|in|is|are|was|i|you|we|it|that|this|for|on|with|not|my|your|be|ha[vs]e?|do|at|as|but)\b"
)
_NOT_PROSE: Final = re.compile(r"[#@][\w.]+|`[^`]*`")
_RUSSIAN_ONLY: Final = frozenset("ыэёъ")
_UKRAINIAN_ONLY: Final = frozenset("іїєґ")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRules:
    """What a draft must keep to, from the profile and for one platform."""

    platform: Platform
    max_length: int
    avoid: Sequence[str] = ()
    language: Language = "uk+en"
    samples: Sequence[str] = ()
    """Posts of the author that the profile shows: a draft is none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFinding:
    """One rule that a draft breaks: `message` is for the person, `repair` for the model that rewrites it.

    `start` and `end` are the place in the draft, if there is one. `is_form` means that a form of the item was found and
    not the item itself; the comparison is rough and can be wrong.
    """

    kind: FindingKind
    message: str
    repair: str
    item: str = ""
    found: str = ""
    start: int = 0
    end: int = 0
    is_form: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftReport:
    """What a draft is like, and which rules it breaks."""

    length: int
    language: DetectedLanguage
    findings: tuple[DraftFinding, ...]

    @property
    def is_clean(self) -> bool:
        """Return whether it breaks no rule."""
        return not self.findings

    @property
    def repair(self) -> str:
        """Return what to ask the model for in one more call, a line for each finding."""
        return "\n".join(f"- {one.repair}" for one in self.findings)


def check_draft(text: str, rules: DraftRules, *, lang: Lang = "en") -> DraftReport:
    """Return every rule that a draft breaks, described in that language."""
    length, language = post_length(text, rules.platform), detect_language(text)
    findings = (
        *_check_length(length, rules, lang),
        *_check_avoided(text, rules.avoid, lang),
        *_check_language(language, rules.language, lang),
    )
    return DraftReport(length=length, language=language, findings=findings)


def detect_language(text: str) -> DetectedLanguage:
    """Return the language of a text, "none" where it has no words; links, tags and code do not count."""
    prose = _NOT_PROSE.sub(" ", remove_links(text)).casefold()
    letters = [one for one in prose if one.isalpha()]
    if not letters:
        return "none"
    cyrillic = sum("\u0400" <= one <= "\u04ff" for one in letters) / len(letters)
    latin = sum(one.isascii() for one in letters) / len(letters)
    if cyrillic >= _UKRAINIAN_SHARE:
        return "uk" if _is_ukrainian(letters) else "other"
    if latin >= _ENGLISH_SHARE:
        return "en" if _is_english(prose) else "other"
    return "uk+en" if cyrillic + latin >= _ENGLISH_SHARE else "other"


def _is_ukrainian(letters: Sequence[str]) -> bool:
    return sum(one in _UKRAINIAN_ONLY for one in letters) >= sum(one in _RUSSIAN_ONLY for one in letters)


def _is_english(prose: str) -> bool:
    return len(split_words(prose)) < _MIN_WORDS_TO_TELL or _COMMON_ENGLISH.search(prose) is not None


def _check_length(length: int, rules: DraftRules, lang: Lang) -> Iterator[DraftFinding]:
    over = length - rules.max_length
    if over > 0:
        values = {"platform": rules.platform, "limit": rules.max_length}
        yield DraftFinding(
            kind="too_long",
            message=say("draft_too_long", lang, count=length, **values),
            repair=say("repair_too_long", lang, count=over, **values),
        )


def _check_language(found: DetectedLanguage, wanted: Language, lang: Lang) -> Iterator[DraftFinding]:
    fits = found in {wanted, "none"} or (wanted == "uk+en" and found != "other")
    if not fits:
        name = name_value("written_in", wanted, lang)
        yield DraftFinding(
            kind="language",
            message=say("draft_language", lang, wanted=name, found=name_value("written_in", found, lang)),
            repair=say("repair_language", lang, wanted=name),
        )


def _check_avoided(text: str, avoid: Sequence[str], lang: Lang) -> Iterator[DraftFinding]:
    words = split_words(text)
    stems = [find_stem(word.text) for word in words]
    for item in dict.fromkeys(avoid):
        wanted = split_words(item)
        places = _find_words(words, stems, wanted) if wanted else _find_signs(text, item.strip())
        for start, end, is_form in list(places)[:MAX_FOUND_OF_ITEM]:
            found = text[start:end]
            yield DraftFinding(
                kind="avoid",
                message=say("draft_avoid_form" if is_form else "draft_avoid", lang, item=item, found=found),
                repair=say("repair_avoid", lang, item=item, found=found),
                item=item,
                found=found,
                start=start,
                end=end,
                is_form=is_form,
            )


def _find_words(words: list[Word], stems: list[str], wanted: list[Word]) -> Iterator[tuple[int, int, bool]]:
    """Find where the words of an item follow one another, each as it is or in another form."""
    asked, size = [(find_stem(word.text), english_forms(word.text)) for word in wanted], len(wanted)
    for at in range(len(words) - size + 1):
        here, there = words[at : at + size], stems[at : at + size]
        if all(
            stem == found or word.text in forms for word, found, (stem, forms) in zip(here, there, asked, strict=True)
        ):
            is_form = [word.text for word in here] != [word.text for word in wanted]
            yield here[0].start, here[-1].end, is_form


def _find_signs(text: str, item: str) -> Iterator[tuple[int, int, bool]]:
    """Find an item without words, such as an emoji or `!!!`."""
    if item:
        yield from ((one.start(), one.end(), False) for one in re.finditer(re.escape(item), text))
