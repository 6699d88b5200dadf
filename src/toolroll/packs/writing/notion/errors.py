"""The errors of Notion: the code that a model reads, and the message for the person."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolroll.errors import ServiceFailed
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key, Lang, say

ErrorCode: TypeAlias = Literal[
    "notion_not_configured", "page_not_found", "no_access", "notion_unauthorized", "invalid_page_id", "notion_error"
]

_TEXTS: Final[Mapping[ErrorCode, Key]] = {
    "notion_not_configured": "notion_not_configured",
    "page_not_found": "notion_page_not_found",
    "no_access": "notion_no_access",
    "notion_unauthorized": "notion_unauthorized",
    "invalid_page_id": "notion_invalid_page",
    "notion_error": "notion_error",
}
_BY_STATUS: Final[Mapping[int, ErrorCode]] = {401: "notion_unauthorized", 403: "no_access", 404: "page_not_found"}


def error_code(error: ServiceFailed) -> ErrorCode:
    """Return the code for what went wrong."""
    return _BY_STATUS.get(error.status or 0, "notion_error")


def describe_notion_error(
    code: ErrorCode, lang: Lang, *, detail: ServiceFailed | None = None, missing: str = "NOTION_TOKEN"
) -> str:
    """Return the message for the person; an error without a text of its own says what the service answered."""
    message = say(_TEXTS[code], lang, missing=missing)
    return f"{message} {describe_error(detail, lang)}" if code == "notion_error" and detail is not None else message
