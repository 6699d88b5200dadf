"""One text in the two languages that writers read here."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Lang: TypeAlias = Literal["en", "uk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text in both languages, with the same `{placeholders}`."""

    en: str
    uk: str
