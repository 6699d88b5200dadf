"""The rules that a profile breaks, told to a writer in Ukrainian; in English they are told where they are found."""

import re
from collections.abc import Mapping
from typing import Final

from toolroll.packs.writing.wording import Lang

_UKRAINIAN: Final[Mapping[str, str]] = {
    "is missing": "бракує",
    "is no field of a profile: take it out, or correct its name": (
        "такого поля у профілі немає: приберіть його або виправте назву"
    ),
    "must be text": "має бути текстом",
    "must not be blank": "не може бути порожнім",
    "must be a whole number": "має бути цілим числом",
    "must be a number over 0": "має бути числом, більшим за 0",
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
    "must be a whole number: leave it out": "має бути цілим числом: приберіть його",
}
_CHOICE: Final = re.compile(r"(is no platform that is known here; a platform )?must be (.+)", re.DOTALL)
_THE_PROFILE: Final = "the profile"


def fault_in(fault: str, lang: Lang) -> str:
    """A fault, `path: problem`, in that language; what only a program can say stays as it is."""
    path, _, problem = fault.partition(": ")
    if lang == "en" or not problem:
        return fault
    return f"{'профіль' if path == _THE_PROFILE else path}: {_problem(problem)}"


def _problem(problem: str) -> str:
    known = _UKRAINIAN.get(problem)
    choice = _CHOICE.fullmatch(problem)
    if known is not None or choice is None:
        return known or problem
    choices = choice[2].replace(" or ", " або ")
    return f"невідома платформа; має бути {choices}" if choice[1] else f"має бути {choices}"
