"""What a person is told of the tool calls of a model, in their language: the matrix of errors, row by row (W34)."""

from collections.abc import Mapping, Sequence
from typing import Final, cast, get_args

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.packs.writing.profiles.feedback import THRESHOLD, Category
from toolroll.packs.writing.session.gate import TRACK, UPDATE
from toolroll.packs.writing.texts.error_texts import translate_message
from toolroll.packs.writing.texts.fault_texts import describe_fault
from toolroll.packs.writing.texts.messages import Key, Lang, say
from toolroll.packs.writing.tools.toolset import SEARCH

Fields = Mapping[str, object]

_NOT_SHOWN: Final = frozenset(
    {
        *("invalid_json", "invalid_arguments", "unknown_tool", "repeated_call", "rejected"),
        *("not_confirmed", "asked_already", "not_due", "other_profile", "no_feedback", "counted_already"),
    }
)
"""Between the program and the model: a person did nothing that these could be about, or has just done it."""


def describe_call(call: ToolCall, result: ToolResult, lang: Lang) -> str | None:
    """What a person reads about a call; None where it is not for them."""
    answer = _object(result.text)
    if not result.is_error:
        return _success(call, answer, lang)
    if call.name == TRACK or result.code in _NOT_SHOWN:
        return None
    if call.name == SEARCH:
        return say("search_not_asked" if result.code == "needs_approval" else "search_failed", lang)
    return _failure(call, result, answer, lang)


def describe_feedback_count(result: ToolResult, lang: Lang) -> str | None:
    """What a person reads about feedback that was counted; None where it was not, which is nothing for them."""
    match _object(result.text):
        case {"success": True, "category": str(category), "count": int(count)} if category in get_args(Category):
            key: Key = "noted" if count <= THRESHOLD else "noted_often"
            return say(key, lang, what=category_name(category, lang), count=count, needed=THRESHOLD)
        case _:
            return None


def category_name(category: str, lang: Lang) -> str:
    """Return a category of feedback as a person would say it; an unknown one, as it is."""
    return say(cast("Key", f"feedback_{category}"), lang) if category in get_args(Category) else category


def _success(call: ToolCall, answer: Fields, lang: Lang) -> str | None:
    match call.name:
        case "update_style_profile":
            return say("profile_updated", lang, name=_profile_name(call), version=answer.get("version"))
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


def _failure(call: ToolCall, result: ToolResult, answer: Fields, lang: Lang) -> str:
    name = _profile_name(call)
    match result.code:
        case "reference_profile":
            return say("reference_profile", lang, name=name)
        case "profile_invalid":
            return say("profile_invalid", lang, name=name, problems=_problems(answer, lang))
        case "profile_not_found" if answer.get("available_profiles"):
            return say("profile_not_found", lang, name=name, available=_join_names(answer.get("available_profiles")))
        case "profile_not_found":
            return say("profile_not_found_init", lang, name=name)
        case "validation_failed" if call.name == UPDATE:
            fields = _join_names(answer.get("fields"))
            return say("validation_failed", lang, field=fields, problems=_problems(answer, lang))
        case _:
            return _add_place(translate_message(str(answer.get("message") or result.text), lang), answer, lang)


def _add_place(message: str, answer: Fields, lang: Lang) -> str:
    """What a tool says in the person's language; with the file that a page became, or the text that became none."""
    instead = answer.get("save_to_file")
    if isinstance(instead, Mapping):
        file = instead.get("file_path")
        more = say("saved", lang, file=file) if file else _add_place(str(instead.get("message")), instead, lang)
        return f"{message}\n{more}"
    content = answer.get("content")
    return f"{message}\n\n{content}" if content else message


def _profile_name(call: ToolCall) -> str:
    return str(_object(call.arguments).get("profile_name") or "default")


def _problems(answer: Fields, lang: Lang) -> str:
    problems = answer.get("problems")
    return "\n".join(
        f"- {describe_fault(str(one), lang)}" for one in (problems if isinstance(problems, Sequence) else ())
    )


def _join_names(names: object) -> str:
    return ", ".join(map(str, names)) if isinstance(names, Sequence) else ""


def _object(text: str) -> Fields:
    try:
        found = parse_json(text)
    except JsonRefused:
        return {}
    return found if isinstance(found, dict) else {}
