"""The phrases about models that cannot be used as they are named, in English as they are made and in Ukrainian."""

from typing import Final

from toolroll.packs.writing.texts.wording import Text

MODEL_PHRASES: Final = (
    Text(
        en="No model is named. Add --model NAME or set TOOLROLL_MODEL, or once for all: toolroll config set model "
        "sonnet",
        uk="Модель не названо. Додайте --model NAME або задайте TOOLROLL_MODEL, чи раз назавжди: toolroll config set "
        "model sonnet",
    ),
    Text(
        en="'sonnet' needs ANTHROPIC_API_KEY, 'openai:NAME' OPENAI_API_KEY, 'ollama:NAME' a local Ollama and no key.",
        uk="'sonnet' потребує ANTHROPIC_API_KEY, 'openai:NAME' — OPENAI_API_KEY, 'ollama:NAME' — Ollama на цьому "
        "комп'ютері, без ключа.",
    ),
    Text(
        en="Without any, 'toolroll demo' shows it at work, and 'toolroll call' reaches every tool but a project's own.",
        uk="Без моделі 'toolroll demo' показує роботу, а 'toolroll call' викликає всі інструменти, крім власних у "
        "проєкті.",
    ),
    Text(
        en="'ghostpen --demo' shows how a post is written, without any.",
        uk="'ghostpen --demo' показує без моделі, як пишеться пост.",
    ),
    Text(
        en="There is no key for {provider}. Set {variable}, or keep it: toolroll config key set {again}",
        uk="Немає ключа для {provider}. Задайте {variable} або збережіть його: toolroll config key set {again}",
    ),
    Text(
        en="Another model may need none: 'ollama:NAME' is one on this machine.",
        uk="Іншій моделі ключ може бути не потрібен: 'ollama:NAME' працює на цьому комп'ютері.",
    ),
    Text(
        en="Without any, 'toolroll demo' shows an agent at work, and 'toolroll call' reaches tools without a model.",
        uk="Без моделі 'toolroll demo' показує роботу агента, а 'toolroll call' викликає інструменти.",
    ),
    Text(
        en="{variable} holds characters that no key has. Copy the key again.",
        uk="У {variable} є символи, яких у ключі не буває. Скопіюйте ключ ще раз.",
    ),
    Text(
        en="{url} is no address of a model server. It must begin with https://.",
        uk="{url} не є адресою сервера моделі. Вона має починатися з https://.",
    ),
    Text(
        en="{url} would send the key unencrypted. Use https://, or allow plain HTTP in the settings.",
        uk="{url} передавала б ключ незашифрованим. Використайте https:// або дозвольте HTTP у налаштуваннях.",
    ),
    Text(en="{what} A script is played by {prefix}FILE.", uk="{what} Сценарій програє {prefix}FILE."),
    Text(en="Unknown model {name}. Use one of: {known}.", uk="Невідома модель {name}. Доступні: {known}."),
    Text(
        en="{name} needs an address: openai-compatible:NAME@https://host/v1.",
        uk="{name} потребує адреси: openai-compatible:NAME@https://host/v1.",
    ),
    Text(
        en="The script '{path}' cannot be played: {place}: {what}.",
        uk="Сценарій «{path}» неможливо програти: {place}: {what}.",
    ),
    Text(
        en="The script '{path}' is larger than {limit} bytes.", uk="Сценарій «{path}» завеликий: понад {limit} байтів."
    ),
    Text(
        en="A script cannot fail with {code}. Codes: {known}.",
        uk="Сценарій не може завершитися збоєм {code}. Можливі коди: {known}.",
    ),
    Text(en="There is no file '{path}'.", uk="Файлу «{path}» немає."),
    Text(
        en="'{path}' is a folder. Name the file with the script: {prefix}FILE.",
        uk="«{path}» — це тека. Вкажіть файл сценарію: {prefix}FILE.",
    ),
)
"""What stands before an agent can be asked at all."""
