"""What a look at one thing has found."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["ok", "missing", "warning", "broken"]
"""`missing` is what somebody may want and has not set up; `broken` is what was set up, and does not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing: how it is, and what to do about it."""

    area: str
    name: str
    status: Status
    text: str
    fix: str = ""
