"""The phrases of errors that a writer may read, in English as they are made and in Ukrainian.

A test goes through the sources that make them, and fails where one of their messages is not here.
"""

from collections.abc import Mapping
from typing import Final

from toolroll.packs.writing.texts.model_phrases import MODEL_PHRASES
from toolroll.packs.writing.texts.wording import Text

_FILES: Final = (
    Text(
        en="There is no '{path}'. List its folder to see what there is.",
        uk="«{path}» не знайдено. Перевірте назву й теку.",
    ),
    Text(
        en="'{path}' exists already. Choose another name, or change what is there.",
        uk="«{path}» уже існує. Виберіть іншу назву або змініть те, що там є.",
    ),
    Text(
        en="'{path}' is or became a link. Name the file it leads to.",
        uk="«{path}» є посиланням. Вкажіть файл, на який воно веде.",
    ),
    Text(
        en="'{path}' is, or goes through, something of the wrong kind. List its folder.",
        uk="«{path}» не є файлом чи текою, як потрібно, або веде через щось таке. Перевірте теку.",
    ),
    Text(
        en="'{path}' is, or goes through, a link with an absolute target. Name the file itself.",
        uk="«{path}» є посиланням на повний шлях або веде через нього. Вкажіть сам файл.",
    ),
    Text(en="'{path}' is {kind}, and {needed} is needed.", uk="«{path}» — це {kind}, а потрібно: {needed}."),
    Text(
        en="'{path}' is a link. Put the profile itself in its place.",
        uk="«{path}» є посиланням. Покладіть на його місце сам профіль.",
    ),
    Text(
        en="'{path}' is a link to something that does not exist. Remove the link, or make what it names.",
        uk="«{path}» є посиланням на те, чого немає. Видаліть його або створіть те, на що воно вказує.",
    ),
    Text(
        en="'{path}' is a link that leads in circles, or through too many others. Name the file itself.",
        uk="«{path}» є посиланням, що веде по колу або через забагато інших. Вкажіть сам файл.",
    ),
    Text(
        en="'{path}' leads through too many folders. Name the file it leads to.",
        uk="«{path}» веде через забагато тек. Вкажіть сам файл.",
    ),
    Text(
        en="'{path}' leads out of the root folder. Only what is in that folder can be used.",
        uk="«{path}» веде за межі теки з даними. Можна лише те, що в ній.",
    ),
    Text(
        en="'{path}' goes through the link '{link}'. Name the folder it leads to.",
        uk="«{path}» веде через посилання «{link}». Вкажіть теку, на яку воно веде.",
    ),
    Text(
        en="'{path}' goes through a link, and nothing is made through links. Name it '{other}'.",
        uk="«{path}» веде через посилання, а через них нічого не створюється. Вкажіть «{other}».",
    ),
    Text(
        en="'{path}' holds {size}, and the limit is {limit} bytes. Read a part of it, or search it.",
        uk="«{path}» завеликий: {size}, а можна щонайбільше {limit} байтів.",
    ),
    Text(
        en="'{path}' has more than {limit} bytes, and no profile has.",
        uk="«{path}» завеликий для профілю: понад {limit} байтів.",
    ),
    Text(en="'{path}' has more than {limit} bytes.", uk="«{path}» завеликий: понад {limit} байтів."),
    Text(
        en="'{path}' is no regular file. Name the file of a profile.",
        uk="«{path}» не є звичайним файлом. Вкажіть файл профілю.",
    ),
    Text(
        en="'{path}' is binary: it cannot be read as text. List its folder for its size and date.",
        uk="«{path}» не є текстом: його неможливо прочитати. Збережіть його як текст у UTF-8.",
    ),
    Text(
        en="'{path}' is locked by {who} for more than {seconds} s. Wait for it, or end it.",
        uk="«{path}» зайнятий довше ніж {seconds} с: {who}. Зачекайте або завершіть його.",
    ),
    Text(
        en="Other users can change the folder '{path}', which is for private data. Make it yours alone (chmod 700).",
        uk="Теку «{path}» для приватних даних можуть змінювати інші. Закрийте її для інших (chmod 700).",
    ),
    Text(
        en="The system refused '{path}': {why} ({code}). {advice}",
        uk="Система не дозволила роботу з «{path}» ({code}). {advice}",
    ),
    Text(en="Path '{path}' {why}", uk="Шлях «{path}» не підходить. Вкажіть інший."),
)

