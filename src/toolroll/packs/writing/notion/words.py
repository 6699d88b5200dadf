"""What is said of Notion, in English and Ukrainian; the Ukrainian texts are those of the tools' own tables."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolroll.errors import ServiceFailed
from toolroll.packs.writing.messages import Lang

ErrorCode: TypeAlias = Literal[
    "notion_not_configured", "page_not_found", "no_access", "notion_unauthorized", "invalid_page_id", "notion_error"
]
Saved: TypeAlias = Literal["saved_not_configured", "saved_error"]

_WORDS: Final[Mapping[Lang, Mapping[ErrorCode | Saved, str]]] = {
    "en": {
        "notion_not_configured": "Notion is not configured. Add {missing} to the .env file.",
        "page_not_found": "The page was not found. Check the URL, and that the page is shared with the connection.",
        "no_access": "There is no access to the page. Share it with the connection in Notion.",
        "notion_unauthorized": "Notion refused the token. Check NOTION_TOKEN.",
        "invalid_page_id": "This is neither the id nor the URL of a Notion page. Check the URL.",
        "notion_error": "Notion failed.",
        "saved_not_configured": "Notion is not configured, saving to a file. Add {missing} to the .env file.",
        "saved_error": "Notion failed, saving to a file.",
    },
    "uk": {
        "notion_not_configured": "Notion не налаштований. Додайте {missing} до .env файлу.",
        "page_not_found": "Сторінку не знайдено. Перевірте URL і чи надано інтеграції доступ до сторінки.",
        "no_access": "Немає доступу до сторінки. Надайте його інтеграції в Notion.",
        "notion_unauthorized": "Notion не прийняв токен. Перевірте NOTION_TOKEN.",
        "invalid_page_id": "Це не ID і не URL сторінки Notion. Перевірте URL.",
        "notion_error": "Помилка Notion.",
        "saved_not_configured": "Notion не налаштований, зберігаю локально. Додайте {missing} до .env файлу.",
        "saved_error": "Помилка Notion, зберігаю локально.",
    },
}
_BY_STATUS: Final[Mapping[int, ErrorCode]] = {401: "notion_unauthorized", 403: "no_access", 404: "page_not_found"}


def say(word: ErrorCode | Saved, language: Lang, *, missing: str = "NOTION_TOKEN") -> str:
    """The sentence for a case; `missing` are the settings that are not there."""
    return _WORDS[language][word].format(missing=missing)


def code_of(error: ServiceFailed) -> ErrorCode:
    """Which of the known things went wrong."""
    return _BY_STATUS.get(error.status or 0, "notion_error")
