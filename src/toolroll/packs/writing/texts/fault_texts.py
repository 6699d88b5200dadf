"""The rules that a profile breaks, told to a writer in Ukrainian; in English they are told where they are found."""

import re
from typing import Final

from toolroll.packs.writing.texts.messages import Lang
from toolroll.packs.writing.texts.phrases import in_ukrainian

_CHOICE: Final = re.compile(r"(is no platform that is known here; a platform )?must be (.+)", re.DOTALL)
_THE_PROFILE: Final = "the profile"


def describe_fault(fault: str, lang: Lang) -> str:
    """A fault, `path: problem`, in that language; what only a program can say stays as it is."""
    path, _, problem = fault.partition(": ")
    whole = None if lang == "en" else in_ukrainian(fault)
    if whole is not None or lang == "en" or not problem:
        return whole or fault
    return f"{'профіль' if path == _THE_PROFILE else path}: {_problem(problem)}"


def _problem(problem: str) -> str:
    choice = _CHOICE.fullmatch(problem)
    if choice is None:
        return in_ukrainian(problem) or problem
    choices = choice[2].replace(" or ", " або ")
    return f"невідома платформа; має бути {choices}" if choice[1] else f"має бути {choices}"
