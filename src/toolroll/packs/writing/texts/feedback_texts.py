"""Feedback on style in words, in English and Ukrainian, by its category."""

from collections.abc import Mapping
from typing import Final, cast

from toolroll.packs.writing.profiles.feedback import Category
from toolroll.packs.writing.texts.wording import Lang, Text

CATEGORY_TEXTS: Final[Mapping[Category, Text]] = {
    "too_formal": Text(en="too formal", uk="занадто формально"),
    "too_casual": Text(en="too casual", uk="занадто неформально"),
    "too_long": Text(en="too long", uk="занадто довго"),
    "too_short": Text(en="too short", uk="занадто коротко"),
    "hook_weak": Text(en="weak hook", uk="слабкий початок"),
    "hook_strong": Text(en="strong hook", uk="сильний початок"),
    "tone_off": Text(en="wrong tone", uk="не той тон"),
    "structure_wrong": Text(en="wrong structure", uk="не та структура"),
    "vocabulary_wrong": Text(en="wrong words", uk="не ті слова"),
    "cta_missing": Text(en="no call to action", uk="бракує заклику до дії"),
    "cta_too_pushy": Text(en="call to action too pushy", uk="заклик до дії занадто нав'язливий"),
    "other": Text(en="something else", uk="щось інше"),
}


def category_name(category: str, lang: Lang) -> str:
    """A category as a person would say it; one that is not known, as it is."""
    text = CATEGORY_TEXTS.get(cast("Category", category), Text(en=category, uk=category))
    return text.uk if lang == "uk" else text.en
