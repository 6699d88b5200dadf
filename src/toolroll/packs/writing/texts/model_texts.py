"""What is said of a model that could not be asked, and before any error, in English and Ukrainian."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.texts.wording import Text

ModelKey: TypeAlias = Literal[
    "error_word",
    "interrupted",
    "asked_again",
    "nothing_drafted",
    "model_authentication",
    "model_permission",
    "model_quota",
    "model_rate_limit",
    "model_overloaded",
    "model_timeout",
    "model_network",
    "model_request",
    "model_context",
    "model_content",
    "model_provider",
    "stop_limit",
    "stop_form",
    "stop_refusal",
    "stop_cut_off",
    "stop_interrupted",
    "stop_failed",
]

MODEL_TEXTS: Final[Mapping[ModelKey, Text]] = {
    "error_word": Text(en="Error", uk="Помилка"),
    "interrupted": Text(en="Interrupted.", uk="Перервано."),
    "asked_again": Text(en="Asking again: {reason}", uk="Питаю ще раз: {reason}"),
    "nothing_drafted": Text(
        en="Nothing is drafted without the style profile. {why}", uk="Без профілю стилю чернетки не буде. {why}"
    ),
    "model_authentication": Text(
        en="The provider did not take the key. {detail}",
        uk="Ключ не підійшов: перевірте його або додайте (`toolroll config key`). Постачальник моделі каже: {detail}",
    ),
    "model_permission": Text(
        en="The key is not for this model. {detail}", uk="Ключ не дає доступу до цієї моделі. Подробиці: {detail}"
    ),
    "model_quota": Text(
        en="The credit is spent. {detail}", uk="Кошти або квоту вичерпано: поповніть рахунок. Подробиці: {detail}"
    ),
    "model_rate_limit": Text(
        en="Too many requests. {detail}", uk="Забагато запитів: зачекайте й спробуйте ще раз. Подробиці: {detail}"
    ),
    "model_overloaded": Text(
        en="The provider has too much to do. {detail}", uk="Модель перевантажена: спробуйте згодом. Подробиці: {detail}"
    ),
    "model_timeout": Text(
        en="The model did not answer in time. {detail}",
        uk="Модель не відповіла вчасно: спробуйте ще раз. Подробиці: {detail}",
    ),
    "model_network": Text(
        en="The provider could not be reached. {detail}",
        uk="Немає зв'язку з моделлю: перевірте мережу. Подробиці: {detail}",
    ),
    "model_request": Text(
        en="The provider refused the request. {detail}", uk="Модель не прийняла запит. Подробиці: {detail}"
    ),
    "model_context": Text(
        en="The conversation no longer fits the model. {detail}",
        uk="Розмова вже не вміщується в модель: почніть нову. Подробиці: {detail}",
    ),
    "model_content": Text(
        en="The provider will not answer this. {detail}", uk="Модель відмовилася відповідати. Подробиці: {detail}"
    ),
    "model_provider": Text(
        en="The provider failed. {detail}", uk="Збій у постачальника моделі: спробуйте ще раз. Подробиці: {detail}"
    ),
    "stop_limit": Text(en="a limit was reached", uk="досягнуто межі"),
    "stop_form": Text(en="its answer has not the form of a profile", uk="відповідь не має потрібної форми"),
    "stop_refusal": Text(en="it refused", uk="модель відмовилася"),
    "stop_cut_off": Text(en="it was cut off", uk="відповідь обірвалася"),
    "stop_interrupted": Text(en="it was interrupted", uk="роботу перервано"),
    "stop_failed": Text(en="it got no further", uk="модель не впоралася"),
}
