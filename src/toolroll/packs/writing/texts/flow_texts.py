"""What is said while a post is written, in English and Ukrainian."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.texts.wording import Text

FlowKey: TypeAlias = Literal[
    "ask_request",
    "platforms_named",
    "writing",
    "repairing",
    "searching",
    "search_not_asked",
    "reading_page",
    "reading_posts",
    "noted",
    "noted_often",
    "draft_title",
    "ask_save",
    "update_preview",
    "notion_preview",
    "ask_notion",
    "ask_allow",
    "ask_profile_change",
    "page_keys",
    "not_updated",
    "paste_source",
    "draft_cut_off",
    "cut_off_kept",
    "cut_off_before",
    "edit_missed",
    "no_draft",
    "not_a_post",
    "wanted_to_save",
    "one_draft",
    "demo_intro",
    "demo_profile",
    "demo_played",
    "demo_gone",
    "demo_next",
]

FLOW_TEXTS: Final[Mapping[FlowKey, Text]] = {
    "ask_request": Text(
        en="What shall the post be about, and for which platform?",
        uk="Про що буде пост і для якої платформи?",
    ),
    "platforms_named": Text(
        en="The request names {others} too; this post is for {platform}. --platform says which one you mean.",
        uk="У запиті названо ще {others}; цей пост буде для {platform}. Іншу платформу можна вказати з --platform.",
    ),
    "writing": Text(en="Writing by the profile '{profile}'…", uk="Пишу за профілем «{profile}»…"),
    "repairing": Text(
        en="The draft broke {count} of its rules; asking once more…",
        uk="Чернетка порушила правил: {count}; прошу переписати…",
    ),
    "searching": Text(en="Searching the web: {query}", uk="Шукаю в інтернеті: {query}"),
    "search_not_asked": Text(
        en="Not searched: nobody could be asked. I write without data from the web.",
        uk="Пошук не виконано: нема кого запитати. Генерую без зовнішніх даних.",
    ),
    "reading_page": Text(en="Read the Notion page '{title}'.", uk="Прочитано сторінку Notion «{title}»."),
    "reading_posts": Text(
        en="Looked for past posts: found {count}.", uk="Пошук серед минулих постів: знайдено {count}."
    ),
    "noted": Text(en="Noted: {what} ({count} of {needed}).", uk="Занотовано: {what} ({count} з {needed})."),
    "noted_often": Text(en="Noted: {what} (said {count} times by now).", uk="Занотовано: {what} (уже {count}-й раз)."),
    "draft_title": Text(
        en="Draft {number} · {platform} · {length} of {limit} characters",
        uk="Чернетка {number} · {platform} · {length} із {limit} символів",
    ),
    "update_preview": Text(
        en="Style profile '{name}', version {old} -> {new}", uk="Профіль «{name}», версія {old} -> {new}"
    ),
    "notion_preview": Text(
        en="New page in the Notion database {database}; if Notion fails, a file",
        uk="Нова сторінка в базі Notion {database}; якщо Notion не відповість, файл",
    ),
    "ask_save": Text(en="Save it?", uk="Зберегти?"),
    "ask_notion": Text(en="Make this page in Notion?", uk="Створити цю сторінку в Notion?"),
    "ask_allow": Text(en="Allow this?", uk="Дозволити?"),
    "ask_profile_change": Text(en="Update the profile?", uk="Оновити профіль?"),
    "page_keys": Text(
        en="lines {first}-{last} of {all} · Enter more · v all the rest · n no: ",
        uk="рядки {first}-{last} із {all} · Enter далі · v усе до кінця · n ні: ",
    ),
    "not_updated": Text(en="The profile stays as it is.", uk="Профіль лишається без змін."),
    "paste_source": Text(
        en="Paste the text of the page here instead, a line with only a dot ends it; or Enter to go on without it.",
        uk="Вставте сюди текст сторінки, рядок із самою крапкою завершує його; або Enter, щоб писати без нього.",
    ),
    "draft_cut_off": Text(
        en="The model was cut off: the draft may lack its end.", uk="Модель обірвалася: чернетка може бути без кінця."
    ),
    "cut_off_kept": Text(
        en="The model was cut off before the end of this, so it is not taken. Draft {number}, below, stays, and is "
        'what saving keeps. Say "take it" to take the unfinished text all the same, or say again what should be '
        "different.",
        uk="Модель обірвалася й цього не дописала, тому його не взято. Чернетка {number}, нижче, лишається: саме її "
        "буде збережено. Скажіть «бери», щоб усе ж узяти недописане, або ще раз скажіть, що змінити.",
    ),
    "cut_off_before": Text(
        en="The model was cut off before it had written the post. The draft is as it was.",
        uk="Модель обірвалася, не написавши поста. Чернетка лишилася, як була.",
    ),
    "edit_missed": Text(
        en="The edit could not be made: the passage is not in the draft exactly once. The draft is as it was.",
        uk="Правку не внесено: такого уривка немає в чернетці рівно один раз. Чернетка лишилася, як була.",
    ),
    "no_draft": Text(en="The model wrote no draft.", uk="Модель не написала чернетки."),
    "not_a_post": Text(
        en="This is not marked as a post, so it is not taken for one.",
        uk="Це не позначено як пост, тому за пост не вважається.",
    ),
    "wanted_to_save": Text(
        en="The draft was to be saved, and nobody could be asked. Add --yes to save it.",
        uk="Чернетку треба було зберегти, але нема кого запитати. Додайте --yes, щоб зберегти.",
    ),
    "one_draft": Text(
        en="Nothing was saved. At a terminal you can say what should be different; --yes saves the first draft.",
        uk="Нічого не збережено. У терміналі можна сказати, що змінити; --yes зберігає першу чернетку.",
    ),
    # --- The demo ---------------------------------------------------------------------------------------
    "demo_intro": Text(
        en="No key, no network. What the model says is recorded, and so is what you say; everything else really "
        "happens, in a folder that is gone afterwards: the profile is read, drafts are checked, feedback is counted, "
        "the profile is changed, the post is saved.",
        uk="Без ключа й мережі. Слова моделі записані заздалегідь, ваші відповіді також; усе інше справді "
        "відбувається, у теці, якої потім не буде: профіль читається, чернетки перевіряються, фідбек рахується, "
        "профіль змінюється, пост зберігається.",
    ),
    "demo_profile": Text(
        en="Profile '{name}', version {version}: {tone}; formality: {formality}",
        uk="Профіль «{name}», версія {version}: {tone}; формальність: {formality}",
    ),
    "demo_played": Text(en="(played)", uk="(програно)"),
    "demo_gone": Text(en="What was saved, whole:", uk="Що збережено, повністю:"),
    "demo_next": Text(en="Try next", uk="Що спробувати далі"),
}