_JSON: Final = (
    Text(
        en="The JSON text is larger than {limit} bytes. Send less at once.",
        uk="текст JSON більший за {limit} байтів.",
    ),
    Text(
        en="Invalid JSON: {what} at line {line} column {column}",
        uk="це не JSON: {what} (рядок {line}, позиція {column})",
    ),
    Text(en="Invalid JSON: the key {key} stands twice in one object", uk="це не JSON: ключ {key} двічі в одній групі"),
    Text(en="Invalid JSON: the number {number} is too large", uk="це не JSON: число {number} завелике"),
    Text(en="Invalid JSON: byte {at} is not UTF-8 ({why})", uk="це не JSON: байт {at} не є UTF-8"),
    Text(
        en="Invalid JSON: the text begins with a byte order mark. Send it without",
        uk="це не JSON: текст починається з позначки порядку байтів (BOM), приберіть її",
    ),
    Text(en="Invalid JSON: the text holds half of a surrogate pair", uk="це не JSON: у тексті лише половина символу"),
    Text(en="Invalid JSON: {what}", uk="це не JSON: {what}"),
    Text(
        en="The feedback in '{path}' cannot be used: {why}. Repair the file or move it away; it was left as it is.",
        uk="Фідбек у «{path}» не можна використати: {why}. Виправте або приберіть файл; його не змінено.",
    ),
)

_KEYBOARD: Final = (
    Text(en="Note: {what}", uk="Примітка: {what}"),
    Text(en="Press Ctrl-C again to leave.", uk="Натисніть Ctrl-C ще раз, щоб вийти."),
    Text(
        en="Stopping when the running calls are done. Ctrl-C again stops at once.",
        uk="Завершую те, що вже почато, і зупиняюся. Ще одне Ctrl-C зупинить негайно.",
    ),
    Text(
        en="These {count} lines are one message. Enter sends it; Ctrl-C drops it.",
        uk="Рядків: {count}, і це одне повідомлення. Enter надішле його, Ctrl-C відкине.",
    ),
    Text(
        en="That has {count} characters, and a message at most {most}. Put it into a file, and mention it with @.",
        uk="Символів: {count}, а в повідомленні може бути щонайбільше {most}. Скоротіть його.",
    ),
)

_COMMANDS: Final = (
    Text(
        en="--sample takes no posts: leave out --from and --notion.",
        uk="--sample не приймає постів: приберіть --from і --notion.",
    ),
    Text(
        en="--profile and --mix exclude each other: a mix names its base.",
        uk="--profile і --mix виключають одне одного: мікс сам називає основу.",
    ),
    Text(
        en="The request is empty. Say what the post is about: ghostpen 'post about X for LinkedIn'.",
        uk="Запит порожній. Скажіть, про що пост: ghostpen 'пост про X для LinkedIn'.",
    ),
)

