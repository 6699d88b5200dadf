"""Every text that a person who writes posts reads, in English and Ukrainian, by a key that type checkers know (W34).

The first block is the matrix of errors row by row; `MATRIX` says which row each key is for.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

from toolroll.packs.writing.texts.flow_texts import FLOW_TEXTS, FlowKey
from toolroll.packs.writing.texts.model_texts import MODEL_TEXTS, ModelKey
from toolroll.packs.writing.texts.profile_texts import PROFILE_TEXTS, ProfileKey
from toolroll.packs.writing.texts.wording import Lang, Text

__all__ = [
    "LANG",
    "LANGS",
    "MATRIX",
    "TEXTS",
    "Key",
    "Lang",
    "Text",
    "choose_language",
    "language_of",
    "placeholders",
    "say",
]

Key: TypeAlias = Literal[
    ProfileKey,
    FlowKey,
    ModelKey,
    "profile_not_found",
    "profile_not_found_init",
    "profile_invalid",
    "reference_profile",
    "validation_failed",
    "search_failed",
    "notion_not_configured",
    "notion_page_not_found",
    "notion_no_access",
    "notion_unauthorized",
    "notion_invalid_page",
    "notion_error",
    "notion_not_configured_saved",
    "notion_failed_saved",
    "save_failed",
    "feedback_failed",
    "empty_post",
    "save_preview",
    "saved",
    "saved_to_notion",
    "not_saved",
    "leave_unsaved",
    "ask_feedback",
    "ask_update",
    "profile_updated",
    "few_posts",
    "draft_too_long",
    "draft_avoid",
    "draft_avoid_form",
    "draft_language",
    "repair_too_long",
    "repair_avoid",
    "repair_language",
    "stats",
    "no_stats",
]


LANGS: Final[tuple[Lang, ...]] = get_args(Lang)
LANG: Final = "lang"
"""The name under which a surface gives the language to a run."""

TEXTS: Final[Mapping[Key, Text]] = {
    **dict(PROFILE_TEXTS.items()),  # as pairs: the type of a mapping's keys cannot be widened
    **dict(FLOW_TEXTS.items()),
    **dict(MODEL_TEXTS.items()),
    # --- The matrix of errors ---------------------------------------------------------------------------
    "profile_not_found": Text(
        en="Profile '{name}' not found. Available profiles: {available}.",
        uk="Профіль не знайдений: «{name}». Доступні профілі: {available}.",
    ),
    "profile_not_found_init": Text(
        en="Profile '{name}' not found. Run `ghostpen init` to make your own.",
        uk="Профіль не знайдений: «{name}». Запустіть `ghostpen init`, щоб створити свій.",
    ),
    "profile_invalid": Text(
        en="Profile '{name}' is damaged:\n{problems}\nThe file was left as it is. `ghostpen profile edit {name}` opens "
        "it to be repaired, `ghostpen profile create {name}` makes it anew.",
        uk="Профіль пошкоджений: «{name}».\n{problems}\nФайл не змінено. `ghostpen profile edit {name}` відкриє його, "
        "щоб виправити, `ghostpen profile create {name}` створить наново.",
    ),
    "reference_profile": Text(
        en="Reference profiles are not updated automatically, and '{name}' is one. Edit it by hand: "
        "`ghostpen profile edit {name}`.",
        uk="Reference профілі не оновлюються автоматично, а «{name}» саме такий. Змініть його вручну: "
        "`ghostpen profile edit {name}`.",
    ),
    "validation_failed": Text(
        en="Invalid value for {field}. Nothing was changed:\n{problems}",
        uk="Невалідне значення для {field}. Нічого не змінено:\n{problems}",
    ),
    "search_failed": Text(
        en="Search is not available, so I write without data from the web.",
        uk="Пошук недоступний, генерую без зовнішніх даних.",
    ),
    "notion_not_configured": Text(
        en="Notion is not configured. Set {missing} in the environment, or keep it: toolroll config key set {missing}",
        # The first two sentences are the seed's. No .env file is read by this program, so the third says what to do.
        uk="Notion не налаштований. Додайте {missing} до .env файлу. Сама програма .env не читає: задайте {missing} у "
        "змінних середовища або збережіть: toolroll config key set {missing}",
    ),
    "notion_page_not_found": Text(
        en="The page was not found. Check the URL, and that the page is shared with the connection.",
        uk="Сторінку не знайдено. Перевірте URL і чи надано інтеграції доступ до сторінки.",
    ),
    "notion_no_access": Text(
        en="There is no access to the page. Share it with the connection in Notion.",
        uk="Немає доступу до сторінки. Надайте його інтеграції в Notion.",
    ),
    "notion_unauthorized": Text(
        en="Notion refused the token. Check NOTION_TOKEN.", uk="Notion не прийняв токен. Перевірте NOTION_TOKEN."
    ),
    "notion_invalid_page": Text(
        en="This is neither the id nor the URL of a Notion page. Check the URL.",
        uk="Це не ID і не URL сторінки Notion. Перевірте URL.",
    ),
    "notion_error": Text(en="Notion failed.", uk="Помилка Notion."),
    "notion_not_configured_saved": Text(
        en="Notion is not configured, saving to a file. Set {missing} in the environment; a token can also be kept: "
        "toolroll config key set NOTION_TOKEN",
        uk="Notion не налаштований, зберігаю локально. Задайте {missing} у змінних середовища; токен можна й зберегти: "
        "toolroll config key set NOTION_TOKEN",
    ),
    "notion_failed_saved": Text(
        en="Notion failed, saving to a file.",
        uk="Помилка Notion, зберігаю локально.",
    ),
    "save_failed": Text(
        en="Saving failed. {reason} Here is the text, to copy and paste.",
        uk="Помилка збереження. {reason} Ось текст, щоб його скопіювати.",
    ),
    # The person sees nothing of it: this one is for the log.
    "feedback_failed": Text(
        en="The feedback was not written down: {reason}",
        uk="Фідбек не записано: {reason}",
    ),
    # --- Saving -----------------------------------------------------------------------------------------
    "empty_post": Text(en="There is no text to save.", uk="Немає тексту, який можна зберегти."),
    "save_preview": Text(en="Save as {file}:", uk="Зберегти як {file}:"),
    "saved": Text(en="Saved: {file}", uk="Збережено: {file}"),
    "saved_to_notion": Text(en="Saved to Notion as a draft: {url}", uk="Збережено в Notion як чернетку: {url}"),
    "not_saved": Text(en="Nothing was saved.", uk="Нічого не збережено."),
    "leave_unsaved": Text(en="Leave without saving the draft?", uk="Вийти, не зберігши чернетку?"),
    # --- The conversation -------------------------------------------------------------------------------
    "ask_feedback": Text(
        en='What should be different? ("save" keeps it, "exit" leaves)',
        uk="Що змінити? («зберігай» — зберегти, «exit» — вийти)",
    ),
    "ask_update": Text(
        en="You have said this {count} times. Update {field} in your profile?",
        uk="Ви сказали це вже стільки разів: {count}. Оновити {field} у вашому профілі?",
    ),
    "profile_updated": Text(
        en="Profile '{name}' is now at version {version}.",
        uk="Профіль «{name}» оновлено до версії {version}.",
    ),
    "few_posts": Text(
        en="Posts given: {count}. From 3 on, the profile gets much closer to your voice.",
        uk="Надано постів: {count}. Від 3 постів профіль буде набагато ближчим до вашого голосу.",
    ),
    # --- Checks of a draft (W33) ------------------------------------------------------------------------
    "draft_too_long": Text(
        en="Too long for {platform}: {length} of {limit} characters.",
        uk="Задовго для {platform}: {length} символів із {limit}.",
    ),
    "draft_avoid": Text(
        en="Your profile avoids '{item}', and the draft says '{found}'.",
        uk="Ваш профіль уникає «{item}», а в чернетці є «{found}».",
    ),
    "draft_avoid_form": Text(
        en="Your profile avoids '{item}', and the draft says '{found}', which looks like a form of it.",
        uk="Ваш профіль уникає «{item}», а в чернетці є «{found}», що схоже на його форму.",
    ),
    "draft_language": Text(
        en="The draft should be in {wanted} and is in {found}.",
        uk="Чернетка має бути {wanted}, а написана {found}.",
    ),
    "repair_too_long": Text(
        en="Shorten it by at least {over} characters, to at most {limit} as {platform} counts them.",
        uk="Скоротіть щонайменше на {over} символів, до {limit} за підрахунком {platform}.",
    ),
    "repair_avoid": Text(
        en="Say it without '{item}' in any form; it is there as '{found}'.",
        uk="Напишіть це без «{item}» у будь-якій формі; зараз там «{found}».",
    ),
    "repair_language": Text(
        en="Write all of it in {wanted}; names and quotes may stay.",
        uk="Напишіть усе {wanted}; назви й цитати можуть лишитися.",
    ),
    # --- Statistics (W35) -------------------------------------------------------------------------------
    "stats": Text(
        en="Drafts: {drafts}. Accepted: {accepted}, of these the first time: {first} ({share} %). "
        "Mean rounds: {rounds}.",
        uk="Чернеток: {drafts}. Прийнято: {accepted}, з них з першого разу: {first} ({share} %). "
        "Раундів у середньому: {rounds}.",
    ),
    "no_stats": Text(en="No drafts have been written yet.", uk="Чернеток ще немає."),
}

MATRIX: Final[Mapping[tuple[str, str], Key]] = {
    ("read_style_profile", "File not found"): "profile_not_found",
    ("read_style_profile", "Invalid JSON"): "profile_invalid",
    ("update_style_profile", "Reference profile"): "reference_profile",
    ("update_style_profile", "Validation failed"): "validation_failed",
    ("search_web", "Timeout / API error"): "search_failed",
    ("read_notion_page", "Not configured"): "notion_not_configured",
    ("read_notion_page", "Page not found"): "notion_page_not_found",
    ("write_to_notion", "Not configured"): "notion_not_configured_saved",
    ("write_to_notion", "API error"): "notion_failed_saved",
    ("save_to_file", "Disk error"): "save_failed",
    ("track_feedback", "File error"): "feedback_failed",
}
"""What is said of each error that a tool of this pack meets."""

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def say(key: Key, lang: Lang, /, **values: object) -> str:
    """The text in that language with its placeholders filled; values are put in as they are, braces and all."""
    text = TEXTS[key].uk if lang == "uk" else TEXTS[key].en
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), text)


def placeholders(text: str) -> frozenset[str]:
    """The names that a text wants values for."""
    return frozenset(_PLACEHOLDER.findall(text))


def choose_language(option: str | None, environment: Mapping[str, str], profile: str | None = None) -> Lang:
    """The language for messages: what was asked for, else that of the locale, else that of the profile, else English.

    A locale that names no language (C, POSIX) decides nothing; one of a language we do not speak asks for English.
    """
    given = option or _locale(environment) or (profile or "").partition("+")[0]
    return "uk" if given == "uk" else "en"


def language_of(deps: Mapping[str, object]) -> Lang:
    """The language of a run, as its surface chose it."""
    return "uk" if deps.get(LANG) == "uk" else "en"


def _locale(environment: Mapping[str, str]) -> str:
    # The order of POSIX: the first that is set to something decides alone.
    name = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = re.split(r"[_.@-]", name)[0].casefold()
    return "" if language in {"c", "posix"} else language
