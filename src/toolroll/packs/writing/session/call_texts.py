"""What a person reads about the tool calls of a model, in their language (W34)."""

from collections.abc import Mapping
from typing import Final, get_args

from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.packs.writing.profiles.feedback import THRESHOLD, Category, category_name
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.session.gate import TRACK
from toolroll.packs.writing.session.tool_calls import parse_object
from toolroll.packs.writing.texts.messages import Key, Lang, say
from toolroll.packs.writing.tools.toolset import SEARCH

_NOT_SHOWN: Final = frozenset(
    {
        *("invalid_json", "invalid_arguments", "unknown_tool", "repeated_call", "rejected"),
        *("not_confirmed", "asked_already", "not_due", "other_profile", "no_feedback", "counted_already"),
    }
)
"""Failures between the program and the model: they are not about anything the person did, or they have just done it."""


def describe_call(call: ToolCall, result: ToolResult, lang: Lang) -> str | None:
    """Return what a person reads about a call; None where it is not for them."""
    answer = parse_object(result.text)
    if not result.is_error:
        return _describe_success(call, answer, lang)
    if call.name == TRACK or result.code in _NOT_SHOWN:
        return None
    if call.name == SEARCH:
        return say("search_not_asked" if result.code == "needs_approval" else "search_failed", lang)
    # Our tools answer in the person's language already.
    return _add_text(str(answer.get("message") or result.text), answer, lang)


def describe_feedback_count(result: ToolResult, lang: Lang) -> str | None:
    """Return what a person reads about feedback that was counted; None where it was not, which is not for them."""
    match parse_object(result.text):
        case {"success": True, "category": str(category), "count": int(count)} if category in get_args(Category):
            key: Key = "noted" if count <= THRESHOLD else "noted_often"
            return say(key, lang, what=category_name(category, lang), count=count, needed=THRESHOLD)
        case _:
            return None


def _describe_success(call: ToolCall, answer: Mapping[str, object], lang: Lang) -> str | None:
    match call.name:
        case "update_style_profile":
            name = parse_object(call.arguments).get("profile_name") or DEFAULT
            return say("profile_updated", lang, name=name, version=answer.get("version"))
        case "save_to_file":
            return say("saved", lang, file=answer.get("file_path"))
        case "write_to_notion":
            return say("saved_to_notion", lang, url=answer.get("notion_url"))
        case "read_notion_page":
            return say("reading_page", lang, title=answer.get("title"))
        case "read_past_posts":
            return say("reading_posts", lang, count=answer.get("total_found"))
        case _:
            return None


def _add_text(message: str, answer: Mapping[str, object], lang: Lang) -> str:
    """Return the message with the file that was saved instead, or with the text that could not be saved."""
    instead = answer.get("save_to_file")
    if isinstance(instead, Mapping):
        file = instead.get("file_path")
        more = say("saved", lang, file=file) if file else _add_text(str(instead.get("message")), instead, lang)
        return f"{message}\n{more}"
    content = answer.get("content")
    return f"{message}\n\n{content}" if content else message