_PROFILES: Final = (
    Text(
        en="Profile '{name}' is damaged, and its file was left as it is. It is of a newer format: a newer version of "
        "this program may read it. What is wrong:",
        uk="Профіль «{name}» пошкоджений, його файл не змінено. Формат новіший: можливо, його прочитає новіша версія "
        "програми. Що не так:",
    ),
    Text(
        en="Profile '{name}' is damaged, and its file was left as it is. What is wrong:",
        uk="Профіль «{name}» пошкоджений, його файл не змінено. Що не так:",
    ),
    Text(
        en="Repair the file, or make the profile anew: the damaged one is kept as a backup then.",
        uk="Виправте файл або створіть профіль наново: пошкоджений залишиться як резервна копія.",
    ),
    Text(
        en="Profile '{name}' was written by a newer version of this program. It is read, and not changed. Update the "
        "program.",
        uk="Профіль «{name}» записала новіша версія програми. Його можна читати, але не змінювати. Оновіть програму.",
    ),
    Text(
        en="The name '{name}' is too long for a profile: it has {count} characters, and at most {most} are taken.",
        uk="Ім'я «{name}» задовге для профілю: у ньому {count} символів, а можна щонайбільше {most}.",
    ),
    Text(
        en="'{name}' cannot be the name of a profile: Windows keeps it for a device. Choose another one.",
        uk="«{name}» не може бути ім'ям профілю: у деяких системах воно зайняте пристроєм. Виберіть інше.",
    ),
    Text(
        en="The folder '{path}' cannot be made there. Name another folder with --data.",
        uk="Теку «{path}» там не можна створити. Вкажіть іншу теку з --data.",
    ),
    Text(
        en="'{name}' cannot be the name of a profile. Use up to {most} small Latin letters, digits, and single dashes "
        "between, as in 'competitor-alex'.",
        uk="«{name}» не може бути ім'ям профілю. Лише малі латинські літери, цифри й поодинокі дефіси між ними, до "
        "{most} символів, наприклад «competitor-alex».",
    ),
    Text(
        en="There is a profile '{name}' already. Choose another name, or say that it is to be replaced.",
        uk="Профіль «{name}» уже є. Виберіть інше ім'я або скажіть, що його треба замінити.",
    ),
    Text(
        en="Profile '{name}' was changed meanwhile, and nothing was written. Read it, and propose it anew.",
        uk="Профіль «{name}» тим часом змінився, нічого не записано. Прочитайте його й запропонуйте зміну знову.",
    ),
    Text(
        en="The default profile cannot be deleted. Make it anew with `ghostpen init` instead.",
        uk="Профіль default не можна видалити. Натомість створіть його наново: `ghostpen init`.",
    ),
    Text(
        en="A mix is of two profiles, and '{name}' was named twice. Use --profile {again} instead.",
        uk="Мікс складається з двох профілів, а «{name}» названо двічі. Використайте --profile {again}.",
    ),
    Text(
        en="A draft needs at least one style profile to be written by.",
        uk="Чернетка пишеться щонайменше за одним профілем.",
    ),
    Text(
        en="the profile would be larger than {limit} bytes: keep fewer or shorter examples",
        uk="профіль був би більшим за {limit} байтів: залиште менше прикладів або коротші",
    ),
    Text(en="it is no file, but a {kind}", uk="це не файл, а {kind}"),
    Text(
        en="its name can be no profile's: small Latin letters, digits and single dashes, then .json",
        uk="таким ім'я профілю бути не може: лише малі латинські літери, цифри й поодинокі дефіси, далі .json",
    ),
)

_NOTION: Final = (
    Text(en="{what} A part of the page is in Notion.", uk="Частина сторінки лишилася в Notion. {what}"),
    Text(en="{what} The page may be in Notion all the same.", uk="Сторінка все ж може бути в Notion. {what}"),
    Text(en="The page is nested deeper than {most} levels.", uk="Сторінка має понад {most} рівнів вкладення."),
    Text(en="The page has more than {most} blocks.", uk="На сторінці понад {most} блоків."),
    Text(
        en="The Notion database has no data source that the connection may use.",
        uk="У базі Notion немає джерела даних, доступного інтеграції.",
    ),
    Text(
        en="{name} is neither the id nor the URL of a Notion database.",
        uk="{name} не є ні ідентифікатором, ні адресою бази Notion.",
    ),
    Text(
        en="{name} has characters that no token has. Copy it again.",
        uk="У {name} є символи, яких у токені не буває. Скопіюйте його ще раз.",
    ),
)

PROBLEMS: Final[Mapping[str, str]] = {
    "is missing": "бракує",
    "is no field of a profile: take it out, or correct its name": (
        "такого поля у профілі немає: приберіть його або виправте назву"
    ),
    "must be text": "має бути текстом",
    "must not be blank": "не може бути порожнім",
    "must be a whole number": "має бути цілим числом",
    "must be a number over 0": "має бути числом, більшим за 0",
    "must be a number of 0 or more": "має бути числом, не меншим за 0",
    "must be a number up to 1000000000": "має бути числом до 1000000000",
    "must be a list": "має бути списком",
    "must have at least one entry": "має містити хоча б один запис",
    "must be a group of named fields": "має бути групою полів із назвами",
    "must be a moment in UTC, such as 2026-02-09T10:00:00Z": "має бути моментом у UTC, як-от 2026-02-09T10:00:00Z",
    "must be small Latin letters and digits, with single dashes between them": (
        "лише малі латинські літери й цифри, з поодинокими дефісами між ними"
    ),
    "cannot be changed": "не можна змінювати",
    "is no field of a profile that can be changed; a list is changed as a whole": (
        "такого поля у профілі немає або його не змінюють; список змінюють цілком"
    ),
    "is changed as a whole and in part: name it once": "змінюється і цілком, і частково: вкажіть один раз",
    "is so already: nothing would change": "уже так і є: нічого б не змінилося",
    "says '{inside}', and the file is called '{outside}': make both the same": (
        "там «{inside}», а файл називається «{outside}»: зробіть однаково"
    ),
    "must be a whole number: leave it out": "має бути цілим числом: приберіть його",
}
"""What is wrong with a field, as it is told behind its path."""

