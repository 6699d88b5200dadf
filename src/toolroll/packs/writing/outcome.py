"""What was asked of a writer, and what became of it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolroll.agent.result import RunResult
from toolroll.packs.writing.mixing import Style
from toolroll.packs.writing.post_file import Platform

End: TypeAlias = Literal["saved", "left", "drafted", "nothing"]
"""How it ended: the draft was kept, left, only shown, or there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is to be written: for which platform, in which style, and from which page of Notion, if from one."""

    request: str
    platform: Platform
    style: Style
    notion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it. `results` are all runs that it took, in their order.

    Where nobody could look at it, `is_whole` says that the draft is marked as a post and has its end, and `is_cut_off`
    that the model was stopped before it.
    """

    end: End
    draft: str
    topic: str
    notes: tuple[str, ...]
    rounds: int
    wanted_to_save: bool
    results: tuple[RunResult[object], ...]
    file: str | None = None
    notion_url: str | None = None
    is_whole: bool = True
    is_cut_off: bool = False
