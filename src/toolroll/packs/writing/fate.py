"""What becomes of a draft that a model has written: one decision, by how its run ended and what there is already."""

from typing import Final, Literal, TypeAlias

from toolroll.agent.finish import NO_ANSWER
from toolroll.agent.result import RunResult
from toolroll.packs.writing.drafting import Marks

RunEnd: TypeAlias = Literal["well", "cut_off", "badly"]
"""How a run ended: by itself, in the middle of a text, or in any other way (a limit, a stop)."""

Fate: TypeAlias = Literal["told", "aside", "unfinished", "checked"]
"""Of a draft: it is told as words and is no post; laid aside for the person to take; taken as one that lacks its end;
or checked, repaired where it has to be, and taken."""

_ENDED_WELL: Final = ("answer", "done", "condition")


def run_end_of(result: RunResult[object]) -> RunEnd:
    """How a run ended. One that was cut off before its first word has nothing in whose middle it could be."""
    if result.stop_reason in _ENDED_WELL:
        return "well"
    return "cut_off" if result.stop_reason == "cut_off" and result.text != NO_ANSWER else "badly"


def fate_of(marks: Marks, ending: RunEnd, *, has_finished: bool, is_alone: bool) -> Fate:
    """What becomes of a draft with such marks, from a run that ended so.

    `has_finished` says that there is a draft already that has its end, which an unfinished one does not replace.
    `is_alone` says that nobody looks at it: then only what is marked as a post counts as one.
    """
    if ending == "badly" or (is_alone and marks == "none"):
        return "told"
    if ending == "cut_off":
        return "aside" if has_finished else "unfinished"
    return "unfinished" if is_alone and marks != "whole" else "checked"