_PARTS: Final = (
    Text(en="{size} bytes", uk="{size} байтів"),
    Text(en="process {number}", uk="процес {number}"),
)
_OF_FIELDS: Final = tuple(Text(en=f"{{place}}: {en}", uk=f"{{place}}: {uk}") for en, uk in PROBLEMS.items())

PHRASES: Final[tuple[Text, ...]] = (
    *_KEYBOARD,
    *_FILES,
    *_JSON,
    *_COMMANDS,
    *MODEL_PHRASES,
    *_PROFILES,
    *_NOTION,
    *_OF_FIELDS,
    *_PARTS,
)
"""The first that fits counts: the narrower ones stand before the wider."""

WORDS: Final[Mapping[str, str]] = {
    "the file": "файл",
    "the whole": "увесь файл",
    "the profile": "профіль",
    # --- Kinds of files ---------------------------------------------------------------------------------
    "a file": "файл",
    "a folder": "тека",
    "a link": "посилання",
    "a pipe": "канал",
    "a socket": "сокет",
    "a device": "пристрій",
    "a free name": "вільна назва",
    "a file or a folder": "файл або тека",
    "folder": "тека",
    "link": "посилання",
    "pipe": "канал",
    "socket": "сокет",
    "device": "пристрій",
    "other": "щось інше",
    "another process": "інший процес",
    "too much to read at once": "забагато для одного читання",
    # --- What to try, by the number of the system's error ------------------------------------------------
    "Check the permissions of it and of the folders above it": "Перевірте права доступу до нього й до тек над ним",
    "The quota is used up: free some space, then try again": "Квоту вичерпано: звільніть місце й спробуйте ще раз",
    "It changed meanwhile, or this file system cannot do that: try again": (
        "Він тим часом змінився, або ця файлова система так не вміє: спробуйте ще раз"
    ),
    "The disk or the network behind it may be failing: check it before you try again": (
        "Диск або мережа можуть бути несправні: перевірте, перш ніж пробувати ще раз"
    ),
    "This process has too many files open: close some, or raise the limit (ulimit -n)": (
        "Відкрито забагато файлів: закрийте частину або збільште межу (ulimit -n)"
    ),
    "Use a shorter name": "Виберіть коротшу назву",
    "The system has too many files open: try again later": "У системі відкрито забагато файлів: спробуйте пізніше",
    "The disk is full: free some space, then try again": "Диск заповнений: звільніть місце й спробуйте ще раз",
    "The folder is not empty": "Тека не порожня",
    "Name one of its files, or a folder in it": "Вкажіть один із файлів або теку в ній",
    "Check its owner and its flags": "Перевірте власника й атрибути",
    "It is mounted read-only": "Диск підключено лише для читання",
    "Both names must be on the same file system: copy it instead": "Це різні диски: скопіюйте натомість",
    "Try again, or look at the system's log": "Спробуйте ще раз або перегляньте журнал системи",
    # --- What a parser of JSON says ----------------------------------------------------------------------
    "EOF while parsing a list": "текст обірвався посеред списку",
    "EOF while parsing an object": "текст обірвався посеред групи полів",
    "EOF while parsing a string": "текст обірвався посеред рядка в лапках",
    "EOF while parsing a value": "текст обірвався там, де мало бути значення",
    "expected `:`": "бракує двокрапки",
    "expected `,` or `]`": "бракує коми або ]",
    "expected `,` or `}`": "бракує коми або }",
    "expected ident": "незрозуміле слово",
    "expected value": "бракує значення",
    "invalid escape": "невідома послідовність після \\",
    "invalid number": "неправильно записане число",
    "number out of range": "число завелике",
    "invalid unicode code point": "такого символу немає в Unicode",
    "control character (\\u0000-\\u001F) found while parsing a string": "керівний символ у рядку в лапках",
    "key must be a string": "назва поля має бути в лапках",
    "lone leading surrogate in hex escape": "лише половина символу після \\u",
    "trailing comma": "зайва кома",
    "trailing characters": "зайвий текст після кінця",
    "unexpected end of hex escape": "обірвана послідовність після \\u",
    "recursion limit exceeded": "забагато рівнів вкладення",
}
"""What stands in the places of phrases, where it is ours; a full stop at the end is left out."""
