"""What is said while profiles are made, shown, changed and removed, in English and Ukrainian."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.texts.wording import Text

ProfileKey: TypeAlias = Literal[
    "yes_no",
    "yes_no_all",
    "nobody_to_ask",
    "nothing_done",
    "ask_replace",
    "paste_posts",
    "paste_post",
    "paste_taken",
    "paste_cut",
    "no_posts",
    "no_posts_in",
    "is_folder",
    "not_text",
    "too_many_posts",
    "analysing",
    "correcting",
    "no_profile_made",
    "ask_correction",
    "profile_written",
    "profile_kept",
    "sample_written",
    "bad_profile_name",
    "posts_kept",
    "no_profiles",
    "not_a_profile",
    "profile_closed",
    "type_personal",
    "type_reference",
    "profile_head",
    "profiles_damaged",
    "default_stays",
    "ask_delete",
    "profile_deleted",
    "profile_exported",
    "profile_imported",
    "import_refused",
    "file_taken",
    "no_file",
    "no_folder",
    "edit_needs_terminal",
    "edit_same",
    "edit_refused",
    "edit_made_by",
    "ask_edit_again",
    "profile_newer",
    "comparing",
    "measured_posts",
    "measured_examples",
    "no_differences",
    "change_left_out",
    "ask_change",
    "changes_proposed",
    "changes_reason",
    "top_feedback",
    "no_feedback",
    "feedback_line",
    "ask_reset",
    "ask_reset_all",
    "feedback_reset",
    "label_language",
    "label_source",
    "label_tone",
    "label_formality",
    "label_personality",
    "label_sentence_style",
    "label_paragraph_style",
    "label_hooks",
    "label_closings",
    "label_signature_phrases",
    "label_avoid",
    "label_emoji_usage",
    "label_max_length",
    "label_structure",
    "label_formatting",
    "label_tone_override",
    "label_hashtags",
    "label_notes",
    "label_examples",
]

PROFILE_TEXTS: Final[Mapping[ProfileKey, Text]] = {
    # --- Questions --------------------------------------------------------------------------------------
    "yes_no": Text(en="{question} [y/n] ", uk="{question} [т/н] "),
    "yes_no_all": Text(en="{question} [y/n, a = all, q = stop] ", uk="{question} [т/н, в = усі, с = стоп] "),
    "nobody_to_ask": Text(
        en="Nobody could be asked, so nothing was changed. Add --yes to do it.",
        uk="Нема кого запитати, тож нічого не змінено. Додайте --yes, щоб це зробити.",
    ),
    "nothing_done": Text(en="Nothing was changed.", uk="Нічого не змінено."),
    "ask_replace": Text(
        en="There is a profile '{name}' already. Replace it? The old one is kept as a backup.",
        uk="Профіль «{name}» уже є. Замінити його? Старий залишиться як резервна копія.",
    ),
    # --- Posts to learn from ----------------------------------------------------------------------------
    "paste_posts": Text(
        en="Paste your posts, one after the other. A line with only a dot, or Ctrl-D, ends a post; a dot alone ends "
        "the list.",
        uk="Вставте свої пости один за одним. Рядок із самою крапкою або Ctrl-D завершує пост, крапка без тексту "
        "завершує список.",
    ),
    "paste_post": Text(en="Post {number}:", uk="Пост {number}:"),
    "paste_taken": Text(en="Taken: {characters} characters.", uk="Прийнято символів: {characters}."),
    "paste_cut": Text(
        en="A line of this post is longer than a terminal passes on, and its end is missing, so the post was not "
        "taken. Put it in a file, and give that with --from.",
        uk="Рядок цього поста довший, ніж передає термінал, і його кінець утрачено, тож пост не прийнято. "
        "Збережіть його у файл і вкажіть із --from.",
    ),
    "no_posts": Text(
        en="There are no posts to learn from. Give files with --from, Notion pages with --notion, or paste them at a "
        "terminal. Without any, `ghostpen init --sample` writes a sample profile.",
        uk="Немає постів, з яких можна вчитися. Вкажіть файли з --from, сторінки Notion з --notion або вставте їх у "
        "терміналі. Без постів `ghostpen init --sample` створить зразковий профіль.",
    ),
    "no_posts_in": Text(en="There is no text in '{file}'.", uk="У «{file}» немає тексту."),
    "is_folder": Text(
        en="'{file}' is a folder. Name a file with posts in it.", uk="«{file}» — це тека. Вкажіть файл із постами."
    ),
    "not_text": Text(
        en="'{file}' is no text, so it cannot be read. Save the posts as plain text in UTF-8.",
        uk="«{file}» не є текстом, тож його неможливо прочитати. Збережіть пости як простий текст у UTF-8.",
    ),
    "too_many_posts": Text(
        en="This is too much for one look: posts {count}, characters {characters}. At most {most_posts} posts "
        "and {most_characters} characters are taken; choose the best.",
        uk="Забагато для одного аналізу: постів {count}, символів {characters}. Можна щонайбільше {most_posts} постів "
        "і {most_characters} символів; виберіть найкращі.",
    ),
    "analysing": Text(
        en="Looking at how you write: posts {count}, model {model}…",
        uk="Дивлюся, як ви пишете: постів {count}, модель {model}…",
    ),
    "correcting": Text(en="Correcting the profile…", uk="Виправляю профіль…"),
    "no_profile_made": Text(
        en="The model gave no profile that could be used ({why}); nothing was written. Try again, or another model.",
        uk="Модель не дала придатного профілю ({why}), нічого не записано. Спробуйте ще раз або іншу модель.",
    ),
    "ask_correction": Text(
        en='Is this right? ("ok" writes it, "exit" leaves, anything else is a correction) ',
        uk="Усе так? («ок» — записати, «вихід» — вийти, будь-що інше — виправлення) ",
    ),
    "profile_written": Text(en="Profile '{name}' is written: {file}", uk="Профіль «{name}» записано: {file}"),
    "profile_kept": Text(
        en="The old one is kept in {folder}.",
        uk="Старий збережено в {folder}.",
    ),
    "sample_written": Text(
        en="It is a sample: `ghostpen init` makes one of your own posts.",
        uk="Це зразок: `ghostpen init` створить профіль із ваших постів.",
    ),
    "bad_profile_name": Text(
        en="'{name}' cannot be the name of a profile. Use up to {most} small Latin letters, digits, and single dashes "
        "between, as in 'competitor-alex'.",
        uk="«{name}» не може бути ім'ям профілю. Лише малі латинські літери, цифри й поодинокі дефіси між ними, до "
        "{most} символів, наприклад «competitor-alex».",
    ),
    "posts_kept": Text(
        en="The posts that you pasted are kept in {file}; give them with --from next time.",
        uk="Вставлені пости збережено у {file}; наступного разу вкажіть його з --from.",
    ),
    # --- Profiles ---------------------------------------------------------------------------------------
    "no_profiles": Text(
        en="There are no profiles yet. Begin with `ghostpen init`.",
        uk="Профілів ще немає. Почніть із `ghostpen init`.",
    ),
    "profiles_damaged": Text(
        en="Damaged: {files}. `ghostpen profile edit NAME` opens a profile to be repaired, `ghostpen profile create "
        "NAME` makes it anew; the old file is kept as a backup.",
        uk="Пошкоджено: {files}. `ghostpen profile edit NAME` відкриє профіль, щоб виправити, `ghostpen profile create "
        "NAME` створить його наново; старий файл лишиться як резервна копія.",
    ),
    "type_personal": Text(en="personal", uk="особистий"),
    "type_reference": Text(en="reference", uk="референсний"),
    "profile_head": Text(
        en="{name}  {type}, v{version}, updated {when} UTC", uk="{name}  {type}, v{version}, оновлено {when} UTC"
    ),
    "profile_closed": Text(en="{file} cannot be read: {problem}", uk="{file} неможливо прочитати: {problem}"),
    "not_a_profile": Text(en="{file} is no profile: {problem}", uk="{file} не є профілем: {problem}"),
    "default_stays": Text(
        en="The default profile cannot be deleted. Make it anew with `ghostpen init` instead.",
        uk="Профіль default не можна видалити. Натомість створіть його наново: `ghostpen init`.",
    ),
    "ask_delete": Text(
        en="Delete the profile '{name}'? It is kept as a backup.",
        uk="Видалити профіль «{name}»? Він залишиться як резервна копія.",
    ),
    "profile_deleted": Text(en="Profile '{name}' is deleted.", uk="Профіль «{name}» видалено."),
    "profile_exported": Text(en="Profile '{name}' is in {file}.", uk="Профіль «{name}» збережено у {file}."),
    "profile_imported": Text(
        en="Profile '{name}', version {version}, is imported.", uk="Профіль «{name}» версії {version} імпортовано."
    ),
    "import_refused": Text(
        en="'{file}' is no profile, and nothing was imported:\n{problems}",
        uk="«{file}» не є профілем, нічого не імпортовано:\n{problems}",
    ),
    "file_taken": Text(
        en="'{file}' is there already, and was left as it is. Choose another name with --output.",
        uk="«{file}» уже існує, його не змінено. Виберіть інше ім'я з --output.",
    ),
    "no_file": Text(en="There is no file '{file}'.", uk="Файлу «{file}» немає."),
    "no_folder": Text(
        en="There is no folder '{folder}'. Make it first, or name another one.",
        uk="Теки «{folder}» немає. Спершу створіть її або назвіть іншу.",
    ),
    "edit_needs_terminal": Text(
        en="Editing needs a terminal. Elsewhere: `ghostpen profile export`, change the file, "
        "`ghostpen profile import`.",
        uk="Для редагування потрібен термінал. Інакше: `ghostpen profile export`, змініть файл, "
        "`ghostpen profile import`.",
    ),
    "edit_same": Text(
        en="Nothing is different, and nothing was written. A profile's name, version and history cannot be changed "
        "here.",
        uk="Відмінностей немає, нічого не записано. Ім'я, версію й історію профілю тут не змінюють.",
    ),
    "edit_refused": Text(en="This cannot be written:\n{problems}", uk="Це не можна записати:\n{problems}"),
    "edit_made_by": Text(en="edited by hand", uk="змінено вручну"),
    "ask_edit_again": Text(en="Edit it again?", uk="Редагувати ще раз?"),
    "profile_newer": Text(
        en="Profile '{name}' was written by a newer version of this program. It is read, and not changed. Update the "
        "program.",
        uk="Профіль «{name}» записала новіша версія програми. Його можна читати, але не змінювати. Оновіть програму.",
    ),
    # --- Posts and the profile (W35) --------------------------------------------------------------------
    "comparing": Text(
        en="Comparing posts ({count}) with the profile '{name}', model {model}…",
        uk="Порівнюю пости ({count}) з профілем «{name}», модель {model}…",
    ),
    "measured_posts": Text(
        en="These posts: {texts}. On average {characters} characters, {words} words a sentence, {sentences} sentences "
        "a paragraph, {emoji} emoji, {hashtags} hashtags.",
        uk="Ці пости: {texts}. У середньому символів {characters}, слів у реченні {words}, речень в абзаці "
        "{sentences}, емодзі {emoji}, хештегів {hashtags}.",
    ),
    "measured_examples": Text(
        en="Examples in the profile: {texts}. On average {characters} characters, {words} words a sentence, "
        "{sentences} sentences a paragraph, {emoji} emoji, {hashtags} hashtags.",
        uk="Приклади у профілі: {texts}. У середньому символів {characters}, слів у реченні {words}, речень в абзаці "
        "{sentences}, емодзі {emoji}, хештегів {hashtags}.",
    ),
    "no_differences": Text(
        en="The posts are as the profile says: there is nothing to change.",
        uk="Пости відповідають профілю: змінювати нічого.",
    ),
    "change_left_out": Text(
        en="A proposed change of {field} is left out, as it breaks a rule: {problem}",
        uk="Запропоновану зміну {field} пропущено, бо вона порушує правило: {problem}",
    ),
    "ask_change": Text(en="Make this change?", uk="Внести цю зміну?"),
    "changes_proposed": Text(
        en="Nothing was changed. Add --yes to make all of these changes.",
        uk="Нічого не змінено. Додайте --yes, щоб внести всі ці зміни.",
    ),
    "changes_reason": Text(en="analysis of posts ({count})", uk="аналіз постів ({count})"),
    # --- Numbers ----------------------------------------------------------------------------------------
    "top_feedback": Text(en="Most frequent feedback: {list}.", uk="Найчастіший фідбек: {list}."),
    "no_feedback": Text(en="There is no feedback yet.", uk="Фідбеку ще немає."),
    "feedback_line": Text(
        en="{what} ({category}): {count}, last on {date}", uk="{what} ({category}): {count}, востаннє {date}"
    ),
    "ask_reset": Text(
        en="Forget the feedback '{what}', with what was said?",
        uk="Забути фідбек «{what}» разом із тим, що було сказано?",
    ),
    "ask_reset_all": Text(
        en="Forget all feedback, with what was said?", uk="Забути весь фідбек разом із тим, що було сказано?"
    ),
    "feedback_reset": Text(en="Forgotten: {list}.", uk="Забуто: {list}."),
    # --- The parts of a profile -------------------------------------------------------------------------
    "label_language": Text(en="Language", uk="Мова"),
    "label_source": Text(en="Made of", uk="Джерело"),
    "label_tone": Text(en="Tone", uk="Тон"),
    "label_formality": Text(en="Formality", uk="Формальність"),
    "label_personality": Text(en="Personality", uk="Особистість"),
    "label_sentence_style": Text(en="Sentences", uk="Речення"),
    "label_paragraph_style": Text(en="Paragraphs", uk="Абзаци"),
    "label_hooks": Text(en="Begins with", uk="Починає з"),
    "label_closings": Text(en="Ends with", uk="Завершує"),
    "label_signature_phrases": Text(en="Own phrases", uk="Власні фрази"),
    "label_avoid": Text(en="Avoids", uk="Уникає"),
    "label_emoji_usage": Text(en="Emoji", uk="Емодзі"),
    "label_max_length": Text(en="At most", uk="Щонайбільше"),
    "label_structure": Text(en="Structure", uk="Структура"),
    "label_formatting": Text(en="Formatting", uk="Форматування"),
    "label_tone_override": Text(en="Tone there", uk="Тон там"),
    "label_hashtags": Text(en="Hashtags", uk="Хештеги"),
    "label_notes": Text(en="Notes", uk="Примітки"),
    "label_examples": Text(en="Examples", uk="Приклади"),
}
